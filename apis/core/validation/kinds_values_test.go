// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

// TestValidateFields has fields of several kinds that are missing, negative, or stand twice.
func TestValidateFields(t *testing.T) {
	t.Parallel()
	minus := resource.MustParse("-1")
	bad := autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Pod", Name: "a"}
	registration := func(change ...func(*gardencorev1beta1.ControllerRegistration)) *gardencorev1beta1.ControllerRegistration {
		return changed(&gardencorev1beta1.ControllerRegistration{ObjectMeta: object("", "x")}, change)
	}
	expect(t, map[string]expectation{
		"API-VALCP-1 regions": {
			reason: "regions, their zones and restrictions have names, and labels their form",
			got: validation.ValidateCloudProfile(cloudProfile(func(p *gardencorev1beta1.CloudProfile) {
				one := gardencorev1beta1.AccessRestriction{Name: "a"}
				p.Spec.Regions = []gardencorev1beta1.Region{{
					Labels: map[string]string{"a b": ""}, Zones: []gardencorev1beta1.AvailabilityZone{{}},
					AccessRestrictions: []gardencorev1beta1.AccessRestriction{one, one, {}},
				}}
			})),
			want: []string{
				"spec.regions[0].accessRestrictions[1]: FieldValueDuplicate", "spec.regions[0].accessRestrictions[2].name: FieldValueRequired",
				"spec.regions[0].labels: FieldValueInvalid", "spec.regions[0].name: FieldValueRequired", "spec.regions[0].zones[0].name: FieldValueRequired",
			},
		},
		"API-VALCP-1 amounts": {
			reason: "what is offered is not negative",
			got: validation.ValidateCloudProfile(cloudProfile(func(p *gardencorev1beta1.CloudProfile) {
				m := &p.Spec.MachineTypes[0]
				m.GPU, m.Memory, m.Storage = minus, minus, &gardencorev1beta1.MachineTypeStorage{Size: &minus}
				more := *m.DeepCopy()
				more.Name, more.GPU, more.Memory, more.Storage = "more", resource.MustParse("1"), resource.MustParse("1"), &gardencorev1beta1.MachineTypeStorage{MinSize: &minus}
				p.Spec.MachineTypes = append(p.Spec.MachineTypes, more)
				p.Spec.VolumeTypes = []gardencorev1beta1.VolumeType{{Name: "a", Class: "a", MinSize: &minus}}
			})),
			want: []string{
				"spec.machineTypes[0].gpu: FieldValueInvalid", "spec.machineTypes[0].memory: FieldValueInvalid", "spec.machineTypes[0].storage.size: FieldValueInvalid",
				"spec.machineTypes[1].storage.minSize: FieldValueInvalid", "spec.volumeTypes[0].minSize: FieldValueInvalid",
			},
		},
		"API-VALCP-1 images": {
			reason: "versions and runtimes of an image stand once, and stages are known",
			got: validation.ValidateCloudProfile(cloudProfile(func(p *gardencorev1beta1.CloudProfile) {
				v := gardencorev1beta1.MachineImageVersion{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: "1.0.0", Lifecycle: []gardencorev1beta1.LifecycleStage{{Classification: "old"}}}}
				v.CRI = []gardencorev1beta1.CRI{{Name: "containerd"}, {Name: "containerd"}}
				p.Spec.MachineImages[0].UpdateStrategy = new(gardencorev1beta1.MachineImageUpdateStrategyPatch)
				p.Spec.MachineImages[0].Versions = []gardencorev1beta1.MachineImageVersion{v, {ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: "1.0.0"}}}
			})),
			want: []string{
				"spec.machineImages[0].versions[0].cri[1]: FieldValueDuplicate", "spec.machineImages[0].versions[0].lifecycle[0].classification: FieldValueNotSupported",
				"spec.machineImages[0].versions[1]: FieldValueDuplicate",
			},
		},
		"API-VALCR-1 extension only": {
			reason: "what only extensions have is refused elsewhere",
			got: validation.ValidateControllerRegistration(registration(func(r *gardencorev1beta1.ControllerRegistration) {
				r.Spec.Resources = []gardencorev1beta1.ControllerResource{{
					Kind: "Worker", Type: "a", ReconcileTimeout: lasting(1), Lifecycle: &gardencorev1beta1.ControllerResourceLifecycle{}, AutoEnable: []gardencorev1beta1.ClusterType{"shoot"},
				}}
			})),
			want: []string{
				"spec.resources[0].autoEnable: FieldValueForbidden", "spec.resources[0].lifecycle: FieldValueForbidden", "spec.resources[0].reconcileTimeout: FieldValueForbidden",
			},
		},
		"API-VALCR-1 forms": {
			reason: "an extension acts at known times on known clusters, and its deployment is named",
			got: validation.ValidateControllerRegistration(registration(func(r *gardencorev1beta1.ControllerRegistration) {
				r.Spec.Resources = []gardencorev1beta1.ControllerResource{{Kind: "Extension", Type: "a", Primary: new(false), AutoEnable: []gardencorev1beta1.ClusterType{"moon"}, Lifecycle: &gardencorev1beta1.ControllerResourceLifecycle{
					Reconcile: new(gardencorev1beta1.ControllerResourceLifecycleStrategy("Never")), Migrate: new(gardencorev1beta1.ControllerResourceLifecycleStrategyAfterWorker),
				}}}
				r.Spec.Deployment = &gardencorev1beta1.ControllerRegistrationDeployment{
					SeedSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a b": ""}}, DeploymentRefs: []gardencorev1beta1.DeploymentRef{{}},
				}
			})),
			want: []string{
				"spec.deployment.deploymentRefs[0].name: FieldValueRequired", "spec.deployment.seedSelector.matchLabels: FieldValueInvalid",
				"spec.resources[0].autoEnable[0]: FieldValueNotSupported", "spec.resources[0].lifecycle.migrate: FieldValueNotSupported",
				"spec.resources[0].lifecycle.reconcile: FieldValueNotSupported",
			},
		},
		"API-VALPROJ-4 lists": {
			reason: "both lists of tolerations have keys",
			got: validation.ValidateProject(project(func(p *gardencorev1beta1.Project) {
				p.Spec.Namespace = new("garden-a_b")
				p.Spec.Tolerations = &gardencorev1beta1.ProjectTolerations{Defaults: []gardencorev1beta1.Toleration{{}}, Whitelist: []gardencorev1beta1.Toleration{{}}}
			})),
			want: []string{
				"spec.namespace: FieldValueInvalid", "spec.tolerations.defaults[0].key: FieldValueRequired", "spec.tolerations.whitelist[0].key: FieldValueRequired",
			},
		},
		"API-VALSEED-1 fields": {
			reason: "a seed is complete",
			got: validation.ValidateSeed(seed(func(s *gardencorev1beta1.Seed) {
				s.Spec.Provider.Type = ""
				s.Spec.AccessRestrictions = []gardencorev1beta1.AccessRestriction{{Name: "a"}, {Name: "a"}}
				s.Spec.DNS.Internal.Type, s.Spec.DNS.Internal.Domain, s.Spec.DNS.Provider.CredentialsRef = "", "", nil
				s.Spec.DNS.Defaults = []gardencorev1beta1.SeedDNSProviderConfig{{Domain: "example.org", CredentialsRef: *dnsSecret()}}
				s.Spec.Backup = &gardencorev1beta1.Backup{SecretRef: &corev1.SecretReference{}}
				s.Spec.Volume = &gardencorev1beta1.SeedVolume{MinimumSize: &minus, Providers: []gardencorev1beta1.SeedVolumeProvider{{}}}
			})),
			want: []string{
				"spec.accessRestrictions[1]: FieldValueDuplicate", "spec.backup.provider: FieldValueRequired", "spec.backup.secretRef.name: FieldValueRequired",
				"spec.backup.secretRef.namespace: FieldValueRequired", "spec.dns.defaults[0].type: FieldValueRequired", "spec.dns.internal.domain: FieldValueRequired",
				"spec.dns.internal.type: FieldValueRequired", "spec.dns.provider.credentialsRef: FieldValueRequired", "spec.provider.type: FieldValueRequired",
				"spec.volume.minimumSize: FieldValueInvalid", "spec.volume.providers[0].name: FieldValueRequired", "spec.volume.providers[0].purpose: FieldValueRequired",
			},
		},
		"API-VALSEED-1 backup credentials": {
			reason: "credentials of backups are of a kind that holds credentials",
			got: validation.ValidateSeed(seed(func(s *gardencorev1beta1.Seed) {
				s.Spec.Backup = &gardencorev1beta1.Backup{Provider: "local", CredentialsRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: "garden", Name: "a"}}
			})),
			want: []string{"spec.backup.credentialsRef: FieldValueNotSupported"},
		},
		"API-VALSS-1 kinds": {
			reason: "a state refers to Secrets and ConfigMaps",
			got: validation.ValidateShootState(&gardencorev1beta1.ShootState{ObjectMeta: object("garden-meadow", "sprout"), Spec: gardencorev1beta1.ShootStateSpec{
				Extensions: []gardencorev1beta1.ExtensionResourceState{{Kind: "Worker", Resources: []gardencorev1beta1.NamedResourceReference{
					{Name: "a", ResourceRef: bad}, {Name: "b", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "ConfigMap", Name: "a"}},
				}}},
				Resources: []gardencorev1beta1.ResourceData{{CrossVersionObjectReference: bad}},
			}}),
			want: []string{"spec.extensions[0].resources[0].resourceRef.kind: FieldValueNotSupported", "spec.resources[0].kind: FieldValueNotSupported"},
		},
		"components": {
			reason: "components in other kinds are checked as in a shoot without nodes",
			got: append(append(validation.ValidateKubeAPIServer(&gardencorev1beta1.KubeAPIServerConfig{EventTTL: lasting(-1)}, "1.36.3", nil),
				validation.ValidateKubeControllerManager(&gardencorev1beta1.KubeControllerManagerConfig{NodeMonitorGracePeriod: lasting(0)}, "1.36.3", nil)...),
				validation.ValidateMaintenance(&gardencorev1beta1.Maintenance{TimeWindow: &gardencorev1beta1.MaintenanceTimeWindow{Begin: "220000+0000", End: "220000+0000"}}, nil)...),
			want: []string{"eventTTL: FieldValueInvalid", "nodeMonitorGracePeriod: FieldValueInvalid", "timeWindow: FieldValueInvalid"},
		},
	})
}
