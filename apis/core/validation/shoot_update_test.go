// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

func onSeed(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("local") }

func networked(change func(*gardencorev1beta1.Networking)) shootChange {
	return func(s *gardencorev1beta1.Shoot) { change(s.Spec.Networking) }
}

func leaving(codes ...gardencorev1beta1.ErrorCode) shootChange {
	return func(s *gardencorev1beta1.Shoot) {
		s.DeletionTimestamp = past()
		s.Status.LastErrors = []gardencorev1beta1.LastError{{Codes: codes}}
	}
}

func inPlace(version string) shootChange {
	return pool(func(w *gardencorev1beta1.Worker) {
		w.UpdateStrategy = new(gardencorev1beta1.MachineUpdateStrategyAutoInPlaceUpdate)
		w.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Version: &version}
	})
}

func poolVersion(version string) shootChange {
	return pool(func(w *gardencorev1beta1.Worker) {
		w.Kubernetes = &gardencorev1beta1.WorkerKubernetes{Version: &version}
	})
}

// formerly gives a shoot a version of Kubernetes and a SecretBinding.
func formerly(version, binding string) shootChange {
	return func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.Version, s.Spec.SecretBindingName, s.Spec.CredentialsBindingName = version, &binding, nil
	}
}

// another adds a pool.
func another(s *gardencorev1beta1.Shoot) {
	more := s.Spec.Provider.Workers[0].DeepCopy()
	more.Name = "another"
	s.Spec.Provider.Workers = append(s.Spec.Provider.Workers, *more)
}

type changes = []shootChange

// shootUpdate is a changed shoot and what is wrong with the change.
type shootUpdate struct {
	reason   string
	old, now changes
	want     []string
}

