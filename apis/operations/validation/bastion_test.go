// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/operations/validation"
)

type bastion = gardenoperationsv1alpha1.Bastion

const (
	createdBy = "gardener.cloud/created-by"
	key       = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIJ2vJBXMmMK6L0EV3uQh6dZl6rX8J5RrA0Z9QF0iXBx rose"
)

func host(change ...func(*bastion)) *bastion {
	b := &bastion{
		ObjectMeta: metav1.ObjectMeta{
			Name: "host", Namespace: "garden-meadow", ResourceVersion: "1", Annotations: map[string]string{createdBy: "rose"},
		},
		Spec: gardenoperationsv1alpha1.BastionSpec{
			ShootRef: corev1.LocalObjectReference{Name: "sprout"}, SSHPublicKey: key,
			Ingress: []gardenoperationsv1alpha1.BastionIngressPolicy{{IPBlock: networkingv1.IPBlock{CIDR: "192.0.2.0/24"}}},
		},
	}
	for _, c := range change {
		c(b)
	}
	return b
}

func from(cidr string, except ...string) func(*bastion) {
	return func(b *bastion) { b.Spec.Ingress[0].IPBlock = networkingv1.IPBlock{CIDR: cidr, Except: except} }
}

func TestValidateBastion(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(*bastion)
		want   []string
	}{
		"API-VALBAS-1 complete": {reason: "a bastion with all it needs", change: func(*bastion) {}},
		"API-VALBAS-1 whole world": {
			reason: "a network of either family", change: from("::/0"),
		},
		"API-VALBAS-1 empty": {
			reason: "whose nodes, for whom, and from where", change: func(b *bastion) { b.Spec = gardenoperationsv1alpha1.BastionSpec{} },
			want: []string{"spec.ingress: FieldValueInvalid", "spec.shootRef.name: FieldValueInvalid", "spec.sshPublicKey: FieldValueInvalid"},
		},
		"API-VALBAS-1 no network": {reason: "an address is no network", change: from("192.0.2.7"), want: []string{"spec.ingress: FieldValueInvalid"}},
		"API-VALBAS-1 exception":  {reason: "a network may have gaps", change: from("10.0.0.0/8", "10.1.0.0/16")},
		"API-VALBAS-1 no exception": {
			reason: "which are networks", change: from("10.0.0.0/8", "10.1.0.0/16", "10.2.0.1"), want: []string{"spec.ingress: FieldValueInvalid"},
		},
		"API-VALBAS-1 4-in-6": {
			reason: "a seed takes no such network", change: from("::ffff:10.0.0.0/104", "::ffff:10.1.0.0/112"),
			want: []string{"spec.ingress: FieldValueInvalid", "spec.ingress: FieldValueInvalid"},
		},
		"API-VALBAS-1 no key": {
			reason: "any text is no key", change: func(b *bastion) { b.Spec.SSHPublicKey = "ssh-ed25519 AAAA rose" },
			want: []string{"spec.sshPublicKey: FieldValueInvalid"},
		},
		"API-VALBAS-1 options": {reason: "a key may come with options", change: func(b *bastion) { b.Spec.SSHPublicKey = `no-pty,from="10.0.0.0/8" ` + key }},
		"API-VALBAS-1 name":    {reason: "the name becomes that of machines", change: func(b *bastion) { b.Name = "a.b" }, want: []string{"metadata.name: FieldValueInvalid"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateBastion(host(tc.change)))); diff != "" {
				t.Errorf("%s\nValidateBastion(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateBastionUpdate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(*bastion)
		want   []string
	}{
		"API-VALBAS-1 ingress": {reason: "a person may move", change: from("198.51.100.0/24")},
		"API-VALBAS-1 shoot": {
			reason: "a bastion belongs to one shoot", change: func(b *bastion) { b.Spec.ShootRef.Name = "other" },
			want: []string{"spec.shootRef.name: FieldValueInvalid"},
		},
		"API-VALBAS-1 key": {
			reason: "and to one person", change: func(b *bastion) { b.Spec.SSHPublicKey = "other" },
			want: []string{"spec.sshPublicKey: FieldValueInvalid", "spec.sshPublicKey: FieldValueInvalid"},
		},
		"API-VALBAS-1 creator": {
			reason: "whose name stays", change: func(b *bastion) { b.Annotations[createdBy] = "tulip" },
			want: []string{"metadata.annotations: FieldValueInvalid"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateBastionUpdate(host(tc.change), host()))); diff != "" {
				t.Errorf("%s\nValidateBastionUpdate(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateBastionStatusUpdate(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	beat := func(at time.Time) func(*bastion) {
		return func(b *bastion) { b.Status.LastHeartbeatTimestamp = &metav1.Time{Time: at} }
	}
	for name, tc := range map[string]struct {
		reason string
		change func(*bastion)
		want   []string
	}{
		"API-VALBAS-1 never":  {reason: "no heartbeat", change: func(*bastion) {}},
		"API-VALBAS-1 now":    {reason: "one right now", change: beat(now)},
		"API-VALBAS-1 future": {reason: "nobody knows the future", change: beat(now.Add(time.Second)), want: []string{"status.lastHeartbeatTimestamp: FieldValueInvalid"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateBastionStatusUpdate(host(tc.change), now))); diff != "" {
				t.Errorf("%s\nValidateBastionStatusUpdate(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOldBastion_API_VALBAS_1: a bastion that was taken before its ranges were looked at can be annotated and released, but not changed.
func TestOldBastion_API_VALBAS_1(t *testing.T) {
	t.Parallel()
	old := host(from("10.0.0.0/8", "nowhere"))
	old.Finalizers = []string{"example.org/kept"}
	released := old.DeepCopy()
	released.Finalizers = nil
	if errs := validation.ValidateBastionUpdate(released, old); len(errs) > 0 {
		t.Errorf("ValidateBastionUpdate(...) = %v for a bastion that is released", errs)
	}
	released.Spec.Ingress[0].IPBlock.CIDR = "10.0.0.0/9"
	if errs := validation.ValidateBastionUpdate(released, old); len(errs) == 0 {
		t.Error("ValidateBastionUpdate(...) takes another spec with a bad range")
	}
}

// TestGoingBastion_API_VALBAS_1 gives a bastion to another seed while the first one is closing it.
func TestGoingBastion_API_VALBAS_1(t *testing.T) {
	t.Parallel()
	going := func(b *bastion) {
		b.DeletionTimestamp = new(metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	}
	moved := host(going, func(b *bastion) { b.Spec.SeedName = new("elsewhere") })
	if diff := cmp.Diff([]string{"spec: FieldValueForbidden"}, checktest.Complaints(validation.ValidateBastionUpdate(moved, host(going)))); diff != "" {
		t.Errorf("ValidateBastionUpdate(...) (-want +got):\n%s", diff)
	}
	released := host(going, func(b *bastion) { b.Finalizers = nil })
	if diff := cmp.Diff([]string(nil), checktest.Complaints(validation.ValidateBastionUpdate(released, host(going)))); diff != "" {
		t.Errorf("the first seed can release it\nValidateBastionUpdate(...) (-want +got):\n%s", diff)
	}
}
