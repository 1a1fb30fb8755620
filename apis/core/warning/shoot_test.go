// SPDX-License-Identifier: Apache-2.0

package warning_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/warning"
)

const interval = 90 * 24 * time.Hour

func now() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }

func ago(days int) *metav1.Time { return &metav1.Time{Time: now().AddDate(0, 0, -days)} }

func shoot(change ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: *ago(1)}}
	s.Spec.Kubernetes.Version = "1.36.3"
	s.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "one"}}
	s.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{}}
	for _, c := range change {
		c(s)
	}
	return s
}

func TestShoot(t *testing.T) {
	t.Parallel()
	old := func(s *gardencorev1beta1.Shoot) { s.CreationTimestamp = *ago(100) }
	for name, tc := range map[string]struct {
		reason string
		change func(*gardencorev1beta1.Shoot)
		fresh  bool
		want   []string
	}{
		"API-WARN-1 none": {reason: "a young shoot needs no word", change: func(*gardencorev1beta1.Shoot) {}},
		"API-WARN-1 fields": {
			reason: "each field that is deprecated is named, with what to do", fresh: true,
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Addons = &gardencorev1beta1.Addons{}
				s.Spec.CloudProfileName, s.Spec.SecretBindingName = new("a"), new("b")
				s.Spec.Kubernetes.KubeControllerManager = &gardencorev1beta1.KubeControllerManagerConfig{PodEvictionTimeout: &metav1.Duration{}}
				s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{
					EnableAnonymousAuthentication: new(true), WatchCacheSizes: &gardencorev1beta1.WatchCacheSizes{Default: new(int32(1))},
				}
				s.Spec.Kubernetes.ClusterAutoscaler = &gardencorev1beta1.ClusterAutoscaler{MaxEmptyBulkDelete: new(int32(1))}
				s.Spec.DNS = &gardencorev1beta1.DNS{Providers: []gardencorev1beta1.DNSProvider{{}, {SecretName: new("a")}}}
				s.Spec.Kubernetes.KubeScheduler = &gardencorev1beta1.KubeSchedulerConfig{KubeMaxPDVols: new("1")}
				s.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Mode: new(gardencorev1beta1.ProxyModeIPVS)}
			},
			want: []string{
				"spec.addons is deprecated: addons are not supported from Kubernetes 1.35 on",
				"spec.cloudProfileName is deprecated: use spec.cloudProfile",
				"spec.secretBindingName is deprecated: use spec.credentialsBindingName",
				"spec.kubernetes.kubeAPIServer.enableAnonymousAuthentication is deprecated: it is not supported from Kubernetes 1.35 on; use structuredAuthentication",
				"spec.kubernetes.kubeAPIServer.watchCacheSizes.default is deprecated: it has no effect and is not supported from Kubernetes 1.35 on",
				"spec.kubernetes.clusterAutoscaler.maxEmptyBulkDelete is deprecated: it is not supported from Kubernetes 1.33 on; use maxScaleDownParallelism",
				"spec.kubernetes.kubeControllerManager.podEvictionTimeout is deprecated: it has no effect",
				"spec.kubernetes.kubeScheduler.kubeMaxPDVols is deprecated: it has no effect",
				"spec.kubernetes.kubeProxy.mode is deprecated: IPVS is deprecated in Kubernetes: use IPTables or NFTables",
				"spec.dns.providers[1].secretName is deprecated: use credentialsRef",
			},
		},
		"API-WARN-1 profile name": {
			reason: "the server itself keeps the name for older versions",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.Version, s.Spec.CloudProfileName = "1.32.1", new("a")
			},
		},
		"API-WARN-1 old": {
			reason: "what was never rotated is as old as the shoot", change: old,
			want: []string{
				"the certificate authorities should be rotated (not rotated for 100 days): annotate the shoot with gardener.cloud/operation=rotate-ca-start",
				"the service account key should be rotated (not rotated for 100 days): annotate the shoot with gardener.cloud/operation=rotate-serviceaccount-key-start",
				"the etcd encryption key should be rotated (not rotated for 100 days): annotate the shoot with gardener.cloud/operation=rotate-etcd-encryption-key",
				"the observability credentials should be rotated (not rotated for 100 days): annotate the shoot with gardener.cloud/operation=rotate-observability-credentials",
				"the SSH key pair should be rotated (not rotated for 100 days): annotate the shoot with gardener.cloud/operation=rotate-ssh-keypair",
			},
		},
		"API-WARN-1 new": {reason: "a new shoot has new credentials", change: old, fresh: true},
		"API-WARN-1 rotated": {
			reason: "what was rotated lately, or is rotated by itself, is not mentioned",
			change: func(s *gardencorev1beta1.Shoot) {
				old(s)
				s.Status.Credentials.Rotation = &gardencorev1beta1.ShootCredentialsRotation{
					CertificateAuthorities: &gardencorev1beta1.CARotation{Phase: "Completed", LastCompletionTime: ago(2)},
					ServiceAccountKey:      &gardencorev1beta1.ServiceAccountKeyRotation{Phase: "Preparing"},
				}
				each := &gardencorev1beta1.MaintenanceRotationConfig{}
				s.Spec.Maintenance = &gardencorev1beta1.Maintenance{AutoRotation: &gardencorev1beta1.MaintenanceAutoRotation{
					Credentials: &gardencorev1beta1.MaintenanceCredentialsAutoRotation{ETCDEncryptionKey: each, Observability: each, SSHKeypair: each},
				}}
			},
		},
		"API-WARN-1 incomplete": {
			reason: "who has begun is reminded to go on",
			change: func(s *gardencorev1beta1.Shoot) {
				s.Status.Credentials.Rotation.CertificateAuthorities = &gardencorev1beta1.CARotation{Phase: "Prepared"}
				s.Status.Credentials.Rotation.ETCDEncryptionKey = &gardencorev1beta1.ETCDEncryptionKeyRotation{
					Phase: "Prepared", AutoCompleteAfterPrepared: new(true),
				}
			},
			want: []string{"the rotation of the certificate authorities is not complete: annotate the shoot with gardener.cloud/operation=rotate-ca-complete"},
		},
		"API-WARN-1 waiting": {
			reason: "also when it is the machines that a rotation waits for",
			change: func(s *gardencorev1beta1.Shoot) {
				old(s)
				s.Status.Credentials.Rotation = &gardencorev1beta1.ShootCredentialsRotation{
					CertificateAuthorities: &gardencorev1beta1.CARotation{Phase: "WaitingForWorkersRollout"},
					ServiceAccountKey:      &gardencorev1beta1.ServiceAccountKeyRotation{Phase: "PreparingWithoutWorkersRollout"},
				}
				each := &gardencorev1beta1.MaintenanceRotationConfig{}
				s.Spec.Maintenance = &gardencorev1beta1.Maintenance{AutoRotation: &gardencorev1beta1.MaintenanceAutoRotation{
					Credentials: &gardencorev1beta1.MaintenanceCredentialsAutoRotation{ETCDEncryptionKey: each, Observability: each, SSHKeypair: each},
				}}
			},
			want: []string{"the rotation of the certificate authorities waits until machines are replaced: annotate the shoot with gardener.cloud/operation=rotate-rollout-workers=<names of worker pools>"},
		},
		"API-WARN-1 leaving": {
			reason: "a shoot that goes away is left alone",
			change: func(s *gardencorev1beta1.Shoot) {
				old(s)
				s.DeletionTimestamp = ago(0)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shoot(tc.change)
			before := s
			if tc.fresh {
				before = nil
			}
			if diff := cmp.Diff(tc.want, warning.Shoot(s, before, now(), interval)); diff != "" {
				t.Errorf("%s\nShoot (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
