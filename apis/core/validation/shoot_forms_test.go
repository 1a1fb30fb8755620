// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

func TestValidateShootForms(t *testing.T) {
	t.Parallel()
	const pools = "spec.provider.workers[0]."
	rotating := func(period time.Duration) shootChange {
		return func(s *gardencorev1beta1.Shoot) {
			s.Spec.Maintenance = &gardencorev1beta1.Maintenance{AutoRotation: &gardencorev1beta1.MaintenanceAutoRotation{
				Credentials: &gardencorev1beta1.MaintenanceCredentialsAutoRotation{
					Observability: &gardencorev1beta1.MaintenanceRotationConfig{RotationPeriod: lasting(period)},
				},
			}}
		}
	}
	const rotation = "spec.maintenance.autoRotation.credentials.observability.rotationPeriod: FieldValueInvalid"
	checkShoots(t, map[string]shootCase{
		"no rotations": {reason: "credentials need not be rotated", change: func(s *gardencorev1beta1.Shoot) {
			s.Spec.Maintenance = &gardencorev1beta1.Maintenance{AutoRotation: &gardencorev1beta1.MaintenanceAutoRotation{}}
		}},
		"rotation by default": {reason: "a period can be left to the garden", change: func(s *gardencorev1beta1.Shoot) {
			s.Spec.Maintenance = &gardencorev1beta1.Maintenance{AutoRotation: &gardencorev1beta1.MaintenanceAutoRotation{
				Credentials: &gardencorev1beta1.MaintenanceCredentialsAutoRotation{SSHKeypair: &gardencorev1beta1.MaintenanceRotationConfig{}},
			}}
		}},
		"rotation never":   {reason: "no period is one", change: rotating(0)},
		"rotation soon":    {reason: "half an hour is the shortest", change: rotating(30*time.Minute - 1), want: []string{rotation}},
		"rotation late":    {reason: "three months are the longest", change: rotating(90*24*time.Hour + 1), want: []string{rotation}},
		"rotation monthly": {reason: "in between all is fine", change: rotating(30 * 24 * time.Hour)},
		"names": {
			reason: "what is named has names of the right form",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.SchedulerName, s.Spec.ExposureClassName, s.Spec.SeedName = new(""), new("A"), new("")
				s.Spec.Provider.Type, s.Spec.Networking.Type = "a/b", new("a b")
			},
			want: []string{
				"spec.exposureClassName: FieldValueInvalid", "spec.networking.type: FieldValueInvalid", "spec.provider.type: FieldValueInvalid",
				"spec.schedulerName: FieldValueInvalid", "spec.seedName: FieldValueInvalid",
			},
		},
		"addons": {
			reason: "an ingress forwards in a known way, from known ranges",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.Version = "1.34.1"
				s.Spec.Addons = &gardencorev1beta1.Addons{
					KubernetesDashboard: &gardencorev1beta1.KubernetesDashboard{Addon: gardencorev1beta1.Addon{Enabled: true}, AuthenticationMode: new("basic")},
					NginxIngress: &gardencorev1beta1.NginxIngress{
						Addon: gardencorev1beta1.Addon{Enabled: true}, LoadBalancerSourceRanges: []string{"10.0.0.0/8", "everywhere"},
						ExternalTrafficPolicy: new(gardencorev1beta1.ExternalTrafficPolicy("Some")), Config: map[string]string{"a b": "c"},
					},
				}
			},
			want: []string{
				"spec.addons.kubernetesDashboard.authenticationMode: FieldValueNotSupported",
				"spec.addons.nginxIngress.config[a b]: FieldValueInvalid", "spec.addons.nginxIngress.externalTrafficPolicy: FieldValueNotSupported",
				"spec.addons.nginxIngress.loadBalancerSourceRanges[1]: FieldValueInvalid",
			},
		},
		"suffixes": {
			reason: "a suffix has a dot within, and a dot in front makes no other one",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.SystemComponents = &gardencorev1beta1.SystemComponents{CoreDNS: &gardencorev1beta1.CoreDNS{
					Rewriting: &gardencorev1beta1.CoreDNSRewriting{CommonSuffixes: []string{"example.org", ".example.org", ".org", "a_.org"}},
				}}
			},
			want: []string{
				"spec.systemComponents.coreDNS.rewriting.commonSuffixes[1]: FieldValueDuplicate",
				"spec.systemComponents.coreDNS.rewriting.commonSuffixes[2]: FieldValueInvalid",
				"spec.systemComponents.coreDNS.rewriting.commonSuffixes[3]: FieldValueInvalid",
			},
		},
		"machines": {
			reason: "machines are known, and what a pool left open was chosen",
			change: pool(func(w *gardencorev1beta1.Worker) {
				w.Machine.Architecture, w.Machine.Image.Version = new("riscv64"), nil
				w.Volume = &gardencorev1beta1.Volume{Name: new("A"), Size: "1Gi"}
				w.Taints = []corev1.Taint{{Key: "node.gardener.cloud/critical-components-not-ready", Effect: "NoSchedule"}}
				w.Sysctls = map[string]string{"net.ipv4.ip_forward": "1", "a.b.": "1", "vm.swappiness": "", "*": "1", strings.Repeat("a", 256): "1", "/etc/passwd": "1"}
				w.MachineControllerManager = &gardencorev1beta1.MachineControllerManagerSettings{
					InPlaceUpdateTimeout: lasting(time.Minute), DisableHealthTimeout: new(true),
				}
			}),
			want: []string{
				pools + "machine.architecture: FieldValueNotSupported", pools + "machine.image.version: FieldValueRequired",
				pools + "machineControllerManager.disableHealthTimeout: FieldValueForbidden",
				pools + "machineControllerManager.inPlaceUpdateTimeout: FieldValueForbidden",
				pools + "sysctls.*: FieldValueInvalid", pools + "sysctls./etc/passwd: FieldValueInvalid", pools + "sysctls.a.b.: FieldValueInvalid",
				pools + "sysctls." + strings.Repeat("a", 256) + ": FieldValueInvalid",
				pools + "sysctls.vm.swappiness: FieldValueRequired", pools + "taints[0].key: FieldValueForbidden", pools + "volume.name: FieldValueInvalid",
			},
		},
		"image": {
			reason: "no machine starts from nothing", change: pool(func(w *gardencorev1beta1.Worker) { w.Machine.Image = nil }),
			want: []string{pools + "machine.image: FieldValueRequired"},
		},
		"by hand": {
			reason: "who updates machines by hand decides how many",
			change: pool(func(w *gardencorev1beta1.Worker) {
				w.UpdateStrategy, w.MaxSurge = new(gardencorev1beta1.MachineUpdateStrategyManualInPlaceUpdate), percent("10%")
			}),
			want: []string{pools + "maxSurge: FieldValueInvalid"},
		},
		"API-VALSHOOT-9 shared": {
			reason: "another pool in the same zones has room enough",
			change: func(s *gardencorev1beta1.Shoot) {
				more := s.Spec.Provider.Workers[0].DeepCopy()
				more.Name, more.Maximum, more.Zones = "more", 2, []string{"b", "a"}
				s.Spec.Provider.Workers[0].Zones = []string{"a", "b"}
				s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, *more)
			},
		},
		"self-hosted elsewhere": {
			reason: "control planes of their own are for the garden",
			change: pool(func(w *gardencorev1beta1.Worker) {
				w.ControlPlane, w.Maximum = &gardencorev1beta1.WorkerControlPlane{}, 2
			}),
			want: []string{pools + "controlPlane: FieldValueForbidden", pools + "minimum: FieldValueInvalid"},
		},
		"self-hosted": {
			reason: "which has no seed for them and needs no credentials",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Namespace, s.Spec.CredentialsBindingName, s.Spec.SeedName = "garden", nil, new("seed")
				s.Spec.Provider.Workers[0].ControlPlane = &gardencorev1beta1.WorkerControlPlane{}
			},
			want: []string{"spec.seedName: FieldValueInvalid"},
		},
		"API-VALSHOOT-15 twice": {
			reason: "a shoot does not go to sleep and wake up at once",
			change: sleeps(gardencorev1beta1.HibernationSchedule{Start: new("0 20 * * *"), End: new("0 20 * * *")}),
			want:   []string{"spec.hibernation.schedules[0].end: FieldValueDuplicate"},
		},
		"API-VALSHOOT-15 zone within": {
			reason: "the time zone has a field of its own, and some forms break the parser",
			change: sleeps(
				gardencorev1beta1.HibernationSchedule{Start: new("TZ=0")}, gardencorev1beta1.HibernationSchedule{Start: new("CRON_TZ=UTC 0 20 * * *")},
				gardencorev1beta1.HibernationSchedule{Location: new(strings.Repeat("a", 1000)), End: new("0 8 * * *")},
			),
			want: []string{
				"spec.hibernation.schedules[0].start: FieldValueInvalid", "spec.hibernation.schedules[1].start: FieldValueInvalid",
				"spec.hibernation.schedules[2].location: FieldValueInvalid",
			},
		},
		"access restrictions": {
			reason: "a restriction can be named twice",
			change: func(s *gardencorev1beta1.Shoot) {
				one := gardencorev1beta1.AccessRestrictionWithOptions{}
				one.Name = "a"
				s.Spec.AccessRestrictions = []gardencorev1beta1.AccessRestrictionWithOptions{one, one}
			},
		},
	})
}

