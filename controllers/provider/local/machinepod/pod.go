// SPDX-License-Identifier: Apache-2.0

package machinepod

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/dnsrecord"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machine"
)

// gracePeriod gives machine-init enough time to stop the containers of the machine in order.
const gracePeriod = 30

// volumesName is what the pod calls the volumes of the shoot.
const volumesName = "volumes"

// Values of a machine.
type Values struct {
	// Namespace holds the pod.
	Namespace string
	// Name of the pod, and of the Secret with its user data.
	Name string
	// Spec is what the class says.
	Spec Spec
	// Node is the value of AnnotationNode.
	Node string
	// VolumesClaim is the claim that holds the volumes of the shoot; empty for none.
	VolumesClaim string
}

// Labels select all machines.
func Labels() map[string]string { return map[string]string{LabelApp: App} }

// Pod renders a machine. The Secret of the same name holds its user data.
func Pod(v Values) *corev1.Pod {
	volumes, mounts := v.volumes()
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   v.Namespace,
			Name:        v.Name,
			Labels:      Labels(),
			Annotations: map[string]string{AnnotationNode: v.Node},
		},
		Spec: corev1.PodSpec{
			// A machine that ends is restarted in place, like a computer that is switched off and on.
			RestartPolicy:                 corev1.RestartPolicyAlways,
			TerminationGracePeriodSeconds: new(int64(gracePeriod)),
			AutomountServiceAccountToken:  new(false),
			EnableServiceLinks:            new(false),
			DNSPolicy:                     corev1.DNSDefault,
			ReadinessGates:                []corev1.PodReadinessGate{{ConditionType: ConditionNodeReady}},
			Containers: []corev1.Container{{
				Name:            "machine",
				Image:           v.Spec.Image,
				ImagePullPolicy: corev1.PullIfNotPresent,
				Command:         []string{machine.Path},
				Env:             v.environment(),
				SecurityContext: &corev1.SecurityContext{Privileged: new(true)},
				// At rest a machine uses a third of it. Eight small shoots fit on a node with two processors.
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceCPU:    resource.MustParse("80m"),
					corev1.ResourceMemory: resource.MustParse("256Mi"),
				}},
				ReadinessProbe: &corev1.Probe{
					ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
						Path: "/healthz",
						Port: intstr.FromInt32(machine.KubeletHealthPort),
					}},
					PeriodSeconds:    2,
					TimeoutSeconds:   2,
					FailureThreshold: 5,
				},
				// The last output of machine-init explains best why a machine does not start.
				TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
				VolumeMounts:             mounts,
			}},
			Volumes: volumes,
		},
	}
}

func (v Values) environment() []corev1.EnvVar {
	if v.Spec.PauseImage == "" {
		return nil
	}
	return []corev1.EnvVar{{Name: "MACHINE_PAUSE_IMAGE", Value: v.Spec.PauseImage}}
}

// volumes returns the volumes of a machine. The folders of containerd and the kubelet are volumes, because an overlay file system cannot
// be on top of another one, and because they must survive a restart of the container.
func (v Values) volumes() ([]corev1.Volume, []corev1.VolumeMount) {
	hostPath := func(path string) corev1.VolumeSource {
		return corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path}}
	}
	emptyDir := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	volumes := []corev1.Volume{
		{Name: "containerd", VolumeSource: emptyDir},
		{Name: "kubelet", VolumeSource: emptyDir},
		{Name: "user-data", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: v.Name}}},
		{Name: "dns", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: dnsrecord.ConfigMapName},
		}}},
		{Name: "modules", VolumeSource: hostPath("/lib/modules")},
	}
	mounts := []corev1.VolumeMount{
		{Name: "containerd", MountPath: "/var/lib/containerd"},
		{Name: "kubelet", MountPath: "/var/lib/kubelet"},
		{Name: "user-data", MountPath: machine.UserDataDir, ReadOnly: true},
		{Name: "dns", MountPath: machine.DNSDir, ReadOnly: true},
		{Name: "modules", MountPath: "/lib/modules", ReadOnly: true},
	}
	if v.Spec.ImageArchives != "" {
		volumes = append(volumes, corev1.Volume{Name: "images", VolumeSource: hostPath(v.Spec.ImageArchives)})
		mounts = append(mounts, corev1.VolumeMount{Name: "images", MountPath: machine.ImagesDir, ReadOnly: true})
	}
	if v.VolumesClaim != "" {
		source := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: v.VolumesClaim}}
		volumes = append(volumes, corev1.Volume{Name: volumesName, VolumeSource: source})
		mounts = append(mounts, corev1.VolumeMount{Name: volumesName, MountPath: machine.VolumesDir})
	}
	return volumes, mounts
}

// HasVolumes reports whether a machine has the volumes of its shoot. That never changes in its life.
func HasVolumes(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == volumesName })
}
