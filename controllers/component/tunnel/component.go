// SPDX-License-Identifier: Apache-2.0

// Package tunnel renders the agents of the tunnel through which the API server of a shoot reaches its nodes, pods and Services. They run
// in the shoot and connect to the servers beside the API server (see package apiserver), so nothing in the shoot has to be reachable from
// the seed.
//
// Two agents serve a shoot of any size, because each API server keeps a connection to every agent; one is enough for an owner who wants no
// more. They have addresses of pods and not of their nodes: a user who has the API server connect to something reaches no more than a pod
// does.
package tunnel

import (
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/shootsystem"
)

const (
	// Name is the name of the component and of its Deployment.
	Name component.Name = apiserver.TunnelAgent
	// Task is the id of its task in flows.
	Task = "tunnel"
	// HealthPort is where an agent says that it runs.
	HealthPort = 8134

	// labelType has the value typeTunnel on what belongs to the tunnel (GLET-CARE-11).
	labelType, typeTunnel = "type", "tunnel"

	name = apiserver.TunnelAgent
	role = "system:konnectivity-server"
	// program is where upstream images have it.
	program = "/proxy-agent"
	// keepAlive is well above the 30 seconds that servers ask for: they hang up on agents that ask more often.
	keepAlive = "60s"
	adminPort = 8133

	accessVolume = "access"
	accessDir    = "/var/run/secrets/tunnel"
	tokenSeconds = 3607
	// deadNodeSeconds is how long an agent stays on a node that has gone silent.
	deadNodeSeconds = 60
)

// Component is the agents in a shoot with nodes.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: Name, Title: "the tunnel to the nodes", Task: Task, Images: []string{name},
		After: []component.Name{shootsystem.Name}, Addresses: []component.Name{apiserver.Exposure},
		Wanted:   facts.Shoot.Workers,
		Replicas: agents,
		Render:   render,
	}
}

// agents is how many there are: two, so that the tunnel outlives each of them, unless the owner of the shoot turns that off. The servers
// need no second one: each is beside an API server, which reaches nothing through another one.
func agents(f facts.Shoot) int32 {
	available, err := strconv.ParseBool(f.Shoot.Annotations[gardencorev1beta1.AnnotationShootHAVPN])
	if err == nil && !available {
		return 1
	}
	return 2
}

// Selector are the labels of the pods of the tunnel.
func Selector() map[string]string {
	return map[string]string{labelType: typeTunnel}
}

// render returns the objects inside the shoot.
func render(_ facts.Shoot, in *component.Inputs) ([]client.Object, error) {
	return []client.Object{
		&corev1.ServiceAccount{ObjectMeta: meta(name), AutomountServiceAccountToken: new(false)},
		&rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: role, Labels: labels()},
			Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}}},
		},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role, Labels: labels()},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: apiserver.TunnelUser}},
		},
		&policyv1.PodDisruptionBudget{ObjectMeta: meta(name), Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: selector()},
			UnhealthyPodEvictionPolicy: new(policyv1.AlwaysAllow),
		}},
		deployment(in),
	}, nil
}

// deployment has agents come to the address of the load balancer, as it is: no name has to be resolved for that, and when the address
// changes, the resource manager tells the agents, for which it needs no tunnel.
func deployment(in *component.Inputs) client.Object {
	// A certificate authority is read when an agent starts. One that has been without a server for so long may know only an old one.
	live := component.HTTPProbe(corev1.URISchemeHTTP, HealthPort, "/readyz")
	live.PeriodSeconds, live.FailureThreshold = 30, 6
	deployment := component.Pod{
		PriorityClass: "system-cluster-critical",
		Container: corev1.Container{
			Name:           name,
			Image:          in.Image(name),
			Command:        []string{program},
			Args:           args(in.Address(apiserver.Exposure).LoadBalancer),
			Ports:          []corev1.ContainerPort{{Name: "health", ContainerPort: HealthPort, Protocol: corev1.ProtocolTCP}},
			LivenessProbe:  live,
			ReadinessProbe: component.HTTPProbe(corev1.URISchemeHTTP, HealthPort, "/readyz"),
			Resources:      component.Requests("20m", "40Mi"),
			VolumeMounts:   []corev1.VolumeMount{{Name: accessVolume, MountPath: accessDir, ReadOnly: true}},
		},
		Volumes: []corev1.Volume{component.FilesVolume(
			accessVolume,
			corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
				Path: corev1.ServiceAccountTokenKey, Audience: apiserver.TunnelAudience, ExpirationSeconds: new(int64(tokenSeconds)),
			}},
			corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
				Items:                []corev1.KeyToPath{{Key: corev1.ServiceAccountRootCAKey, Path: corev1.ServiceAccountRootCAKey}},
			}},
		)},
	}.Deployment(meta(name), in.Replicas)
	deployment.Spec.Selector.MatchLabels, deployment.Spec.Strategy = selector(), component.SurgeFirst()
	spec := &deployment.Spec.Template.Spec
	spec.ServiceAccountName = name
	// The address may be a name after all, which has to be resolved before the DNS server of the shoot runs.
	spec.DNSPolicy = corev1.DNSDefault
	spec.Tolerations = tolerations()
	for _, apart := range []string{corev1.LabelHostname, corev1.LabelTopologyZone} {
		spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			MaxSkew: 1, TopologyKey: apart, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{MatchLabels: selector()},
		})
	}
	return deployment
}

// tolerations let an agent start on every node, even on one that is not ready for others. The first that fits counts, so an agent leaves a
// node that is dead.
func tolerations() []corev1.Toleration {
	var all []corev1.Toleration
	for _, dead := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		all = append(all, corev1.Toleration{
			Key: dead, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(deadNodeSeconds)),
		})
	}
	return append(all, corev1.Toleration{Operator: corev1.TolerationOpExists})
}

// args are the flags of an agent. It goes on looking for servers that it is not connected to, so that it knows the new one of a rolling
// update before the old one is gone.
func args(server string) []string {
	return []string{
		"--proxy-server-host=" + server,
		fmt.Sprintf("--proxy-server-port=%d", apiserver.TunnelPort),
		"--ca-cert=" + accessDir + "/" + corev1.ServiceAccountRootCAKey,
		"--service-account-token-path=" + accessDir + "/" + corev1.ServiceAccountTokenKey,
		"--sync-forever=true",
		"--sync-interval=5s",
		"--sync-interval-cap=15s",
		"--keepalive-time=" + keepAlive,
		fmt.Sprintf("--health-server-port=%d", HealthPort),
		"--admin-bind-address=127.0.0.1",
		fmt.Sprintf("--admin-server-port=%d", adminPort),
	}
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name, Labels: labels()}
}

func selector() map[string]string {
	all := Selector()
	all["app"] = name
	return all
}

func labels() map[string]string {
	all := map[string]string{
		gardencorev1beta1.LabelRole:           gardencorev1beta1.RoleSystemComponent,
		gardencorev1beta1.LabelShootNoCleanup: "true",
	}
	maps.Copy(all, selector())
	return all
}
