// SPDX-License-Identifier: Apache-2.0

package bastion_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
	"github.com/terrarium-garden/terrarium/storage/registry/operations/bastion"
)

const (
	operation = "gardener.cloud/operation"
	forced    = "confirmation.gardener.cloud/force-deletion"
)

type object = gardenoperationsv1alpha1.Bastion

// world are the stores of bastions with a clock.
type world struct {
	context      context.Context
	clock        *clocktesting.FakeClock
	main, status kindtest.Resource[*object]
}

func newWorld(t *testing.T) world {
	t.Helper()
	w := world{context: kindtest.Context(t, "garden-meadow", "rose"), clock: clocktesting.NewFakeClock(kindtest.Now())}
	all, err := bastion.Storage(kindtest.Options(t, func(o *kind.Options) { o.Clock = w.clock }))
	if err != nil {
		t.Fatal(err)
	}
	w.main, w.status = kindtest.Of[*object](t, all, "bastions"), kindtest.Of[*object](t, all, "bastions/status")
	return w
}

func host(annotations map[string]string) *object {
	return &object{
		ObjectMeta: metav1.ObjectMeta{Name: "host", Namespace: "garden-meadow", Annotations: annotations},
		Spec: gardenoperationsv1alpha1.BastionSpec{
			ShootRef: corev1.LocalObjectReference{Name: "sprout"}, SSHPublicKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIJ2vJBXMmMK6L0EV3uQh6dZl6rX8J5RrA0Z9QF0iXBx rose",
			Ingress: []gardenoperationsv1alpha1.BastionIngressPolicy{{IPBlock: networkingv1.IPBlock{CIDR: "192.0.2.0/24"}}},
		},
	}
}

// life tells when the bastion last was heard of and when it goes.
func life(b *object) [2]time.Time {
	return [2]time.Time{b.Status.LastHeartbeatTimestamp.UTC(), b.Status.ExpirationTimestamp.UTC()}
}

func TestLife(t *testing.T) {
	t.Parallel()
	w, now := newWorld(t), kindtest.Now()
	given := host(nil)
	given.Status.ExpirationTimestamp = &metav1.Time{Time: now.Add(100 * time.Hour)}
	metav1.SetMetaDataAnnotation(&given.ObjectMeta, operation, "keepalive")
	b := w.main.MustCreate(w.context, given)
	if _, kept := b.Annotations[operation]; kept {
		t.Errorf("API-STRAT-7: the first sign of life is none to ask for again, annotations %v", b.Annotations)
	}
	if diff := cmp.Diff([2]time.Time{now, now.Add(time.Hour)}, life(b)); diff != "" || b.Generation != 1 {
		t.Errorf("API-STRAT-7: a bastion lives for an hour, whatever it says (-want +got), generation %d:\n%s", b.Generation, diff)
	}

	w.clock.Step(30 * time.Minute)
	b.Labels = map[string]string{"touched": "yes"}
	b.Status.ExpirationTimestamp = &metav1.Time{Time: now.Add(100 * time.Hour)}
	b = w.main.MustUpdate(w.context, b)
	if diff := cmp.Diff([2]time.Time{now, now.Add(time.Hour)}, life(b)); diff != "" {
		t.Errorf("API-STRAT-7: an ordinary update is no sign of life (-want +got):\n%s", diff)
	}

	metav1.SetMetaDataAnnotation(&b.ObjectMeta, operation, "keepalive")
	b = w.main.MustUpdate(w.context, b)
	later := now.Add(30 * time.Minute)
	if diff := cmp.Diff([2]time.Time{later, later.Add(time.Hour)}, life(b)); diff != "" || b.Annotations[operation] != "" || b.Generation != 1 {
		t.Errorf("API-STRAT-7: keepalive prolongs the life and is taken away; generation %d, annotations %v (-want +got):\n%s", b.Generation, b.Annotations, diff)
	}

	b.Status.ExpirationTimestamp = &metav1.Time{Time: now.Add(100 * time.Hour)}
	b.Status.Ingress = &corev1.LoadBalancerIngress{IP: "192.0.2.7"}
	b = w.status.MustUpdate(w.context, b)
	if diff := cmp.Diff([2]time.Time{later, later.Add(time.Hour)}, life(b)); diff != "" || b.Status.Ingress == nil {
		t.Errorf("API-STRAT-7: nothing else changes the life, not even who writes the status (-want +got):\n%s", diff)
	}

	b.Status.LastHeartbeatTimestamp = &metav1.Time{Time: w.clock.Now().Add(time.Minute)}
	if _, err := w.status.Update(w.context, b); !apierrors.IsInvalid(err) {
		t.Errorf("API-VALBAS-1: nobody knows the future, got %v", err)
	}
}

