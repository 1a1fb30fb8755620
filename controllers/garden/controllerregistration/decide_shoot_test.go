// SPDX-License-Identifier: Apache-2.0

package controllerregistration_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	"github.com/terrarium-garden/terrarium/controllers/garden/controllerregistration"
)

// lone is a self-hosted shoot.
func lone(change ...func(*shoot)) *shoot {
	s := &shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "lone", Labels: map[string]string{"tier": "gold"}}}
	s.Spec.Provider.Type = "local"
	s.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "one", ControlPlane: &gardencorev1beta1.WorkerControlPlane{}}}
	for _, c := range change {
		c(s)
	}
	return s
}

func deletedShoot(s *shoot) { s.DeletionTimestamp = new(metav1.Now()) }

func ref(namespace, name string) *corev1.ObjectReference {
	return &corev1.ObjectReference{Namespace: namespace, Name: name}
}

func bucketOf(name, provider string, shoot *corev1.ObjectReference) gardencorev1beta1.BackupBucket {
	b := bucket(name, provider, "")
	b.Spec.SeedName, b.Spec.ShootRef = nil, shoot
	return b
}

func entryOf(bucket string, shoot *corev1.ObjectReference) gardencorev1beta1.BackupEntry {
	e := entry(bucket, "")
	e.Spec.SeedName, e.Spec.ShootRef = nil, shoot
	return e
}

func selecting(r registration, selector metav1.LabelSelector) registration {
	r = *r.DeepCopy()
	if r.Spec.Deployment == nil {
		r.Spec.Deployment = &gardencorev1beta1.ControllerRegistrationDeployment{}
	}
	r.Spec.Deployment.SeedSelector = &selector
	return r
}

