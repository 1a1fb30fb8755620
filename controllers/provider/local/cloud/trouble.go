// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

// trouble is an error of another cluster, or of the way to it.
type trouble struct{ error }

// Unwrap returns the error itself.
func (t *trouble) Unwrap() error { return t.error }

// Trouble marks the error of a request to the cluster of the machines, if that is not the seed.
func (c Cloud) Trouble(err error) error {
	if err == nil || !c.Apart() {
		return err
	}
	return &trouble{error: err}
}

// Unsolvable gives what went wrong in another cluster while a shoot is deleted a code, with which it can be deleted by force
// (API-VALSHOOT-25). Such codes end an operation for good, so other shoots do not get them: they have to survive that their cluster is away
// for a while.
func Unsolvable(err error, of *engine.Cluster) error {
	_, apart := errors.AsType[*trouble](err)
	if !apart || !kit.IsFailure(err) || len(operation.Codes(err)) > 0 || of == nil || of.Shoot.DeletionTimestamp == nil {
		return err
	}
	code := gardencorev1beta1.ErrorCodeInfraDependencies
	switch {
	case apierrors.IsUnauthorized(err):
		code = gardencorev1beta1.ErrorCodeInfraUnauthenticated
	case apierrors.IsForbidden(err):
		code = gardencorev1beta1.ErrorCodeInfraUnauthorized
	}
	return operation.WithCodes(err, code)
}
