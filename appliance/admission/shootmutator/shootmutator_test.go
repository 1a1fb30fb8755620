// SPDX-License-Identifier: Apache-2.0

package shootmutator_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/shootmutator"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type shoot = gardencorev1beta1.Shoot

func asked(key, value string) func(*shoot) {
	return func(s *shoot) { metav1.SetMetaDataAnnotation(&s.ObjectMeta, key, value) }
}

func TestTasks(t *testing.T) {
	t.Parallel()
	const (
		annotation = "shoot.gardener.cloud/tasks"
		operation  = "gardener.cloud/operation"
		infra      = "deployInfrastructure"
		dns        = "deployDNSRecordInternal,deployDNSRecordExternal,deployDNSRecordIngress"
	)
	plain := func(*shoot) {}
	asleep := func(s *shoot) { s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)} }
	configured := func(s *shoot) { s.Spec.Provider.InfrastructureConfig = &runtime.RawExtension{Raw: []byte(`{"a":1}`)} }
	closed := func(s *shoot) {
		s.Spec.Provider.WorkersSettings = &gardencorev1beta1.WorkersSettings{SSHAccess: &gardencorev1beta1.SSHAccess{}}
	}
	families := func(all ...gardencorev1beta1.IPFamily) func(*shoot) {
		return func(s *shoot) { s.Spec.Networking.IPFamilies = all }
	}
	named := func(s *shoot) { s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("own.example")} }
	for name, tc := range map[string]struct {
		reason string
		// old is the shoot before, nil for a new one.
		old, change func(*shoot)
		want        string
	}{
		"API-SMUT-1 create":     {"a new shoot needs everything", nil, plain, infra + "," + dns},
		"API-SMUT-1 once":       {"everything once", nil, asked(annotation, infra+", restartCoreAddons"), infra + ",restartCoreAddons," + dns},
		"API-SMUT-1 wake":       {"so does one that wakes up", asleep, plain, infra + "," + dns},
		"API-SMUT-1 sleep":      {"not one that goes to sleep", plain, asleep, ""},
		"API-SMUT-1 nothing":    {"what does not change is not done again", plain, plain, ""},
		"API-SMUT-1 config":     {"a change of the infrastructure is", plain, configured, infra},
		"API-SMUT-1 ssh":        {"so is access by SSH", plain, closed, infra},
		"API-SMUT-1 families":   {"and a further family of addresses", families("IPv4"), families("IPv4", "IPv6"), infra},
		"API-SMUT-1 fewer":      {"not one less", families("IPv4", "IPv6"), families("IPv4"), ""},
		"API-SMUT-1 keys":       {"new SSH keys get to the machines", plain, asked(operation, "rotate-ssh-keypair"), infra},
		"API-SMUT-1 all keys":   {"also with all others", plain, asked(operation, "reconcile; rotate-credentials-start"), infra},
		"API-SMUT-1 no keys":    {"where there are any", closed, func(s *shoot) { closed(s); asked(operation, "rotate-ssh-keypair")(s) }, ""},
		"API-SMUT-1 other keys": {"others do not", plain, asked(operation, "rotate-ca-start"), ""},
		"API-SMUT-1 same keys":  {"nor those that were asked for before", asked(operation, "rotate-ssh-keypair"), asked(operation, "rotate-ssh-keypair"), ""},
		"API-SMUT-1 dns":        {"a change of names is done", plain, named, dns},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil, admissiontest.Profile())
			s := admissiontest.Shoot(tc.change)
			r := admissiontest.Request{Object: s}
			if tc.old != nil {
				r.Old = admissiontest.Shoot(tc.old)
			}
			if err := g.Ask(shootmutator.New(g.World), r); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, s.Annotations[annotation]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRetry(t *testing.T) {
	t.Parallel()
	confined := func(s *shoot) {
		s.Spec.Maintenance = &gardencorev1beta1.Maintenance{ConfineSpecUpdateRollout: new(true)}
	}
	state := func(state gardencorev1beta1.LastOperationState) func(*shoot) {
		return func(s *shoot) { s.Status.LastOperation = &gardencorev1beta1.LastOperation{State: state} }
	}
	purposed := func(s *shoot) { s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting) }
	for name, tc := range map[string]struct {
		reason   string
		old, now []func(*shoot)
		want     string
	}{
		"API-SMUT-2":           {"what waits for its window has to be started again then", []func(*shoot){confined, state("Failed")}, []func(*shoot){confined, purposed}, "true"},
		"API-SMUT-2 unchanged": {"if something changes", []func(*shoot){confined, state("Failed")}, []func(*shoot){confined}, ""},
		"API-SMUT-2 fine":      {"and the shoot has failed", []func(*shoot){confined, state("Error")}, []func(*shoot){confined, purposed}, ""},
		"API-SMUT-2 at once":   {"and the change waits", []func(*shoot){state("Failed")}, []func(*shoot){purposed}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil, admissiontest.Profile())
			s := admissiontest.Shoot(tc.now...)
			if err := g.Ask(shootmutator.New(g.World), admissiontest.Request{Object: s, Old: admissiontest.Shoot(tc.old...)}); err != nil {
				t.Fatal(err)
			}
			if got := s.Annotations["maintenance.shoot.gardener.cloud/needs-retry-operation"]; got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestNetworks(t *testing.T) {
	t.Parallel()
	six := func(s *shoot) {
		s.Spec.SeedName, s.Spec.Networking.IPFamilies, s.Spec.Provider.Workers = new("a"), []gardencorev1beta1.IPFamily{"IPv6"}, nil
	}
	ask := func(change ...func(*shoot)) *shoot {
		g := admissiontest.New(t, nil, admissiontest.Profile(), admissiontest.Seed("a"))
		s := admissiontest.Shoot(change...)
		if err := g.Ask(shootmutator.New(g.World), admissiontest.Request{Object: s}); err != nil {
			t.Fatal(err)
		}
		return s
	}
	one, again, other := ask(six), ask(six), ask(six, func(s *shoot) { s.Name = "other" })
	got := one.Spec.Networking.Services
	if got == nil || !strings.HasPrefix(*got, "fd") || !strings.HasSuffix(*got, "/112") {
		t.Fatalf("API-SMUT-3: an IPv6 shoot without workers gets a range of its own, got %v", got)
	}
	if *again.Spec.Networking.Services != *got {
		t.Error("API-SMUT-3: a dry run shows what the real one does")
	}
	if *other.Spec.Networking.Services == *got {
		t.Error("API-SMUT-3: another shoot gets another range")
	}
	for _, seedless := range []*shoot{ask(), ask(func(s *shoot) { s.Spec.SeedName = new("") })} {
		if seedless.Spec.Networking.Services != nil {
			t.Errorf("API-SMUT-3: without a seed nothing is chosen, got %v", seedless.Spec.Networking.Services)
		}
	}
}

// TestMove_API_BIND_2 moves a shoot of a Kubernetes for which the profile is named in both fields.
func TestMove_API_BIND_2(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, admissiontest.Profile(), admissiontest.Seed("a"), admissiontest.Seed("b"))
	on := func(seed string) *shoot {
		return admissiontest.Shoot(func(s *shoot) {
			s.Spec.Kubernetes.Version, s.Spec.CloudProfileName, s.Spec.SeedName = "1.32.9", new("local"), &seed
			s.Spec.Networking.Pods, s.Spec.Networking.Services = new("10.1.0.0/16"), new("10.2.0.0/16")
		})
	}
	moved := on("b")
	if err := g.Ask(shootmutator.New(g.World), admissiontest.Request{Object: moved, Old: on("a"), Subresource: "binding"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(on("b").Spec, moved.Spec); diff != "" {
		t.Errorf("a binding that changes more than the seed is refused, so nothing else is filled in (-want +got):\n%s", diff)
	}
}

func TestRest(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, []kind.Object{admissiontest.Profile(), admissiontest.NamespacedProfile()}...)
	both := admissiontest.Shoot(func(s *shoot) { s.Spec.CloudProfileName = new("local") })
	if err := g.Ask(shootmutator.New(g.World), admissiontest.Request{Object: both}); !apierrors.IsForbidden(err) {
		t.Errorf("API-SHOOTSTRAT-9: a profile is named once, got %v", err)
	}
	own := admissiontest.Shoot(func(s *shoot) {
		s.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "own"}
		s.Spec.Kubernetes.Version = "1"
	})
	if err := g.Ask(shootmutator.New(g.World), admissiontest.Request{Object: own}); err != nil {
		t.Fatal(err)
	}
	if own.Spec.Kubernetes.Version != "1.36.3" {
		t.Errorf("API-SMUT-4: a profile of a project offers versions as well, got %q", own.Spec.Kubernetes.Version)
	}
	if got := own.Spec.Maintenance.AutoRotation.Credentials.ETCDEncryptionKey.RotationPeriod; got == nil || got.Duration != 28*24*time.Hour {
		t.Errorf("API-DEF-19: the key of a new etcd is rotated every 28 days, got %v", got)
	}
}