// TestDecideInShoot_GCM_CR_10 plans for a self-hosted shoot.
func TestDecideInShoot_GCM_CR_10(t *testing.T) {
	t.Parallel()
	everywhere := offers("auto", "Extension/auto")
	everywhere.Spec.Resources[0].AutoEnable = []gardencorev1beta1.ClusterType{"shoot"}
	always, someShoots := policy(offers("always", "Extension/dns"), "Always"), policy(offers("log", "Extension/log"), "AlwaysExceptNoShoots")
	gold := metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}
	anyButSilver := metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "NotIn", Values: []string{"silver"}}}}
	for name, tc := range map[string]struct {
		reason string
		shoot  *shoot
		in     controllerregistration.Input
		want   outline
		err    string
	}{
		"needs of its own": {
			reason: "it needs its provider, and nothing for the domains of the garden or for shoots elsewhere",
			in: controllerregistration.Input{
				Registrations: []registration{local(), offers("names", "DNSRecord/names"), offers("other", "Worker/other")},
				Shoots:        []shoot{newShoot(func(s *shoot) { s.Spec.Provider.Type = "other" })},
				Domains:       []extensions.Domain{{Name: "internal.example.org", Provider: "names", Internal: true}},
			},
			want: outline{Install: []string{"provider-local"}},
		},
		"policies": {
			reason: "it is a cluster that runs a shoot",
			in:     controllerregistration.Input{Registrations: []registration{local(), always, someShoots}},
			want:   outline{Install: []string{"always", "log", "provider-local"}},
		},
		"in deletion": {
			reason: "it needs nothing any more, and what still has objects in it stays", shoot: lone(deletedShoot),
			in: controllerregistration.Input{
				Registrations: []registration{local(), always, someShoots, everywhere},
				Installations: []installation{of("always-1", "always"), of("auto-1", "auto"), of("local-1", "provider-local", required), of("log-1", "log")},
			},
			want: outline{Install: []string{"provider-local over local-1"}, Delete: []string{"always-1", "auto-1", "log-1"}},
		},
		"backups": {
			reason: "what it keeps itself, whatever a seed or a shoot of its name in another namespace keeps",
			in: controllerregistration.Input{
				Registrations: []registration{
					local(), offers("a", "BackupBucket/a"), offers("b", "BackupEntry/b"), offers("c", "BackupBucket/c", "BackupEntry/c"), offers("d", "BackupBucket/d", "BackupEntry/d"),
				},
				Buckets: []gardencorev1beta1.BackupBucket{
					bucketOf("a", "a", ref("garden", "lone")), bucketOf("b", "b", ref("garden", "other")), bucketOf("c", "c", ref("other", "lone")), bucket("d", "d", "lone"),
				},
				Entries: []gardencorev1beta1.BackupEntry{entryOf("b", ref("garden", "lone")), entryOf("c", ref("other", "lone")), entry("d", "lone"), entryOf("gone", ref("garden", "lone"))},
			},
			want: outline{Install: []string{"a", "b", "provider-local"}},
		},
		"backups in deletion": {
			reason: "which it keeps to the end", shoot: lone(deletedShoot),
			in: controllerregistration.Input{
				Registrations: []registration{local(), offers("a", "BackupBucket/a")},
				Buckets:       []gardencorev1beta1.BackupBucket{bucketOf("a", "a", ref("garden", "lone"))},
			},
			want: outline{Install: []string{"a"}},
		},
		"no backups": {
			reason: "without an extension for them it has everything else",
			in: controllerregistration.Input{
				Registrations: []registration{local()}, Buckets: []gardencorev1beta1.BackupBucket{bucketOf("a", "a", ref("garden", "lone"))},
			},
			want: outline{Install: []string{"provider-local"}, NoBackups: []string{"BackupBucket/a"}},
		},
		"seed selector": {
			reason: "one that selects seeds by anything selects no shoot, whatever labels that has, and what it enables everywhere is not needed there",
			in: controllerregistration.Input{
				Registrations: []registration{local(), selecting(always, gold), selecting(everywhere, gold), selecting(someShoots, anyButSilver)},
				Installations: []installation{of("always-1", "always"), of("log-1", "log", required)},
			},
			want: outline{Install: []string{"provider-local"}, Delete: []string{"always-1", "log-1"}},
		},
		"empty seed selector": {
			reason: "selects everything",
			in:     controllerregistration.Input{Registrations: []registration{local(), selecting(always, metav1.LabelSelector{})}},
			want:   outline{Install: []string{"always", "provider-local"}},
		},
		"only for seeds": {
			reason: "what only seeds may have is missing",
			in:     controllerregistration.Input{Registrations: []registration{selecting(local(), gold)}, Installations: []installation{of("local-1", "provider-local")}},
			err:    "no controller registration without a seed selector offers ControlPlane/local, Infrastructure/local, Worker/local",
		},
		"registration gone": {
			reason: "an installation without its registration",
			in:     controllerregistration.Input{Registrations: []registration{local()}, Installations: []installation{of("dns-1", "dns")}},
			err:    `controller installation "dns-1" is of controller registration "dns", which does not exist`,
		},
		"not needed": {
			reason: "what nobody needs is deleted, and what is being deleted is waited for",
			in: controllerregistration.Input{
				Registrations: []registration{local(), offers("dns", "Extension/dns")},
				Installations: []installation{of("dns-1", "dns"), of("local-1", "provider-local", leaving)},
			},
			want: outline{Delete: []string{"dns-1"}, Leaving: []string{"provider-local"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.shoot == nil {
				tc.shoot = lone()
			}
			tc.in.Place = controllerregistration.InShoot{Shoot: tc.shoot}
			plan, err := controllerregistration.Decide(tc.in)
			message := ""
			if err != nil {
				message = err.Error()
			}
			if diff := cmp.Diff(tc.err, message); diff != "" {
				t.Errorf("%s\nDecide error (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, outlineOf(plan)); diff != "" {
				t.Errorf("%s\nDecide (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFillInShoot_GCM_CR_10 makes an installation in a shoot, and makes it again after changes of the shoot.
func TestFillInShoot_GCM_CR_10(t *testing.T) {
	t.Parallel()
	target := controllerregistration.Target{Registration: new(local())}
	s := lone(func(s *shoot) { s.ResourceVersion = "7" })
	got := &installation{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"seed-ref-name": "eu"}}}
	again := func() {
		t.Helper()
		if err := controllerregistration.Fill(got, target, controllerregistration.InShoot{Shoot: s}); err != nil {
			t.Fatal(err)
		}
	}
	again()
	want := gardencorev1beta1.ControllerInstallationSpec{
		RegistrationRef: corev1.ObjectReference{Name: "provider-local"},
		ShootRef:        &corev1.ObjectReference{Namespace: "garden", Name: "lone", ResourceVersion: "7"},
	}
	if diff := cmp.Diff(want, got.Spec); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	first := got.Labels["shoot-spec-hash"]
	if _, ofSeed := got.Labels["seed-ref-name"]; ofSeed || len(first) != 16 || len(got.Labels) != 2 {
		t.Errorf("labels %v, want the hashes of the registration and of the shoot, and no seed", got.Labels)
	}
	s.ResourceVersion = "8"
	again()
	if diff := cmp.Diff("7", got.Spec.ShootRef.ResourceVersion); diff != "" {
		t.Errorf("a shoot that only reports does not install everything again (-want +got):\n%s", diff)
	}
	s.Spec.Region = "north"
	again()
	if got.Spec.ShootRef.ResourceVersion != "8" || got.Labels["shoot-spec-hash"] == first {
		t.Errorf("a shoot that changed does: version %q, labels %v", got.Spec.ShootRef.ResourceVersion, got.Labels)
	}
}
