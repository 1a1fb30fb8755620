// SPDX-License-Identifier: Apache-2.0

package shootstate

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// write writes the state with the namespace that it is of, or only the time if the state is the same.
func (r *Reconciler) write(ctx context.Context, s *scope) (kit.Outcome, error) {
	live := &gardencorev1beta1.ShootState{ObjectMeta: metav1.ObjectMeta{Namespace: s.shoot.Namespace, Name: s.shoot.Name}}
	err := r.GardenReader.Get(ctx, client.ObjectKeyFromObject(live), live)
	if client.IgnoreNotFound(err) != nil {
		return kit.Stop(), fmt.Errorf("get the state of shoot %q: %w", s.shoot.Name, err)
	}
	if live.DeletionTimestamp != nil {
		return kit.RequeueAfter(retry), nil
	}
	before := live.DeepCopy()
	metav1.SetMetaDataAnnotation(&live.ObjectMeta, gardencorev1beta1.AnnotationTimestamp, r.Clock.Now().UTC().Format(time.RFC3339))
	metav1.SetMetaDataAnnotation(&live.ObjectMeta, gardencorev1beta1.AnnotationShootStateNamespace, s.home)
	switch {
	case err != nil:
		live.Spec = s.state
		err = r.GardenClient.Create(ctx, live)
	case check.Same(live.Spec, s.state):
		err = r.GardenClient.Patch(ctx, live, client.MergeFrom(before))
	default:
		// A merge patch would drop what is null in the states of extensions.
		live.Spec = s.state
		err = r.GardenClient.Update(ctx, live)
	}
	switch {
	case err == nil:
		return kit.RequeueAfter(r.schedule().Next()), nil
	case apierrors.IsRequestEntityTooLargeError(err):
		return kit.Stop(), tooLarge("the garden refuses it as too large")
	case apierrors.IsInvalid(err):
		return kit.Stop(), incomplete("the garden refuses it: %s", fieldsOf(err))
	default:
		return kit.Stop(), fmt.Errorf("write the state of shoot %q: %w", s.shoot.Name, err)
	}
}
