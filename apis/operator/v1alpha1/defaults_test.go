// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
)

func TestSetDefaultsGarden(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ reason, given, want string }{
		"OPER-API-9 seed era": {
			reason: "What every garden has is there, and no more is said of what was left out.",
			given: `
virtualCluster:
  maintenance: {timeWindow: {begin: 220000+0100, end: 230000+0100}}`,
			want: `
runtimeCluster: {networking: {ipFamilies: [IPv4]}, provider: {}}
virtualCluster:
  gardener:
    clusterIdentity: ""
    gardenerAPIServer: {encryptionConfig: {provider: {type: aescbc}}}
  kubernetes:
    kubeAPIServer:
      encryptionConfig: {provider: {type: aescbc}}
      eventTTL: 1h0m0s
      logging: {verbosity: 2}
      requests: {maxMutatingInflight: 200, maxNonMutatingInflight: 400}
    kubeControllerManager: {certificateSigningDuration: 48h0m0s}
    version: ""
  maintenance: {timeWindow: {begin: 220000+0100, end: 230000+0100}}`,
		},
		"OPER-API-2, 4, 8 sections": {
			reason: "A section that is given is completed.",
			given: `
runtimeCluster:
  networking: {pods: [fd00::/64], services: [fd01::/64], ipFamilies: [IPv6]}
  provider: {zones: [a]}
  settings: {verticalPodAutoscaler: {}}
virtualCluster:
  etcd: {main: {storage: {}}, events: {storage: {className: fast}}}
  gardener:
    clusterIdentity: mine
    gardenerAPIServer: {auditWebhook: {kubeconfigSecretName: audit}}
    gardenerAdmissionController: {}
    gardenerControllerManager: {}
    gardenerDashboard:
      gitHub: {organisation: mine, repository: tickets, secretRef: {name: github}}
      ingress: {}
    gardenerScheduler: {}
  kubernetes:
    version: 1.36.3
    kubeAPIServer:
      auditWebhook: {kubeconfigSecretName: audit, batchMaxSize: 7}
      authentication: {webhook: {kubeconfigSecretName: tokens}}
      encryptionConfig: {provider: {type: secretbox}}
  maintenance: {timeWindow: {begin: 220000+0100, end: 230000+0100}}`,
			want: `
runtimeCluster:
  networking: {pods: [fd00::/64], services: [fd01::/64], ipFamilies: [IPv6]}
  provider: {zones: [a]}
  settings: {verticalPodAutoscaler: {enabled: true}}
virtualCluster:
  etcd: {main: {storage: {capacity: 10Gi}}, events: {storage: {capacity: 10Gi, className: fast}}}
  gardener:
    clusterIdentity: mine
    gardenerAPIServer:
      auditWebhook: {batchMaxSize: 30, kubeconfigSecretName: audit, version: audit.k8s.io/v1}
      encryptionConfig: {provider: {type: secretbox}}
    gardenerAdmissionController: {logLevel: info}
    gardenerControllerManager: {logLevel: info}
    gardenerDashboard:
      enableTokenLogin: true
      gitHub: {apiURL: "https://api.github.com", organisation: mine, repository: tickets, secretRef: {name: github}}
      ingress: {enabled: true}
      logLevel: info
    gardenerScheduler: {logLevel: info, strategy: SameRegion}
  kubernetes:
    kubeAPIServer:
      auditWebhook: {batchMaxSize: 7, kubeconfigSecretName: audit, version: audit.k8s.io/v1}
      authentication: {webhook: {kubeconfigSecretName: tokens, version: v1beta1}}
      encryptionConfig: {provider: {type: secretbox}}
      eventTTL: 1h0m0s
      logging: {verbosity: 2}
      requests: {maxMutatingInflight: 200, maxNonMutatingInflight: 400}
    kubeControllerManager: {certificateSigningDuration: 48h0m0s}
    version: 1.36.3
  maintenance: {timeWindow: {begin: 220000+0100, end: 230000+0100}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &gardenoperatorv1alpha1.Garden{}
			if err := yaml.UnmarshalStrict([]byte(tc.given), &g.Spec); err != nil {
				t.Fatal(err)
			}
			gardenoperatorv1alpha1.SetDefaultsGarden(g)
			var got, want any
			spec, err := json.Marshal(g.Spec)
			if err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal(spec, &got); err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal([]byte(tc.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\nspec (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
