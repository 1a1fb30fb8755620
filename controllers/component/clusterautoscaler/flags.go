// SPDX-License-Identifier: Apache-2.0

package clusterautoscaler

import (
	"cmp"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

// settingsOf are what the spec says, with the defaults of the API.
func settingsOf(f facts.Shoot) *gardencorev1beta1.ClusterAutoscaler {
	settings := cmp.Or(f.Shoot.Spec.Kubernetes.ClusterAutoscaler, &gardencorev1beta1.ClusterAutoscaler{}).DeepCopy()
	gardencorev1beta1.DefaultClusterAutoscaler(settings)
	return settings
}

// flags are what the spec of the shoot says.
func flags(f facts.Shoot) []string {
	s := settingsOf(f)
	all := []string{}
	duration := func(name string, value *metav1.Duration) {
		if value != nil {
			all = append(all, "--"+name+"="+value.Duration.String())
		}
	}
	duration("scan-interval", s.ScanInterval)
	duration("new-pod-scale-up-delay", s.NewPodScaleUpDelay)
	duration("max-node-provision-time", s.MaxNodeProvisionTime)
	duration("initial-node-group-backoff-duration", s.InitialNodeGroupBackoffDuration)
	duration("max-node-group-backoff-duration", s.MaxNodeGroupBackoffDuration)
	duration("node-group-backoff-reset-timeout", s.NodeGroupBackoffResetTimeout)
	duration("scale-down-unneeded-time", s.ScaleDownUnneededTime)
	duration("scale-down-delay-after-add", s.ScaleDownDelayAfterAdd)
	duration("scale-down-delay-after-delete", s.ScaleDownDelayAfterDelete)
	duration("scale-down-delay-after-failure", s.ScaleDownDelayAfterFailure)
	if threshold := s.ScaleDownUtilizationThreshold; threshold != nil {
		all = append(all, "--scale-down-utilization-threshold="+strconv.FormatFloat(*threshold, 'g', -1, 64))
	}
	all = append(all, component.Flag("expander", s.Expander)...)
	all = append(all, component.Flag("ignore-daemonsets-utilization", s.IgnoreDaemonsetsUtilization)...)
	all = append(all, component.Flag("max-scale-down-parallelism", s.MaxScaleDownParallelism)...)
	all = append(all, component.Flag("max-drain-parallelism", s.MaxDrainParallelism)...)
	all = append(all, "--startup-taint="+gardencorev1beta1.TaintNodeCriticalComponentsNotReady)
	for _, taint := range append(s.StartupTaints, s.IgnoreTaints...) {
		all = append(all, "--startup-taint="+taint)
	}
	for _, taint := range s.StatusTaints {
		all = append(all, "--status-taint="+taint)
	}
	duration("max-binpacking-time", s.MaxBinpackingTime)
	all = append(all, component.Flag("max-graceful-termination-sec", s.MaxGracefulTerminationSeconds)...)
	all = append(all, component.Flag("emit-per-nodegroup-metrics", s.EmitPerNodeGroupMetrics)...)
	return append(all, component.Flag("v", s.Verbosity)...)
}

// groups are the machine deployments that the provider has published, each with its bounds (EXT-WORKER-7).
func groups(worker *gardenextensionsv1alpha1.Worker) []string {
	if worker == nil {
		return nil
	}
	var all []string
	for _, d := range worker.Status.MachineDeployments {
		all = append(all, fmt.Sprintf("--nodes=%d:%d:%s.%s", d.Minimum, d.Maximum, worker.Namespace, d.Name))
	}
	return all
}
