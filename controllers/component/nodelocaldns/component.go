// SPDX-License-Identifier: Apache-2.0

// Package nodelocaldns renders the DNS cache on the nodes of a shoot. Pods ask it at an address that every node has for itself, so that
// a query neither leaves the node when its answer is known, nor depends on the addresses of Services.
package nodelocaldns

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/coredns"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/shootsystem"
)

const (
	// Name is that of its workload and of its image.
	Name = "node-local-dns"
	// program is where upstream images have it.
	program = "/node-cache"

	baseDir = "/etc/coredns"
	baseKey = "Corefile.base"
	// runDir is where the program keeps the configuration that it makes of the base.
	runDir = "/run/node-cache"

	healthPort  = 8080
	metricsPort = 9253
	setupPort   = 9353
)

// Component is the cache on the nodes of a shoot. It comes after the servers that it asks, and stays as long as a node asks it.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: Name, Title: "the DNS cache of the nodes", Images: []string{Name},
		After: []component.Name{shootsystem.Name, coredns.Name},
		Wanted: func(f facts.Shoot) bool {
			return f.Workers() && (query.NodeLocalDNS(&f.Shoot.Spec) != nil || f.DNSCacheInUse)
		},
		Render: render,
	}
}

// render returns the objects inside the shoot. A cache that is only there for the nodes that are left has no settings any more.
func render(f facts.Shoot, in *component.Inputs) ([]client.Object, error) {
	cluster, err := f.DNSAddress()
	if err != nil {
		return nil, err
	}
	settings := query.NodeLocalDNS(&f.Shoot.Spec)
	if settings == nil {
		settings = &gardencorev1beta1.NodeLocalDNS{}
	}
	meta := metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: Name, Labels: labels()}
	return []client.Object{
		&corev1.ServiceAccount{ObjectMeta: meta, AutomountServiceAccountToken: new(false)},
		&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{baseKey: corefile(settings, cluster)}},
		daemonSet(in.Image(Name)),
	}, nil
}

// daemonSet has no checksum of the configuration: a changed one is read without a restart. No pod on a node can look up a name before it
// runs there.
func daemonSet(image string) *appsv1.DaemonSet {
	critical := metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: Name, Labels: labels()}
	critical.Labels[gardencorev1beta1.LabelNodeCriticalComponent] = "true"
	return &appsv1.DaemonSet{
		ObjectMeta: critical,
		Spec: appsv1.DaemonSetSpec{
			Selector:             &metav1.LabelSelector{MatchLabels: map[string]string{"k8s-app": Name}},
			RevisionHistoryLimit: new(int32(2)),
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
				Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromString("10%"))},
			},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: critical.Labels}, Spec: pod(image)},
		},
	}
}

// pod runs as root in the network of its node, because it gives the node an address and serves a port below 1024 there. It makes no rules
// for a packet filter: they would only save the tracking of connections, and depend on the mode of kube-proxy.
func pod(image string) corev1.PodSpec {
	ready := component.HTTPProbe(corev1.URISchemeHTTP, healthPort, "/health")
	ready.HTTPGet.Host = facts.NodeDNSAddress
	live := ready.DeepCopy()
	live.InitialDelaySeconds, live.FailureThreshold = 60, 5
	spec := component.Pod{
		PriorityClass: "system-node-critical",
		Container: corev1.Container{
			Name: Name, Image: image, Command: []string{program},
			Args: []string{
				"-localip=" + facts.NodeDNSAddress, "-basecorefile=" + baseDir + "/" + baseKey, "-conf=" + runDir + "/Corefile",
				"-setupiptables=false", "-upstreamsvc=kube-dns", "-health-port=" + strconv.Itoa(healthPort),
				"-metrics-listen-address=:" + strconv.Itoa(setupPort),
			},
			Ports: []corev1.ContainerPort{
				{Name: "metrics", ContainerPort: metricsPort, HostPort: metricsPort, Protocol: corev1.ProtocolTCP},
				{Name: "errormetrics", ContainerPort: setupPort, HostPort: setupPort, Protocol: corev1.ProtocolTCP},
			},
			LivenessProbe: live, ReadinessProbe: ready,
			Resources: component.Requests("25m", "25Mi"),
			VolumeMounts: []corev1.VolumeMount{
				{Name: "config", MountPath: baseDir, ReadOnly: true},
				{Name: "run", MountPath: runDir},
			},
		},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: Name}}}},
			{Name: "run", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}},
		},
	}.Spec()
	spec.ServiceAccountName = Name
	spec.HostNetwork, spec.DNSPolicy = true, corev1.DNSDefault
	spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	spec.SecurityContext = &corev1.PodSecurityContext{SeccompProfile: spec.SecurityContext.SeccompProfile}
	spec.Containers[0].SecurityContext.Capabilities.Add = []corev1.Capability{"NET_ADMIN", "NET_BIND_SERVICE"}
	return spec
}

func labels() map[string]string {
	return map[string]string{
		"k8s-app":                             Name,
		gardencorev1beta1.LabelRole:           gardencorev1beta1.RoleSystemComponent,
		gardencorev1beta1.LabelShootNoCleanup: "true",
	}
}
