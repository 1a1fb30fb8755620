// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// Render returns the configuration and the deployment. The Service is rendered on its own, see Service.
func Render(v Values) ([]client.Object, error) {
	config, encryption, sum, err := configuration(v)
	if err != nil {
		return nil, err
	}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: v.Namespace, Name: gardencorev1beta1.DeploymentKubeAPIServer, Labels: labels()},
		Spec: appsv1.DeploymentSpec{
			Replicas:             new(v.Replicas),
			RevisionHistoryLimit: new(int32(2)),
			Selector:             &metav1.LabelSelector{MatchLabels: labels()},
			Strategy: appsv1.DeploymentStrategy{
				Type: appsv1.RollingUpdateDeploymentStrategyType,
				// The new one serves before the old one ends.
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: new(intstr.FromInt32(1)), MaxUnavailable: new(intstr.FromInt32(0))},
			},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels(), Annotations: map[string]string{component.ChecksumAnnotation("configuration"): sum}},
				Spec:       pod(v),
			},
		},
	}
	return []client.Object{config, encryption, deployment}, nil
}

func pod(v Values) corev1.PodSpec {
	startup := component.HTTPProbe(corev1.URISchemeHTTPS, Port, "/readyz")
	startup.PeriodSeconds, startup.FailureThreshold = 1, 300
	live := component.HTTPProbe(corev1.URISchemeHTTPS, Port, "/livez")
	live.TimeoutSeconds = 15
	spec := component.Pod{
		PriorityClass: gardencorev1beta1.PriorityClassShootControlPlane500,
		// Port 443 without root.
		Sysctls: []corev1.Sysctl{{Name: "net.ipv4.ip_unprivileged_port_start", Value: "0"}},
		Files: []corev1.VolumeProjection{
			component.FromSecret(v.Secrets.CAClient, clientCAFolder, bundleKey),
			component.FromSecret(v.Secrets.CAFrontProxy, frontProxyCAFolder, bundleKey),
			component.FromSecret(v.Secrets.CAETCD, etcdCAFolder, bundleKey),
			component.FromSecret(v.Secrets.Serving, servingFolder, secrets.DataKeyCertificate, secrets.DataKeyPrivateKey),
			component.FromSecret(v.Secrets.ETCDClient, etcdFolder, secrets.DataKeyCertificate, secrets.DataKeyPrivateKey),
			component.FromSecret(v.Secrets.KubeletClient, kubeletFolder, secrets.DataKeyCertificate, secrets.DataKeyPrivateKey),
			component.FromSecret(v.Secrets.FrontProxyClient, frontProxyFolder, secrets.DataKeyCertificate, secrets.DataKeyPrivateKey),
			component.FromSecret(v.Secrets.ServiceAccountKey, serviceAccountFolder, secrets.DataKeyRSA),
			component.FromSecret(v.Secrets.ServiceAccountKeys, serviceAccountsFolder, secrets.DataKeyRSABundle),
			component.FromSecret(gardencorev1beta1.SecretPrefixETCDEncryptionConfiguration, encryptionFolder, encryptionKey),
			component.FromConfigMap(configName, configFolder, admissionKey, auditKey, authenticationKey),
		},
		Volumes: []corev1.Volume{{Name: "audit", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		Container: corev1.Container{
			Name:           "kube-apiserver",
			Image:          v.Image,
			Command:        []string{component.BinDir + "kube-apiserver"},
			Args:           args(v),
			Ports:          []corev1.ContainerPort{{Name: "https", ContainerPort: Port, Protocol: corev1.ProtocolTCP}},
			StartupProbe:   startup,
			ReadinessProbe: component.HTTPProbe(corev1.URISchemeHTTPS, Port, "/readyz"),
			LivenessProbe:  live,
			Resources:      component.Requests("50m", "256Mi"),
			VolumeMounts:   []corev1.VolumeMount{{Name: "audit", MountPath: "/tmp/audit"}},
		},
	}.Spec()
	spec.TerminationGracePeriodSeconds = new(int64(30))
	return spec
}
