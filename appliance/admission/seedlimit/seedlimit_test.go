// SPDX-License-Identifier: Apache-2.0

package seedlimit_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/seedlimit"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
)

func by(seed string, object, old kind.Object) admissiontest.Request {
	return admissiontest.Request{Object: object, Old: old, User: "gardener.cloud:system:seed:" + seed, Groups: []string{"gardener.cloud:system:seeds"}}
}

func extension(object, old kind.Object) admissiontest.Request {
	return admissiontest.Request{
		Object: object, Old: old, User: "system:serviceaccount:seed-north:extension-local",
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:seed-north"},
	}
}

func lease(namespace, name, holder string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder}}
}

func leases(n int) (all []kind.Object) {
	for i := range n {
		all = append(all, lease("seed-north", fmt.Sprint("l", i), "a"))
	}
	return all
}

func bastion(name, seed string) *gardenoperationsv1alpha1.Bastion {
	b := &gardenoperationsv1alpha1.Bastion{ObjectMeta: metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: name}}
	b.Spec.SeedName, b.Spec.ProviderType = &seed, new("local")
	b.Spec.ShootRef.Name, b.Spec.SSHPublicKey = "sprout", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJG8lH3w2p8bVx3+o0pQ7bQ1TPu2sYvZ8m2d1r5b7Z9L"
	b.Spec.Ingress = []gardenoperationsv1alpha1.BastionIngressPolicy{{}}
	b.Spec.Ingress[0].IPBlock.CIDR = "192.0.2.1/32"
	return b
}

func bastions(n int, seed string) (all []kind.Object) {
	for i := range n {
		all = append(all, bastion(fmt.Sprint("b", i), seed))
	}
	return all
}

// TestObjects has what clients of a seed create under names of their choice (GAC-SR-5, GAC-SR-8).
func TestObjects(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 16<<10)
	admissiontest.Run(t, seedlimit.New, map[string]admissiontest.Case{
		"leases":             {Reason: "extensions have as many leases as they need", Objects: leases(199), Request: extension(lease("seed-north", "new", "a"), nil)},
		"too many leases":    {Reason: "and not any number", Objects: leases(200), Request: extension(lease("seed-north", "new", "a"), nil), Refused: []string{`200 leases in namespace "seed-north"`}},
		"there already":      {Reason: "what is there takes no other place, so that a client learns that it is there", Objects: leases(200), Request: extension(lease("seed-north", "l7", "a"), nil)},
		"renewal":            {Reason: "those that are there are renewed", Objects: leases(200), Request: extension(lease("seed-north", "l7", "b"), lease("seed-north", "l7", "a"))},
		"gardenlet's lease":  {Reason: "others do not count", Objects: leases(200), Request: by("north", lease("gardener-system-seed-lease", "north", "a"), nil)},
		"large lease":        {Reason: "a lease is small", Request: by("north", lease("gardener-system-seed-lease", "north", large), nil), Refused: []string{"at most 16384 are allowed"}},
		"growing lease":      {Reason: "and stays so", Request: extension(lease("seed-north", "l", large), lease("seed-north", "l", "a")), Refused: []string{"at most 16384 are allowed"}},
		"shrinking lease":    {Reason: "a large one can shrink", Request: extension(lease("seed-north", "l", large), lease("seed-north", "l", large+"x"))},
		"people's lease":     {Reason: "the limit is that of seeds", Objects: leases(200), Request: admissiontest.Request{Object: lease("seed-north", "new", large)}},
		"bastion":            {Reason: "a seed may have Bastions", Objects: bastions(19, "north"), Request: by("north", bastion("new", "north"), nil)},
		"too many bastions":  {Reason: "but does not fill a project with them", Objects: bastions(20, "north"), Request: by("north", bastion("new", "north"), nil), Refused: []string{`20 bastions of seed "north"`}},
		"others' bastions":   {Reason: "those of other seeds do not count", Objects: bastions(20, "south"), Request: by("north", bastion("new", "north"), nil)},
		"people's bastion":   {Reason: "people have the quota of their project", Objects: bastions(20, "north"), Request: admissiontest.Request{Object: bastion("new", "north")}},
		"change of bastions": {Reason: "what is there changes", Objects: bastions(20, "north"), Request: by("north", bastion("b1", "north"), bastion("b1", "north"))},
	})
}

