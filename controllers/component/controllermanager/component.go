// SPDX-License-Identifier: Apache-2.0

// Package controllermanager renders the kube-controller-manager of a shoot.
package controllermanager

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/vertical"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	// name is also the name of its image and of its certificate.
	name = gardencorev1beta1.DeploymentKubeControllerManager
	// user is its name in the shoot.
	user = "system:kube-controller-manager"

	port                 = 10257
	signerFolder         = "ca-client"
	kubeletSignerFolder  = "ca-kubelet"
	serviceAccountFolder = "service-account"
	scratch              = "/tmp"
)

// Component is the controller manager.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: name, Title: "the controller manager", Task: "kcm", Images: []string{name}, Replicas: facts.Instances,
		After: []component.Name{apiserver.Name},
		Care:  component.Care{Condition: gardencorev1beta1.ConditionTypeControlPlaneHealthy, Workload: component.WorkloadDeployment},
		Secrets: func(facts.Shoot, component.Addresses) ([]component.Request, error) {
			return append(apiserver.ClientRequests(name, user),
				component.Authority(gardencorev1beta1.SecretCAClient),
				component.Authority(gardencorev1beta1.SecretCAKubelet), component.RSAKey(gardencorev1beta1.SecretServiceAccountKey)), nil
		},
		Render: render,
	}
}

// render returns the kubeconfig and the deployment.
func render(f facts.Shoot, in *component.Inputs) ([]client.Object, error) {
	access, err := apiserver.AccessOf(f, in, name)
	if err != nil {
		return nil, err
	}
	signer, key := in.Secret(gardencorev1beta1.SecretCAClient).Name, in.Secret(gardencorev1beta1.SecretServiceAccountKey).Name
	kubeletSigner := in.Secret(gardencorev1beta1.SecretCAKubelet).Name
	pod := component.Pod{
		Program:       name,
		PriorityClass: gardencorev1beta1.PriorityClassShootControlPlane300,
		Annotations:   component.Checksum("kubeconfig", access.Kubeconfig.Data[gardencorev1beta1.DataKeyKubeconfig]),
		Files: append(access.Files,
			component.FromSecret(signer, signerFolder, gardencorev1beta1.DataKeyCertificateCA, gardencorev1beta1.DataKeyPrivateKeyCA),
			component.FromSecret(kubeletSigner, kubeletSignerFolder, gardencorev1beta1.DataKeyCertificateCA, gardencorev1beta1.DataKeyPrivateKeyCA),
			component.FromSecret(key, serviceAccountFolder, secrets.DataKeyRSA),
		),
		// The search for volume plugins needs a folder that it can create.
		Volumes: []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		Container: corev1.Container{
			Name:          name,
			Image:         in.Image(name),
			Command:       []string{component.BinDir + name},
			Args:          args(f),
			Ports:         []corev1.ContainerPort{{Name: "metrics", ContainerPort: port, Protocol: corev1.ProtocolTCP}},
			StartupProbe:  component.StartupProbe(corev1.URISchemeHTTPS, port, "/healthz", 120),
			LivenessProbe: component.HTTPProbe(corev1.URISchemeHTTPS, port, "/healthz"),
			Resources:     component.Requests("30m", "80Mi"),
			VolumeMounts:  []corev1.VolumeMount{{Name: "scratch", MountPath: scratch}},
		},
	}
	labels := component.ControlPlaneLabels("kubernetes", "controller-manager")
	deployment := pod.Deployment(metav1.ObjectMeta{Namespace: f.Namespace, Name: name, Labels: labels}, in.Replicas)
	// Its caches may be wrong after a long time.
	deployment.Spec.Template.Labels = maps.Clone(deployment.Spec.Template.Labels)
	deployment.Spec.Template.Labels[gardencorev1beta1.LabelMaintenanceRestart] = "true"
	return append([]client.Object{access.Kubeconfig, component.Mutable(deployment)}, vertical.Autoscaler(f, vertical.Workload{
		Kind: vertical.Deployment, Name: name, Labels: labels, Container: name, Least: pod.Container.Resources.Requests, Most: vertical.Most("4", "10Gi"),
	})...), nil
}

