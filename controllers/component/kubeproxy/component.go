// SPDX-License-Identifier: Apache-2.0

// Package kubeproxy renders the kube-proxy of a shoot: a daemon set in the shoot that reaches the API server at its public
// address, because the Service of the API server does not work before kube-proxy runs.
package kubeproxy

import (
	"cmp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/shootsystem"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	name       = "kube-proxy"
	configName = "kube-proxy-config"

	configKey  = "config.yaml"
	configDir  = "/var/lib/kube-proxy-config"
	tokenDir   = "/var/run/secrets/kubernetes.io/serviceaccount" //nolint:gosec // a path, no secret
	healthPort = 10256
)

// Component is the proxy on the nodes of a shoot.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: name, Title: "the service proxy", Images: []string{name},
		After: []component.Name{shootsystem.Name}, Addresses: []component.Name{apiserver.Exposure},
		Wanted: func(f facts.Shoot) bool { return f.Workers() && ptr.Deref(settingsOf(f).Enabled, true) },
		Render: render,
	}
}

func settingsOf(f facts.Shoot) *gardencorev1beta1.KubeProxyConfig {
	return cmp.Or(f.Shoot.Spec.Kubernetes.KubeProxy, &gardencorev1beta1.KubeProxyConfig{})
}

// render returns the objects inside the shoot.
func render(f facts.Shoot, in *component.Inputs) ([]client.Object, error) {
	settings, server := settingsOf(f), f.Hosts.NodeServer(in.Address(apiserver.Exposure).LoadBalancer)
	config, err := configuration(server, f.PodNetworks(), settings)
	if err != nil {
		return nil, err
	}
	meta := metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name, Labels: labels()}
	// No pod reaches a Service before this runs on its node.
	critical := meta
	critical.Labels = labels()
	critical.Labels[gardencorev1beta1.LabelNodeCriticalComponent] = "true"
	return []client.Object{
		&corev1.ServiceAccount{ObjectMeta: meta, AutomountServiceAccountToken: new(false)},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "gardener.cloud:target:node-proxier", Labels: labels()},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:node-proxier"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceSystem, Name: name}},
		},
		config,
		&appsv1.DaemonSet{
			ObjectMeta: critical,
			Spec: appsv1.DaemonSetSpec{
				Selector:             &metav1.LabelSelector{MatchLabels: map[string]string{"app": "kubernetes", "role": "proxy"}},
				RevisionHistoryLimit: new(int32(2)),
				UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
					Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromInt32(1))},
				},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{
						Labels:      critical.Labels,
						Annotations: component.Checksum("configuration", config.Data[configKey], config.Data[gardencorev1beta1.DataKeyKubeconfig]),
					},
					Spec: withCleanup(pod(in.Image(name), settings), settings),
				},
			},
		},
	}, nil
}

// pod is privileged, because it writes the packet filter and kernel settings of its node. The image brings the tools for that.
func pod(image string, settings *gardencorev1beta1.KubeProxyConfig) corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName:           name,
		AutomountServiceAccountToken: new(false),
		HostNetwork:                  true,
		PriorityClassName:            "system-node-critical",
		Tolerations:                  []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		SecurityContext:              &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
		Containers: []corev1.Container{{
			Name:            name,
			Image:           image,
			ImagePullPolicy: corev1.PullIfNotPresent,
			Command:         []string{component.BinDir + name},
			Args: append([]string{"--config=" + configDir + "/" + configKey, "--hostname-override=$(NODE_NAME)"},
				component.Switches("feature-gates", settings.FeatureGates)...),
			Env: []corev1.EnvVar{{
				Name: "NODE_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "spec.nodeName"}},
			}},
			Resources:                component.Requests("10m", "40Mi"),
			SecurityContext:          &corev1.SecurityContext{Privileged: new(true), ReadOnlyRootFilesystem: new(true)},
			TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
			ReadinessProbe:           component.HTTPProbe(corev1.URISchemeHTTP, healthPort, "/healthz"),
			VolumeMounts: []corev1.VolumeMount{
				{Name: "config", MountPath: configDir, ReadOnly: true},
				{Name: "access", MountPath: tokenDir, ReadOnly: true},
				{Name: "modules", MountPath: "/lib/modules", ReadOnly: true},
				{Name: "run", MountPath: "/run"},
			},
		}},
		Volumes: []corev1.Volume{
			{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: configName}}}},
			{Name: "access", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: corev1.ServiceAccountTokenKey, ExpirationSeconds: new(int64(3607))}},
				{ConfigMap: &corev1.ConfigMapProjection{
					LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
					Items:                []corev1.KeyToPath{{Key: corev1.ServiceAccountRootCAKey, Path: corev1.ServiceAccountRootCAKey}},
				}},
			}}}},
			{Name: "modules", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/lib/modules", Type: new(corev1.HostPathDirectoryOrCreate)}}},
			{Name: "run", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}},
		},
	}
}

func configuration(server string, podNetworks []string, settings *gardencorev1beta1.KubeProxyConfig) (*corev1.ConfigMap, error) {
	kubeconfig, err := secrets.Kubeconfig(secrets.KubeconfigSpec{
		Context: "shoot", Server: server, CAFile: tokenDir + "/" + corev1.ServiceAccountRootCAKey, TokenFile: tokenDir + "/" + corev1.ServiceAccountTokenKey,
	})
	if err != nil {
		return nil, err
	}
	text, err := component.YAML(map[string]any{
		"apiVersion":         "kubeproxy.config.k8s.io/v1alpha1",
		"kind":               "KubeProxyConfiguration",
		"mode":               modeOf(settings),
		"clusterCIDR":        strings.Join(podNetworks, ","),
		"clientConnection":   map[string]string{"kubeconfig": configDir + "/" + gardencorev1beta1.DataKeyKubeconfig},
		"metricsBindAddress": "127.0.0.1:10249",
		// The kernel's default size of its connection table is enough; machines that share a kernel could not change it.
		"conntrack": map[string]any{"maxPerCore": 0, "min": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
	})
	if err != nil {
		return nil, err
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: configName, Labels: labels()},
		Data:       map[string]string{gardencorev1beta1.DataKeyKubeconfig: string(kubeconfig), configKey: text},
	}, nil
}

func labels() map[string]string {
	return map[string]string{
		"app": "kubernetes", "role": "proxy",
		gardencorev1beta1.LabelRole:           gardencorev1beta1.RoleSystemComponent,
		gardencorev1beta1.LabelShootNoCleanup: "true",
	}
}
