// SPDX-License-Identifier: Apache-2.0

package operation_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

func TestCodesTravelAndMerge_GLET_ERR_3(t *testing.T) {
	t.Parallel()
	a := operation.WithCodes(errors.New("a"), gardencorev1beta1.ErrorCodeInfraUnauthorized, gardencorev1beta1.ErrorCodeInfraDependencies)
	b := fmt.Errorf("deeper: %w", operation.WithCodes(apierrors.NewBadRequest("b"), gardencorev1beta1.ErrorCodeInfraUnauthorized))
	want := []gardencorev1beta1.ErrorCode{"ERR_INFRA_DEPENDENCIES", "ERR_INFRA_UNAUTHORIZED"}
	if diff := cmp.Diff(want, operation.Codes(fmt.Errorf("run: %w", errors.Join(a, b)))); diff != "" {
		t.Errorf("Codes(...) (-want +got):\n%s", diff)
	}
	if !apierrors.IsBadRequest(b) {
		t.Error("an error with codes hides its cause")
	}
}
