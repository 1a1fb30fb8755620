// SPDX-License-Identifier: Apache-2.0

package controllermanager

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// User is the name of the controller manager in the shoot.
const User = "system:kube-controller-manager"

const (
	port                 = 10257
	kubeconfigName       = "kube-controller-manager-kubeconfig"
	signerFolder         = "ca-client"
	serviceAccountFolder = "service-account"
	scratch              = "/tmp"

	defaultMaskSize           = 24
	defaultNodeMonitorGrace   = "40s"
	nodeCertificateValidity   = "720h"
	defaultHPASyncPeriod      = "30s"
	defaultHPAStabilization   = "5m0s"
	defaultHPATolerance       = "0.1"
	defaultHPAInitialDelay    = "30s"
	defaultHPAInitializeAfter = "5m0s"
)

// Values describe a controller manager.
type Values struct {
	Namespace string
	// Image is the container image.
	Image string
	// Replicas is the number of instances; one of them is active.
	Replicas int32
	// Access is the way to the API server.
	Access component.Access
	// CAClientSecret names the authority that signs the certificates of nodes.
	CAClientSecret string
	// ServiceAccountKeySecret names the key that signs service account tokens.
	ServiceAccountKeySecret string
	// PodNetworks and ServiceNetworks are the ranges of the shoot.
	PodNetworks, ServiceNetworks []string
	// Workers tells whether the shoot has nodes at all.
	Workers bool
	// Settings is what the shoot's owner asks for; it may be nil.
	Settings *gardencorev1beta1.KubeControllerManagerConfig
}

// Render returns the kubeconfig and the deployment.
func Render(v Values) ([]client.Object, error) {
	kubeconfig, err := v.Access.Kubeconfig(v.Namespace, kubeconfigName)
	if err != nil {
		return nil, err
	}
	labels := component.ControlPlaneLabels("kubernetes", "controller-manager")
	startup := component.HTTPProbe(corev1.URISchemeHTTPS, port, "/healthz")
	startup.PeriodSeconds, startup.FailureThreshold = 1, 120
	pod := component.Pod{
		PriorityClass: gardencorev1beta1.PriorityClassShootControlPlane300,
		Files: append(v.Access.Files(kubeconfigName),
			component.FromSecret(v.CAClientSecret, signerFolder, gardencorev1beta1.DataKeyCertificateCA, gardencorev1beta1.DataKeyPrivateKeyCA),
			component.FromSecret(v.ServiceAccountKeySecret, serviceAccountFolder, secrets.DataKeyRSA),
		),
		// The search for volume plugins wants a folder that it can make.
		Volumes: []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		Container: corev1.Container{
			Name:          "kube-controller-manager",
			Image:         v.Image,
			Command:       []string{component.BinDir + "kube-controller-manager"},
			Args:          args(v),
			Ports:         []corev1.ContainerPort{{Name: "metrics", ContainerPort: port, Protocol: corev1.ProtocolTCP}},
			StartupProbe:  startup,
			LivenessProbe: component.HTTPProbe(corev1.URISchemeHTTPS, port, "/healthz"),
			Resources:     component.Requests("30m", "80Mi"),
			VolumeMounts:  []corev1.VolumeMount{{Name: "scratch", MountPath: scratch}},
		},
	}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: v.Namespace, Name: gardencorev1beta1.DeploymentKubeControllerManager, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(v.Replicas), RevisionHistoryLimit: new(int32(2)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: map[string]string{
					component.ChecksumAnnotation("kubeconfig"): component.Checksum(kubeconfig.Data[component.KubeconfigKey]),
				}},
				Spec: pod.Spec(),
			},
		},
	}
	return []client.Object{kubeconfig, deployment}, nil
}

