// SPDX-License-Identifier: Apache-2.0

package seedrestriction_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/seedrestriction"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// TestHidden tries names of what may be there or not: the refusal does not tell a client of a seed what others have.
func TestHidden(t *testing.T) {
	t.Parallel()
	const binder = "gardener.cloud:system:seed-bootstrapper"
	theirs := []kind.Object{
		admissiontest.Shoot(on("south"), called(meadow, "other")), bucket("south"), entry("backup", "b", "south"),
		admissiontest.Shoot(on("south"), called("garden", "nursery")), managed("nursery", func(m *gardenseedmanagementv1alpha1.ManagedSeed) { m.UID = "1" }),
	}
	issuer := &corev1.Secret{ObjectMeta: named("gardener-system-shoot-issuer", "x")}
	issuer.Labels = map[string]string{
		"discovery.gardener.cloud/public": "serviceaccount", "shoot.gardener.cloud/namespace": meadow, "shoot.gardener.cloud/name": "other",
	}
	source := entry("source-backup", "c", "north")
	source.OwnerReferences[0].Name = "other"
	owned := &corev1.Secret{ObjectMeta: named("garden", "x")}
	owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "seedmanagement.gardener.cloud/v1alpha1", Kind: "ManagedSeed", Name: "nursery", UID: "1"}}
	for name, r := range map[string]admissiontest.Request{
		"GAC-SR-9 keys":           create(&corev1.Secret{ObjectMeta: named(meadow, "other.ssh-keypair")}),
		"GAC-SR-9 keys change":    by(&corev1.Secret{ObjectMeta: named(meadow, "other.ssh-keypair"), Data: map[string][]byte{"a": nil}}, &corev1.Secret{ObjectMeta: named(meadow, "other.ssh-keypair")}),
		"GAC-SR-9 credentials":    create(&corev1.Secret{ObjectMeta: named("garden", "generated-bucket-b")}),
		"GAC-SR-9 issuer":         create(issuer),
		"GAC-SR-9 managed":        by(nil, owned),
		"GAC-SR-10 authority":     create(&corev1.ConfigMap{ObjectMeta: named(meadow, "other.ca-cluster")}),
		"GAC-SR-10 client CA":     create(&gardencorev1beta1.InternalSecret{ObjectMeta: named(meadow, "other.ca-client")}),
		"GAC-SR-13 state":         create(&gardencorev1beta1.ShootState{ObjectMeta: named(meadow, "other")}),
		"GAC-SR-3 entry":          create(entry("backup", "b", "north")),
		"GAC-SR-4 source":         create(source),
		"GAC-SR-7 binding":        create(&rbacv1.ClusterRoleBinding{ObjectMeta: named("", binder+":garden:nursery"), RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: binder}}),
		"GAC-SR-11 delete a seed": by(nil, admissiontest.Seed("nursery")),
		"GAC-SR-12 account":       create(&corev1.ServiceAccount{ObjectMeta: named("garden", "gardenlet-bootstrap-nursery")}),
		"GAC-SR-14 token":         create(token("A bootstrap token for the ManagedSeed resource garden/nursery")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ask := func(there ...kind.Object) string {
				g := admissiontest.New(t, nil, there...)
				err := g.Ask(seedrestriction.New(g.World), r)
				if err == nil {
					t.Fatal("it is allowed")
				}
				return err.Error()
			}
			if diff := cmp.Diff(ask(), ask(theirs...)); diff != "" {
				t.Errorf("the answer tells whether another seed has it (-nothing there +theirs):\n%s", diff)
			}
		})
	}
	t.Run("GAC-SR-4 no original", func(t *testing.T) {
		t.Parallel()
		ask := func(there ...kind.Object) string {
			g := admissiontest.New(t, nil, append(there, admissiontest.Shoot(on("north"), restoring, func(s *gardencorev1beta1.Shoot) {
				s.Status.TechnicalID, s.Status.UID = "shoot--meadow--sprout", "1"
			}))...)
			err := g.Ask(seedrestriction.New(g.World), create(entry("source-shoot--meadow--sprout--1", "c", "north")))
			if err == nil {
				t.Fatal("it is allowed")
			}
			return err.Error()
		}
		if diff := cmp.Diff(ask(), ask(entry("shoot--meadow--sprout--1", "b", "south"))); diff != "" {
			t.Errorf("the answer tells whether there is an entry (-nothing there +theirs):\n%s", diff)
		}
	})
}