func TestGeneration(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason        string
		before, after map[string]string
		change        func(*object)
		want          map[string]string
		grows         bool
	}{
		"API-STRAT-2 nothing":   {reason: "nothing changed"},
		"API-STRAT-2 spec":      {reason: "the spec changed", change: func(b *object) { b.Spec.Ingress[0].IPBlock.CIDR = "198.51.100.0/24" }, grows: true},
		"API-STRAT-2 reconcile": {reason: "a reconciliation is asked for", after: map[string]string{operation: "reconcile"}, want: map[string]string{operation: "reconcile"}, grows: true},
		"API-STRAT-2 forced":    {reason: "a deletion by force", after: map[string]string{forced: "true"}, want: map[string]string{forced: "true"}, grows: true},
		"API-STRAT-2 once": {
			reason: "which is asked for once", before: map[string]string{forced: "true"}, after: map[string]string{forced: "true"}, want: map[string]string{forced: "true"},
		},
		"API-STRAT-2 not forced": {reason: "or not at all", after: map[string]string{forced: "maybe"}, want: map[string]string{forced: "maybe"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			b := w.main.MustCreate(w.context, host(tc.before))
			b.Annotations = tc.after
			if tc.change != nil {
				tc.change(b)
			}
			b = w.main.MustUpdate(w.context, b)
			if len(b.Annotations) == 0 {
				b.Annotations = nil
			}
			if diff := cmp.Diff(tc.want, b.Annotations); diff != "" || (b.Generation == 2) != tc.grows {
				t.Errorf("%s\ngeneration %d, want grown %t; annotations (-want +got):\n%s", tc.reason, b.Generation, tc.grows, diff)
			}
		})
	}
}

func TestCells(t *testing.T) {
	t.Parallel()
	w, now := newWorld(t), kindtest.Now()
	at := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: now.Add(d)} }
	ingress := func(name, ip string) *corev1.LoadBalancerIngress {
		return &corev1.LoadBalancerIngress{Hostname: name, IP: ip}
	}
	type status = gardenoperationsv1alpha1.BastionStatus
	for name, tc := range map[string]struct {
		reason string
		seed   *string
		status status
		want   map[string]string
	}{
		"API-RES-11 new": {
			reason: "of which nothing is known yet",
			want:   map[string]string{"Shoot": "sprout", "Seed": "<pending>", "IP": "<pending>", "Heartbeat": "<never>", "Expires": "<pending>"},
		},
		"API-RES-11 ready": {
			reason: "that lives", seed: new("soil"),
			status: status{Ingress: ingress("host.example", "192.0.2.7"), LastHeartbeatTimestamp: at(-5 * time.Minute), ExpirationTimestamp: at(55 * time.Minute)},
			want:   map[string]string{"Shoot": "sprout", "Seed": "soil", "IP": "host.example", "Heartbeat": "5m ago", "Expires": "55m"},
		},
		"API-RES-11 expired": {
			reason: "that is to go", seed: new("soil"),
			status: status{Ingress: ingress("", "192.0.2.7"), LastHeartbeatTimestamp: at(-2 * time.Hour), ExpirationTimestamp: at(-time.Hour)},
			want:   map[string]string{"Shoot": "sprout", "Seed": "soil", "IP": "192.0.2.7", "Heartbeat": "120m ago", "Expires": "<expired>"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := host(nil)
			b.Spec.SeedName, b.Status = tc.seed, tc.status
			if diff := cmp.Diff(tc.want, w.main.Row(w.context, b)); diff != "" {
				t.Errorf("a bastion %s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
