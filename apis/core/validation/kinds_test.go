// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

func object(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, ResourceVersion: "1"}
}

func changed[T any](o *T, change []func(*T)) *T {
	for _, c := range change {
		c(o)
	}
	return o
}

type expectation struct {
	reason string
	got    field.ErrorList
	want   []string
}

func expect(t *testing.T, all map[string]expectation) {
	t.Helper()
	for name, tc := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(tc.got)); diff != "" {
				t.Errorf("%s\ncomplaints (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func bucket(change ...func(*gardencorev1beta1.BackupBucket)) *gardencorev1beta1.BackupBucket {
	return changed(&gardencorev1beta1.BackupBucket{ObjectMeta: object("", "b"), Spec: gardencorev1beta1.BackupBucketSpec{
		Provider: gardencorev1beta1.BackupBucketProvider{Type: "local", Region: "north"}, SeedName: new("local"),
		CredentialsRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "key"},
	}}, change)
}

func TestValidateBackupBucket(t *testing.T) {
	t.Parallel()
	type object = gardencorev1beta1.BackupBucket
	expect(t, map[string]expectation{
		"plain": {reason: "a plain bucket passes", got: validation.ValidateBackupBucket(bucket())},
		"API-VALBB-1 empty": {
			reason: "a bucket is somewhere, and somebody looks after it",
			got:    validation.ValidateBackupBucket(bucket(func(b *object) { b.Spec = gardencorev1beta1.BackupBucketSpec{} })),
			want:   []string{"spec.credentialsRef: FieldValueRequired", "spec.provider.region: FieldValueInvalid", "spec.provider.type: FieldValueInvalid", "spec.seedName: FieldValueRequired"},
		},
		"API-VALBB-1 credentials": {
			reason: "the reference is complete",
			got:    validation.ValidateBackupBucket(bucket(func(b *object) { b.Spec.CredentialsRef = &corev1.ObjectReference{Kind: "Secret"} })),
			want: []string{
				"spec.credentialsRef.apiVersion: FieldValueRequired", "spec.credentialsRef.name: FieldValueInvalid", "spec.credentialsRef.name: FieldValueRequired",
				"spec.credentialsRef.namespace: FieldValueInvalid", "spec.credentialsRef.namespace: FieldValueRequired", "spec.credentialsRef: FieldValueNotSupported",
			},
		},
		"API-VALBB-1 identity": {
			reason: "a workload identity is as good as a Secret",
			got: validation.ValidateBackupBucket(bucket(func(b *object) {
				b.Spec.CredentialsRef.APIVersion, b.Spec.CredentialsRef.Kind = "security.gardener.cloud/v1alpha1", "WorkloadIdentity"
			})),
		},
		"API-VALBB-1 both": {
			reason: "one looks after the bucket, not two",
			got:    validation.ValidateBackupBucket(bucket(func(b *object) { b.Spec.ShootRef = &corev1.ObjectReference{} })),
			want:   []string{"spec.shootRef.name: FieldValueRequired", "spec.shootRef.namespace: FieldValueRequired", "spec.shootRef: FieldValueForbidden"},
		},
		"API-VALBB-1 shoot": {
			reason: "a self-hosted shoot can do without a seed",
			got: validation.ValidateBackupBucket(bucket(func(b *object) {
				b.Spec.SeedName, b.Spec.ShootRef = nil, &corev1.ObjectReference{Namespace: "garden", Name: "root"}
			})),
		},
		"API-VALBB-1 update": {
			reason: "a bucket does not move",
			got: validation.ValidateBackupBucketUpdate(bucket(func(b *object) {
				b.Spec.Provider.Region, b.Spec.SeedName, b.Spec.CredentialsRef.Name = "south", new("other"), "other"
			}), bucket()),
			want: []string{"spec.provider: FieldValueInvalid", "spec.seedName: FieldValueInvalid"},
		},
	})
}

