// SPDX-License-Identifier: Apache-2.0

package coredns

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	// fewest is how many servers a cluster has at least, so that the loss of one is not noticed.
	fewest = 2
	// busiest and mostBusy are what the autoscaler goes by: the use of processors, in percent of what is requested, and how many
	// servers it starts at most.
	busiest, mostBusy = 70, 5
	// nodesOfServer and coresOfServer are what one server is enough for, if servers are counted by the size of the cluster. most is where
	// that ends, whatever the nodes say of themselves.
	nodesOfServer, coresOfServer, most = 16, 256, 1000
)

// Proportional reports whether the owner wants as many servers as the size of the cluster asks for.
func Proportional(s *gardencorev1beta1.ShootSpec) bool {
	if s.SystemComponents == nil || s.SystemComponents.CoreDNS == nil || s.SystemComponents.CoreDNS.Autoscaling == nil {
		return false
	}
	return s.SystemComponents.CoreDNS.Autoscaling.Mode == gardencorev1beta1.CoreDNSAutoscalingModeClusterProportional
}

// ServersFor is how many servers are enough for a cluster with such nodes, of which all count: cordoned ones still have pods.
func ServersFor(nodes []corev1.Node) int32 {
	cores := resource.Quantity{}
	for i := range nodes {
		if own := nodes[i].Status.Capacity.Cpu(); own.Sign() > 0 {
			cores.Add(*own)
		}
	}
	byNodes := (int64(len(nodes)) + nodesOfServer - 1) / nodesOfServer
	byCores := int64(cores.AsApproximateFloat64()/coresOfServer + 1)
	if cores.CmpInt64((byCores-1)*coresOfServer) == 0 {
		byCores--
	}
	return int32(min(max(byNodes, byCores, fewest), most))
}

// autoscaler starts servers when those that there are have much to do. The resource manager leaves the number of servers to it.
func autoscaler() *autoscalingv2.HorizontalPodAutoscaler {
	return &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: meta(name), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment", Name: name},
		MinReplicas:    new(int32(fewest)), MaxReplicas: mostBusy,
		Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(busiest))},
		}}},
	}}
}
