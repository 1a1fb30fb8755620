// SPDX-License-Identifier: Apache-2.0

package unserved

import (
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// seedRows are rows about fields of Seeds.
func seedRows() []Row {
	return rowsOf[gardencorev1beta1.Seed](
		gardencorev1beta1.GroupName,
		Row{
			Field: "spec.backup", Severity: Problem,
			Instead: "no backups are made: a control plane whose volume is lost is lost, and condition BackupBucketsReady says so",
		},
		Row{Field: "spec.ingress", Severity: Note, Instead: "no ingress controller is installed"},
		Row{Field: "spec.dns.provider", Severity: Note, Instead: "no name is made for the seed's ingress"},
		Row{Field: "spec.settings.excessCapacityReservation", Severity: Note, Instead: "no room is kept free"},
		Row{Field: "spec.settings.dependencyWatchdog", Severity: Note, Instead: "nobody stops or restarts components that depend on one another; prober.enabled has the condition EveryNodeReady of shoots count kubelets that are silent"},
		Row{Field: "spec.settings.verticalPodAutoscaler", Severity: Note, Instead: "the gardenlet does not install the autoscaler of pods; one that is there sizes control planes"},
		Row{Field: "spec.settings.loadBalancerServices.proxyProtocol", Severity: Warn, Instead: "load balancers do not tell the address of the client"},
		Row{Field: "spec.settings.loadBalancerServices.zones", Severity: Warn, Instead: "there are no load balancers of single zones"},
		Row{
			Field: "spec.settings.persistentVolumeClaimAutoscaler.enabled", Only: "true", Severity: Warn, Instead: "volumes do not grow",
		},
		Row{
			Field: "spec.settings.topologyAwareRouting.enabled", Only: "true", Severity: Warn, Instead: "traffic is not kept within a zone",
		},
	)
}
