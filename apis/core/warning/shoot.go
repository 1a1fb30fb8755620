// SPDX-License-Identifier: Apache-2.0

package warning

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Shoot warns of deprecated fields and, for a shoot that exists (old is not nil), of credentials that were not rotated for
// longer than interval or whose rotation is not complete (API-WARN-1).
func Shoot(s, old *gardencorev1beta1.Shoot, now time.Time, interval time.Duration) []string {
	if s.DeletionTimestamp != nil {
		return nil
	}
	warnings := deprecated(&s.Spec)
	if old != nil {
		warnings = append(warnings, rotations(old, now, interval)...)
	}
	return warnings
}

// deprecated returns warnings about the deprecated fields that are set.
func deprecated(s *gardencorev1beta1.ShootSpec) []string {
	kcm, scheduler, proxy := s.Kubernetes.KubeControllerManager, s.Kubernetes.KubeScheduler, s.Kubernetes.KubeProxy
	server, autoscaler := s.Kubernetes.KubeAPIServer, s.Kubernetes.ClusterAutoscaler
	var warnings []string
	for _, one := range []struct {
		given      bool
		path, hint string
	}{
		{s.Addons != nil && since(s, 0), "spec.addons", "addons are not supported from Kubernetes 1.35 on"},
		{s.CloudProfileName != nil && since(s, 33), "spec.cloudProfileName", "use spec.cloudProfile"},
		{s.SecretBindingName != nil, "spec.secretBindingName", "use spec.credentialsBindingName"},
		{
			server != nil && server.EnableAnonymousAuthentication != nil, "spec.kubernetes.kubeAPIServer.enableAnonymousAuthentication",
			"it is not supported from Kubernetes 1.35 on; use structuredAuthentication",
		},
		{
			server != nil && server.WatchCacheSizes != nil && server.WatchCacheSizes.Default != nil, "spec.kubernetes.kubeAPIServer.watchCacheSizes.default",
			"it has no effect and is not supported from Kubernetes 1.35 on",
		},
		{
			autoscaler != nil && autoscaler.MaxEmptyBulkDelete != nil, "spec.kubernetes.clusterAutoscaler.maxEmptyBulkDelete",
			"it is not supported from Kubernetes 1.33 on; use maxScaleDownParallelism",
		},
		{kcm != nil && kcm.PodEvictionTimeout != nil, "spec.kubernetes.kubeControllerManager.podEvictionTimeout", "it has no effect"},
		{scheduler != nil && scheduler.KubeMaxPDVols != nil, "spec.kubernetes.kubeScheduler.kubeMaxPDVols", "it has no effect"},
		{
			proxy != nil && proxy.Mode != nil && *proxy.Mode == gardencorev1beta1.ProxyModeIPVS,
			"spec.kubernetes.kubeProxy.mode", "IPVS is deprecated in Kubernetes: use IPTables or NFTables",
		},
	} {
		if one.given {
			warnings = append(warnings, one.path+" is deprecated: "+one.hint)
		}
	}
	if s.DNS == nil {
		return warnings
	}
	for i, p := range s.DNS.Providers {
		if p.SecretName != nil {
			warnings = append(warnings, fmt.Sprintf("spec.dns.providers[%d].secretName is deprecated: use credentialsRef", i))
		}
	}
	return warnings
}

// since reports whether the Kubernetes version of a shoot is 1.<minor> or later.
func since(s *gardencorev1beta1.ShootSpec, minor uint) bool {
	v, err := version.ParseGeneric(s.Kubernetes.Version)
	return err == nil && v.Minor() >= minor
}

// rotation is the state of the rotation of one type of credentials.
type rotation struct {
	what, operation   string
	completed         *metav1.Time
	phase             gardencorev1beta1.CredentialsRotationPhase
	completeOperation string
}

