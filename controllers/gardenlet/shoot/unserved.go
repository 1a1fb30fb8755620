// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/unserved"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	lastoperation "github.com/terrarium-garden/terrarium/controllers/operation"
)

const (
	// ConditionTypeEverythingServed is a constraint that is False while a shoot asks for something that is not served.
	ConditionTypeEverythingServed gardencorev1beta1.ConditionType = "EverythingServed"

	reasonNotServed = "NotServedYet"
)

// Refusal returns an error if no operation may begin on a shoot, because it would harm the cluster. A shoot in deletion is never
// refused.
func Refusal(shoot *gardencorev1beta1.Shoot) error {
	if shoot.DeletionTimestamp != nil {
		return nil
	}
	var reasons []string
	for _, f := range unserved.Problems(shoot) {
		if f.Severity == unserved.Refuse {
			reasons = append(reasons, f.String())
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	err := errors.New("no operation runs on the shoot: " + strings.Join(reasons, "; ") + "; undo the setting")
	return lastoperation.WithCodes(lastoperation.AtStep(query.TaskUnserved, err), gardencorev1beta1.ErrorCodeConfigurationProblem)
}

// refuse reports why no operation begins. The Cluster object is not written, because extensions must not act on the shoot.
func (r *Reconciler) refuse(ctx context.Context, shoot *gardencorev1beta1.Shoot, kind gardencorev1beta1.LastOperationType) (reconcile.Result, error) {
	start := lastoperation.Start[*gardencorev1beta1.Shoot]{Type: kind, Change: func(s *gardencorev1beta1.Shoot) { s.Status.ObservedGeneration = s.Generation }}
	return kit.Result(kit.Continue(), r.on(shoot).Refuse(ctx, start, Refusal(shoot)))
}

// Unserved returns the constraints of a shoot with the one that lists what it asks for and is not served.
func Unserved(shoot *gardencorev1beta1.Shoot, now time.Time) []gardencorev1beta1.Condition {
	all := shoot.Status.Constraints
	problems := unserved.Problems(shoot)
	if len(problems) == 0 {
		return slices.DeleteFunc(slices.Clone(all), func(c gardencorev1beta1.Condition) bool { return c.Type == ConditionTypeEverythingServed })
	}
	texts := make([]string, 0, len(problems))
	for _, f := range problems {
		texts = append(texts, f.String())
	}
	return kit.SetCondition(all, gardencorev1beta1.Condition{
		Type: ConditionTypeEverythingServed, Status: gardencorev1beta1.ConditionFalse, Reason: reasonNotServed,
		Message: lastoperation.Cut(strings.Join(texts, "; ")), Codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeConfigurationProblem},
	}, now)
}

// declineOperations removes operations that are not served from the annotation of a shoot, with an event for each. Otherwise they
// would look as if they were under way.
func (r *Reconciler) declineOperations(ctx context.Context, shoot *gardencorev1beta1.Shoot) error {
	asked := shoot.Annotations[gardencorev1beta1.AnnotationOperation]
	declined := unserved.Operations(asked)
	if len(declined) == 0 {
		return nil
	}
	before := shoot.DeepCopy()
	left := slices.DeleteFunc(query.Operations(asked), func(op string) bool { return slices.Contains(declined, op) })
	metav1.SetMetaDataAnnotation(&shoot.ObjectMeta, gardencorev1beta1.AnnotationOperation, strings.Join(left, gardencorev1beta1.OperationSeparator))
	if len(left) == 0 {
		delete(shoot.Annotations, gardencorev1beta1.AnnotationOperation)
	}
	// Another operation may be added at the same time.
	if err := r.GardenClient.Patch(ctx, shoot, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("take operations %s from shoot %q: %w", strings.Join(declined, ", "), shoot.Name, err)
	}
	for _, op := range declined {
		kit.Record(r.Recorder, shoot, kit.Notice{
			Type: corev1.EventTypeWarning, Action: gardencorev1beta1.EventActionReconcile, Reason: reasonNotServed,
			Message: fmt.Sprintf("Operation %q is not served yet and was not carried out; it has been taken out of annotation %s", op, gardencorev1beta1.AnnotationOperation),
		})
	}
	return nil
}
