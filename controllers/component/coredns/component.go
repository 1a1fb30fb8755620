// SPDX-License-Identifier: Apache-2.0

// Package coredns renders the DNS server inside a shoot: pods resolve Services, and outside names as their nodes do. The
// shoot's owner adds to its configuration by a ConfigMap.
package coredns

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/shootsystem"
	"github.com/terrarium-garden/terrarium/controllers/component/shootwebhooks"
)

// Name is that of the component, of its workload and of its image.
const Name = name

const (
	name = "coredns"
	// service is the name that many programs know the DNS server of a cluster by, customName that of the owner's additions.
	service    = "kube-dns"
	role       = "system:coredns"
	customName = "coredns-custom"

	configDir = "/etc/coredns"
	configKey = "Corefile"
	// program is where upstream images have it.
	program = "/coredns"

	dnsPort     = 8053
	healthPort  = 8080
	readyPort   = 8181
	metricsPort = 9153
)

// Component is the DNS server of a shoot with nodes.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: name, Title: "the DNS server", After: []component.Name{shootsystem.Name, shootwebhooks.Name}, Images: []string{name},
		Wanted:   facts.Shoot.Workers,
		Replicas: func(facts.Shoot) int32 { return fewest },
		Render:   render,
	}
}

// render returns the objects inside the shoot. Where the number of servers follows the size of the cluster, care for the shoot sets it.
func render(f facts.Shoot, in *component.Inputs) ([]client.Object, error) {
	address, err := f.DNSAddress()
	if err != nil {
		return nil, err
	}
	deployment := deployment(in)
	var scaling []client.Object
	if Proportional(&f.Shoot.Spec) {
		deployment.Annotations = map[string]string{gardenresourcesv1alpha1.AnnotationPreserveReplicas: "true"}
	} else {
		scaling = append(scaling, autoscaler())
	}
	return append([]client.Object{
		&corev1.ServiceAccount{ObjectMeta: meta(name), AutomountServiceAccountToken: new(false)},
		&rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: role, Labels: labels()},
			Rules: []rbacv1.PolicyRule{
				{APIGroups: []string{""}, Resources: []string{"namespaces", "pods", "services"}, Verbs: []string{"list", "watch"}},
				{APIGroups: []string{discoveryv1.GroupName}, Resources: []string{"endpointslices"}, Verbs: []string{"list", "watch"}},
			},
		},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role, Labels: labels()},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceSystem, Name: name}},
		},
		&corev1.ConfigMap{ObjectMeta: meta(name), Data: map[string]string{configKey: corefile(f)}},
		// What the owner puts beside these stays. Without any file CoreDNS would warn of it twice a minute.
		&corev1.ConfigMap{ObjectMeta: meta(customName), Data: map[string]string{
			"about.override": "# Keys that end in .override are read as part of the server for all names.\n",
			"about.server":   "# Keys that end in .server are read as further servers, on port 8053.\n",
		}},
		&corev1.Service{ObjectMeta: meta(service), Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, ClusterIP: address, Selector: selector(),
			Ports: []corev1.ServicePort{
				{Name: "dns", Protocol: corev1.ProtocolUDP, Port: 53, TargetPort: intstr.FromInt32(dnsPort)},
				{Name: "dns-tcp", Protocol: corev1.ProtocolTCP, Port: 53, TargetPort: intstr.FromInt32(dnsPort)},
				{Name: "metrics", Protocol: corev1.ProtocolTCP, Port: metricsPort, TargetPort: intstr.FromInt32(metricsPort)},
			},
		}},
		&policyv1.PodDisruptionBudget{ObjectMeta: meta(name), Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: selector()},
			UnhealthyPodEvictionPolicy: new(policyv1.AlwaysAllow),
		}},
		deployment,
	}, scaling...), nil
}

// deployment has no checksum of the configuration: a changed one is read without a restart.
func deployment(in *component.Inputs) *appsv1.Deployment {
	live := component.HTTPProbe(corev1.URISchemeHTTP, healthPort, "/health")
	live.InitialDelaySeconds, live.FailureThreshold = 60, 5
	deployment := component.Pod{
		PriorityClass: "system-cluster-critical",
		Container: corev1.Container{
			Name:    name,
			Image:   in.Image(name),
			Command: []string{program},
			Args:    []string{"-conf", configDir + "/" + configKey},
			Ports: []corev1.ContainerPort{
				{Name: "dns", ContainerPort: dnsPort, Protocol: corev1.ProtocolUDP},
				{Name: "dns-tcp", ContainerPort: dnsPort, Protocol: corev1.ProtocolTCP},
				{Name: "metrics", ContainerPort: metricsPort, Protocol: corev1.ProtocolTCP},
			},
			LivenessProbe:  live,
			ReadinessProbe: component.HTTPProbe(corev1.URISchemeHTTP, readyPort, "/ready"),
			Resources:      component.Requests("50m", "20Mi"),
			VolumeMounts: []corev1.VolumeMount{
				{Name: "config", MountPath: configDir, ReadOnly: true},
				{Name: "custom", MountPath: configDir + "/custom", ReadOnly: true},
			},
		},
		Volumes: []corev1.Volume{configMap("config", name), configMap("custom", customName)},
	}.Deployment(meta(name), in.Replicas)
	deployment.Spec.Selector.MatchLabels, deployment.Spec.Strategy = selector(), component.SurgeFirst()
	spec := &deployment.Spec.Template.Spec
	spec.ServiceAccountName, spec.AutomountServiceAccountToken = name, new(true)
	// It is asked by pods, so it asks where its node asks.
	spec.DNSPolicy = corev1.DNSDefault
	spec.Tolerations = []corev1.Toleration{{Key: "CriticalAddonsOnly", Operator: corev1.TolerationOpExists}}
	spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway,
		LabelSelector: &metav1.LabelSelector{MatchLabels: selector()},
	}}
	// The program in the upstream image has this capability on its file, and is refused to start without it.
	spec.Containers[0].SecurityContext.Capabilities.Add = []corev1.Capability{"NET_BIND_SERVICE"}
	return deployment
}

func configMap(volume, name string) corev1.Volume {
	return corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: name},
	}}}
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name, Labels: labels()}
}

func selector() map[string]string {
	return map[string]string{"k8s-app": service}
}

func labels() map[string]string {
	return map[string]string{
		"k8s-app":                             service,
		gardencorev1beta1.LabelRole:           gardencorev1beta1.RoleSystemComponent,
		gardencorev1beta1.LabelShootNoCleanup: "true",
	}
}