func TestValidateBackupEntry(t *testing.T) {
	t.Parallel()
	entry := func(change ...func(*gardencorev1beta1.BackupEntry)) *gardencorev1beta1.BackupEntry {
		return changed(&gardencorev1beta1.BackupEntry{ObjectMeta: object("garden-meadow", "e"), Spec: gardencorev1beta1.BackupEntrySpec{BucketName: "b", SeedName: new("local")}}, change)
	}
	expect(t, map[string]expectation{
		"plain": {reason: "a plain entry passes", got: validation.ValidateBackupEntry(entry())},
		"API-VALBB-1 entry": {
			reason: "an entry is in a bucket",
			got: validation.ValidateBackupEntry(entry(func(e *gardencorev1beta1.BackupEntry) {
				e.Spec = gardencorev1beta1.BackupEntrySpec{SeedName: new(""), ShootRef: &corev1.ObjectReference{Namespace: "garden", Name: "root"}}
			})),
			want: []string{"spec.bucketName: FieldValueInvalid", "spec.seedName: FieldValueRequired", "spec.shootRef: FieldValueForbidden"},
		},
		"API-VALBB-1 migration": {
			reason: "an entry moves to another seed, whose bucket is another one",
			got: validation.ValidateBackupEntryUpdate(entry(func(e *gardencorev1beta1.BackupEntry) {
				e.Spec.SeedName, e.Spec.BucketName = new("other"), "other"
			}), entry()),
		},
	})
}

func TestValidateExposureClass(t *testing.T) {
	t.Parallel()
	class := func(change ...func(*gardencorev1beta1.ExposureClass)) *gardencorev1beta1.ExposureClass {
		return changed(&gardencorev1beta1.ExposureClass{ObjectMeta: object("", "internet"), Handler: "internet"}, change)
	}
	expect(t, map[string]expectation{
		"plain": {reason: "a plain class passes", got: validation.ValidateExposureClass(class())},
		"API-NAME-6 handler": {
			reason: "a handler is a short DNS label",
			got: validation.ValidateExposureClass(class(func(c *gardencorev1beta1.ExposureClass) {
				c.Handler = "a.handler-with-more-than-thirtyfour-characters"
			})),
			want: []string{"handler: FieldValueInvalid", "handler: FieldValueInvalid"},
		},
		"API-NAME-6 longest": {
			reason: "thirty-four characters are short enough",
			got: validation.ValidateExposureClass(class(func(c *gardencorev1beta1.ExposureClass) {
				c.Handler = "a-handler-with-thirtyfour-letters0"
			})),
		},
		"API-NAME-6 update": {
			reason: "what a class means stays",
			got: validation.ValidateExposureClassUpdate(class(func(c *gardencorev1beta1.ExposureClass) {
				c.Handler, c.Scheduling = "intranet", &gardencorev1beta1.ExposureClassScheduling{}
			}), class()),
			want: []string{"handler: FieldValueInvalid", "scheduling: FieldValueInvalid"},
		},
		"scheduling": {
			reason: "selectors and tolerations are good ones",
			got: validation.ValidateExposureClass(class(func(c *gardencorev1beta1.ExposureClass) {
				c.Scheduling = &gardencorev1beta1.ExposureClassScheduling{
					SeedSelector: &gardencorev1beta1.SeedSelector{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"no label": "x"}}},
					Tolerations:  []gardencorev1beta1.Toleration{{Key: "a"}, {Key: "a"}, {}},
				}
			})),
			want: []string{"scheduling.seedSelector.matchLabels: FieldValueInvalid", "scheduling.tolerations[1]: FieldValueDuplicate", "scheduling.tolerations[2].key: FieldValueRequired"},
		},
	})
}

func TestValidateQuota(t *testing.T) {
	t.Parallel()
	quota := func(change ...func(*gardencorev1beta1.Quota)) *gardencorev1beta1.Quota {
		return changed(&gardencorev1beta1.Quota{ObjectMeta: object("garden", "trial"), Spec: gardencorev1beta1.QuotaSpec{
			Scope: corev1.ObjectReference{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Project"},
			Metrics: corev1.ResourceList{
				"cpu": resource.MustParse("0"), "gpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi"),
				"storage.standard": resource.MustParse("1Gi"), "storage.premium": resource.MustParse("1Gi"), "loadbalancer": resource.MustParse("1"),
			},
			ClusterLifetimeDays: new(int32(14)),
		}}, change)
	}
	scope := func(version, kind string) func(*gardencorev1beta1.Quota) {
		return func(q *gardencorev1beta1.Quota) {
			q.Spec.Scope = corev1.ObjectReference{APIVersion: version, Kind: kind}
		}
	}
	expect(t, map[string]expectation{
		"API-VALQ-1 plain":    {reason: "every metric can be bounded", got: validation.ValidateQuota(quota())},
		"API-VALQ-1 secret":   {reason: "credentials can be bounded", got: validation.ValidateQuota(quota(scope("v1", "Secret")))},
		"API-VALQ-1 identity": {reason: "so can identities", got: validation.ValidateQuota(quota(scope("security.gardener.cloud/v1alpha1", "WorkloadIdentity")))},
		"API-VALQ-1 scope": {
			reason: "nothing else can", got: validation.ValidateQuota(quota(scope("v1", "Project"))), want: []string{"spec.scope: FieldValueNotSupported"},
		},
		"API-VALQ-1 metrics": {
			reason: "metrics are known and not negative",
			got: validation.ValidateQuota(quota(func(q *gardencorev1beta1.Quota) {
				q.Spec.Metrics = corev1.ResourceList{"pods": resource.MustParse("1"), "cpu": resource.MustParse("-1")}
				q.Spec.ClusterLifetimeDays = new(int32(0))
			})),
			want: []string{"spec.clusterLifetimeDays: FieldValueInvalid", "spec.metrics[cpu]: FieldValueInvalid", "spec.metrics[pods]: FieldValueInvalid"},
		},
		"API-VALQ-1 update": {
			reason: "the scope stays", got: validation.ValidateQuotaUpdate(quota(scope("v1", "Secret")), quota()), want: []string{"spec.scope: FieldValueInvalid"},
		},
	})
}

