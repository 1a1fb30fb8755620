// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

const (
	// Name of the Deployment and of everything that belongs to it.
	Name = "cloud-controller-manager"

	healthPort     = 8081
	kubeconfigDir  = "/var/run/shoot"
	kubeconfigHash = "checksum/kubeconfig"
)

// Values of the rendered objects.
type Values struct {
	// Namespace is the control-plane namespace.
	Namespace string
	// Image holds the terrarium binary.
	Image string
	// Replicas is 0 while the shoot sleeps.
	Replicas int32
	// KubeconfigChecksum changes with the kubeconfig, so that the pod does.
	KubeconfigChecksum string
}

// Render returns the objects of the cloud controller manager.
func Render(v Values) []client.Object {
	meta := metav1.ObjectMeta{Namespace: v.Namespace, Name: Name}
	labels := map[string]string{
		"app":  "kubernetes",
		"role": Name,
		gardencorev1beta1.LabelNetworkPolicyToDNS:              gardencorev1beta1.LabelValueAllowed,
		gardencorev1beta1.LabelNetworkPolicyToRuntimeAPIServer: gardencorev1beta1.LabelValueAllowed,
		gardencorev1beta1.LabelNetworkPolicyToPrivateNetworks:  gardencorev1beta1.LabelValueAllowed,
	}
	selector := map[string]string{"app": "kubernetes", "role": Name}
	return []client.Object{
		&corev1.ServiceAccount{ObjectMeta: meta, AutomountServiceAccountToken: new(false)},
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: []string{""}, Resources: []string{"pods/status"}, Verbs: []string{"patch"}},
		}},
		&rbacv1.RoleBinding{
			ObjectMeta: meta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: Name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: v.Namespace, Name: Name}},
		},
		&appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: v.Namespace, Name: Name, Labels: labels},
			Spec: appsv1.DeploymentSpec{
				Replicas:             new(v.Replicas),
				RevisionHistoryLimit: new(int32(1)),
				// Two of them would do no harm but to each other's patience.
				Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
				Selector: &metav1.LabelSelector{MatchLabels: selector},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: map[string]string{kubeconfigHash: v.KubeconfigChecksum}},
					Spec:       podSpec(v),
				},
			},
		},
	}
}

func podSpec(v Values) corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName:           Name,
		AutomountServiceAccountToken: new(true),
		EnableServiceLinks:           new(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true),
			RunAsUser:    new(int64(65532)),
			RunAsGroup:   new(int64(65532)),
			FSGroup:      new(int64(65532)),
		},
		Containers: []corev1.Container{{
			Name:            Name,
			Image:           v.Image,
			ImagePullPolicy: corev1.PullIfNotPresent,
			Command: []string{
				"/usr/local/bin/terrarium", "provider-local", "cloud-controller",
				"--kubeconfig=" + kubeconfigDir + "/" + engine.KubeconfigKey,
				"--namespace=" + v.Namespace,
				"--health-address=:8081",
			},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false),
				ReadOnlyRootFilesystem:   new(true),
				Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceCPU:    resource.MustParse("10m"),
				corev1.ResourceMemory: resource.MustParse("48Mi"),
			}},
			ReadinessProbe: &corev1.Probe{
				ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/readyz", Port: intstr.FromInt32(healthPort)}},
				PeriodSeconds: 2,
			},
			TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
			VolumeMounts:             []corev1.VolumeMount{{Name: "kubeconfig", MountPath: kubeconfigDir, ReadOnly: true}},
		}},
		Volumes: []corev1.Volume{{Name: "kubeconfig", VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: engine.ShootAccessSecret, DefaultMode: new(int32(0o440))},
		}}},
	}
}
