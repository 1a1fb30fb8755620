// SPDX-License-Identifier: Apache-2.0

package controllerregistration_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	"github.com/terrarium-garden/terrarium/controllers/garden/controllerregistration"
)

type (
	registration = gardencorev1beta1.ControllerRegistration
	installation = gardencorev1beta1.ControllerInstallation
	seed         = gardencorev1beta1.Seed
	shoot        = gardencorev1beta1.Shoot

	gardenInstallations = gardencorev1beta1.ControllerInstallationList
)

func newSeed(change ...func(*seed)) *seed {
	s := &seed{ObjectMeta: metav1.ObjectMeta{Name: "eu", Labels: map[string]string{"tier": "gold"}}}
	s.Spec.Provider.Type = "local"
	for _, c := range change {
		c(s)
	}
	return s
}

func newShoot(change ...func(*shoot)) shoot {
	s := shoot{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	s.Spec.SeedName = new("eu")
	s.Spec.Provider.Type = "local"
	for _, c := range change {
		c(&s)
	}
	return s
}

func offers(name string, list ...string) registration {
	r := registration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, offer := range list {
		kind, typ, _ := strings.Cut(offer, "/")
		r.Spec.Resources = append(r.Spec.Resources, gardencorev1beta1.ControllerResource{Kind: kind, Type: typ})
	}
	return r
}

// local offers what a seed of provider local needs for itself.
func local() registration {
	return offers("provider-local", "ControlPlane/local", "Infrastructure/local", "Worker/local", "Network/local", "OperatingSystemConfig/local", "DNSRecord/local")
}

func policy(r registration, p gardencorev1beta1.ControllerDeploymentPolicy) registration {
	r.Spec.Deployment = &gardencorev1beta1.ControllerRegistrationDeployment{Policy: &p}
	return r
}

func of(name, registered string, change ...func(*installation)) installation {
	i := installation{ObjectMeta: metav1.ObjectMeta{Name: name}}
	i.Spec.RegistrationRef.Name = registered
	for _, c := range change {
		c(&i)
	}
	return i
}

func leaving(i *installation) { i.DeletionTimestamp = new(metav1.Now()) }

func required(i *installation) {
	i.Status.Conditions = []gardencorev1beta1.Condition{{Type: "Required", Status: "True"}}
}

func deletedSeed(s *seed) { s.DeletionTimestamp = new(metav1.Now()) }

func bucket(name, provider, seed string) gardencorev1beta1.BackupBucket {
	b := gardencorev1beta1.BackupBucket{ObjectMeta: metav1.ObjectMeta{Name: name}}
	b.Spec.Provider.Type, b.Spec.SeedName = provider, &seed
	return b
}

// moves gives an entry the seed that still has it.
func moves(e gardencorev1beta1.BackupEntry, from string) gardencorev1beta1.BackupEntry {
	e.Status.SeedName = &from
	return e
}

func entry(bucket, seed string) gardencorev1beta1.BackupEntry {
	e := gardencorev1beta1.BackupEntry{ObjectMeta: metav1.ObjectMeta{Name: bucket + "--entry"}}
	e.Spec.BucketName, e.Spec.SeedName = bucket, &seed
	return e
}

// outline is a plan by names.
type outline struct {
	Install, Delete, Leaving, NoBackups []string
}

func outlineOf(plan controllerregistration.Plan) outline {
	result := outline{Leaving: plan.Leaving, NoBackups: plan.NoBackups}
	for _, target := range plan.Install {
		name := target.Registration.Name
		if target.Deployment != nil {
			name += " by " + target.Deployment.Name
		}
		if target.Existing != nil {
			name += " over " + target.Existing.Name
		}
		result.Install = append(result.Install, name)
	}
	for i := range plan.Delete {
		result.Delete = append(result.Delete, plan.Delete[i].Name)
	}
	return result
}

func TestDecide(t *testing.T) {
	t.Parallel()
	selective := policy(offers("selective", "Extension/dns"), "Always")
	selective.Spec.Deployment.SeedSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "silver"}}
	deployed := local()
	deployed.Spec.Deployment = &gardencorev1beta1.ControllerRegistrationDeployment{DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: "first"}, {Name: "second"}}}
	going := policy(offers("always", "Extension/dns"), "Always")
	going.DeletionTimestamp = new(metav1.Now())
	goingNeeded := local()
	goingNeeded.DeletionTimestamp = new(metav1.Now())

	unasked, unreadable := offers("dns", "Extension/dns"), policy(offers("always", "Extension/dns"), "Always")
	unasked.Spec.Deployment = &gardencorev1beta1.ControllerRegistrationDeployment{}
	unreadable.Spec.Deployment.SeedSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Nope"}}}

	cases := map[string]struct {
		reason string
		in     controllerregistration.Input
		want   outline
		err    string
	}{
		"GCM-CR-4 needed by the seed": {
			reason: "a live seed needs its provider",
			in:     controllerregistration.Input{Registrations: []registration{local(), offers("other", "Worker/other")}},
			want:   outline{Install: []string{"provider-local"}},
		},
		"GCM-CR-4 always": {
			reason: "a policy may ask for every seed",
			in:     controllerregistration.Input{Registrations: []registration{policy(offers("always", "Extension/dns"), "Always"), local()}},
			want:   outline{Install: []string{"always", "provider-local"}},
		},
		"GCM-CR-4 always, in deletion": {
			reason: "nothing new comes for a registration in deletion, and its installation goes",
			in:     controllerregistration.Input{Registrations: []registration{going, local()}, Installations: []installation{of("always-1", "always")}},
			want:   outline{Install: []string{"provider-local"}, Delete: []string{"always-1"}},
		},
		"GCM-CR-4 seed in deletion": {
			reason: "a seed in deletion needs nothing for itself, not even what is always there",
			in: controllerregistration.Input{
				Place: controllerregistration.OnSeed{Seed: newSeed(deletedSeed)}, Registrations: []registration{policy(offers("always", "Extension/dns"), "Always"), local()},
				Installations: []installation{of("always-1", "always"), of("local-1", "provider-local")},
			},
			want: outline{Delete: []string{"always-1", "local-1"}},
		},
		"GCM-CR-4 no policy": {
			reason: "a deployment without a policy is made when it is needed",
			in:     controllerregistration.Input{Registrations: []registration{unasked, local()}},
			want:   outline{Install: []string{"provider-local"}},
		},
		"GCM-CR-4 unreadable": {
			reason: "a selector that means nothing selects nothing",
			in:     controllerregistration.Input{Registrations: []registration{unreadable, local()}},
			err:    `read seed selector of controller registration "always": "Nope" is not a valid label selector operator`,
		},
		"GCM-CR-4 except no shoots": {
			reason: "a policy may ask for every seed that has shoots",
			in: controllerregistration.Input{
				Registrations: []registration{policy(offers("log", "Extension/log"), "AlwaysExceptNoShoots"), local()},
				Shoots:        []shoot{newShoot(func(s *shoot) { s.Spec.SeedName = new("us") })},
			},
			want: outline{Install: []string{"provider-local"}},
		},
		"GCM-CR-4 except no shoots, with one": {
			reason: "a shoot that is still running here counts",
			in: controllerregistration.Input{
				Registrations: []registration{policy(offers("log", "Extension/log"), "AlwaysExceptNoShoots"), local()},
				Shoots:        []shoot{newShoot(func(s *shoot) { s.Spec.SeedName, s.Status.SeedName = new("us"), new("eu") })},
			},
			want: outline{Install: []string{"log", "provider-local"}},
		},
		"GCM-CR-4 primary or not": {
			reason: "every registration that offers a needed combination is installed",
			in:     controllerregistration.Input{Registrations: []registration{local(), offers("also", "ControlPlane/local")}},
			want:   outline{Install: []string{"also", "provider-local"}},
		},
		"GCM-CR-4 required": {
			reason: "an installation whose objects still exist stays",
			in: controllerregistration.Input{
				Registrations: []registration{local(), offers("dns", "Extension/dns")},
				Installations: []installation{of("dns-1", "dns", required)},
			},
			want: outline{Install: []string{"dns over dns-1", "provider-local"}},
		},
		"GCM-CR-4 seed selector": {
			reason: "the selector of the registration is the last word",
			in:     controllerregistration.Input{Registrations: []registration{local(), selective}, Installations: []installation{of("selective-1", "selective")}},
			want:   outline{Install: []string{"provider-local"}, Delete: []string{"selective-1"}},
		},
		"GCM-CR-5 nobody offers": {
			reason: "everything that is missing is named, and nothing is planned",
			in: controllerregistration.Input{
				Registrations: []registration{local()},
				Shoots:        []shoot{newShoot(func(s *shoot) { s.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "b"}, {Type: "a"}} })},
			},
			err: "no controller registration offers Extension/a, Extension/b",
		},
		"GCM-CR-6 registration gone": {
			reason: "an installation without its registration",
			in:     controllerregistration.Input{Registrations: []registration{local()}, Installations: []installation{of("dns-1", "dns")}},
			err:    `controller installation "dns-1" is of controller registration "dns", which does not exist`,
		},
		"GCM-CR-7 first deployment": {
			reason: "the first deployment counts",
			in: controllerregistration.Input{
				Registrations: []registration{deployed},
				Deployments:   []gardencorev1beta1.ControllerDeployment{{ObjectMeta: metav1.ObjectMeta{Name: "second"}}, {ObjectMeta: metav1.ObjectMeta{Name: "first"}}},
			},
			want: outline{Install: []string{"provider-local by first"}},
		},
		"GCM-CR-7 registration in deletion": {
			reason: "what is needed stays, but is not touched while its registration goes",
			in:     controllerregistration.Input{Registrations: []registration{goingNeeded}, Installations: []installation{of("local-1", "provider-local")}},
		},
		"GCM-CR-8 deployment missing": {
			reason: "a deployment that does not exist",
			in:     controllerregistration.Input{Registrations: []registration{deployed}},
			err:    `controller registration "provider-local" names controller deployment "first", which does not exist`,
		},
		"GCM-CR-8 being deleted": {
			reason: "a needed installation in deletion has to go first",
			in:     controllerregistration.Input{Registrations: []registration{local()}, Installations: []installation{of("local-1", "provider-local", leaving)}},
			want:   outline{Leaving: []string{"provider-local"}},
		},
		"GCM-CR-9 not needed": {
			reason: "what nobody needs is deleted, once",
			in: controllerregistration.Input{
				Registrations: []registration{local(), offers("dns", "Extension/dns"), offers("log", "Extension/log")},
				Installations: []installation{of("dns-1", "dns"), of("log-1", "log", leaving)},
			},
			want: outline{Install: []string{"provider-local"}, Delete: []string{"dns-1"}},
		},
		"GCM-CR-7 two of one": {
			reason: "of two installations of one registration the older is kept up to date, the other, made by hand, is left alone",
			in: controllerregistration.Input{
				Registrations: []registration{local()},
				Installations: []installation{
					of("local-2", "provider-local", func(i *installation) { i.CreationTimestamp = metav1.NewTime(time.Unix(2, 0)) }),
					of("local-9", "provider-local", func(i *installation) { i.CreationTimestamp = metav1.NewTime(time.Unix(1, 0)) }),
				},
			},
			want: outline{Install: []string{"provider-local over local-9"}},
		},
		"GCM-CR-9 two of one": {
			reason: "both go when nobody needs them",
			in: controllerregistration.Input{
				Registrations: []registration{local(), offers("dns", "Extension/dns")},
				Installations: []installation{of("dns-2", "dns"), of("dns-1", "dns")},
			},
			want: outline{Install: []string{"provider-local"}, Delete: []string{"dns-1", "dns-2"}},
		},
		"GCM-CR-4 the second required": {
			reason: "whichever of two still has objects keeps the extension",
			in: controllerregistration.Input{
				Registrations: []registration{local(), offers("dns", "Extension/dns")},
				Installations: []installation{of("dns-1", "dns"), of("dns-2", "dns", required)},
			},
			want: outline{Install: []string{"dns over dns-1", "provider-local"}},
		},
		"GCM-CR-5 nobody offers backups": {
			reason: "a seed that cannot have backups can have everything else",
			in: controllerregistration.Input{
				Place: controllerregistration.OnSeed{
					Seed: newSeed(func(s *seed) { s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "cloud"} }),
				},
				Registrations: []registration{local()}, Shoots: []shoot{newShoot()},
			},
			want: outline{Install: []string{"provider-local"}, NoBackups: []string{"BackupBucket/cloud", "BackupEntry/cloud"}},
		},
		"GCM-CR-2 buckets and entries": {
			reason: "what a seed keeps needs its extension without any shoot",
			in: controllerregistration.Input{
				Registrations: []registration{local(), offers("cloud", "BackupBucket/cloud"), offers("other", "BackupEntry/other"), offers("third", "BackupEntry/third")},
				Buckets:       []gardencorev1beta1.BackupBucket{bucket("a", "cloud", "eu"), bucket("b", "other", "us"), bucket("c", "third", "us")},
				Entries:       []gardencorev1beta1.BackupEntry{entry("b", "eu"), entry("gone", "eu"), moves(entry("c", "us"), "eu")},
			},
			want: outline{Install: []string{"cloud", "other", "provider-local", "third"}},
		},
		"GCM-CR-2 domains": {
			reason: "a seed that names no domains goes by those of the garden",
			in: controllerregistration.Input{
				Registrations: []registration{local(), offers("names", "DNSRecord/names"), offers("inner", "DNSRecord/inner"), offers("other", "DNSRecord/other")},
				Shoots:        []shoot{newShoot(func(s *shoot) { s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("a.dev.example.org")} })},
				Domains: []extensions.Domain{
					{Name: "example.org", Provider: "names"}, {Name: "example.com", Provider: "other"}, {Name: "internal.example.org", Provider: "inner", Internal: true},
				},
			},
			want: outline{Install: []string{"inner", "names", "provider-local"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.in.Place == nil {
				tc.in.Place = controllerregistration.OnSeed{Seed: newSeed()}
			}
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
