// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// setting is a field and whether it is set.
type setting struct {
	name  string
	given bool
}

// workerless rejects settings that have no effect without worker pools (API-VALSHOOT-7).
func workerless(s *gardencorev1beta1.ShootSpec, path *field.Path) field.ErrorList {
	all := []setting{
		{"addons", s.Addons != nil},
		{"credentialsBindingName", s.CredentialsBindingName != nil},
		{"secretBindingName", s.SecretBindingName != nil},
		{"systemComponents", s.SystemComponents != nil},
		{"provider.controlPlaneConfig", s.Provider.ControlPlaneConfig != nil},
		{"provider.infrastructureConfig", s.Provider.InfrastructureConfig != nil},
		{"provider.workersSettings", s.Provider.WorkersSettings != nil},
	}
	if n := s.Networking; n != nil {
		all = append(all, setting{"networking.type", n.Type != nil}, setting{"networking.pods", n.Pods != nil},
			setting{"networking.nodes", n.Nodes != nil}, setting{"networking.providerConfig", n.ProviderConfig != nil})
	}
	if m := s.Maintenance; m != nil {
		all = append(all, setting{"maintenance.autoUpdate.machineImageVersion", m.AutoUpdate != nil && m.AutoUpdate.MachineImageVersion != nil})
		all = append(all, setting{
			"maintenance.autoRotation.credentials.sshKeypair",
			m.AutoRotation != nil && m.AutoRotation.Credentials != nil && m.AutoRotation.Credentials.SSHKeypair != nil,
		})
	}
	var errs field.ErrorList
	for _, one := range append(all, nodeSettings(&s.Kubernetes)...) {
		if one.given {
			errs = append(errs, field.Forbidden(path.Child(one.name), "has no effect on a shoot without workers"))
		}
	}
	return errs
}

// nodeSettings are the Kubernetes settings for nodes and the components on them.
func nodeSettings(k *gardencorev1beta1.Kubernetes) []setting {
	all := []setting{
		{"kubernetes.clusterAutoscaler", k.ClusterAutoscaler != nil},
		{"kubernetes.kubeProxy", k.KubeProxy != nil},
		{"kubernetes.kubeScheduler", k.KubeScheduler != nil},
		{"kubernetes.kubelet", k.Kubelet != nil},
		{"kubernetes.verticalPodAutoscaler", k.VerticalPodAutoscaler != nil},
	}
	if a := k.KubeAPIServer; a != nil {
		all = append(all,
			setting{"kubernetes.kubeAPIServer.defaultNotReadyTolerationSeconds", a.DefaultNotReadyTolerationSeconds != nil},
			setting{"kubernetes.kubeAPIServer.defaultUnreachableTolerationSeconds", a.DefaultUnreachableTolerationSeconds != nil})
	}
	if c := k.KubeControllerManager; c != nil {
		all = append(all,
			setting{"kubernetes.kubeControllerManager.horizontalPodAutoscaler", c.HorizontalPodAutoscaler != nil},
			setting{"kubernetes.kubeControllerManager.nodeCIDRMaskSize", c.NodeCIDRMaskSize != nil},
			setting{"kubernetes.kubeControllerManager.nodeCIDRMaskSizeIPv6", c.NodeCIDRMaskSizeIPv6 != nil},
			setting{"kubernetes.kubeControllerManager.nodeMonitorGracePeriod", c.NodeMonitorGracePeriod != nil},
			setting{"kubernetes.kubeControllerManager.podEvictionTimeout", c.PodEvictionTimeout != nil})
	}
	return all
}
