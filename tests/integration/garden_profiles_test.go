// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// offered waits until the profile of a project offers these types of machines.
func offered(o *operator, profile *gardencorev1beta1.NamespacedCloudProfile, what string, machines ...string) {
	o.t.Helper()
	harness.Await(o.t, o.Client, profile, what, func(p *gardencorev1beta1.NamespacedCloudProfile) error {
		var got []string
		for _, m := range p.Status.CloudProfileSpec.MachineTypes {
			got = append(got, m.Name)
		}
		slices.Sort(got)
		diff := cmp.Diff(machines, got)
		return has(diff == "" && p.Status.ObservedGeneration == p.Generation, "generation %d of %d, machine types (-want +got):\n%s", p.Status.ObservedGeneration, p.Generation, diff)
	})
}

// TestProfilesOfProjects uses what a project adds to a profile, and protects all that is in use.
func TestProfilesOfProjects(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("plots")
	namespace := o.owned("plots")
	trial := &gardencorev1beta1.Quota{ObjectMeta: named(namespace, "trial"), Spec: gardencorev1beta1.QuotaSpec{
		Scope: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret"}, Metrics: corev1.ResourceList{"cpu": resource.MustParse("1000")},
	}}
	class := &gardencorev1beta1.ExposureClass{ObjectMeta: named("", "fence"), Handler: "plots"}
	o.create(trial, class, &corev1.Secret{ObjectMeta: named(namespace, "plots")})
	binding := boundTo(namespace, "plots", "plots")
	binding.Quotas = []corev1.ObjectReference{{Namespace: namespace, Name: "trial"}}
	own := &gardencorev1beta1.NamespacedCloudProfile{ObjectMeta: named(namespace, "own"), Spec: gardencorev1beta1.NamespacedCloudProfileSpec{
		Parent: gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "plots"},
		MachineTypes: []gardencorev1beta1.MachineType{{
			Name: "huge", CPU: resource.MustParse("64"), GPU: resource.MustParse("0"), Memory: resource.MustParse("256Gi"), Architecture: new("amd64"),
		}},
	}}
	o.create(binding, own)
	offered(o, own, "GCM-NCP-1: additions are merged into the parent's offer", "huge", "small")

	parent := profile("plots")
	o.change(parent, func() {
		parent.Spec.MachineTypes = append(parent.Spec.MachineTypes, gardencorev1beta1.MachineType{
			Name: "tiny", CPU: resource.MustParse("1"), GPU: resource.MustParse("0"), Memory: resource.MustParse("1Gi"), Architecture: new("amd64"),
		})
	})
	offered(o, own, "GCM-NCP-1: the parent's changes are followed", "huge", "small", "tiny")

	err := o.Client.Create(t.Context(), order(namespace, "stranger", "plots", huge))
	refused(t, "API-QUOTA-3: the parent alone does not offer the machine", err, apierrors.IsForbidden, "huge")
	shoot := order(namespace, "user", "plots", huge, func(s *gardencorev1beta1.Shoot) {
		s.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "own"}
		s.Spec.ExposureClassName = new("fence")
	})
	o.create(shoot)

	inUse := map[client.Object]string{
		parent: "NamespacedCloudProfile " + namespace + "/own", own: "Shoot " + namespace + "/user",
		class: "Shoot " + namespace + "/user", trial: "CredentialsBinding " + namespace + "/plots",
	}
	for object, by := range inUse {
		held(o, object, "gardener", "GCM-USE-1: it is protected on first sight")
		o.delete(object)
		if event := o.event(object, "ResourceReferenced", "GCM-USE-2: an event names who uses it"); !strings.Contains(event.Message, by) {
			t.Errorf("GCM-USE-2: event about %T = %q, want %q named", object, event.Message, by)
		}
	}
	o.confirm(shoot)
	o.gone(own, "GCM-NCP-1: the addition goes after its last shoot")
	o.gone(parent, "GCM-CLOUDPROFILE-1: the parent goes after its last addition")
	o.gone(class, "GCM-EXPOSURECLASS-1: the class goes after its last shoot")
	o.delete(binding)
	o.gone(trial, "GCM-QUOTA-1: the quota goes after its last binding")
}

func huge(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers[0].Machine.Type = "huge" }