func sleeps(all ...gardencorev1beta1.HibernationSchedule) shootChange {
	return func(s *gardencorev1beta1.Shoot) { s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Schedules: all} }
}

func TestValidateShootBounds(t *testing.T) {
	t.Parallel()
	const many = 1001
	checkShoots(t, map[string]shootCase{
		"lists": {
			reason: "nobody makes the server look at thousands of things",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.AccessRestrictions = make([]gardencorev1beta1.AccessRestrictionWithOptions, many)
				s.Spec.DNS = &gardencorev1beta1.DNS{Providers: make([]gardencorev1beta1.DNSProvider, many)}
				s.Spec.Extensions = make([]gardencorev1beta1.Extension, many)
				s.Spec.Resources = make([]gardencorev1beta1.NamedResourceReference, many)
				s.Spec.Tolerations = make([]gardencorev1beta1.Toleration, many)
				s.Spec.Provider.Workers = make([]gardencorev1beta1.Worker, many)
				s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{
					AdmissionPlugins:        make([]gardencorev1beta1.AdmissionPlugin, many),
					StructuredAuthorization: &gardencorev1beta1.StructuredAuthorization{Kubeconfigs: make([]gardencorev1beta1.AuthorizerKubeconfigReference, many)},
				}
			},
			want: []string{
				"spec.accessRestrictions: FieldValueTooMany", "spec.dns.providers: FieldValueTooMany", "spec.extensions: FieldValueTooMany",
				"spec.kubernetes.kubeAPIServer.admissionPlugins: FieldValueTooMany",
				"spec.kubernetes.kubeAPIServer.structuredAuthorization.kubeconfigs: FieldValueTooMany",
				"spec.provider.workers: FieldValueTooMany", "spec.resources: FieldValueTooMany", "spec.tolerations: FieldValueTooMany",
			},
		},
		"schedules": {
			reason: "nor sleep and wake up all the time",
			change: sleeps(make([]gardencorev1beta1.HibernationSchedule, many)...),
			want:   []string{"spec.hibernation.schedules: FieldValueTooMany"},
		},
	})
}