func args(f facts.Shoot) []string {
	signerCertificate := component.File(signerFolder, gardencorev1beta1.DataKeyCertificateCA)
	signerKey := component.File(signerFolder, gardencorev1beta1.DataKeyPrivateKeyCA)
	flags := []string{
		"--kubeconfig=" + apiserver.KubeconfigFile,
		"--authentication-kubeconfig=" + apiserver.KubeconfigFile,
		"--authorization-kubeconfig=" + apiserver.KubeconfigFile,
		fmt.Sprintf("--secure-port=%d", port),
		"--profiling=false",
		"--leader-elect=true",
		"--use-service-account-credentials=true",
		"--controllers=" + controllers(f.Workers()),
		"--root-ca-file=" + apiserver.CAFile,
		"--service-account-private-key-file=" + component.File(serviceAccountFolder, secrets.DataKeyRSA),
		"--cluster-signing-kube-apiserver-client-cert-file=" + signerCertificate,
		"--cluster-signing-kube-apiserver-client-key-file=" + signerKey,
		"--cluster-signing-kubelet-client-cert-file=" + signerCertificate,
		"--cluster-signing-kubelet-client-key-file=" + signerKey,
		// An authority of its own: what it signs is a kubelet to the API server, and nothing to anybody else.
		"--cluster-signing-kubelet-serving-cert-file=" + component.File(kubeletSignerFolder, gardencorev1beta1.DataKeyCertificateCA),
		"--cluster-signing-kubelet-serving-key-file=" + component.File(kubeletSignerFolder, gardencorev1beta1.DataKeyPrivateKeyCA),
		"--cluster-signing-duration=720h",
		"--cluster-name=" + f.Namespace,
		"--flex-volume-plugin-dir=" + scratch + "/volume-plugins",
	}
	settings := cmp.Or(f.Shoot.Spec.Kubernetes.KubeControllerManager, &gardencorev1beta1.KubeControllerManagerConfig{})
	if f.Workers() {
		flags = append(
			flags,
			"--allocate-node-cidrs=true",
			"--cluster-cidr="+strings.Join(f.PodNetworks(), ","),
			"--service-cluster-ip-range="+strings.Join(f.ServiceNetworks(), ","),
			fmt.Sprintf("--node-cidr-mask-size=%d", ptr.Deref(settings.NodeCIDRMaskSize, 24)),
			"--node-monitor-grace-period="+duration(settings.NodeMonitorGracePeriod, 40*time.Second),
		)
	}
	scaler := cmp.Or(settings.HorizontalPodAutoscaler, &gardencorev1beta1.HorizontalPodAutoscalerConfig{})
	flags = append(
		flags,
		"--horizontal-pod-autoscaler-sync-period="+duration(scaler.SyncPeriod, 30*time.Second),
		"--horizontal-pod-autoscaler-downscale-stabilization="+duration(scaler.DownscaleStabilization, 5*time.Minute),
		fmt.Sprintf("--horizontal-pod-autoscaler-tolerance=%v", ptr.Deref(scaler.Tolerance, 0.1)),
		"--horizontal-pod-autoscaler-initial-readiness-delay="+duration(scaler.InitialReadinessDelay, 30*time.Second),
		"--horizontal-pod-autoscaler-cpu-initialization-period="+duration(scaler.CPUInitializationPeriod, 5*time.Minute),
	)
	return append(flags, component.Switches("feature-gates", settings.FeatureGates)...)
}

// controllers adds the cleaner of bootstrap tokens. A shoot without workers needs nothing that acts on nodes.
func controllers(workers bool) string {
	list := []string{"*", "token-cleaner-controller"}
	if !workers {
		list = append(list, "-node-ipam-controller", "-node-lifecycle-controller", "-persistentvolume-attach-detach-controller", "-ttl-controller")
	}
	return strings.Join(list, ",")
}

func duration(d *metav1.Duration, otherwise time.Duration) string {
	return ptr.Deref(d, metav1.Duration{Duration: otherwise}).Duration.String()
}