func TestValidateShootState(t *testing.T) {
	t.Parallel()
	expect(t, map[string]expectation{
		"API-VALSS-1": {
			reason: "whose state it is must be told",
			got: validation.ValidateShootState(&gardencorev1beta1.ShootState{ObjectMeta: object("garden-meadow", "sprout"), Spec: gardencorev1beta1.ShootStateSpec{
				Gardener:   []gardencorev1beta1.GardenerResourceData{{Name: "ca"}, {}},
				Extensions: []gardencorev1beta1.ExtensionResourceState{{Kind: "Worker"}, {Kind: "ControlPlane", Purpose: new("normal")}, {Purpose: new("")}},
			}}),
			want: []string{"spec.extensions[2].kind: FieldValueInvalid", "spec.extensions[2].purpose: FieldValueInvalid", "spec.gardener[1].name: FieldValueInvalid"},
		},
		"API-VALSS-1 update": {
			reason: "also later",
			got: validation.ValidateShootStateUpdate(&gardencorev1beta1.ShootState{ObjectMeta: object("garden-meadow", "sprout"), Spec: gardencorev1beta1.ShootStateSpec{
				Gardener: []gardencorev1beta1.GardenerResourceData{{}},
			}}, &gardencorev1beta1.ShootState{ObjectMeta: object("garden-meadow", "sprout")}),
			want: []string{"spec.gardener[0].name: FieldValueInvalid"},
		},
	})
}

func TestValidatePlant(t *testing.T) {
	t.Parallel()
	plant := func(spec gardencorev1beta1.PlantSpec) *gardencorev1beta1.Plant {
		return &gardencorev1beta1.Plant{ObjectMeta: object("garden-meadow", "weed"), Spec: spec}
	}
	good := gardencorev1beta1.PlantSpec{
		SecretRef: corev1.LocalObjectReference{Name: "key"}, Endpoints: []gardencorev1beta1.Endpoint{{Name: "ui", URL: "https://ui.example.com", Purpose: "ui"}},
	}
	bad := gardencorev1beta1.PlantSpec{Endpoints: []gardencorev1beta1.Endpoint{{Name: "ui", URL: "ui", Purpose: "ui"}, {Name: "ui", URL: "https://ui.example.com"}, {URL: "https://a", Purpose: "b"}}}
	want := []string{
		"spec.endpoints[0].url: FieldValueInvalid", "spec.endpoints[1].purpose: FieldValueRequired", "spec.endpoints[1]: FieldValueDuplicate",
		"spec.endpoints[2].name: FieldValueRequired", "spec.secretRef.name: FieldValueRequired",
	}
	expect(t, map[string]expectation{
		"plain":  {reason: "a plain plant passes", got: validation.ValidatePlant(plant(good))},
		"broken": {reason: "a plant and its endpoints can be reached", got: validation.ValidatePlant(plant(bad)), want: want},
		"update": {reason: "also later", got: validation.ValidatePlantUpdate(plant(bad), plant(good)), want: want},
	})
}

