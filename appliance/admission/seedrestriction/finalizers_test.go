// SPDX-License-Identifier: Apache-2.0

package seedrestriction_test

import (
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/seedrestriction"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// TestFinalizers adds finalizers to objects that a seed may write. Who has left would hold a project, or the namespace of its seed, for
// ever.
func TestFinalizers(t *testing.T) {
	t.Parallel()
	held := func(object kind.Object, finalizers ...string) kind.Object {
		object, ok := object.DeepCopyObject().(kind.Object)
		if !ok {
			t.Fatal("a copy is another kind")
		}
		object.SetFinalizers(finalizers)

		return object
	}
	later := func(by admissiontest.Request, old kind.Object) admissiontest.Request {
		by.Old = old

		return by
	}
	reported := metav1.ObjectMeta{Namespace: meadow, Name: "e", Annotations: map[string]string{"event.terrarium.garden/reporter": north}}
	sprout := corev1.ObjectReference{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Shoot", Namespace: meadow, Name: "sprout"}
	cases := map[string]scenario{}
	for name, object := range map[string]kind.Object{
		"GAC-SR-5 Bastion":         &gardenoperationsv1alpha1.Bastion{ObjectMeta: named(meadow, "b"), Spec: gardenoperationsv1alpha1.BastionSpec{SeedName: new("north")}},
		"GAC-SR-9 Secret":          &corev1.Secret{ObjectMeta: named(meadow, "sprout.monitoring")},
		"GAC-SR-10 ConfigMap":      &corev1.ConfigMap{ObjectMeta: named(meadow, "sprout.ca-cluster")},
		"GAC-SR-10 InternalSecret": &gardencorev1beta1.InternalSecret{ObjectMeta: named(meadow, "sprout.ca-client")},
		"GAC-SR-13 ShootState":     &gardencorev1beta1.ShootState{ObjectMeta: named(meadow, "sprout")},
		"GAC-SAR-9 Event":          &corev1.Event{ObjectMeta: reported, InvolvedObject: sprout},
		"GAC-SAR-9 newer Event":    &eventsv1.Event{ObjectMeta: reported, Regarding: sprout},
	} {
		rights := []string{north + " patch shoots garden-meadow/sprout"}
		refused := []string{`metadata.finalizers: "example.com/stay"`}
		cases[name] = scenario{Reason: "it is held by nobody", Objects: shoots(), Rights: rights, Request: create(held(object, "example.com/stay")), Refused: refused}
		cases[name+" later"] = scenario{Reason: "nor later", Objects: shoots(), Rights: rights, Request: by(held(object, "example.com/stay"), object), Refused: refused}
		cases[name+" there"] = scenario{Reason: "what is there stays", Objects: shoots(), Rights: rights, Request: by(held(object, "example.com/stay"), held(object, "example.com/stay"))}
		if _, ok := object.(*gardenoperationsv1alpha1.Bastion); ok {
			cases[name+" worked on"] = scenario{Reason: "except by a gardenlet that works on it", Objects: shoots(), Request: create(held(object, "gardener"))}
		} else {
			cases[name+" own"] = scenario{Reason: "not by the name of a gardenlet either", Objects: shoots(), Rights: rights, Request: create(held(object, "gardener")), Refused: []string{`metadata.finalizers: "gardener"`}}
		}
	}
	generated := &corev1.Secret{ObjectMeta: named("garden", "generated-bucket-b")}
	cases["GAC-SR-9 credentials"] = scenario{Reason: "what a gardenlet made for its seed stays until it is done", Objects: []kind.Object{bucket("north")}, Request: by(held(generated, "gardener"), generated)}
	foreign := &corev1.Event{ObjectMeta: named(meadow, "e"), InvolvedObject: sprout}
	cases["GAC-SAR-9 other's Event"] = scenario{Reason: "what others report is not there, with a finalizer neither", Objects: shoots(), Request: by(held(foreign, "example.com/stay"), foreign), As: metav1.StatusReasonNotFound, Refused: []string{"not found"}}
	account := &corev1.ServiceAccount{ObjectMeta: named("seed-north", "extension-x")}
	cases["GAC-SR-12 account"] = scenario{Reason: "nor is an account", Request: by(held(account, "example.com/stay"), account), Refused: []string{"metadata.finalizers"}}
	lease := &coordinationv1.Lease{ObjectMeta: named("seed-north", "leader")}
	cases["GAC-SR-8 lease"] = scenario{Reason: "nor a lease, in which it is not created", Request: later(extension(held(lease, "example.com/stay")), lease), Refused: []string{"metadata.finalizers"}}
	cases["GAC-SR-8 lease made"] = scenario{Reason: "nor one that is", Request: extension(held(lease, "example.com/stay")), Refused: []string{"metadata.finalizers"}}
	cases["GAC-SR-8 renewal"] = scenario{Reason: "a lease is renewed", Request: later(extension(lease), lease)}
	admissiontest.Run(t, seedrestriction.New, cases)
}