// TestTogether asks for the last places at once, as with requests that are not written yet.
func TestTogether(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, leases(199)...)
	rule := seedlimit.New(g.World)
	if err := g.Ask(rule, extension(lease("seed-north", "a", "a"), nil)); err != nil {
		t.Fatalf("the last place is free: %v", err)
	}
	if err := g.Ask(rule, extension(lease("seed-north", "b", "a"), nil)); !apierrors.IsForbidden(err) {
		t.Errorf("and is taken as long as nobody knows what became of the first request: got %v", err)
	}
}

func event(message string) *corev1.Event {
	e := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: admissiontest.Namespace, Name: "e"}, Message: message}
	e.InvolvedObject = corev1.ObjectReference{Kind: "Shoot", Namespace: admissiontest.Namespace, Name: "sprout"}
	return e
}

// reports has a seed report until it is refused, and returns how many events were allowed.
func reports(t *testing.T, report func() error) (n int) {
	t.Helper()
	for ; n < 20_000; n++ {
		err := report()
		if err == nil {
			continue
		}
		if seconds, asked := apierrors.SuggestsClientDelay(err); !apierrors.IsTooManyRequests(err) || !asked || seconds != 5 {
			t.Fatalf("too many events: got %v, want an answer that asks to try again after 5 seconds", err)
		}
		break
	}
	return n
}

// TestEvents has a seed report more than it may (GAC-SAR-9).
func TestEvents(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil)
	clock := clocktesting.NewFakePassiveClock(kindtest.Now())
	g.World.Clock = clock
	rule := seedlimit.New(g.World)
	ask := func(r admissiontest.Request) func() error { return func() error { return g.Ask(rule, r) } }
	small := ask(by("north", event("one"), nil))
	if n := reports(t, small); n != 5_000 {
		t.Fatalf("a gardenlet that starts may report much: got %d events, want 5000", n)
	}
	of := &eventsv1.Event{ObjectMeta: event("").ObjectMeta}
	for name, request := range map[string]admissiontest.Request{
		"a change":              by("north", event("two"), event("one")),
		"one of the new group":  by("north", of, nil),
		"one of its extensions": extension(event("one"), nil),
	} {
		if err := g.Ask(rule, request); !apierrors.IsTooManyRequests(err) {
			t.Errorf("%s counts for the same seed: got %v", name, err)
		}
	}
	dry := by("north", event("one"), nil)
	dry.DryRun = true
	for name, request := range map[string]admissiontest.Request{
		"another seed": by("south", event("one"), nil), "the server": {Object: event("one"), User: "system:apiserver"}, "what is not kept": dry,
	} {
		if err := g.Ask(rule, request); err != nil {
			t.Errorf("%s is not hindered: %v", name, err)
		}
	}
	shoot := admissiontest.Request{Object: event("one"), User: "gardener.cloud:system:shoot:garden:lone", Groups: []string{"gardener.cloud:system:shoots"}}
	if n := reports(t, ask(shoot)); n != 5_000 {
		t.Errorf("GAC-SHOOTR-1: the gardenlet of a self-hosted shoot has a limit of its own: got %d events, want 5000", n)
	}
	clock.SetTime(clock.Now().Add(3 * time.Second))
	if n := reports(t, small); n != 30 {
		t.Errorf("later it may report again: got %d events in 3 seconds, want 30", n)
	}
	large := ask(by("south", event(strings.Repeat("x", 1<<20)), nil))
	if n := reports(t, large); n != 7 {
		t.Errorf("their size counts as well: got %d events of a little more than a MiB, want 7", n)
	}
	clock.SetTime(clock.Now().Add(65 * time.Second))
	if n := reports(t, large); n < 1 || n > 2 {
		t.Errorf("16 KiB a second: got %d events of a MiB in 65 seconds, want 1 beside the rest", n)
	}
}
