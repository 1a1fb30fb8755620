// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/seedmanagement/validation"
)

func configured(c runtime.RawExtension) func(*managedSeed) {
	return func(m *managedSeed) { m.Spec.Gardenlet.Config = c }
}

func access(bootstrap gardenseedmanagementv1alpha1.Bootstrap, merge bool, config runtime.RawExtension) func(*managedSeed) {
	return func(m *managedSeed) {
		m.Spec.Gardenlet.Bootstrap, m.Spec.Gardenlet.MergeWithParent, m.Spec.Gardenlet.Config = &bootstrap, &merge, config
	}
}

func TestValidateManagedSeed(t *testing.T) {
	t.Parallel()
	own := settings(`,"gardenClientConnection":{"kubeconfig":"/kubeconfig"}`)
	const kubeconfig = "spec.gardenlet.config.gardenClientConnection.kubeconfig"
	for name, tc := range map[string]struct {
		reason string
		change func(*managedSeed)
		want   []string
	}{
		"API-VALMS-1 complete": {reason: "a managed seed with all it needs", change: func(*managedSeed) {}},
		"API-VALMS-1 empty": {
			reason: "which shoot, and how", change: func(m *managedSeed) { m.Spec = gardenseedmanagementv1alpha1.ManagedSeedSpec{} },
			want: []string{"spec.gardenlet: FieldValueRequired", "spec.shoot: FieldValueRequired"},
		},
		"API-VALMS-1 no shoot": {
			reason: "a shoot has a name", change: func(m *managedSeed) { m.Spec.Shoot.Name = "" }, want: []string{"spec.shoot.name: FieldValueRequired"},
		},
		"API-VALMS-1 older form": {
			reason: "a seed whose gardenlet is somebody else's matter",
			change: func(m *managedSeed) {
				m.Spec.Gardenlet, m.Spec.SeedTemplate = nil, &gardencorev1beta1.SeedTemplate{}
			},
		},
		"API-VALMS-1 both forms": {
			reason: "one of the two", change: func(m *managedSeed) { m.Spec.SeedTemplate = &gardencorev1beta1.SeedTemplate{} },
			want: []string{"spec.seedTemplate: FieldValueForbidden"},
		},
		"API-VALMS-1 bootstrap": {
			reason: "a gardenlet bootstraps in a known way", change: access("Magic", true, settings("")), want: []string{"spec.gardenlet.bootstrap: FieldValueNotSupported"},
		},
		"API-VALMS-1 two accesses": {
			reason: "a kubeconfig beside a bootstrap token", change: configured(own), want: []string{kubeconfig + ": FieldValueForbidden"},
		},
		"API-VALMS-1 no access": {
			reason: "a connection by none of the three", change: access(gardenseedmanagementv1alpha1.BootstrapNone, false, settings(`,"gardenClientConnection":{}`)),
			want: []string{kubeconfig + ": FieldValueRequired"},
		},
		"API-VALMS-1 no connection": {reason: "of a connection of which nothing is said nothing is asked", change: access(gardenseedmanagementv1alpha1.BootstrapNone, false, settings(""))},
		"API-VALMS-1 bootstrap kubeconfig": {
			reason: "who does not bootstrap needs nothing for it",
			change: access(gardenseedmanagementv1alpha1.BootstrapNone, true, settings(`,"gardenClientConnection":{"bootstrapKubeconfig":{"name":"a"},"kubeconfigSecret":{"name":"b"}}`)),
			want:   []string{"spec.gardenlet.config.gardenClientConnection.bootstrapKubeconfig: FieldValueForbidden", "spec.gardenlet.config.gardenClientConnection.kubeconfigSecret: FieldValueForbidden"},
		},
		"API-VALMS-1 no seed": {
			reason: "a gardenlet registers a seed", change: configured(settings(`,"seedConfig":null`)), want: []string{"spec.gardenlet.config.seedConfig: FieldValueInvalid"},
		},
		"API-VALSEED-3 internal": {
			reason: "the seed of a gardenlet is checked like a seed", change: configured(settings(`,"seedConfig":{"spec":{"taints":[{}]}}`)),
			want: []string{"spec.gardenlet.config.seedConfig.spec.dns.internal: FieldValueRequired", "spec.gardenlet.config.seedConfig.spec.taints[0].key: FieldValueRequired"},
		},
		"API-VALMS-1 amounts": {
			reason: "amounts, levels and times that can be",
			change: configured(settings(`,"logLevel":"loud","logFormat":"verse","resources":{"capacity":{"shoots":"10"},"reserved":{"shoots":"11","seeds":"1"}},` +
				`"gardenClientConnection":{"kubeconfigValidity":{"validity":"1m","autoRotationJitterPercentageMin":0,"autoRotationJitterPercentageMax":101}}`)),
			want: []string{
				"spec.gardenlet.config.gardenClientConnection.kubeconfigValidity.autoRotationJitterPercentageMax: FieldValueInvalid",
				"spec.gardenlet.config.gardenClientConnection.kubeconfigValidity.autoRotationJitterPercentageMin: FieldValueInvalid",
				"spec.gardenlet.config.gardenClientConnection.kubeconfigValidity.validity: FieldValueInvalid",
				"spec.gardenlet.config.logFormat: FieldValueNotSupported", "spec.gardenlet.config.logLevel: FieldValueNotSupported",
				"spec.gardenlet.config.resources.reserved.seeds: FieldValueInvalid", "spec.gardenlet.config.resources.reserved.shoots: FieldValueInvalid",
			},
		},
		"API-STRAT-4 operation": {
			reason: "a managed seed knows two operations",
			change: func(m *managedSeed) { m.Annotations = map[string]string{"gardener.cloud/operation": "force-redeploy"} },
			want:   []string{"metadata.annotations[gardener.cloud/operation]: FieldValueNotSupported"},
		},
		"API-VALMS-1 own access":      {reason: "a kubeconfig of its own", change: access(gardenseedmanagementv1alpha1.BootstrapNone, false, own)},
		"API-VALMS-1 parent's access": {reason: "that of its parent", change: access(gardenseedmanagementv1alpha1.BootstrapNone, true, settings(""))},
		"API-VALMS-1 service account": {reason: "a token of a service account", change: access(gardenseedmanagementv1alpha1.BootstrapServiceAccount, true, settings(""))},
		"API-VALMS-1 named": {
			reason: "the seed has the name of the object", change: configured(settings(`,"seedConfig":{"metadata":{"name":"other"},` + internal + `}`)),
			want: []string{"spec.gardenlet.config.seedConfig.metadata.name: FieldValueForbidden"},
		},
		"API-VALMS-1 newer": {reason: "fields of a newer gardenlet are its own matter", change: configured(settings(`,"colour":"green"`))},
		"API-VALMS-1 other configuration": {
			reason: "the configuration is that of a gardenlet", change: configured(runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"Pod"}`)}),
			want: []string{"spec.gardenlet.config.apiVersion: FieldValueNotSupported", "spec.gardenlet.config.kind: FieldValueNotSupported"},
		},
		"API-VALMS-1 no configuration": {
			reason: "and not a text", change: configured(runtime.RawExtension{Raw: []byte(`"green"`)}),
			want: []string{"spec.gardenlet.config: FieldValueInvalid"},
		},
		"API-VALMS-1 deployment": {
			reason: "a deployment that cannot be",
			change: func(m *managedSeed) {
				m.Spec.Gardenlet.Deployment = &deployment{
					ReplicaCount: new(int32(-1)), RevisionHistoryLimit: new(int32(-1)), ServiceAccountName: new("A"),
					Image:     &gardenseedmanagementv1alpha1.Image{Ref: new(""), Repository: new(""), Tag: new(""), PullPolicy: new(corev1.PullPolicy("Often"))},
					PodLabels: map[string]string{"a b": "c"}, PodAnnotations: map[string]string{"a b": "c"},
				}
			},
			want: []string{
				"spec.gardenlet.deployment.image.pullPolicy: FieldValueNotSupported", "spec.gardenlet.deployment.image.ref: FieldValueInvalid",
				"spec.gardenlet.deployment.image.repository: FieldValueInvalid", "spec.gardenlet.deployment.image.tag: FieldValueInvalid",
				"spec.gardenlet.deployment.podAnnotations: FieldValueInvalid", "spec.gardenlet.deployment.podLabels: FieldValueInvalid",
				"spec.gardenlet.deployment.replicaCount: FieldValueInvalid", "spec.gardenlet.deployment.revisionHistoryLimit: FieldValueInvalid",
				"spec.gardenlet.deployment.serviceAccountName: FieldValueInvalid",
			},
		},
		"API-NAME-4": {reason: "the name is that of a seed", change: func(m *managedSeed) { m.Name = "a.b" }, want: []string{"metadata.name: FieldValueInvalid"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateManagedSeed(seedOf(tc.change)))); diff != "" {
				t.Errorf("%s\nValidateManagedSeed(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateManagedSeedUpdate(t *testing.T) {
	t.Parallel()
	formerly := func(pods string) func(*managedSeed) {
		return func(m *managedSeed) {
			m.Spec.Gardenlet, m.Spec.SeedTemplate = nil, &gardencorev1beta1.SeedTemplate{}
			m.Spec.SeedTemplate.Spec.Networks.Pods = pods
		}
	}
	same := func(*managedSeed) {}
	const pods = "10.0.0.0/16"
	for name, tc := range map[string]struct {
		reason string
		change func(*managedSeed)
		want   []string
		old    func(*managedSeed)
	}{
		"API-VALMS-1 form": {
			reason: "a seed keeps its gardenlet, and with it what never changes", change: formerly(""), want: []string{"spec.seedTemplate: FieldValueForbidden"},
		},
		"API-VALMS-1 older form": {
			reason: "a seed may get a gardenlet", old: formerly(""), change: same,
		},
		"API-VALSEED-2 older form": {
			reason: "what never changes in a seed stays in the older form", old: formerly("10.1.0.0/16"), change: formerly(pods),
			want: []string{"spec.seedTemplate.spec.networks.pods: FieldValueInvalid"},
		},
		"API-VALSEED-2 from older form": {
			reason: "also when it gets a gardenlet", old: formerly(pods), change: same,
			want: []string{"spec.gardenlet.config.seedConfig.spec.networks.pods: FieldValueInvalid"},
		},
		"API-VALMS-1 configuration": {reason: "the configuration may change", change: configured(settings(`,"logLevel":"debug"`))},
		"API-VALMS-1 shoot": {
			reason: "the shoot stays", change: func(m *managedSeed) { m.Spec.Shoot = &gardenseedmanagementv1alpha1.Shoot{Name: "other"} },
			want: []string{"spec.shoot: FieldValueInvalid"},
		},
		"API-VALSEED-2 networks": {
			reason: "what never changes in a seed stays", change: configured(settings(`,"seedConfig":{"spec":{"networks":{"pods":"10.0.0.0/16"},"dns":` + internal[len(`"spec":{"dns":`):len(internal)-1] + `}}`)),
			want: []string{"spec.gardenlet.config.seedConfig.spec.networks.pods: FieldValueInvalid"},
		},
		"API-VALMS-1 access": {
			reason: "so does the way to the garden", change: access(gardenseedmanagementv1alpha1.BootstrapServiceAccount, false, settings("")),
			want: []string{"spec.gardenlet.bootstrap: FieldValueInvalid", "spec.gardenlet.mergeWithParent: FieldValueInvalid"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.old == nil {
				tc.old = same
			}
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateManagedSeedUpdate(seedOf(tc.change), seedOf(tc.old)))); diff != "" {
				t.Errorf("%s\nValidateManagedSeedUpdate(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateGardenlet(t *testing.T) {
	t.Parallel()
	from := func(r repository) func(*gardenlet) {
		return func(g *gardenlet) { g.Spec.Deployment.Helm.OCIRepository = r }
	}
	const at = "spec.deployment.helm.ociRepository"
	for name, tc := range map[string]struct {
		reason string
		change func(*gardenlet)
		want   []string
	}{
		"API-RES-5 complete":  {reason: "a gardenlet with all it needs", change: func(*gardenlet) {}},
		"API-RES-5 elsewhere": {reason: "gardenlets are the garden's", change: func(g *gardenlet) { g.Namespace = "garden-meadow" }, want: []string{"metadata.namespace: FieldValueForbidden"}},
		"API-VALCD-1 ref":     {reason: "a complete reference", change: from(repository{Ref: new("registry.example/gardenlet:v1")})},
		"API-VALCD-1 digest":  {reason: "a digest", change: from(repository{Repository: new("registry.example/gardenlet"), Digest: new("sha256:12")})},
		"API-VALCD-1 nothing": {reason: "a chart comes from somewhere", change: from(repository{}), want: []string{at + ": FieldValueRequired"}},
		"API-VALCD-1 other digest": {
			reason: "a digest of another sort", change: from(repository{Repository: new("r"), Digest: new("md5:12")}), want: []string{at + ".digest: FieldValueInvalid"},
		},
		"own name": {
			reason: "the seed has the name of the object", change: func(g *gardenlet) {
				g.Spec.Config = settings(`,"seedConfig":{"metadata":{"name":"soil"},` + internal + `}`)
			},
			want: []string{"spec.config.seedConfig.metadata.name: FieldValueForbidden"},
		},
		"no seed": {
			reason: "a gardenlet registers a seed", change: func(g *gardenlet) { g.Spec.Config = settings(`,"seedConfig":null`) },
			want: []string{"spec.config.seedConfig: FieldValueInvalid"},
		},
		"own kubeconfig": {
			reason: "a gardenlet of an operator bootstraps", change: func(g *gardenlet) { g.Spec.Config = settings(`,"gardenClientConnection":{"kubeconfig":"/k"}`) },
			want: []string{"spec.config.gardenClientConnection.kubeconfig: FieldValueForbidden"},
		},
		"API-STRAT-4 redeploy": {reason: "it can be deployed again", change: func(g *gardenlet) { g.Annotations = map[string]string{"gardener.cloud/operation": "force-redeploy"} }},
		"API-STRAT-4 operation": {
			reason: "and does nothing unknown", change: func(g *gardenlet) { g.Annotations = map[string]string{"gardener.cloud/operation": "dance"} },
			want: []string{"metadata.annotations[gardener.cloud/operation]: FieldValueNotSupported"},
		},
		"kubeconfig": {
			reason: "a reference has a name", change: func(g *gardenlet) { g.Spec.KubeconfigSecretRef = &corev1.LocalObjectReference{} },
			want: []string{"spec.kubeconfigSecretRef.name: FieldValueRequired"},
		},
		"kubeconfig form": {
			reason: "which is that of a Secret", change: func(g *gardenlet) { g.Spec.KubeconfigSecretRef = &corev1.LocalObjectReference{Name: "a b"} },
			want: []string{"spec.kubeconfigSecretRef.name: FieldValueInvalid"},
		},
		"container": {
			reason: "its container is one that Kubernetes takes", change: func(g *gardenlet) {
				d := &g.Spec.Deployment
				d.Env = []corev1.EnvVar{{Name: "A"}, {Name: "A=B"}}
				d.Resources = &corev1.ResourceRequirements{
					Requests: corev1.ResourceList{"cpu": resource.MustParse("-1"), "memory": resource.MustParse("0")},
					Limits:   corev1.ResourceList{"memory": resource.MustParse("-1Gi")},
				}
			},
			want: []string{
				"spec.deployment.env[1].name: FieldValueInvalid", "spec.deployment.resources.limits[memory]: FieldValueInvalid",
				"spec.deployment.resources.requests[cpu]: FieldValueInvalid",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateGardenlet(gardenletOf(tc.change)))); diff != "" {
				t.Errorf("%s\nValidateGardenlet(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	if diff := cmp.Diff([]string{at + ": FieldValueRequired"}, checktest.Complaints(validation.ValidateGardenletUpdate(gardenletOf(from(repository{})), gardenletOf()))); diff != "" {
		t.Errorf("an update is checked like a creation\nValidateGardenletUpdate(...) (-want +got):\n%s", diff)
	}
}