func TestValidateShootTemplate(t *testing.T) {
	t.Parallel()
	template := func(change ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.ShootTemplate {
		s := shoot(change...)
		return &gardencorev1beta1.ShootTemplate{Spec: s.Spec}
	}
	open := template(func(s *gardencorev1beta1.Shoot) {
		s.Spec.Purpose, s.Spec.Provider.Workers[0].Machine.Image = new(gardencorev1beta1.ShootPurposeInfrastructure), nil
	})
	if diff := cmp.Diff([]string(nil), checktest.Complaints(validation.ValidateShootTemplate(open, nil))); diff != "" {
		t.Errorf("a template leaves open what is chosen later\nValidateShootTemplate(...) (-want +got):\n%s", diff)
	}
	backedUp := template(func(s *gardencorev1beta1.Shoot) {
		w := &s.Spec.Provider.Workers[0]
		w.Machine.Image.Version, s.Spec.CredentialsBindingName = nil, nil
		w.ControlPlane = &gardencorev1beta1.WorkerControlPlane{Backup: &gardencorev1beta1.Backup{
			Provider: "local", CredentialsRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "elsewhere", Name: "a"},
		}}
	})
	if diff := cmp.Diff([]string(nil), checktest.Complaints(validation.ValidateShootTemplate(backedUp, nil))); diff != "" {
		t.Errorf("also the version of an image and the namespace of credentials\nValidateShootTemplate(...) (-want +got):\n%s", diff)
	}
	broken := template(func(s *gardencorev1beta1.Shoot) { s.Spec.Region, s.Spec.Provider.Workers[0].Minimum = "", -1 })
	broken.Labels = map[string]string{"a b": "c"}
	if diff := cmp.Diff([]string{"metadata.labels: FieldValueInvalid", "spec.provider.workers[0].minimum: FieldValueInvalid", "spec.region: FieldValueRequired"}, checktest.Complaints(validation.ValidateShootTemplate(broken, nil))); diff != "" {
		t.Errorf("all else is checked as in a shoot\nValidateShootTemplate(...) (-want +got):\n%s", diff)
	}
	open.Annotations = map[string]string{"a b": "c"}
	for _, errs := range []field.ErrorList{validation.ValidateShootTemplate(open, nil), validation.ValidateShootTemplateUpdate(open, open, nil)} {
		if diff := cmp.Diff([]string{"metadata.annotations: FieldValueInvalid"}, checktest.Complaints(errs)); diff != "" {
			t.Errorf("its annotations too, also later\nValidateShootTemplate(...) (-want +got):\n%s", diff)
		}
	}
	moved := template(func(s *gardencorev1beta1.Shoot) { s.Spec.Region = "other" })
	if diff := cmp.Diff([]string{"spec.region: FieldValueInvalid"}, checktest.Complaints(validation.ValidateShootTemplateUpdate(moved, template(), nil))); diff != "" {
		t.Errorf("and its shoots can follow\nValidateShootTemplateUpdate(...) (-want +got):\n%s", diff)
	}
}