func TestValidateNamespacedCloudProfile(t *testing.T) {
	t.Parallel()
	type object = gardencorev1beta1.NamespacedCloudProfile
	profile := func(change ...func(*object)) *object {
		return changed(&object{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "p", ResourceVersion: "1"}, Spec: gardencorev1beta1.NamespacedCloudProfileSpec{
			Parent: gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "local"},
		}}, change)
	}
	later := metav1.NewTime(time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC))
	expect(t, map[string]expectation{
		"plain": {reason: "a profile may add nothing yet", got: validation.ValidateNamespacedCloudProfile(profile())},
		"API-NCPV-1 parent": {
			reason: "the parent is a profile of the garden",
			got: validation.ValidateNamespacedCloudProfile(profile(func(p *object) {
				p.Spec.Parent = gardencorev1beta1.CloudProfileReference{Kind: "NamespacedCloudProfile"}
			})),
			want: []string{"spec.parent.kind: FieldValueNotSupported", "spec.parent.name: FieldValueRequired"},
		},
		"API-NCPV-1 update": {
			reason: "the parent stays",
			got:    validation.ValidateNamespacedCloudProfileUpdate(profile(func(p *object) { p.Spec.Parent.Name = "other" }), profile()),
			want:   []string{"spec.parent: FieldValueInvalid"},
		},
		"API-NCPV-1 versions": {
			reason: "a version gets another end, nothing else",
			got: validation.ValidateNamespacedCloudProfile(profile(func(p *object) {
				p.Spec.Kubernetes = &gardencorev1beta1.KubernetesSettings{Versions: []gardencorev1beta1.ExpirableVersion{
					{Version: "1.36.3", ExpirationDate: &later},
					{Version: "1.36.3", Classification: new(gardencorev1beta1.VersionClassificationSupported)},
					{Version: "new", ExpirationDate: &later},
				}}
			})),
			want: []string{
				"spec.kubernetes.versions[1].classification: FieldValueForbidden", "spec.kubernetes.versions[1].version: FieldValueDuplicate",
				"spec.kubernetes.versions[2]: FieldValueInvalid",
			},
		},
		"API-NCPV-1 images": {
			reason: "an image says something, in good versions",
			got: validation.ValidateNamespacedCloudProfile(profile(func(p *object) {
				p.Spec.MachineImages = []gardencorev1beta1.MachineImage{
					{Name: "a", UpdateStrategy: new(gardencorev1beta1.MachineImageUpdateStrategyMinor)},
					{Name: "a", Versions: []gardencorev1beta1.MachineImageVersion{{ExpirableVersion: gardencorev1beta1.ExpirableVersion{Version: "x"}}}},
					{UpdateStrategy: new(gardencorev1beta1.MachineImageUpdateStrategy("never"))},
				}
			})),
			want: []string{
				"spec.machineImages: FieldValueInvalid",
				"spec.machineImages[1].versions[0].version: FieldValueInvalid", "spec.machineImages[1]: FieldValueDuplicate",
				"spec.machineImages[2].name: FieldValueRequired", "spec.machineImages[2].updateStrategy: FieldValueNotSupported",
			},
		},
		"API-NCPV-1 others": {
			reason: "what is added is as in a profile of the garden",
			got: validation.ValidateNamespacedCloudProfile(profile(func(p *object) {
				p.Spec.CABundle = new("none")
				p.Spec.MachineTypes = []gardencorev1beta1.MachineType{{CPU: resource.MustParse("1"), Memory: resource.MustParse("1Gi")}}
				p.Spec.VolumeTypes = []gardencorev1beta1.VolumeType{{Name: "fast"}}
				p.Spec.Limits = &gardencorev1beta1.Limits{MaxNodesTotal: new(int32(0))}
			})),
			want: []string{
				"spec.caBundle: FieldValueInvalid", "spec.limits.maxNodesTotal: FieldValueInvalid", "spec.machineTypes[0].name: FieldValueRequired",
				"spec.volumeTypes[0].class: FieldValueRequired",
			},
		},
	})
}

