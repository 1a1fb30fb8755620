// SPDX-License-Identifier: Apache-2.0

package seedrestriction_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/seedrestriction"
)

const (
	coreAPI  = "core.gardener.cloud/v1beta1"
	reporter = "event.terrarium.garden/reporter"
)

func TestEvents(t *testing.T) {
	t.Parallel()
	event := func(api, kind, namespace, name string) *corev1.Event {
		e := &corev1.Event{ObjectMeta: named(namespace, name+".1")}
		if namespace == "" {
			e.Namespace = metav1.NamespaceDefault
		}
		e.InvolvedObject = corev1.ObjectReference{APIVersion: api, Kind: kind, Namespace: namespace, Name: name}
		return e
	}
	regarding := func(name string) *eventsv1.Event {
		e := &eventsv1.Event{ObjectMeta: named(meadow, name+".1")}
		e.Regarding = corev1.ObjectReference{APIVersion: coreAPI, Kind: "Shoot", Namespace: meadow, Name: name}
		return e
	}
	shoot := func(name, by string) *corev1.Event {
		e := event(coreAPI, "Shoot", meadow, name)
		e.Annotations = map[string]string{reporter: by}
		return e
	}
	newly := func(name, by string) *eventsv1.Event {
		e := regarding(name)
		e.Annotations = map[string]string{reporter: by}
		return e
	}
	in := func(namespace string, e *corev1.Event) *corev1.Event {
		e.Namespace = namespace
		return e
	}
	rights := []string{north + " patch shoots garden-meadow/sprout", north + " patch seeds north", north + " patch leases seed-north/a"}
	foreign := []string{`involvedObject: Shoot "garden-meadow/other" is not an object of seed "north"`}
	admissiontest.Run(t, seedrestriction.New, map[string]scenario{
		"GAC-SAR-9 own shoot":        {Reason: "a gardenlet reports about its shoots", Rights: rights, Request: create(event(coreAPI, "Shoot", meadow, "sprout"))},
		"GAC-SAR-9 regarding":        {Reason: "in the other group, too", Rights: rights, Request: create(regarding("sprout"))},
		"GAC-SAR-9 own seed":         {Reason: "about its seed", Rights: rights, Request: create(event(coreAPI, "Seed", "", "north"))},
		"GAC-SAR-9 lease":            {Reason: "and about an election", Rights: rights, Request: create(event("coordination.k8s.io/v1", "Lease", "seed-north", "a"))},
		"GAC-SAR-9 other shoot":      {Reason: "not about those of others", Rights: rights, Request: create(event(coreAPI, "Shoot", meadow, "other")), Refused: foreign},
		"GAC-SAR-9 regarding other":  {Reason: "in no group", Rights: rights, Request: create(regarding("other")), Refused: []string{`regarding: Shoot "garden-meadow/other" is not an object of seed "north"`}},
		"GAC-SAR-9 other seed":       {Reason: "reading is not enough", Rights: []string{north + " get seeds south"}, Request: create(event(coreAPI, "Seed", "", "south")), Refused: []string{"is not an object of seed"}},
		"GAC-SAR-9 other kind":       {Reason: "nor about what no seed changes", Rights: []string{north + " patch projects meadow"}, Request: create(event(coreAPI, "Project", "", "meadow")), Refused: []string{"is not an object of seed"}},
		"GAC-SAR-9 other group":      {Reason: "a kind has a group", Rights: rights, Request: create(event("", "Shoot", meadow, "sprout")), Refused: []string{"is not an object of seed"}},
		"GAC-SAR-9 nothing":          {Reason: "nor about nothing", Rights: rights, Request: create(event("", "", "", "")), Refused: []string{"is not an object of seed"}},
		"GAC-SAR-9 no namespace":     {Reason: "a shoot has a namespace", Rights: []string{north + " patch shoots sprout"}, Request: create(event(coreAPI, "Shoot", "", "sprout")), Refused: []string{"is not an object of seed"}},
		"GAC-SAR-9 elsewhere":        {Reason: "not where others look", Rights: rights, Request: create(in("garden-wood", event(coreAPI, "Shoot", meadow, "sprout"))), Refused: []string{`metadata.namespace: must be "garden-meadow"`}},
		"GAC-SAR-9 seed elsewhere":   {Reason: "nor about a seed", Rights: rights, Request: create(in("garden-wood", event(coreAPI, "Seed", "", "north"))), Refused: []string{`metadata.namespace: must be "default"`}},
		"GAC-SAR-9 extension":        {Reason: "an extension is bound by the same", Request: extension(event(coreAPI, "Shoot", meadow, "other")), Refused: foreign},
		"GAC-SAR-9 count":            {Reason: "it counts what happens again", Rights: rights, Request: by(shoot("sprout", north), shoot("sprout", north))},
		"GAC-SAR-9 count regarding":  {Reason: "in the other group, too", Rights: rights, Request: by(newly("sprout", north), newly("sprout", north))},
		"GAC-SAR-9 unknown":          {Reason: "what others report is not there", Rights: rights, Request: by(shoot("sprout", north), event(coreAPI, "Shoot", meadow, "sprout")), Refused: []string{`"sprout.1" not found`}, As: metav1.StatusReasonNotFound},
		"GAC-SAR-9 other reporter":   {Reason: "nor what the extension reports", Rights: rights, Request: by(newly("sprout", north), newly("sprout", "system:serviceaccount:seed-north:extension-local")), Refused: []string{`"sprout.1" not found`}, As: metav1.StatusReasonNotFound},
		"GAC-SAR-9 other's event":    {Reason: "also about a shoot of others", Rights: rights, Request: by(shoot("other", "x"), shoot("other", "x")), Refused: []string{`"other.1" not found`}, As: metav1.StatusReasonNotFound},
		"GAC-SAR-9 give away":        {Reason: "the reporter stays", Rights: rights, Request: by(shoot("sprout", "x"), shoot("sprout", north)), Refused: []string{"metadata.annotations[event.terrarium.garden/reporter]: must stay"}},
		"GAC-SAR-9 turn":             {Reason: "an event does not turn to others", Rights: rights, Request: by(shoot("other", north), shoot("sprout", north)), Refused: foreign},
		"GAC-SAR-9 left":             {Reason: "nor does it stay with a shoot that has left", Rights: rights, Request: by(shoot("sprout", north), shoot("other", north)), Refused: foreign},
		"GAC-ID-4 person and events": {Reason: "people are judged by others", Request: admissiontest.Request{Object: event(coreAPI, "Shoot", meadow, "other")}},
	})
}

// TestReporter sees that the server notes who reports, whatever the client says.
func TestReporter(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, []string{north + " patch seeds north"})
	about := &corev1.Event{ObjectMeta: named(metav1.NamespaceDefault, "north.1")}
	about.Annotations = map[string]string{reporter: "gardener.cloud:system:seed:south"}
	about.InvolvedObject = corev1.ObjectReference{APIVersion: coreAPI, Kind: "Seed", Name: "north"}
	if err := g.Ask(seedrestriction.New(g.World), create(about)); err != nil {
		t.Errorf("GAC-SAR-9: the event is refused: %v", err)
	}
	if diff := cmp.Diff(map[string]string{reporter: north}, about.Annotations); diff != "" {
		t.Errorf("GAC-SAR-9: annotations (-want +got):\n%s", diff)
	}
}
