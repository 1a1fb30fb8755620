// SPDX-License-Identifier: Apache-2.0

package shootmutator_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootmutator"
)

// TestOtherTasks_API_SMUT_1 changes shoots in ways that are near those that request tasks.
func TestOtherTasks_API_SMUT_1(t *testing.T) {
	t.Parallel()
	const annotation, infra = "shoot.gardener.cloud/tasks", "deployInfrastructure"
	asleep := func(s *shoot) { s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)} }
	purposed := func(s *shoot) { s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting) }
	ssh := func(enabled bool) func(*shoot) {
		return func(s *shoot) {
			s.Spec.Provider.WorkersSettings = &gardencorev1beta1.WorkersSettings{SSHAccess: &gardencorev1beta1.SSHAccess{Enabled: enabled}}
		}
	}
	unset := func(s *shoot) { s.Spec.Provider.WorkersSettings = &gardencorev1beta1.WorkersSettings{} }
	workerless := func(s *shoot) { s.Spec.Provider.Workers, s.Spec.Networking = nil, nil }
	none := func(*shoot) {}
	for name, tc := range map[string]struct {
		reason          string
		old, now, after func(*shoot)
		want            string
	}{
		"sleeps on":  {"a shoot that sleeps on does not wake up", asleep, asleep, purposed, ""},
		"opened":     {"access by SSH that comes back is a change", ssh(false), ssh(true), none, infra},
		"stays open": {"what is open by default is so explicitly", unset, ssh(true), none, ""},
		"workerless": {"a shoot without workers has no machines to get at", workerless, workerless, ssh(false), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil, admissiontest.Profile())
			s := admissiontest.Shoot(tc.now, tc.after)
			if err := g.Ask(shootmutator.New(g.World), admissiontest.Request{Object: s, Old: admissiontest.Shoot(tc.old)}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, s.Annotations[annotation]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestGivenNetworks_API_SMUT_3 gives shoots on seeds some of their networks.
func TestGivenNetworks_API_SMUT_3(t *testing.T) {
	t.Parallel()
	open := admissiontest.Seed("open", func(s *gardencorev1beta1.Seed) { s.Spec.Networks.ShootDefaults = nil })
	ask := func(seed string, change func(*shoot)) *gardencorev1beta1.Networking {
		t.Helper()
		g := admissiontest.New(t, nil, admissiontest.Profile(), admissiontest.Seed("a"), open)
		s := admissiontest.Shoot(func(s *shoot) { s.Spec.SeedName = &seed }, change)
		if err := g.Ask(shootmutator.New(g.World), admissiontest.Request{Object: s}); err != nil {
			t.Fatal(err)
		}
		return s.Spec.Networking
	}
	workerless := func(s *shoot) { s.Spec.Provider.Workers = nil }
	services := func(s *shoot) { s.Spec.Networking.Services = new("10.20.0.0/16") }
	for name, tc := range map[string]struct {
		reason string
		seed   string
		change func(*shoot)
		want   []string
	}{
		"services":   {"the one that is missing is filled in", "a", services, []string{"10.11.0.0/16", "10.20.0.0/16"}},
		"workerless": {"without workers there are no pods", "a", func(s *shoot) { workerless(s); services(s) }, []string{"", "10.20.0.0/16"}},
		"IPv4":       {"a range of its own is for IPv6", "open", workerless, []string{"", ""}},
		"IPv6 and IPv4": {"only", "open", func(s *shoot) {
			workerless(s)
			s.Spec.Networking.IPFamilies = []gardencorev1beta1.IPFamily{"IPv6", "IPv4"}
		}, []string{"", ""}},
		"IPv6 on workers": {"and for shoots without workers", "open", func(s *shoot) { s.Spec.Networking.IPFamilies = []gardencorev1beta1.IPFamily{"IPv6"} }, []string{"", ""}},
		"IPv6, given": {"that have none", "open", func(s *shoot) {
			workerless(s)
			s.Spec.Networking.IPFamilies, s.Spec.Networking.Services = []gardencorev1beta1.IPFamily{"IPv6"}, new("fd00::/112")
		}, []string{"", "fd00::/112"}},
	} {
		got := []string{"", ""}
		n := ask(tc.seed, tc.change)
		for i, cidr := range []*string{n.Pods, n.Services} {
			if cidr != nil {
				got[i] = *cidr
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}

// TestLeftAlone_API_ADM_4 sends what the plugin leaves alone: without a profile it could not complete any of it.
func TestLeftAlone_API_ADM_4(t *testing.T) {
	t.Parallel()
	going := admissiontest.Shoot(func(s *shoot) { s.DeletionTimestamp = new(metav1.Now()) })
	labelled := admissiontest.Shoot(func(s *shoot) { s.Labels = map[string]string{"a": "b"} })
	purposed := admissiontest.Shoot(func(s *shoot) { s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting) })
	for name, tc := range map[string]struct {
		reason      string
		object      *shoot
		subresource string
	}{
		"deletion": {"what goes is not completed", going, ""},
		"status":   {"reports are not completed", purposed, "status"},
		"metadata": {"nor is a spec that stays", labelled, ""},
	} {
		g := admissiontest.New(t, nil)
		before := tc.object.DeepCopy()
		if err := g.Ask(shootmutator.New(g.World), admissiontest.Request{Object: tc.object, Old: admissiontest.Shoot(), Subresource: tc.subresource}); err != nil {
			t.Errorf("%s: %s: %v", name, tc.reason, err)
		}
		if diff := cmp.Diff(before, tc.object); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}

func TestPeriodStays_API_DEF_19(t *testing.T) {
	t.Parallel()
	given := admissiontest.Shoot(func(s *shoot) {
		s.Spec.Maintenance = &gardencorev1beta1.Maintenance{AutoRotation: &gardencorev1beta1.MaintenanceAutoRotation{
			Credentials: &gardencorev1beta1.MaintenanceCredentialsAutoRotation{ETCDEncryptionKey: &gardencorev1beta1.MaintenanceRotationConfig{RotationPeriod: &metav1.Duration{Duration: time.Hour}}},
		}}
	})
	g := admissiontest.New(t, nil, admissiontest.Profile())
	if err := g.Ask(shootmutator.New(g.World), admissiontest.Request{Object: given}); err != nil {
		t.Fatal(err)
	}
	if got := given.Spec.Maintenance.AutoRotation.Credentials.ETCDEncryptionKey.RotationPeriod.Duration; got != time.Hour {
		t.Errorf("a period that is given stays, got %v", got)
	}
}