func TestValidateControllerDeployment(t *testing.T) {
	t.Parallel()
	type object = gardencorev1.ControllerDeployment
	const typeKey, configKey = "migration.controllerdeployment.gardener.cloud/type", "migration.controllerdeployment.gardener.cloud/providerConfig"
	deployment := func(helm *gardencorev1.HelmControllerDeployment, annotations map[string]string) *object {
		return &object{ObjectMeta: metav1.ObjectMeta{Name: "x", ResourceVersion: "1", Annotations: annotations}, Helm: helm}
	}
	repository := func(o gardencorev1.OCIRepository) *object {
		return deployment(&gardencorev1.HelmControllerDeployment{OCIRepository: &o}, nil)
	}
	chart := &gardencorev1.HelmControllerDeployment{RawChart: []byte("hello")}
	expect(t, map[string]expectation{
		"API-VALCD-1 chart": {reason: "a chart is enough", got: validation.ValidateControllerDeployment(deployment(chart, nil))},
		"API-VALCD-1 type":  {reason: "so is another type", got: validation.ValidateControllerDeployment(deployment(nil, map[string]string{typeKey: "other", configKey: "{}"}))},
		"API-VALCD-1 none": {
			reason: "a deployment has a type", got: validation.ValidateControllerDeployment(deployment(nil, nil)), want: []string{"helm: FieldValueRequired"},
		},
		"API-VALCD-1 both": {
			reason: "but not two", got: validation.ValidateControllerDeployment(deployment(chart, map[string]string{typeKey: "other", configKey: "{}"})),
			want: []string{"metadata.annotations[" + configKey + "]: FieldValueForbidden", "metadata.annotations[" + typeKey + "]: FieldValueForbidden"},
		},
		"API-VALCD-1 helm elsewhere": {
			reason: "a chart has its own place", got: validation.ValidateControllerDeploymentUpdate(deployment(nil, map[string]string{typeKey: "helm", configKey: "["}), deployment(chart, nil)),
			want: []string{"metadata.annotations[" + configKey + "]: FieldValueInvalid", "metadata.annotations[" + typeKey + "]: FieldValueInvalid"},
		},
		"API-VALCD-1 no chart": {
			reason: "a chart is given", got: validation.ValidateControllerDeployment(deployment(&gardencorev1.HelmControllerDeployment{}, nil)), want: []string{"helm: FieldValueRequired"},
		},
		"API-VALCD-1 two charts": {
			reason: "once", got: validation.ValidateControllerDeployment(deployment(&gardencorev1.HelmControllerDeployment{RawChart: []byte("a"), OCIRepository: &gardencorev1.OCIRepository{}}, nil)),
			want: []string{"helm.ociRepository: FieldValueRequired", "helm: FieldValueRequired"},
		},
		"API-VALCD-1 ref":    {reason: "a reference is complete", got: validation.ValidateControllerDeployment(repository(gardencorev1.OCIRepository{Ref: new("r/a:b")}))},
		"API-VALCD-1 tag":    {reason: "a tag names a version", got: validation.ValidateControllerDeployment(repository(gardencorev1.OCIRepository{Repository: new("r/a"), Tag: new("b")}))},
		"API-VALCD-1 digest": {reason: "so does a digest", got: validation.ValidateControllerDeployment(repository(gardencorev1.OCIRepository{Repository: new("r/a"), Digest: new("sha256:b")}))},
		"API-VALCD-1 nothing": {
			reason: "an artifact has a name", got: validation.ValidateControllerDeployment(repository(gardencorev1.OCIRepository{PullSecretRef: &corev1.LocalObjectReference{}, CABundleSecretRef: &corev1.LocalObjectReference{}})),
			want: []string{"helm.ociRepository.caBundleSecretRef.name: FieldValueRequired", "helm.ociRepository.pullSecretRef.name: FieldValueRequired", "helm.ociRepository: FieldValueRequired"},
		},
		"API-VALCD-1 no version": {
			reason: "and a version", got: validation.ValidateControllerDeployment(repository(gardencorev1.OCIRepository{Repository: new("r/a")})), want: []string{"helm.ociRepository: FieldValueRequired"},
		},
		"API-VALCD-1 other digest": {
			reason: "of a kind that is known", got: validation.ValidateControllerDeployment(repository(gardencorev1.OCIRepository{Repository: new("r/a"), Digest: new("md5:b")})),
			want: []string{"helm.ociRepository.digest: FieldValueInvalid"},
		},
		"resources": {
			reason: "what an extension needs can be found, once",
			got: validation.ValidateControllerDeployment(&object{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Helm: chart, Resources: []gardencorev1.NamedResourceReference{
				{Name: "a", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "a"}},
				{Name: "a", ResourceRef: autoscalingv1.CrossVersionObjectReference{Kind: "Pod"}},
			}}),
			want: []string{
				"resources[1].name: FieldValueDuplicate", "resources[1].resourceRef.apiVersion: FieldValueRequired",
				"resources[1].resourceRef.kind: FieldValueNotSupported", "resources[1].resourceRef.name: FieldValueRequired",
			},
		},
	})
}
