// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/etcd"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/vertical"
	"github.com/terrarium-garden/terrarium/controllers/reach"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// render returns the configuration and the deployment. The Service belongs to another component, see ExposureComponent.
func render(f facts.Shoot, in *component.Inputs) ([]client.Object, error) {
	config, sum, err := configuration(f, in)
	if err != nil {
		return nil, err
	}
	pod := pod(f, in, sum)
	for _, obj := range config {
		if secret, ok := obj.(*corev1.Secret); ok && secret.Name == kubeconfigsName {
			pod.Files = append(pod.Files, component.FromSecret(secret.Name, kubeconfigFolder, slices.Sorted(maps.Keys(secret.Data))...))
		}
	}
	if f.Workers() {
		access, err := withTunnel(&pod, f, in)
		if err != nil {
			return nil, err
		}
		config = append(config, access)
	}
	deployment := pod.Deployment(metav1.ObjectMeta{Namespace: f.Namespace, Name: string(Name), Labels: labels()}, in.Replicas)
	deployment.Spec.Strategy = component.SurgeFirst()
	deployment.Spec.Template.Spec.TerminationGracePeriodSeconds = new(int64(30))
	return append(append(config, component.Mutable(deployment)), vertical.Autoscaler(f, vertical.Workload{
		Kind: vertical.Deployment, Name: string(Name), Labels: labels(), Container: image,
		Least: requested().Requests, Most: most(), Demanded: demanded(f),
	})...), nil
}

// requested is what an API server needs without anything to do.
func requested() corev1.ResourceRequirements {
	return component.Requests("50m", "256Mi")
}

// most is what an API server never gets more of.
func most() corev1.ResourceList { return vertical.Most("8", "25Gi") }

// demanded is what the owner of the shoot demands for its API server; nil if nothing.
func demanded(f facts.Shoot) *gardencorev1beta1.ControlPlaneAutoscaling {
	if settings := f.Shoot.Spec.Kubernetes.KubeAPIServer; settings != nil {
		return settings.Autoscaling
	}
	return nil
}

// program is the name of the API server in the table of those that talk to others.
func program(f facts.Shoot) string {
	if !f.Workers() {
		return reach.APIServerWithoutNodes
	}
	return string(Name)
}

func pod(f facts.Shoot, in *component.Inputs, checksum map[string]string) component.Pod {
	// An etcd that is defragmented answers nothing meanwhile. To restart the API server would not help; it is not ready.
	live := component.HTTPProbe(corev1.URISchemeHTTPS, Port, "/livez?exclude=etcd")
	live.TimeoutSeconds = 15
	accountKey := in.Secret(gardencorev1beta1.SecretServiceAccountKey)
	return component.Pod{
		Program:       program(f),
		Annotations:   checksum,
		PriorityClass: gardencorev1beta1.PriorityClassShootControlPlane500,
		// Port 443 without root.
		Sysctls: []corev1.Sysctl{{Name: "net.ipv4.ip_unprivileged_port_start", Value: "0"}},
		Files: []corev1.VolumeProjection{
			in.BundleFile(gardencorev1beta1.SecretCAClient, clientCAFolder),
			in.BundleFile(gardencorev1beta1.SecretCAKubelet, kubeletCAFolder),
			in.BundleFile(gardencorev1beta1.SecretCAFrontProxy, frontProxyCAFolder),
			in.BundleFile(gardencorev1beta1.SecretCAETCD, etcdCAFolder),
			in.CertificateFiles(nameServing, servingFolder),
			in.CertificateFiles(etcd.ClientCertificate, etcdFolder),
			in.CertificateFiles(nameKubeletClient, kubeletFolder),
			in.CertificateFiles(nameFrontProxyClient, frontProxyFolder),
			component.FromSecret(accountKey.Name, serviceAccountFolder, secrets.DataKeyRSA),
			component.FromSecret(accountKey.Bundle, serviceAccountsFolder, secrets.DataKeyRSABundle),
			component.FromSecret(EncryptionSecret, encryptionFolder, encryptionKey),
			component.FromConfigMap(configName, configFolder, configKeys(f)...),
		},
		Volumes: []corev1.Volume{{Name: "audit", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		Container: corev1.Container{
			Name:           image,
			Image:          in.Image(image),
			Command:        []string{component.BinDir + image},
			Args:           args(f, in),
			Ports:          []corev1.ContainerPort{{Name: "https", ContainerPort: Port, Protocol: corev1.ProtocolTCP}},
			StartupProbe:   component.StartupProbe(corev1.URISchemeHTTPS, Port, "/readyz", 300),
			ReadinessProbe: component.HTTPProbe(corev1.URISchemeHTTPS, Port, "/readyz"),
			LivenessProbe:  live,
			Resources:      vertical.AtLeast(requested(), demanded(f), most()),
			VolumeMounts:   []corev1.VolumeMount{{Name: "audit", MountPath: "/tmp/audit"}},
		},
	}
}
