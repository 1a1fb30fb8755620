// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const coreAPI = "core.gardener.cloud/v1beta1"

func eventAbout(kind, namespace, name string) *corev1.Event {
	e := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name + ".1"}}
	if namespace == "" {
		e.Namespace = metav1.NamespaceDefault
	}
	e.InvolvedObject = corev1.ObjectReference{APIVersion: coreAPI, Kind: kind, Namespace: namespace, Name: name}
	e.Reason, e.Message, e.Type = "Tested", "one", corev1.EventTypeNormal
	return e
}

func eventRegarding(namespace, shoot string) *eventsv1.Event {
	e := &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: shoot + ".2"}, EventTime: metav1.NowMicro()}
	e.Regarding = corev1.ObjectReference{APIVersion: coreAPI, Kind: "Shoot", Namespace: namespace, Name: shoot}
	e.ReportingController, e.ReportingInstance, e.Action = "gardenlet", "gardenlet-a", "Reconcile"
	e.Reason, e.Note, e.Type = "Tested", "one", corev1.EventTypeNormal
	return e
}

// TestSeedsEvents has the clients of a seed report about their own objects and about those of others, and change events
// (GAC-SAR-9).
func TestSeedsEvents(t *testing.T) {
	t.Parallel()
	o := operate(t)
	growAccess(o)
	theirs, same := eventAbout("Shoot", "garden-wood", "other"), eventAbout("Shoot", "garden-meadow", "mine")
	theirs.Name, same.Name = "theirs", "same"
	theirs.Message, same.Message = "secret text", "secret text"
	o.create(theirs, same)
	for i, who := range []role{roleNamed("seed one"), roleNamed("extension one")} {
		seed := o.acting(who)
		own, regarding := eventAbout("Shoot", "garden-meadow", "mine"), eventRegarding("garden-meadow", "mine")
		of := eventAbout("Seed", "", "one")
		for _, event := range []client.Object{own, regarding, of} {
			event.SetName(event.GetName() + strings.Repeat("x", i))
			if err := seed.Create(t.Context(), event); err != nil {
				t.Errorf("%s reports about what is its own: %v", who.name, err)
			}
			if err := seed.Patch(t.Context(), event, client.RawPatch(types.MergePatchType, []byte(`{"series":{"count":2,"lastObservedTime":"2026-11-24T00:00:00.000000Z"}}`))); err != nil {
				t.Errorf("%s counts what happens again: %v", who.name, err)
			}
		}
		for _, event := range []client.Object{
			eventAbout("Shoot", "garden-wood", "other"), eventAbout("Shoot", "garden-wood", "gone"), eventRegarding("garden-wood", "other"),
			eventAbout("Seed", "", "two"), eventAbout("Project", "", "meadow"),
		} {
			if err := seed.Create(t.Context(), event); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `is not an object of seed "one"`) {
				t.Errorf("%s creates event %q: got %v, want Forbidden", who.name, event.GetName(), err)
			}
		}
		gone := theirs.DeepCopy()
		gone.Name = "gone"
		for _, event := range []*corev1.Event{theirs, same, gone} {
			for _, patch := range []string{`{}`, `{"message":"log in at https://evil.example"}`} {
				read := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: event.Namespace, Name: event.Name}}
				err := seed.Patch(t.Context(), read, client.RawPatch(types.MergePatchType, []byte(patch)))
				if !apierrors.IsNotFound(err) || read.Message != "" {
					t.Errorf("%s patches event %q, which it has not reported: got %v and %q, want NotFound", who.name, event.Name, err, read.Message)
				}
			}
		}
		turned := client.RawPatch(types.MergePatchType, []byte(`{"involvedObject":{"name":"other","namespace":"garden-wood"}}`))
		if err := seed.Patch(t.Context(), own, turned); err == nil {
			t.Errorf("%s turns its event to a shoot of others", who.name)
		}
	}
	for _, event := range []*corev1.Event{theirs, same} {
		before := event.DeepCopy()
		o.read(event)
		if diff := cmp.Diff(before, event); diff != "" {
			t.Errorf("event %q of others stays as it is (-want +got):\n%s", event.Name, diff)
		}
	}
}
