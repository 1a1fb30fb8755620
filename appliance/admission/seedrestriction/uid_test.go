// SPDX-License-Identifier: Apache-2.0

package seedrestriction_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/seedrestriction"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// uids are those of the objects of a garden, which the server chooses.
type uids struct{ north, south, sprout, other, nursery types.UID }

// grown is a garden with two seeds, a shoot on each, and a managed seed on the first.
func grown(t *testing.T) (*admissiontest.Garden, uids) {
	t.Helper()
	technical := func(name string) func(*gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) { s.Status.TechnicalID = "shoot--meadow--" + name }
	}
	g := admissiontest.New(t, nil,
		admissiontest.Seed("north", func(s *gardencorev1beta1.Seed) {
			s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "local", CredentialsRef: bucket("north").Spec.CredentialsRef}
		}), admissiontest.Seed("south"),
		admissiontest.Shoot(on("north"), technical("sprout")),
		admissiontest.Shoot(on("south"), called(meadow, "other"), technical("other")),
		admissiontest.Shoot(on("north"), called("garden", "nursery")), managed("nursery"), bucket("north"))
	view := g.World.Fresh()
	seed := func(name string) types.UID {
		s, err := view.Seed(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return s.UID
	}
	shoot := func(name string) types.UID {
		s, err := view.Shoot(t.Context(), meadow, name)
		if err != nil {
			t.Fatal(err)
		}
		return s.UID
	}
	m, err := world.Get[gardenseedmanagementv1alpha1.ManagedSeed](t.Context(), view, world.Place{
		Group: gardenseedmanagementv1alpha1.GroupName, Resource: "managedseeds", Namespace: "garden", Name: "nursery",
	})
	if err != nil {
		t.Fatal(err)
	}
	return g, uids{seed("north"), seed("south"), shoot("sprout"), shoot("other"), m.UID}
}

// issuer is the Secret with the documents of the issuer of a shoot.
func issuer(uid types.UID, shoot, public string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "gardener-system-shoot-issuer", Name: "meadow--" + string(uid), Labels: map[string]string{
			"shoot.gardener.cloud/name": shoot, "shoot.gardener.cloud/namespace": meadow, "discovery.gardener.cloud/public": public,
		},
	}}
}

func TestNamesWithUIDs(t *testing.T) {
	t.Parallel()
	g, is := grown(t)
	named := func(uid types.UID) *gardencorev1beta1.BackupBucket {
		b := bucket("north")
		b.Name = string(uid)
		return b
	}
	with := func(namespace, name string) *gardencorev1beta1.BackupBucket {
		b := named(is.north)
		b.Spec.SecretRef, b.Spec.CredentialsRef = nil, &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: name}
		return b
	}
	given := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "given", Labels: map[string]string{"name.seed.gardener.cloud/north": "true"}}}
	g.Add(given)
	documents := issuer(is.sprout, "sprout", "serviceaccount")
	newer := documents.DeepCopy()
	newer.Data = map[string][]byte{"jwks": []byte("{}")}
	hidden := documents.DeepCopy()
	delete(hidden.Labels, "discovery.gardener.cloud/public")
	backup := func(uid types.UID) *corev1.Secret {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "backup-nursery"}}
		s.OwnerReferences = []metav1.OwnerReference{{APIVersion: "seedmanagement.gardener.cloud/v1alpha1", Kind: "ManagedSeed", Name: "nursery", UID: uid}}
		return s
	}
	backed := func(uid types.UID) *gardencorev1beta1.BackupEntry {
		return entry("shoot--meadow--sprout--"+string(uid), "b", "north")
	}
	for name, tc := range map[string]struct {
		reason  string
		request admissiontest.Request
		refused bool
		// hides is what a refusal does not tell.
		hides types.UID
	}{
		"GAC-SR-2 bucket of the seed": {reason: "the name of its bucket is the seed's", request: create(named(is.north))},
		"GAC-SR-2 given":              {reason: "credentials that were given to it need not be named", request: create(with("garden", "given"))},
		"GAC-SR-2 own namespace":      {reason: "nor those in its namespace", request: create(with("seed-north", "x"))},
		"GAC-SR-2 any name":           {reason: "there is one bucket of a seed", request: create(named("any")), refused: true},
		"GAC-SR-2 no name":            {reason: "whoever chooses its name", request: create(named("")), refused: true},
		"GAC-SR-2 bucket of another":  {reason: "nobody takes the place of another's bucket", request: create(named(is.south)), refused: true},
		"GAC-SR-2 delete own":         {reason: "a seed takes its bucket along", request: by(nil, named(is.north))},
		"GAC-SR-2 delete another":     {reason: "and no other", request: by(nil, named(is.south)), refused: true},
		"GAC-SR-3 entry":              {reason: "an entry has the name of its shoot", request: create(backed(is.sprout))},
		"GAC-SR-3 entry of another":   {reason: "and not that of another", request: create(backed(is.other)), refused: true},
		"GAC-SR-9 (c) issuer":         {reason: "documents of issuers are published", request: create(documents)},
		"GAC-SR-9 (c) other shoot":    {reason: "not for shoots of others", request: create(issuer(is.other, "other", "serviceaccount")), refused: true},
		"GAC-SR-9 (c) other name":     {reason: "nor under the name of another shoot's issuer", request: create(issuer(is.other, "sprout", "serviceaccount")), refused: true},
		"GAC-SR-9 (c) hidden name":    {reason: "nor is it told that name", request: create(issuer("guessed", "other", "serviceaccount")), refused: true, hides: is.other},
		"GAC-SR-9 (c) other label":    {reason: "nor what is no document", request: create(issuer(is.sprout, "sprout", "no")), refused: true},
		"GAC-SR-9 (c) update":         {reason: "documents change", request: by(newer, documents)},
		"GAC-SR-9 (c) later":          {reason: "and stay documents", request: by(hidden, documents), refused: true},
		"GAC-SR-9 (c) delete":         {reason: "and go", request: by(nil, documents)},
		"GAC-SR-9 (c) delete other":   {reason: "those of others stay", request: by(nil, issuer(is.other, "other", "serviceaccount")), refused: true},
		"GAC-SAR-12 managed seed's":   {reason: "what an older gardenlet made for a managed seed goes with it", request: by(nil, backup(is.nursery))},
		"GAC-SAR-12 another's":        {reason: "not what another one of that name owns", request: by(nil, backup("another")), refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := g.Ask(seedrestriction.New(g.World), tc.request)
			if diff := cmp.Diff(tc.refused, apierrors.IsForbidden(err)); diff != "" || !tc.refused && err != nil {
				t.Errorf("%s\nis the request forbidden by %v? (-want +got):\n%s", tc.reason, err, diff)
			}
			if tc.hides != "" && strings.Contains(fmt.Sprint(err), string(tc.hides)) {
				t.Errorf("%s: got %v, want it without %s", tc.reason, err, tc.hides)
			}
		})
	}
}