func checkShootUpdates(t *testing.T, cases map[string]shootUpdate) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, now := shoot(tc.old...), shoot(tc.now...)
			now.Status = old.Status
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateShootUpdate(now, old))); diff != "" {
				t.Errorf("%s\nValidateShootUpdate(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateShootChanges(t *testing.T) {
	t.Parallel()
	const (
		tolerance = "spec.controlPlane.highAvailability.failureTolerance.type: "
		force     = "metadata.annotations[confirmation.gardener.cloud/force-deletion]: FieldValueForbidden"
		version   = "spec.provider.workers[0].kubernetes.version: FieldValueForbidden"
	)
	forced := annotated("confirmation.gardener.cloud/force-deletion", "true")
	primary := func(typ string) shootChange {
		return dns(gardencorev1beta1.DNS{Domain: new("a.example.org"), Providers: []gardencorev1beta1.DNSProvider{{Type: &typ, Primary: new(true)}}})
	}
	untyped := dns(gardencorev1beta1.DNS{Domain: new("a.example.org"), Providers: []gardencorev1beta1.DNSProvider{{Primary: new(true)}}})
	profiled := func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.Version, s.Spec.CloudProfile, s.Spec.CloudProfileName = "1.33.2", nil, new("local")
	}
	domain := dns(gardencorev1beta1.DNS{Domain: new("a.example.org")})
	checkShootUpdates(t, map[string]shootUpdate{
		"API-VALSHOOT-2 binding": {
			reason: "the binding stays", old: changes{formerly("1.33.2", "local")}, now: changes{formerly("1.33.2", "other")},
			want: []string{"spec.secretBindingName: FieldValueInvalid"},
		},
		"API-VALSHOOT-2 moved": {
			reason: "but for the step to the other sort, which may be one with a newer Kubernetes",
			old:    changes{formerly("1.35.2", "local")},
		},
		"API-VALSHOOT-2 back": {
			reason: "from which there is no way back",
			old:    changes{onVersion("1.33.2")}, now: changes{formerly("1.33.2", "local")},
			want: []string{"spec.credentialsBindingName: FieldValueForbidden"},
		},
		"secretBindingName newer": {
			reason: "a Kubernetes without SecretBindings needs the step",
			old:    changes{formerly("1.33.2", "local")}, now: changes{formerly("1.34.1", "local")},
			want: []string{"spec.secretBindingName: FieldValueForbidden"},
		},
		"secretBindingName stored": {
			reason: "a shoot of a former release that is so already can be written",
			old:    changes{formerly("1.35.2", "local")}, now: changes{formerly("1.36.1", "local")},
		},
		"API-VALSHOOT-2 two bindings": {
			reason: "the step leaves the old sort behind",
			old:    changes{formerly("1.33.2", "local")}, now: changes{formerly("1.33.2", "other"), func(s *gardencorev1beta1.Shoot) { s.Spec.CredentialsBindingName = new("local") }},
			want: []string{"spec.secretBindingName: FieldValueForbidden", "spec.secretBindingName: FieldValueInvalid"},
		},
		"API-VALSHOOT-2 no binding": {
			reason: "and takes the new one",
			old:    changes{formerly("1.33.2", "local")}, now: changes{onVersion("1.33.2"), func(s *gardencorev1beta1.Shoot) { s.Spec.CredentialsBindingName = nil }},
			want: []string{"spec.credentialsBindingName: FieldValueRequired", "spec.secretBindingName: FieldValueInvalid"},
		},
		"API-SHOOTSTRAT-9 former": {reason: "the older field names a profile too", old: changes{profiled}, now: changes{profiled}},
		"API-SHOOTSTRAT-9 back": {
			reason: "admission judges whether two profiles are of one family",
			old: changes{func(s *gardencorev1beta1.Shoot) {
				s.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "own"}
			}},
		},
		"API-VALSHOOT-6 no version":   {reason: "what is no version is no other one", now: changes{onVersion("1.36")}, want: []string{"spec.kubernetes.version: FieldValueInvalid"}},
		"API-VALSHOOT-6 from nothing": {reason: "and can become one", old: changes{onVersion("1.36")}},
		"API-VALSHOOT-6 major":        {reason: "no major version follows", now: changes{onVersion("2.0.0")}, want: []string{"spec.kubernetes.version: FieldValueForbidden"}},
		"API-VALSHOOT-6 pool without": {reason: "the same holds for pools", old: changes{poolVersion("1.35.2")}, now: changes{poolVersion("1.35")}, want: []string{"spec.provider.workers[0].kubernetes.version: FieldValueInvalid"}},
		"API-VALSHOOT-6 pool from":    {reason: "which can become good ones", old: changes{poolVersion("1.35")}, now: changes{poolVersion("1.35.2")}},
		"API-VALSHOOT-6 new pool":     {reason: "a new pool begins with any version", now: changes{another}},
		"API-VALSHOOT-2 scheduler": {
			reason: "the scheduler and the exposure class stay",
			old:    changes{func(s *gardencorev1beta1.Shoot) { s.Spec.SchedulerName, s.Spec.ExposureClassName = new("a"), new("a") }},
			now:    changes{func(s *gardencorev1beta1.Shoot) { s.Spec.SchedulerName = new("b") }},
			want:   []string{"spec.exposureClassName: FieldValueInvalid", "spec.schedulerName: FieldValueInvalid"},
		},
		"API-VALSHOOT-2 mask": {
			reason: "what nodes got stays",
			old: changes{func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.KubeControllerManager = &gardencorev1beta1.KubeControllerManagerConfig{NodeCIDRMaskSize: new(int32(24))}
			}},
			now: changes{func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.KubeControllerManager = &gardencorev1beta1.KubeControllerManagerConfig{NodeCIDRMaskSize: new(int32(23))}
			}},
			want: []string{"spec.kubernetes.kubeControllerManager.nodeCIDRMaskSize: FieldValueInvalid"},
		},
		"API-VALSHOOT-2 mask removed": {
			reason: "also when its whole section is left out",
			old: changes{func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.KubeControllerManager = &gardencorev1beta1.KubeControllerManagerConfig{NodeCIDRMaskSize: new(int32(23))}
			}},
			want: []string{"spec.kubernetes.kubeControllerManager.nodeCIDRMaskSize: FieldValueInvalid"},
		},
		"API-VALSHOOT-2 nodes": {
			reason: "the range of the machines can grow",
			old:    changes{networked(func(n *gardencorev1beta1.Networking) { n.Nodes = new("10.4.0.0/16") })},
			now:    changes{networked(func(n *gardencorev1beta1.Networking) { n.Nodes = new("10.4.0.0/15") })},
		},
		"API-VALSHOOT-2 fewer nodes": {
			reason: "but not shrink",
			old:    changes{networked(func(n *gardencorev1beta1.Networking) { n.Nodes = new("10.4.0.0/16") }), onSeed},
			now:    changes{networked(func(n *gardencorev1beta1.Networking) { n.Nodes = new("10.4.0.0/17") }), onSeed},
			want:   []string{"spec.networking.nodes: FieldValueInvalid"},
		},
		"API-VALSHOOT-2 open nodes": {
			reason: "before there is a seed there are no machines",
			old:    changes{networked(func(n *gardencorev1beta1.Networking) { n.Nodes = new("10.4.0.0/16") })},
			now:    changes{networked(func(n *gardencorev1beta1.Networking) { n.Nodes = new("10.5.0.0/16") })},
		},
		"API-VALOP-10 at rest": {
			reason: "nor is it planned for a shoot that sleeps", old: changes{asleep},
			now: changes{asleep, annotated(maintenanceKey, "rotate-credentials-start")},
			want: []string{
				"metadata.annotations[maintenance.gardener.cloud/operation]: FieldValueForbidden",
				"metadata.annotations[maintenance.gardener.cloud/operation]: FieldValueForbidden",
				"spec.hibernation.enabled: FieldValueForbidden",
			},
		},
		"API-VALSHOOT-2 dual stack": {
			reason: "a second family can come",
			now:    changes{networked(func(n *gardencorev1beta1.Networking) { n.IPFamilies = []gardencorev1beta1.IPFamily{"IPv4", "IPv6"} })},
		},
		"API-VALSHOOT-2 other stack": {
			reason: "but not take the place of the first",
			old:    changes{networked(func(n *gardencorev1beta1.Networking) { n.Pods, n.Services = nil, nil })},
			now: changes{networked(func(n *gardencorev1beta1.Networking) {
				n.Pods, n.Services, n.IPFamilies = nil, nil, []gardencorev1beta1.IPFamily{"IPv6"}
			})},
			want: []string{"spec.networking.ipFamilies: FieldValueForbidden"},
		},
		"API-SHOOTSTRAT-9 family": {
			reason: "profiles of one family are known to admission only",
			now: changes{func(s *gardencorev1beta1.Shoot) {
				s.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile", Name: "own"}
			}},
		},
		"API-VALSHOOT-3 section": {reason: "the section stays", old: changes{domain}, want: []string{"spec.dns: FieldValueInvalid"}},
		"API-VALSHOOT-3 domain": {
			reason: "so does the domain", old: changes{domain}, now: changes{dns(gardencorev1beta1.DNS{Domain: new("b.example.org")})},
			want: []string{"spec.dns.domain: FieldValueInvalid"},
		},
		"API-VALSHOOT-3 free":     {reason: "without a seed there are no records yet", old: changes{primary("one")}, now: changes{primary("two")}},
		"API-VALSHOOT-3 type":     {reason: "with one there are", old: changes{onSeed, primary("one")}, now: changes{onSeed, primary("two")}, want: []string{"spec.dns.providers: FieldValueForbidden"}},
		"API-VALSHOOT-3 typed":    {reason: "a primary provider without a type can get one", old: changes{onSeed, untyped}, now: changes{onSeed, primary("one")}},
		"API-VALSHOOT-3 untyped":  {reason: "but not lose it", old: changes{onSeed, primary("one")}, now: changes{onSeed, untyped}, want: []string{"spec.dns.providers: FieldValueForbidden"}},
		"API-VALSHOOT-3 provider": {reason: "which someone looks after", old: changes{onSeed, primary("one")}, now: changes{onSeed, domain}, want: []string{"spec.dns.providers: FieldValueForbidden"}},
		"API-VALSHOOT-6 pool": {
			reason: "pools do not go back", old: changes{poolVersion("1.35.2")}, now: changes{poolVersion("1.35.1")}, want: []string{version},
		},
		"API-VALSHOOT-6 skip in pool": {reason: "pools may skip versions", old: changes{poolVersion("1.33.2")}},
		"API-VALSHOOT-6 in place": {
			reason: "unless they are updated in place", old: changes{inPlace("1.34.2")}, now: changes{inPlace("1.36.0")}, want: []string{version},
		},
		"API-VALSHOOT-3 no primary":     {reason: "a domain of the garden has no primary provider", old: changes{onSeed, domain}, now: changes{onSeed, domain}},
		"API-VALSHOOT-3 same":           {reason: "a primary one can stay", old: changes{onSeed, primary("one")}, now: changes{onSeed, primary("one")}},
		"API-VALSHOOT-20 asleep before": {reason: "without a seed it can change in sleep", old: changes{asleep, tolerating("node")}, now: changes{asleep, tolerating("zone")}},
		"API-VALSHOOT-20 added":         {reason: "tolerance can be added", old: changes{onSeed}, now: changes{onSeed, tolerating("node")}},
		"API-VALSHOOT-20 asleep":        {reason: "but not in sleep", old: changes{onSeed, asleep}, now: changes{onSeed, asleep, tolerating("node")}, want: []string{tolerance + "FieldValueForbidden"}},
		"API-VALSHOOT-20 changed":       {reason: "nor be changed", old: changes{onSeed, tolerating("node")}, now: changes{onSeed, tolerating("zone")}, want: []string{tolerance + "FieldValueInvalid"}},
		"API-VALSHOOT-20 removed":       {reason: "nor be taken away", old: changes{onSeed, tolerating("node")}, now: changes{onSeed}, want: []string{tolerance + "FieldValueInvalid"}},
		"API-VALSHOOT-20 free":          {reason: "before there is a seed all is open", old: changes{tolerating("node")}, now: changes{tolerating("zone")}},
		"API-VALSHOOT-22 pending": {
			reason: "one change after the other",
			old:    changes{encrypts([]string{"configmaps"}, nil)}, now: changes{encrypts([]string{"events"}, nil)},
			want: []string{"spec.kubernetes.kubeAPIServer.encryptionConfig.resources: FieldValueForbidden"},
		},
		"API-VALSHOOT-22 back": {
			reason: "what is not rolled out goes back as a whole",
			old:    changes{encrypts([]string{"configmaps"}, nil), by("secretbox"), refusedByGardenlet, asleep}, now: changes{encrypts(nil, nil), by("aescbc"), asleep},
		},
		"API-VALSHOOT-22 on": {
			reason: "and nowhere else at once",
			old:    changes{encrypts([]string{"configmaps"}, nil), refusedByGardenlet}, now: changes{encrypts([]string{"events"}, nil), by("secretbox")},
			want: []string{"spec.kubernetes.kubeAPIServer.encryptionConfig: FieldValueForbidden"},
		},
		"API-VALSHOOT-22 provider besides": {
			reason: "another provider begins the rotation of a key, which waits for the resources",
			old:    changes{encrypts([]string{"configmaps"}, nil), refusedByGardenlet}, now: changes{encrypts([]string{"configmaps"}, nil), by("secretbox")},
			want: []string{"spec.kubernetes.kubeAPIServer.encryptionConfig.provider.type: FieldValueForbidden"},
		},
		"API-VALSHOOT-22 midway": {
			reason: "what is being rolled out does not go back",
			old:    changes{encrypts([]string{"configmaps"}, nil)}, now: changes{encrypts(nil, nil)},
			want: []string{"spec.kubernetes.kubeAPIServer.encryptionConfig.resources: FieldValueForbidden"},
		},
		"API-VALSHOOT-22 provider pending": {
			reason: "another provider is such a change",
			old:    changes{encrypts(nil, nil), by("secretbox")}, now: changes{encrypts([]string{"events"}, nil), by("secretbox")},
			want: []string{"spec.kubernetes.kubeAPIServer.encryptionConfig.resources: FieldValueForbidden"},
		},
		"API-VALSHOOT-22 provider back": {
			reason: "and does not go back midway",
			old:    changes{encrypts(nil, nil), by("secretbox")}, now: changes{encrypts(nil, nil), by("aescbc")},
			want: []string{"spec.kubernetes.kubeAPIServer.encryptionConfig.provider.type: FieldValueForbidden"},
		},
		"API-VALSHOOT-22 rotating": {
			reason: "not beside a rotation",
			old:    changes{phases("", "", "Preparing")}, now: changes{encrypts([]string{"events"}, nil)},
			want: []string{"spec.kubernetes.kubeAPIServer.encryptionConfig.resources: FieldValueForbidden"},
		},
		"API-VALSHOOT-22 asleep": {
			reason: "not in sleep", old: changes{asleep}, now: changes{asleep, encrypts([]string{"events"}, nil)},
			want: []string{"spec.kubernetes.kubeAPIServer.encryptionConfig.resources: FieldValueForbidden"},
		},
		"API-VALSHOOT-22 both": {
			reason: "not both at once",
			now:    changes{encrypts([]string{"events"}, nil), by("secretbox")},
			want:   []string{"spec.kubernetes.kubeAPIServer.encryptionConfig: FieldValueForbidden"},
		},
		"API-VALSHOOT-22 again":    {reason: "a rotation that is complete is none", old: changes{phases("", "", "Completed")}, now: changes{encrypts([]string{"events"}, nil)}},
		"API-VALSHOOT-22 provider": {reason: "the provider alone can change as well", old: changes{encrypts([]string{"events"}, []string{"events"})}, now: changes{encrypts([]string{"events"}, nil), by("secretbox")}},
		"API-VALSHOOT-22 unreported": {
			reason: "a shoot that was refused for other reasons takes nothing back",
			old:    changes{refusedByGardenlet}, now: changes{encrypts([]string{"events"}, nil), by("secretbox")},
			want: []string{"spec.kubernetes.kubeAPIServer.encryptionConfig: FieldValueForbidden"},
		},
		"API-VALSHOOT-22 fine":  {reason: "alone it is fine", now: changes{encrypts([]string{"events"}, nil)}},
		"API-VALSHOOT-23 awake": {reason: "a shoot can go to sleep", now: changes{asleep}},
		"API-VALSHOOT-23 rotating": {
			reason: "unless keys are being exchanged", old: changes{phases("Preparing", "Preparing", "Completing")}, now: changes{asleep},
			want: []string{"spec.hibernation.enabled: FieldValueForbidden", "spec.hibernation.enabled: FieldValueForbidden"},
		},
		"API-VALSHOOT-23 encrypting": {
			reason: "or resources encrypted",
			old:    changes{encrypts([]string{"events"}, nil)}, now: changes{encrypts([]string{"events"}, nil), asleep},
			want: []string{"spec.hibernation.enabled: FieldValueForbidden"},
		},
		"API-VALSHOOT-23 provider": {
			reason: "or encrypted with another provider",
			old:    changes{encrypts(nil, nil), by("secretbox")}, now: changes{encrypts(nil, nil), by("secretbox"), asleep},
			want: []string{"spec.hibernation.enabled: FieldValueForbidden"},
		},
		"API-VALSHOOT-23 both": {
			reason: "or resources are to be encrypted as it goes to sleep",
			old:    changes{encrypts(nil, nil)}, now: changes{encrypts([]string{"events"}, nil), asleep},
			want: []string{"spec.hibernation.enabled: FieldValueForbidden"},
		},
		"API-VALSHOOT-23 both refused": {
			reason: "be it after another change that was refused",
			old:    changes{encrypts([]string{"configmaps"}, nil), refusedByGardenlet}, now: changes{encrypts([]string{"events"}, nil), asleep},
			want: []string{"spec.hibernation.enabled: FieldValueForbidden"},
		},
		"API-VALSHOOT-23 taken back": {
			reason: "a change that was refused can be taken back as it goes to sleep",
			old:    changes{encrypts([]string{"configmaps"}, nil), refusedByGardenlet}, now: changes{encrypts(nil, nil), asleep},
		},
		"API-VALSHOOT-23 refused": {
			reason: "a change that was refused is not rolled out",
			old:    changes{encrypts([]string{"configmaps"}, nil), refusedByGardenlet}, now: changes{encrypts([]string{"configmaps"}, nil), asleep},
		},
		"API-VALSHOOT-23 provider besides": {
			reason: "another provider would be",
			old:    changes{encrypts(nil, nil)}, now: changes{encrypts(nil, nil), by("secretbox"), asleep},
			want: []string{"spec.hibernation.enabled: FieldValueForbidden"},
		},
		"API-VALSHOOT-23 asleep": {reason: "a shoot that sleeps can be written, whatever is going on", old: changes{asleep, phases("", "Preparing", "Preparing")}, now: changes{asleep}},
		"API-VALOP-10 fine":      {reason: "in its maintenance a shoot that sleeps can be reconciled", old: changes{asleep}, now: changes{asleep, annotated(maintenanceKey, "reconcile")}},
		"API-VALOP-10": {
			reason: "or the next maintenance has to exchange keys",
			old:    changes{lastOperation("Create", "Succeeded"), annotated(maintenanceKey, "rotate-etcd-encryption-key")},
			now:    changes{annotated(maintenanceKey, "rotate-etcd-encryption-key"), asleep},
			want:   []string{"spec.hibernation.enabled: FieldValueForbidden"},
		},
		"API-VALSHOOT-25 allowed": {reason: "what cannot be cleaned up can be forced", old: changes{leaving("ERR_CLEANUP_CLUSTER_RESOURCES")}, now: changes{leaving("ERR_CLEANUP_CLUSTER_RESOURCES"), forced}},
		"API-VALSHOOT-25 off":     {reason: "no force is none", now: changes{annotated("confirmation.gardener.cloud/force-deletion", "false")}},
		"API-VALSHOOT-25 failed":  {reason: "there is no way back, whatever the errors", old: changes{leaving("ERR_CLEANUP_CLUSTER_RESOURCES"), forced}, now: changes{leaving("ERR_CLEANUP_CLUSTER_RESOURCES")}, want: []string{force}},
		"API-VALSHOOT-25 early":   {reason: "what still can be cannot", old: changes{leaving("ERR_INFRA_QUOTA_EXCEEDED")}, now: changes{leaving("ERR_INFRA_QUOTA_EXCEEDED"), forced}, want: []string{force}},
		"API-VALSHOOT-25 alive":   {reason: "nor what is not to go", now: changes{forced}, want: []string{force, force}},
		"API-VALSHOOT-25 back":    {reason: "there is no way back", old: changes{leaving(), forced}, now: changes{leaving()}, want: []string{force}},
		"API-VALSHOOT-26 grows":   {reason: "one zone can become three with tolerance", old: changes{onSeed, tolerating("", "a")}, now: changes{onSeed, tolerating("zone", "a", "b", "c")}},
		"API-VALSHOOT-26 free":    {reason: "before there is a seed all is open", old: changes{tolerating("", "a")}, now: changes{tolerating("", "b")}},
		"API-VALSHOOT-26 chosen":  {reason: "with one no zones can be chosen", old: changes{onSeed}, now: changes{onSeed, tolerating("zone", "a", "b", "c")}, want: []string{"spec.controlPlane.zones: FieldValueForbidden"}},
		"API-VALSHOOT-26 node":    {reason: "nor added without tolerance of a zone", old: changes{onSeed, tolerating("", "a")}, now: changes{onSeed, tolerating("node", "a", "b")}, want: []string{"spec.controlPlane.zones: FieldValueForbidden", "spec.controlPlane.zones: FieldValueInvalid"}},
		"API-VALSHOOT-26 changed": {reason: "nor with another tolerance than before", old: changes{onSeed, tolerating("node", "a")}, now: changes{onSeed, tolerating("zone", "a", "b", "c")}, want: []string{tolerance + "FieldValueInvalid", "spec.controlPlane.zones: FieldValueForbidden"}},
		"API-VALSHOOT-26 moves":   {reason: "but not another one", old: changes{onSeed, tolerating("", "a")}, now: changes{onSeed, tolerating("", "b")}, want: []string{"spec.controlPlane.zones: FieldValueForbidden"}},
		"API-VALSHOOT-26 leaves":  {reason: "nor leave the first", old: changes{onSeed, tolerating("", "a")}, now: changes{onSeed, tolerating("zone", "b", "c", "d")}, want: []string{"spec.controlPlane.zones: FieldValueForbidden"}},
	})
}

