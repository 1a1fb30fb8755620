// SPDX-License-Identifier: Apache-2.0

package component

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/reach"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	// BinDir is where the programs are, in upstream images and in ours.
	BinDir = "/usr/local/bin/"
	// FilesDir is where credentials and configuration are mounted.
	FilesDir = "/srv/kubernetes"

	// NonRoot is the user and the group of every container that needs no more rights.
	NonRoot int64 = 65532

	filesVolume = "files"
	filesMode   = 0o440
)

// ControlPlaneLabels are the labels of a component of a shoot's control plane and of its pods.
func ControlPlaneLabels(app, role string) map[string]string {
	return map[string]string{
		"app":                       app,
		"role":                      role,
		gardencorev1beta1.LabelRole: gardencorev1beta1.RoleControlPlane,
	}
}

// Pod describes what is particular to the pod of a component. It has a single container, and sidecars beside it.
type Pod struct {
	// Program is its name in the table of those that talk to others, see package reach.
	Program string
	// Container has a name, an image, a command, probes, ports and requests.
	Container corev1.Container
	// Sidecars start before the container and end after it. They have their own volumes.
	Sidecars []corev1.Container
	// Files are mounted below FilesDir.
	Files []corev1.VolumeProjection
	// Volumes are further volumes.
	Volumes []corev1.Volume
	// PriorityClass decides which pods are evicted first when resources are short.
	PriorityClass string
	// Sysctls are kernel settings of the pod.
	Sysctls []corev1.Sysctl
	// Annotations are those of the pod template, see Checksum.
	Annotations map[string]string
}

// Deployment returns a Deployment of the pod. The pods have its labels and are selected by them. They also have those that let them reach
// others.
func (p Pod) Deployment(meta metav1.ObjectMeta, replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: meta,
		Spec: appsv1.DeploymentSpec{
			Replicas: new(replicas), RevisionHistoryLimit: new(int32(2)),
			Selector: &metav1.LabelSelector{MatchLabels: meta.Labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: WithWays(meta.Labels, p.Program), Annotations: p.Annotations}, Spec: p.Spec()},
		},
	}
}

// WithWays are labels of a pod, and those that let a program reach others.
func WithWays(labels map[string]string, program string) map[string]string {
	all := reach.Labels(program)
	maps.Copy(all, labels)
	return all
}

// Mutable marks an object that webhooks of the provider's extension may change when it is written (EXT-WH-3). The label is on the object
// alone: what selects pods, and pods themselves, stay as they are.
func Mutable[T metav1.Object](obj T) T {
	labels := maps.Clone(obj.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	labels[gardencorev1beta1.LabelMutatedByControlPlaneWebhook] = "true"
	obj.SetLabels(labels)
	return obj
}

// SurgeFirst is the strategy of a Deployment in which a new pod serves before an old one ends.
func SurgeFirst() appsv1.DeploymentStrategy {
	return appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{
		MaxSurge: new(intstr.FromInt32(1)), MaxUnavailable: new(intstr.FromInt32(0)),
	}}
}

// Spec returns the spec of the pod, hardened as far as the programs allow: no root, no capabilities, a read-only root file
// system, the default system call filter, no token for the cluster that the pod runs in.
func (p Pod) Spec() corev1.PodSpec {
	c := hardened(p.Container)
	volumes := p.Volumes
	if len(p.Files) > 0 {
		c.VolumeMounts = append([]corev1.VolumeMount{{Name: filesVolume, MountPath: FilesDir, ReadOnly: true}}, c.VolumeMounts...)
		volumes = append([]corev1.Volume{FilesVolume(filesVolume, p.Files...)}, volumes...)
	}
	var sidecars []corev1.Container
	for _, sidecar := range p.Sidecars {
		sidecar = hardened(sidecar)
		sidecar.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		sidecars = append(sidecars, sidecar)
	}
	return corev1.PodSpec{
		AutomountServiceAccountToken: new(false),
		EnableServiceLinks:           new(false),
		PriorityClassName:            p.PriorityClass,
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(NonRoot), RunAsGroup: new(NonRoot), FSGroup: new(NonRoot),
			FSGroupChangePolicy: new(corev1.FSGroupChangeOnRootMismatch),
			SeccompProfile:      &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			Sysctls:             p.Sysctls,
		},
		InitContainers: sidecars,
		Containers:     []corev1.Container{c},
		Volumes:        volumes,
	}
}

// hardened returns a container without the rights that no program of a component needs.
func hardened(c corev1.Container) corev1.Container {
	c.ImagePullPolicy = corev1.PullIfNotPresent
	// The last lines of a log explain best why a program ended.
	c.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
	c.SecurityContext = &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false),
		ReadOnlyRootFilesystem:   new(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
	return c
}

// FilesVolume is a volume of credentials and configuration that the group of the pod may read.
func FilesVolume(name string, files ...corev1.VolumeProjection) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		Sources: files, DefaultMode: new(int32(filesMode)),
	}}}
}

// CertificateFiles projects a certificate that was asked for, and its key, into a folder below FilesDir.
func (in *Inputs) CertificateFiles(name, folder string) corev1.VolumeProjection {
	return FromSecret(in.Secret(name).Name, folder, secrets.DataKeyCertificate, secrets.DataKeyPrivateKey)
}

// BundleFile projects the certificates that are trusted of an authority into a folder below FilesDir.
func (in *Inputs) BundleFile(authority, folder string) corev1.VolumeProjection {
	return FromSecret(in.Secret(authority).Bundle, folder, gardencorev1beta1.DataKeyCertificateBundle)
}

// FromSecret projects keys of a Secret into a folder below FilesDir.
func FromSecret(secret, folder string, keys ...string) corev1.VolumeProjection {
	return corev1.VolumeProjection{Secret: &corev1.SecretProjection{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Items: items(folder, keys),
	}}
}

// FromConfigMap projects keys of a ConfigMap into a folder below FilesDir.
func FromConfigMap(configMap, folder string, keys ...string) corev1.VolumeProjection {
	return corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
		LocalObjectReference: corev1.LocalObjectReference{Name: configMap}, Items: items(folder, keys),
	}}
}

func items(folder string, keys []string) []corev1.KeyToPath {
	paths := make([]corev1.KeyToPath, 0, len(keys))
	for _, key := range keys {
		paths = append(paths, corev1.KeyToPath{Key: key, Path: folder + "/" + key})
	}
	return paths
}

// File is the path of a projected file.
func File(folder, key string) string {
	return FilesDir + "/" + folder + "/" + key
}

// HTTPProbe asks a path of a port every five seconds and tolerates two failures. The caller may change that.
func HTTPProbe(scheme corev1.URIScheme, port int32, path string) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Scheme: scheme, Path: path, Port: intstr.FromInt32(port),
		}},
		PeriodSeconds:    5,
		TimeoutSeconds:   5,
		FailureThreshold: 3,
		SuccessThreshold: 1,
	}
}

// StartupProbe asks every second and gives up after as many failures as patience says.
func StartupProbe(scheme corev1.URIScheme, port int32, path string, patience int32) *corev1.Probe {
	probe := HTTPProbe(scheme, port, path)
	probe.PeriodSeconds, probe.FailureThreshold = 1, patience
	return probe
}

// Requests are the resources that a component needs at least.
func Requests(cpu, memory string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
	}}
}
