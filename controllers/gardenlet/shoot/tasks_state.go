// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// stateDeletion is the task that deletes what was saved of the control plane, once nothing can be saved any more (GLET-STATE-4). It is tried again
// when somebody writes the state at the same time.
func (p project) stateDeletion() flow.Task {
	return flow.Task{
		ID: "shootstate-delete", Title: "Deleting the saved state of the control plane", After: after("namespace-delete"),
		Retry: flow.Retry{Interval: time.Second, Timeout: time.Minute}, Do: p.deleteState,
	}
}

// deleteState confirms the deletion and deletes. It reads the metadata only, because the state may be large.
func (p project) deleteState(ctx context.Context) error {
	state := &metav1.PartialObjectMetadata{}
	state.SetGroupVersionKind(gardencorev1beta1.GroupVersion.WithKind("ShootState"))
	err := p.garden.Get(ctx, client.ObjectKeyFromObject(p.facts.Shoot), state)
	if apierrors.IsNotFound(err) || err == nil && state.DeletionTimestamp != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get the saved state of shoot %q: %w", p.facts.Shoot.Name, err)
	}
	return kit.DeleteConfirmed(ctx, p.garden, state)
}