func TestValidateShootDifferences(t *testing.T) {
	t.Parallel()
	old := shoot(leaving())
	now := shoot(leaving(), pool(func(w *gardencorev1beta1.Worker) { w.Maximum = 7 }), onSeed)
	now.Spec.SeedName, now.Spec.Purpose = nil, new(gardencorev1beta1.ShootPurposeTesting)
	message := validation.ValidateShootUpdate(now, old).ToAggregate().Error()
	if !strings.HasSuffix(message, "these fields differ: provider.workers[0].maximum, purpose") {
		t.Errorf("API-VALSHOOT-5: the message lists what differs, got %q", message)
	}
	old = shoot(leaving(), dns(gardencorev1beta1.DNS{Domain: new("a.example.org")}))
	now = shoot(leaving(), another, tolerating("node"))
	message = validation.ValidateShootUpdate(now, old).ToAggregate().Error()
	if !strings.HasSuffix(message, "these fields differ: controlPlane, dns, provider.workers") {
		t.Errorf("API-VALSHOOT-5: what is there on one side only, or of another length, differs as a whole, got %q", message)
	}
}

func TestValidateShootStatus(t *testing.T) {
	t.Parallel()
	addresses := func(all ...gardencorev1beta1.ShootAdvertisedAddress) shootChange {
		return func(s *gardencorev1beta1.Shoot) { s.Status.AdvertisedAddresses = all }
	}
	for name, tc := range map[string]struct {
		reason   string
		old, now shootChange
		want     []string
	}{
		"API-VALSHOOT-2": {
			reason: "what a shoot is known by stays",
			old: func(s *gardencorev1beta1.Shoot) {
				s.Status.UID, s.Status.TechnicalID, s.Status.ClusterIdentity = "a", "a", new("a")
			},
			now: func(s *gardencorev1beta1.Shoot) {
				s.Status.UID, s.Status.TechnicalID, s.Status.ClusterIdentity = "b", "b", new("b")
			},
			want: []string{"status.clusterIdentity: FieldValueInvalid", "status.technicalID: FieldValueInvalid", "status.uid: FieldValueInvalid"},
		},
		"API-VALSHOOT-2 first": {
			reason: "and is given once", old: func(*gardencorev1beta1.Shoot) {},
			now: func(s *gardencorev1beta1.Shoot) {
				s.Status.UID, s.Status.TechnicalID, s.Status.ClusterIdentity = "b", "b", new("b")
			},
		},
		"API-VALSHOOT-21": {
			reason: "addresses are plain ones, each with its name", old: addresses(),
			now: addresses(
				gardencorev1beta1.ShootAdvertisedAddress{Name: "a", URL: "https://a.example.org:6443"},
				gardencorev1beta1.ShootAdvertisedAddress{Name: "a", URL: "http://a.example.org"},
				gardencorev1beta1.ShootAdvertisedAddress{Name: "b", URL: "https://me@a.example.org"},
				gardencorev1beta1.ShootAdvertisedAddress{Name: "c", URL: "https://a.example.org/?q#f"},
				gardencorev1beta1.ShootAdvertisedAddress{Name: "d", URL: "https:///path"},
				gardencorev1beta1.ShootAdvertisedAddress{Name: "e", URL: "https://a.example.org/#f"},
				gardencorev1beta1.ShootAdvertisedAddress{Name: "f", URL: "https://a.example.org?q"},
				gardencorev1beta1.ShootAdvertisedAddress{Name: "g", URL: "https://a.example.org?"},
				gardencorev1beta1.ShootAdvertisedAddress{Name: "h", URL: "https://[::1"},
			),
			want: []string{
				"status.advertisedAddresses[1].url: FieldValueInvalid", "status.advertisedAddresses[1]: FieldValueDuplicate",
				"status.advertisedAddresses[2].url: FieldValueInvalid", "status.advertisedAddresses[3].url: FieldValueInvalid",
				"status.advertisedAddresses[4].url: FieldValueInvalid", "status.advertisedAddresses[5].url: FieldValueInvalid",
				"status.advertisedAddresses[6].url: FieldValueInvalid", "status.advertisedAddresses[7].url: FieldValueInvalid",
				"status.advertisedAddresses[8].url: FieldValueInvalid",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateShootStatusUpdate(shoot(tc.now), shoot(tc.old)))); diff != "" {
				t.Errorf("%s\nValidateShootStatusUpdate(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
