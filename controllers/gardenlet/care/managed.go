// SPDX-License-Identifier: Apache-2.0

package care

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/managedresources"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/reports"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/tunnel"
)

// managed returns the managed resources in a control plane; none if the seed does not know the kind.
func (r *Reconciler) managed(ctx context.Context, namespace string) ([]gardenresourcesv1alpha1.ManagedResource, error) {
	list := &gardenresourcesv1alpha1.ManagedResourceList{}
	err := r.SeedClient.List(ctx, list, client.InNamespace(namespace))
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list managed resources of the control plane: %w", err)
	}
	return list.Items, nil
}

// ignored returns the names of the managed resources that are switched off.
func ignored(all []gardenresourcesv1alpha1.ManagedResource) []string {
	var names []string
	for i := range all {
		if switchedOff(&all[i]) {
			names = append(names, all[i].Name)
		}
	}
	return names
}

func switchedOff(r *gardenresourcesv1alpha1.ManagedResource) bool {
	yes, err := strconv.ParseBool(r.Annotations[gardenresourcesv1alpha1.AnnotationIgnore])
	return err == nil && yes
}

// counts says for which condition a managed resource counts: the one that its label names, or else the control plane if its objects
// are in the seed, and the system components if they are in the shoot.
func counts(r *gardenresourcesv1alpha1.ManagedResource) gardencorev1beta1.ConditionType {
	if named := r.Labels[gardencorev1beta1.LabelCareConditionType]; named != "" {
		return gardencorev1beta1.ConditionType(named)
	}
	switch ptr.Deref(r.Spec.Class, gardenresourcesv1alpha1.ClassDefault) {
	case gardenresourcesv1alpha1.ClassSeed:
		return gardencorev1beta1.ConditionTypeControlPlaneHealthy
	case gardenresourcesv1alpha1.ClassDefault, "":
		return gardencorev1beta1.ConditionTypeSystemComponentsHealthy
	default:
		return ""
	}
}

// judgeManaged judges the managed resources that count for a condition. What is switched off is not judged, because nobody looks
// after it; a constraint tells of it.
func judgeManaged(c gardencorev1beta1.Condition, w World) (gardencorev1beta1.Condition, bool) {
	var mine []gardenresourcesv1alpha1.ManagedResource
	for i := range w.Managed {
		if r := &w.Managed[i]; counts(r) == c.Type && !switchedOff(r) {
			mine = append(mine, *r)
		}
	}
	reason, message := managedresources.Judge(mine, w.Patience)
	if reason == "" {
		return c, false
	}
	return bad(c, reason, message), true
}

// JudgeSystemComponents judges, in this order, what extensions report, the managed resources of the shoot, and the tunnel to its nodes
// (GLET-CARE-11).
func JudgeSystemComponents(shoot *gardencorev1beta1.Shoot, w World) gardencorev1beta1.Condition {
	c := gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionTypeSystemComponentsHealthy}
	if !ok(w.API.Status) {
		c.Status, c.Reason, c.Message = gardencorev1beta1.ConditionUnknown, gardencorev1beta1.ReasonAPIServerDown, unreachable(shoot)
		return c
	}
	if reported, found := reports.Judge(c, w.Reports); found {
		return reported
	}
	if found, is := judgeManaged(c, w); is {
		return found
	}
	if fault := (*tunnel.FaultError)(nil); errors.As(w.TunnelErr, &fault) {
		return bad(c, fault.Reason, fault.Message)
	}
	if w.TunnelErr != nil {
		c.Status, c.Reason = gardencorev1beta1.ConditionUnknown, gardencorev1beta1.ReasonConditionCheckError
		c.Message = "The tunnel to the nodes could not be checked: " + w.TunnelErr.Error()
		return c
	}
	return good(c, gardencorev1beta1.ReasonSystemComponentsRunning, "All system components are healthy")
}

// JudgeObservability judges, in this order, what extensions report, and the managed resources that are labelled for it. A shoot for
// testing needs no observability (GLET-CARE-10).
func JudgeObservability(shoot *gardencorev1beta1.Shoot, w World) gardencorev1beta1.Condition {
	c := gardencorev1beta1.Condition{Type: gardencorev1beta1.ConditionTypeObservabilityComponentsHealthy}
	if ptr.Deref(shoot.Spec.Purpose, "") == gardencorev1beta1.ShootPurposeTesting {
		return good(c, gardencorev1beta1.ReasonObservabilityComponentsRunning, "A cluster for testing needs no observability")
	}
	if reported, found := reports.Judge(c, w.Reports); found {
		return reported
	}
	if found, is := judgeManaged(c, w); is {
		return found
	}
	return good(c, gardencorev1beta1.ReasonObservabilityComponentsRunning, "All observability components are healthy")
}