func rotations(s *gardencorev1beta1.Shoot, now time.Time, interval time.Duration) []string {
	var warnings []string
	for _, r := range all(s) {
		if r.phase == gardencorev1beta1.CredentialsRotationPhaseWaitingForWorkersRollout {
			warnings = append(warnings, fmt.Sprintf("the rotation of the %s waits until machines are replaced: annotate the shoot with %s=%s=<names of worker pools>",
				r.what, gardencorev1beta1.AnnotationOperation, gardencorev1beta1.OperationPrefixRotateRolloutWorkers))
			continue
		}
		if r.phase == gardencorev1beta1.CredentialsRotationPhasePrepared && r.completeOperation != "" {
			warnings = append(warnings, fmt.Sprintf("the rotation of the %s is not complete: annotate the shoot with %s=%s",
				r.what, gardencorev1beta1.AnnotationOperation, r.completeOperation))
			continue
		}
		last := s.CreationTimestamp.Time
		if r.completed != nil {
			last = r.completed.Time
		}
		under := r.phase != "" && r.phase != gardencorev1beta1.CredentialsRotationPhaseCompleted
		if under || last.IsZero() || now.Sub(last) <= interval {
			continue
		}
		warnings = append(warnings, fmt.Sprintf("the %s should be rotated (not rotated for %d days): annotate the shoot with %s=%s",
			r.what, int(now.Sub(last).Hours()/24), gardencorev1beta1.AnnotationOperation, r.operation))
	}
	return warnings
}

// all lists the rotations that the owner of a shoot has to start, which are those without automatic rotation.
func all(s *gardencorev1beta1.Shoot) []rotation {
	known := &gardencorev1beta1.ShootCredentialsRotation{}
	if c := s.Status.Credentials; c != nil && c.Rotation != nil {
		known = c.Rotation
	}
	authorities := rotation{
		what: "certificate authorities", operation: gardencorev1beta1.OperationRotateCAStart,
		completeOperation: gardencorev1beta1.OperationRotateCAComplete,
	}
	if r := known.CertificateAuthorities; r != nil {
		authorities.completed, authorities.phase = r.LastCompletionTime, r.Phase
	}
	accounts := rotation{
		what: "service account key", operation: gardencorev1beta1.OperationRotateServiceAccountKeyStart,
		completeOperation: gardencorev1beta1.OperationRotateServiceAccountKeyComplete,
	}
	if r := known.ServiceAccountKey; r != nil {
		accounts.completed, accounts.phase = r.LastCompletionTime, r.Phase
	}
	return append([]rotation{authorities, accounts}, automatic(s, known)...)
}

// automatic lists the rotations that can be automatic and are not for this shoot.
func automatic(s *gardencorev1beta1.Shoot, known *gardencorev1beta1.ShootCredentialsRotation) []rotation {
	itself := &gardencorev1beta1.MaintenanceCredentialsAutoRotation{}
	if m := s.Spec.Maintenance; m != nil && m.AutoRotation != nil && m.AutoRotation.Credentials != nil {
		itself = m.AutoRotation.Credentials
	}
	var some []rotation
	if !happens(itself.ETCDEncryptionKey) {
		r := rotation{what: "etcd encryption key", operation: gardencorev1beta1.OperationRotateETCDEncryptionKey}
		if k := known.ETCDEncryptionKey; k != nil {
			r.completed, r.phase = k.LastCompletionTime, k.Phase
			if k.AutoCompleteAfterPrepared == nil || !*k.AutoCompleteAfterPrepared {
				r.completeOperation = gardencorev1beta1.OperationRotateETCDEncryptionKeyComplete
			}
		}
		some = append(some, r)
	}
	if !happens(itself.Observability) {
		r := rotation{what: "observability credentials", operation: gardencorev1beta1.OperationRotateObservabilityCredentials}
		if k := known.Observability; k != nil {
			r.completed = k.LastCompletionTime
		}
		some = append(some, r)
	}
	if !happens(itself.SSHKeypair) && reachable(&s.Spec) {
		r := rotation{what: "SSH key pair", operation: gardencorev1beta1.OperationRotateSSHKeypair}
		if k := known.SSHKeypair; k != nil {
			r.completed = k.LastCompletionTime
		}
		some = append(some, r)
	}
	return some
}

// happens reports whether a rotation is done in the maintenance time window; a period of zero disables that.
func happens(c *gardencorev1beta1.MaintenanceRotationConfig) bool {
	return c != nil && (c.RotationPeriod == nil || c.RotationPeriod.Duration > 0)
}

// reachable reports whether the shoot has an SSH key pair, which it has if its machines can be reached by SSH.
func reachable(s *gardencorev1beta1.ShootSpec) bool {
	if query.Workerless(s) {
		return false
	}
	settings := s.Provider.WorkersSettings
	return settings == nil || settings.SSHAccess == nil || settings.SSHAccess.Enabled
}
