// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// door asks for a host that leads to the machines of a shoot.
func (o *operator) door(namespace, name, shoot string) *gardenoperationsv1alpha1.Bastion {
	o.t.Helper()
	b := &gardenoperationsv1alpha1.Bastion{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: gardenoperationsv1alpha1.BastionSpec{
			ShootRef:     corev1.LocalObjectReference{Name: shoot},
			SSHPublicKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGV0GCoCMBjsCFUFhMmzGmLMzCC5aGAdFCiGLaHO2KIC",
			Ingress:      []gardenoperationsv1alpha1.BastionIngressPolicy{{}},
		},
	}
	b.Spec.Ingress[0].IPBlock.CIDR = "192.0.2.0/24"
	o.create(b)
	return b
}

func TestBastions(t *testing.T) {
	t.Parallel()
	clock := harness.NewClock(t)
	o := operate(t, harness.WithClock(clock), harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) {
		c.Controllers.Bastion.MaxLifetime = &metav1.Duration{Duration: 90 * time.Minute}
		// Seeds have no gardenlets here, and must not be noticed to be silent as the clock is stepped.
		c.Controllers.Seed.MonitorPeriod = &metav1.Duration{Duration: 24 * time.Hour}
	}))
	o.provider("local")
	namespace := *o.project("dev").Spec.Namespace
	o.create(&corev1.Secret{ObjectMeta: named("garden", "backup")})
	backedUp := func(s *gardencorev1beta1.Seed) {
		s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "local", CredentialsRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "backup"}}
	}
	o.seed("north", "local", "north", backedUp)
	o.seed("south", "local", "north", backedUp)
	on := func(name, seed string) *gardencorev1beta1.Shoot {
		return o.shoot(namespace, name, "local", func(s *gardencorev1beta1.Shoot) {
			s.Spec.SeedName, s.Finalizers = &seed, []string{"test/held"}
		})
	}
	stays, ends, moves := on("stays", "north"), on("ends", "north"), on("moves", "north")
	kept, left := o.door(namespace, "kept", stays.Name), o.door(namespace, "left", stays.Name)
	closed, moved := o.door(namespace, "closed", ends.Name), o.door(namespace, "moved", moves.Name)

	o.confirm(ends)
	o.gone(closed, "GCM-BASTION-3: a bastion goes as soon as its shoot begins to end")
	o.read(ends)

	before := moves.DeepCopy()
	moves.Spec.SeedName = new("south")
	if err := o.Client.SubResource("binding").Patch(t.Context(), moves, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	o.gone(moved, "GCM-BASTION-3: and when its shoot moves")
	o.read(kept)
	o.read(left)

	clock.Step(40 * time.Minute)
	o.change(kept, func() { metav1.SetMetaDataAnnotation(&kept.ObjectMeta, "gardener.cloud/operation", "keepalive") })
	clock.Step(25 * time.Minute)
	o.gone(left, "GCM-BASTION-4: a bastion that nobody kept alive goes after an hour", patience(clock))
	o.read(kept)

	clock.Step(27 * time.Minute)
	o.gone(kept, "GCM-BASTION-4: and one that somebody keeps alive when it is too old", patience(clock))
	o.read(stays)

	last := o.door(namespace, "last", stays.Name)
	o.change(stays, func() {
		stays.Finalizers = slices.DeleteFunc(stays.Finalizers, func(f string) bool { return f == "test/held" })
	})
	o.confirm(stays)
	o.gone(stays, "a shoot that nobody holds goes at once")
	o.gone(last, "GCM-BASTION-3: and its bastion with it")
}