func args(v Values) []string {
	kubeconfig := v.Access.KubeconfigFile()
	signerCertificate := component.File(signerFolder, gardencorev1beta1.DataKeyCertificateCA)
	signerKey := component.File(signerFolder, gardencorev1beta1.DataKeyPrivateKeyCA)
	flags := []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		fmt.Sprintf("--secure-port=%d", port),
		"--profiling=false",
		"--leader-elect=true",
		"--use-service-account-credentials=true",
		"--controllers=" + controllers(v.Workers),
		"--root-ca-file=" + component.File("ca", gardencorev1beta1.DataKeyCertificateBundle),
		"--service-account-private-key-file=" + component.File(serviceAccountFolder, secrets.DataKeyRSA),
		"--cluster-signing-kube-apiserver-client-cert-file=" + signerCertificate,
		"--cluster-signing-kube-apiserver-client-key-file=" + signerKey,
		"--cluster-signing-kubelet-client-cert-file=" + signerCertificate,
		"--cluster-signing-kubelet-client-key-file=" + signerKey,
		"--cluster-signing-duration=" + nodeCertificateValidity,
		"--cluster-name=" + v.Namespace,
		"--flex-volume-plugin-dir=" + scratch + "/volume-plugins",
	}
	settings := v.Settings
	if settings == nil {
		settings = &gardencorev1beta1.KubeControllerManagerConfig{}
	}
	if v.Workers {
		flags = append(flags, nodeFlags(v, settings)...)
	}
	flags = append(flags, autoscalerFlags(settings.HorizontalPodAutoscaler)...)
	if gates := component.FeatureGates(settings.FeatureGates); gates != "" {
		flags = append(flags, "--feature-gates="+gates)
	}
	return flags
}

// controllers adds the cleaner of bootstrap tokens. A shoot without workers needs nothing that acts on nodes.
func controllers(workers bool) string {
	list := []string{"*", "token-cleaner-controller"}
	if !workers {
		list = append(list, "-node-ipam-controller", "-node-lifecycle-controller", "-persistentvolume-attach-detach-controller", "-ttl-controller")
	}
	return strings.Join(list, ",")
}

func nodeFlags(v Values, s *gardencorev1beta1.KubeControllerManagerConfig) []string {
	mask, grace := int32(defaultMaskSize), defaultNodeMonitorGrace
	if s.NodeCIDRMaskSize != nil {
		mask = *s.NodeCIDRMaskSize
	}
	if s.NodeMonitorGracePeriod != nil {
		grace = s.NodeMonitorGracePeriod.Duration.String()
	}
	return []string{
		"--allocate-node-cidrs=true",
		"--cluster-cidr=" + strings.Join(v.PodNetworks, ","),
		"--service-cluster-ip-range=" + strings.Join(v.ServiceNetworks, ","),
		fmt.Sprintf("--node-cidr-mask-size=%d", mask),
		"--node-monitor-grace-period=" + grace,
		"--configure-cloud-routes=false",
	}
}

func autoscalerFlags(s *gardencorev1beta1.HorizontalPodAutoscalerConfig) []string {
	if s == nil {
		s = &gardencorev1beta1.HorizontalPodAutoscalerConfig{}
	}
	tolerance := defaultHPATolerance
	if s.Tolerance != nil {
		tolerance = fmt.Sprintf("%v", *s.Tolerance)
	}
	return []string{
		"--horizontal-pod-autoscaler-sync-period=" + duration(s.SyncPeriod, defaultHPASyncPeriod),
		"--horizontal-pod-autoscaler-downscale-stabilization=" + duration(s.DownscaleStabilization, defaultHPAStabilization),
		"--horizontal-pod-autoscaler-tolerance=" + tolerance,
		"--horizontal-pod-autoscaler-initial-readiness-delay=" + duration(s.InitialReadinessDelay, defaultHPAInitialDelay),
		"--horizontal-pod-autoscaler-cpu-initialization-period=" + duration(s.CPUInitializationPeriod, defaultHPAInitializeAfter),
	}
}

func duration(d *metav1.Duration, otherwise string) string {
	if d == nil {
		return otherwise
	}
	return d.Duration.String()
}
