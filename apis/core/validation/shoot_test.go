// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

func windowed(begin, end string) func(*gardencorev1beta1.Shoot) {
	return func(s *gardencorev1beta1.Shoot) {
		s.Spec.Maintenance = &gardencorev1beta1.Maintenance{TimeWindow: &gardencorev1beta1.MaintenanceTimeWindow{Begin: begin, End: end}}
	}
}

func TestValidateShoot(t *testing.T) {
	t.Parallel()
	type change = func(*gardencorev1beta1.Shoot)
	for name, tc := range map[string]struct {
		reason string
		change change
		want   []string
	}{
		"Whole": {reason: "a complete shoot passes", change: func(*gardencorev1beta1.Shoot) {}},
		"API-VALSHOOT-1 required": {
			reason: "each missing field is named",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.CloudProfile, s.Spec.Region, s.Spec.Provider.Type = nil, "", ""
				s.Spec.Kubernetes.Version, s.Spec.CredentialsBindingName, s.Spec.Networking.Type = "", nil, nil
				s.Spec.Provider.Workers[0].Machine.Type = ""
			},
			want: []string{
				"spec.cloudProfile.name: FieldValueRequired", "spec.credentialsBindingName: FieldValueRequired", "spec.kubernetes.version: FieldValueRequired",
				"spec.networking.type: FieldValueRequired", "spec.provider.type: FieldValueRequired",
				"spec.provider.workers[0].machine.type: FieldValueRequired", "spec.region: FieldValueRequired",
			},
		},
		"API-VALSHOOT-1 version": {
			reason: "a version has three parts", change: func(s *gardencorev1beta1.Shoot) { s.Spec.Kubernetes.Version = "1.36" }, want: []string{"spec.kubernetes.version: FieldValueInvalid"},
		},
		"API-SHOOTSTRAT-9 kind": {
			reason: "the kind of a profile can be left out", change: func(s *gardencorev1beta1.Shoot) { s.Spec.CloudProfile.Kind = "" },
		},
		"API-NAME-3": {
			reason: "two hyphens would be taken for the separator of technical IDs",
			change: func(s *gardencorev1beta1.Shoot) { s.Name = "a--b" },
			want:   []string{"metadata.name: FieldValueInvalid"},
		},
		"API-NAME-5": {
			reason: "names of pools become parts of host names",
			change: func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers[0].Name = "much-too-long-for-a-pool" },
			want:   []string{"spec.provider.workers[0].name: FieldValueTooLong"},
		},
		"API-VALSHOOT-7": {
			reason: "without workers nothing of machines may be set",
			change: func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers = nil },
			want: []string{
				"spec.credentialsBindingName: FieldValueForbidden",
				"spec.networking.pods: FieldValueForbidden", "spec.networking.type: FieldValueForbidden",
			},
		},
		"API-VALSHOOT-8": {
			reason: "numbers of machines must make sense",
			change: func(s *gardencorev1beta1.Shoot) {
				w := &s.Spec.Provider.Workers[0]
				w.Minimum, w.Maximum = 3, 2
				w.MaxSurge, w.MaxUnavailable = new(intstr.FromInt(0)), new(intstr.FromString("0%"))
				w.Volume = &gardencorev1beta1.Volume{Size: "20GB"}
			},
			want: []string{
				"spec.provider.workers[0].maxUnavailable: FieldValueInvalid", "spec.provider.workers[0].maximum: FieldValueForbidden",
				"spec.provider.workers[0].volume.size: FieldValueInvalid",
			},
		},
		"API-VALSHOOT-9": {
			reason: "system components need a machine",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Provider.Workers[0].SystemComponents = &gardencorev1beta1.WorkerSystemComponents{}
			},
			want: []string{"spec.provider.workers: FieldValueForbidden"},
		},
		"API-VALSHOOT-10": {
			reason: "networks are canonical and apart",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Networking.Nodes = new("10.0.0.1/8")
				s.Spec.Networking.Services = new("nonsense")
			},
			want: []string{
				"spec.networking.nodes: FieldValueInvalid", "spec.networking.pods: FieldValueInvalid",
				"spec.networking.services: FieldValueInvalid",
			},
		},
		"API-VALSHOOT-12": {
			reason: "infrastructure is for the garden's own shoots",
			change: func(s *gardencorev1beta1.Shoot) { s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeInfrastructure) },
			want:   []string{"spec.purpose: FieldValueNotSupported"},
		},
		"API-VALSHOOT-14": {
			reason: "a window of ten minutes is too short",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Maintenance = &gardencorev1beta1.Maintenance{
					TimeWindow: &gardencorev1beta1.MaintenanceTimeWindow{Begin: "235500+0000", End: "000500+0000"},
				}
			},
			want: []string{"spec.maintenance.timeWindow: FieldValueInvalid"},
		},
		"API-VALSHOOT-14 fine": {
			reason: "a window of an hour is fine, across midnight too", change: windowed("233000+0000", "003000+0000"),
		},
		"API-VALSHOOT-14 long": {
			reason: "more than six hours are not", change: windowed("220000+0100", "040001+0100"), want: []string{"spec.maintenance.timeWindow: FieldValueInvalid"},
		},
		"API-VALSHOOT-14 begin": {
			reason: "a window begins at some time", change: windowed("22:00", "230000+0100"), want: []string{"spec.maintenance.timeWindow.begin: FieldValueInvalid"},
		},
		"API-VALSHOOT-14 end": {
			reason: "and ends at some time", change: windowed("220000+0100", ""), want: []string{"spec.maintenance.timeWindow.end: FieldValueInvalid"},
		},
		"API-VALSHOOT-15 fine": {
			reason: "a shoot sleeps at night, somewhere",
			change: sleeps(
				gardencorev1beta1.HibernationSchedule{Start: new("0 20 * * *"), End: new("0 6 * * *"), Location: new("UTC")},
				gardencorev1beta1.HibernationSchedule{Start: new("0 21 * * *")},
			),
		},
		"API-VALSHOOT-15 no time": {
			reason: "an hour is one", change: sleeps(gardencorev1beta1.HibernationSchedule{Start: new("0 25 * * *")}), want: []string{"spec.hibernation.schedules[0].start: FieldValueInvalid"},
		},
		"API-VALSHOOT-15 long name": {
			reason: "the name of a time zone is short", want: []string{"spec.hibernation.schedules[0].location: FieldValueInvalid"},
			change: sleeps(gardencorev1beta1.HibernationSchedule{Start: new("0 20 * * *"), Location: new(strings.Repeat("./", 40) + "UTC")}),
		},
		"API-VALSHOOT-18 values": {
			reason: "a key can have several values",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Tolerations = []gardencorev1beta1.Toleration{{Key: "a", Value: new("b")}, {Key: "a", Value: new("c")}}
			},
		},
		"API-VALSHOOT-18 same": {
			reason: "each once",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Tolerations = []gardencorev1beta1.Toleration{{Key: "a", Value: new("b")}, {Key: "a", Value: new("b")}}
			},
			want: []string{"spec.tolerations[1]: FieldValueDuplicate"},
		},
		"API-VALSHOOT-18 covered": {
			reason: "no value follows the key alone, which covers it",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Tolerations = []gardencorev1beta1.Toleration{{Key: "a"}, {Key: "a", Value: new("b")}}
			},
			want: []string{"spec.tolerations[1]: FieldValueDuplicate"},
		},
		"API-VALSHOOT-18 covering": {
			reason: "the key alone may follow",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Tolerations = []gardencorev1beta1.Toleration{{Key: "a", Value: new("b")}, {Key: "a"}}
			},
		},
		"API-VALSHOOT-15": {
			reason: "schedules are cron expressions of a known zone",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Schedules: []gardencorev1beta1.HibernationSchedule{
					{Start: new("@daily"), Location: new("Nowhere/City")}, {},
				}}
			},
			want: []string{
				"spec.hibernation.schedules[0].location: FieldValueInvalid", "spec.hibernation.schedules[0].start: FieldValueInvalid",
				"spec.hibernation.schedules[1].start/end: FieldValueRequired",
			},
		},
		"API-VALSHOOT-18": {
			reason: "a toleration names a key, once",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Tolerations = []gardencorev1beta1.Toleration{{Key: "a"}, {Key: "a"}, {}}
			},
			want: []string{"spec.tolerations[1]: FieldValueDuplicate", "spec.tolerations[2].key: FieldValueRequired"},
		},
		"API-VALSHOOT-24": {
			reason: "finalizers of the garden are not for users",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Finalizers = []string{"gardener", "example.org/mine", "gardener.cloud/reference-protection"}
			},
			want: []string{"metadata.finalizers[0]: FieldValueForbidden", "metadata.finalizers[2]: FieldValueForbidden"},
		},
		"API-VALOP-1": {
			reason: "an unknown operation is refused",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Annotations = map[string]string{"gardener.cloud/operation": "reconcile; dance"}
			},
			want: []string{"metadata.annotations[gardener.cloud/operation]: FieldValueNotSupported"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateShoot(shoot(tc.change)))); diff != "" {
				t.Errorf("%s\nValidateShoot(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// lowAlone sets one threshold of image collection of the first pool.
func lowAlone(percent int32) func(*gardencorev1beta1.Shoot) {
	return func(s *gardencorev1beta1.Shoot) {
		s.Spec.Provider.Workers[0].Kubernetes = &gardencorev1beta1.WorkerKubernetes{Kubelet: &gardencorev1beta1.KubeletConfig{ImageGCLowThresholdPercent: &percent}}
	}
}

func TestValidateShootUpdate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason   string
		old, now *gardencorev1beta1.Shoot
		want     []string
	}{
		"Unchanged": {reason: "nothing changed", old: shoot(), now: shoot()},
		"API-VALSHOOT-17 stored": {
			reason: "what was accepted once can be written, so that its owner can confirm its deletion", old: shoot(lowAlone(85)),
			now: shoot(lowAlone(85), func(s *gardencorev1beta1.Shoot) {
				s.Annotations = map[string]string{"confirmation.gardener.cloud/deletion": "true"}
			}),
		},
		"API-VALSHOOT-17 changed": {
			reason: "another value is checked", old: shoot(lowAlone(85)), now: shoot(lowAlone(86)),
			want: []string{"spec.provider.workers[0].kubernetes.kubelet.imageGCLowThresholdPercent: FieldValueForbidden"},
		},
		"API-VALSHOOT-2": {
			reason: "what made the shoot what it is stays",
			old:    shoot(),
			now: shoot(func(s *gardencorev1beta1.Shoot) {
				s.Spec.Region, s.Spec.CloudProfile.Name, s.Spec.Networking.Pods = "other", "other", new("10.99.0.0/16")
			}),
			want: []string{
				"spec.cloudProfile: FieldValueInvalid", "spec.networking.pods: FieldValueInvalid", "spec.region: FieldValueInvalid",
			},
		},
		"API-BIND-1": {
			reason: "the seed is given by the binding only",
			old:    shoot(), now: shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("local") }),
			want: []string{"spec.seedName: FieldValueForbidden"},
		},
		"API-VALSHOOT-5": {
			reason: "a shoot in deletion is frozen",
			old:    shoot(),
			now: shoot(func(s *gardencorev1beta1.Shoot) {
				s.DeletionTimestamp = new(metav1.Now())
				s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting)
			}),
			want: []string{"metadata.deletionTimestamp: FieldValueInvalid", "spec: FieldValueForbidden"},
		},
		"API-VALSHOOT-6 downgrade": {
			reason: "versions only rise",
			old:    shoot(), now: shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.Kubernetes.Version = "1.36.2" }),
			want: []string{
				"spec.kubernetes.version: FieldValueForbidden", "spec.provider.workers[0].kubernetes.version: FieldValueForbidden",
			},
		},
		"API-VALSHOOT-6 skip": {
			reason: "one minor version at a time",
			old:    shoot(), now: shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.Kubernetes.Version = "1.38.0" }),
			want: []string{"spec.kubernetes.version: FieldValueForbidden"},
		},
		"API-VALSHOOT-7": {
			reason: "workers cannot vanish altogether",
			old:    shoot(),
			now:    shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers = nil }),
			want: []string{
				"spec.credentialsBindingName: FieldValueForbidden",
				"spec.networking.pods: FieldValueForbidden", "spec.networking.type: FieldValueForbidden",
				"spec.provider.workers: FieldValueForbidden",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateShootUpdate(tc.now, tc.old))); diff != "" {
				t.Errorf("%s\nValidateShootUpdate(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateShootBinding(t *testing.T) {
	t.Parallel()
	bound := func(name string) *gardencorev1beta1.Shoot {
		return shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new(name) })
	}
	bare := func(s *gardencorev1beta1.Shoot) { s.Spec.Networking.Pods, s.Spec.Networking.Services = nil, nil }
	provided := func(primary *bool) func(*gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) {
			ref := &autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "dns"}
			s.Spec.DNS = &gardencorev1beta1.DNS{Providers: []gardencorev1beta1.DNSProvider{{Type: new("local"), CredentialsRef: ref, Primary: primary}}}
		}
	}
	workerless := func(s *gardencorev1beta1.Shoot) {
		s.Spec.Provider.Workers, s.Spec.CredentialsBindingName, s.Spec.Networking = nil, nil, nil
	}
	configured := func(raw string) func(*gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) {
			s.Spec.Provider.InfrastructureConfig = &runtime.RawExtension{Raw: []byte(raw)}
		}
	}
	for name, tc := range map[string]struct {
		reason   string
		old, now *gardencorev1beta1.Shoot
		want     []string
	}{
		"First": {reason: "a first binding passes", old: shoot(), now: bound("a")},
		"API-BIND-1 more": {
			reason: "what the server fills in with it passes", old: shoot(provided(nil), bare),
			now: shoot(provided(new(true)), func(s *gardencorev1beta1.Shoot) {
				s.Spec.SeedName, s.Spec.DNS.Domain = new("a"), new("sprout.example.org")
				s.Spec.Networking.Pods, s.Spec.Networking.Services = new("10.1.0.0/16"), new("10.2.0.0/16")
			}),
		},
		"API-BIND-1 pools": {
			reason: "what is checked in the shoot itself does not", old: shoot(),
			now: shoot(func(s *gardencorev1beta1.Shoot) {
				s.Spec.SeedName, s.Spec.Provider.Workers[0].Maximum = new("a"), 1000
			}),
			want: []string{"spec: FieldValueForbidden"},
		},
		"API-BIND-1 credentials": {
			reason: "nor do credentials", old: shoot(provided(nil)),
			now: shoot(provided(nil), func(s *gardencorev1beta1.Shoot) {
				s.Spec.SeedName, s.Spec.DNS.Providers[0].CredentialsRef.Name = new("a"), "other"
			}),
			want: []string{"spec: FieldValueForbidden"},
		},
		"API-BIND-1 order": {
			reason: "the configuration of the provider may come in another order", old: shoot(configured(`{"b":1,"a":2}`)),
			now: shoot(configured(`{"a": 2, "b": 1}`), func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("a") }),
		},
		"API-BIND-2 alone": {reason: "a seed can take the place of another", old: bound("a"), now: bound("b")},
		"API-BIND-1 workerless": {
			reason: "a shoot without machines needs no network", old: shoot(workerless),
			now: shoot(workerless, func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("a") }),
		},
		"API-BIND-1 network": {
			reason: "the server fills in ranges of a network, not the network", old: shoot(workerless),
			now: shoot(workerless, func(s *gardencorev1beta1.Shoot) {
				s.Spec.SeedName, s.Spec.Networking = new("a"), &gardencorev1beta1.Networking{Services: new("10.1.0.0/16")}
			}),
			want: []string{"spec: FieldValueForbidden"},
		},
		"API-BIND-1 no network": {
			reason: "nor does it remove one", old: shoot(),
			now:  shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName, s.Spec.Networking = new("a"), nil }),
			want: []string{"spec.networking: FieldValueForbidden", "spec.networking: FieldValueRequired", "spec: FieldValueForbidden"},
		},
		"API-BIND-1 domain": {
			reason: "it fills in a domain", old: shoot(),
			now: shoot(func(s *gardencorev1beta1.Shoot) {
				s.Spec.SeedName, s.Spec.DNS = new("a"), &gardencorev1beta1.DNS{Domain: new("sprout.example.org")}
			}),
		},
		"API-BIND-1 section": {
			reason: "in a section that is there, as well", old: shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.DNS = &gardencorev1beta1.DNS{} }),
			now: shoot(func(s *gardencorev1beta1.Shoot) {
				s.Spec.SeedName, s.Spec.DNS = new("a"), &gardencorev1beta1.DNS{Domain: new("sprout.example.org")}
			}),
		},
		"API-BIND-1 providers": {
			reason: "but no DNS providers", old: shoot(),
			now: shoot(provided(nil), func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("a") }), want: []string{"spec: FieldValueForbidden"},
		},
		"API-BIND-1 none":  {reason: "a binding names a seed", old: bound("a"), now: shoot(), want: []string{"spec.seedName: FieldValueRequired"}},
		"API-BIND-1 again": {reason: "twice the same is an error", old: bound("a"), now: bound("a"), want: []string{"spec.seedName: FieldValueInvalid"}},
		"API-BIND-2": {
			reason: "with a new seed nothing else changes",
			old:    bound("a"),
			now: shoot(func(s *gardencorev1beta1.Shoot) {
				s.Spec.SeedName, s.Spec.Purpose = new("b"), new(gardencorev1beta1.ShootPurposeTesting)
			}),
			want: []string{"spec: FieldValueForbidden"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateShootBindingUpdate(tc.now, tc.old))); diff != "" {
				t.Errorf("%s\nValidateShootBindingUpdate(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
