// SPDX-License-Identifier: Apache-2.0

package bastion

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/jumphost"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
)

const (
	// LabelBastion is on the pod of a bastion, with its name.
	LabelBastion = "local.provider.extensions.gardener.cloud/bastion"
	// AnnotationChecksum changes with everything that needs another pod.
	AnnotationChecksum = "local.provider.extensions.gardener.cloud/checksum"

	prefix     = "bastion-"
	hostKey    = "host_key"
	hostKeyDir = "/etc/bastion"
)

// Values of the objects of a bastion.
type Values struct {
	// Bastion is the object that asks for the host.
	Bastion *gardenextensionsv1alpha1.Bastion
	// In is where the host is made.
	In cloud.Cloud
	// Image holds the terrarium binary.
	Image string
	// HostKey is the private key of the host in PEM.
	HostKey []byte
	// Keys are those of users, Nodes are the networks of machines.
	Keys, Nodes []string
}

func (v Values) meta() metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Namespace: v.Bastion.Namespace, Name: prefix + v.Bastion.Name, Labels: map[string]string{LabelBastion: v.Bastion.Name}}
	// In another cluster the owner does not exist, and what it owns would be collected.
	if !v.In.Apart() {
		owner := *metav1.NewControllerRef(v.Bastion, gardenextensionsv1alpha1.GroupVersion.WithKind(kind.Bastion))
		owner.BlockOwnerDeletion = nil
		meta.OwnerReferences = []metav1.OwnerReference{owner}
	}
	return meta
}

// Secret holds the key of the host.
func (v Values) Secret() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: v.meta(), Type: corev1.SecretTypeOpaque, Data: map[string][]byte{hostKey: v.HostKey}}
}

// Policy lets the networks of the spec in, and the pod out to machines of the shoot.
func (v Values) Policy() *networkingv1.NetworkPolicy {
	from := make([]networkingv1.NetworkPolicyPeer, 0, len(v.Bastion.Spec.Ingress))
	for i := range v.Bastion.Spec.Ingress {
		from = append(from, networkingv1.NetworkPolicyPeer{IPBlock: v.Bastion.Spec.Ingress[i].IPBlock.DeepCopy()})
	}
	ports := []networkingv1.NetworkPolicyPort{{Protocol: new(corev1.ProtocolTCP), Port: new(intstr.FromInt32(jumphost.Port))}}
	machines := networkingv1.NetworkPolicyPeer{
		PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{machinepod.LabelApp: machinepod.App}},
	}
	return &networkingv1.NetworkPolicy{
		ObjectMeta: v.meta(),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{LabelBastion: v.Bastion.Name}},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
			Ingress:     []networkingv1.NetworkPolicyIngressRule{{From: from, Ports: ports}},
			Egress:      []networkingv1.NetworkPolicyEgressRule{{To: []networkingv1.NetworkPolicyPeer{machines}, Ports: ports}},
		},
	}
}

func (v Values) rules() jumphost.Rules {
	rules := jumphost.Rules{Keys: v.Keys, Nodes: v.Nodes}
	for _, policy := range v.Bastion.Spec.Ingress {
		rules.Ingress = append(rules.Ingress, policy.IPBlock)
	}
	return rules
}

// Pod runs the server. Its rules are part of it, so that a change of them needs another pod, which no connection outlives.
func (v Values) Pod() (*corev1.Pod, error) {
	rules, err := json.Marshal(v.rules())
	if err != nil {
		return nil, fmt.Errorf("encode rules: %w", err)
	}
	pod := &corev1.Pod{ObjectMeta: v.meta(), Spec: v.podSpec(string(rules))}
	spec, err := json.Marshal([]any{pod.Spec, v.HostKey})
	if err != nil {
		return nil, fmt.Errorf("encode pod: %w", err)
	}
	sum := sha256.Sum256(spec)
	pod.Annotations = map[string]string{AnnotationChecksum: hex.EncodeToString(sum[:8])}
	return pod, nil
}

func (v Values) podSpec(rules string) corev1.PodSpec {
	priority := gardencorev1beta1.PriorityClassShootControlPlane100
	if v.In.Apart() {
		priority = "" // There is no such class.
	}
	return corev1.PodSpec{
		PriorityClassName: priority,
		RestartPolicy:     corev1.RestartPolicyAlways, TerminationGracePeriodSeconds: new(int64(1)),
		AutomountServiceAccountToken: new(false), EnableServiceLinks: new(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(component.NonRoot), RunAsGroup: new(component.NonRoot), FSGroup: new(component.NonRoot),
			// SSH clients expect a host at port 22, and the server is not root.
			Sysctls: []corev1.Sysctl{{Name: "net.ipv4.ip_unprivileged_port_start", Value: "0"}},
		},
		Containers: []corev1.Container{{
			Name: "bastion", Image: v.Image, ImagePullPolicy: corev1.PullIfNotPresent,
			Command: []string{
				"/usr/local/bin/terrarium", "provider-local", "bastion",
				fmt.Sprintf("--address=:%d", jumphost.Port), "--host-key=" + hostKeyDir + "/" + hostKey, "--rules=" + rules,
			},
			Ports: []corev1.ContainerPort{{Name: "ssh", ContainerPort: jumphost.Port, Protocol: corev1.ProtocolTCP}},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
			// The node is not among those that are let in; for the probe it is enough that the server disconnects it.
			ReadinessProbe: &corev1.Probe{
				ProbeHandler:  corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(jumphost.Port)}},
				PeriodSeconds: 2,
			},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("5m"), corev1.ResourceMemory: resource.MustParse("32Mi"),
			}},
			TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
			VolumeMounts:             []corev1.VolumeMount{{Name: "host-key", MountPath: hostKeyDir, ReadOnly: true}},
		}},
		Volumes: []corev1.Volume{{Name: "host-key", VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: prefix + v.Bastion.Name, DefaultMode: new(int32(0o440))},
		}}},
	}
}
