// SPDX-License-Identifier: Apache-2.0

package volumes

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/volumeagent"
)

const (
	// Name of the DaemonSet and its service account.
	Name = "local-volumes"
	// ClusterName names the cluster-wide objects.
	ClusterName = "extensions.gardener.cloud:provider-local:volumes"
)

// Offer returns what the shoot gets for its volumes: nothing, if its machines do not have them.
func Offer(ctx context.Context, find cloud.Find, namespace, image string) ([]client.Object, error) {
	in, err := find(ctx, namespace)
	if err != nil {
		return nil, fmt.Errorf("find the cloud of the machines: %w", err)
	}
	if claim, err := Mounted(ctx, in); err != nil || claim == "" {
		return nil, err
	}
	return Render(image), nil
}

// Render returns the class and the agent that serves it. The agent runs on the machines that have the volumes, and on no others.
func Render(image string) []client.Object {
	meta := metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: Name}
	clusterMeta := metav1.ObjectMeta{Name: ClusterName}
	labels := map[string]string{"app": Name}
	return []client.Object{
		// All machines have all volumes, so a volume need not wait until it is known where it is used.
		&storagev1.StorageClass{
			ObjectMeta:        metav1.ObjectMeta{Name: volumeagent.Class, Annotations: map[string]string{annotationDefault: "true"}},
			Provisioner:       volumeagent.Provisioner,
			ReclaimPolicy:     new(corev1.PersistentVolumeReclaimDelete),
			VolumeBindingMode: new(storagev1.VolumeBindingImmediate),
		},
		&corev1.ServiceAccount{ObjectMeta: meta, AutomountServiceAccountToken: new(false)},
		&rbacv1.ClusterRole{ObjectMeta: clusterMeta, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"persistentvolumeclaims"}, Verbs: []string{"list", "watch"}},
			{APIGroups: []string{""}, Resources: []string{"persistentvolumes"}, Verbs: []string{"get", "list", "watch", "create", "patch", "delete"}},
			{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
		}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: clusterMeta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: ClusterName},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: meta.Namespace, Name: Name}},
		},
		&appsv1.DaemonSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: meta.Namespace, Name: Name, Labels: labels},
			Spec: appsv1.DaemonSetSpec{
				RevisionHistoryLimit: new(int32(1)),
				Selector:             &metav1.LabelSelector{MatchLabels: labels},
				Template:             corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec(image)},
			},
		},
	}
}

// podSpec gives the agent the folder of the volumes and nothing else of the machine. It removes what any user of a pod has written.
func podSpec(image string) corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName:            Name,
		AutomountServiceAccountToken:  new(true),
		EnableServiceLinks:            new(false),
		PriorityClassName:             "system-node-critical",
		TerminationGracePeriodSeconds: new(int64(5)),
		NodeSelector:                  map[string]string{machine.VolumesLabel: machine.VolumesHere},
		Tolerations:                   []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		Containers: []corev1.Container{{
			Name:            "volume-agent",
			Image:           image,
			ImagePullPolicy: corev1.PullIfNotPresent,
			Command:         []string{"/usr/local/bin/volume-agent", "--dir=" + machine.VolumesDir},
			SecurityContext: &corev1.SecurityContext{
				RunAsUser:                new(int64(0)),
				AllowPrivilegeEscalation: new(false),
				ReadOnlyRootFilesystem:   new(true),
				Capabilities: &corev1.Capabilities{
					Drop: []corev1.Capability{"ALL"}, Add: []corev1.Capability{"DAC_OVERRIDE", "FOWNER"},
				},
			},
			Resources:                component.Requests("5m", "32Mi"),
			TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
			VolumeMounts:             []corev1.VolumeMount{{Name: "volumes", MountPath: machine.VolumesDir}},
		}},
		Volumes: []corev1.Volume{{Name: "volumes", VolumeSource: corev1.VolumeSource{
			HostPath: &corev1.HostPathVolumeSource{Path: machine.VolumesDir, Type: new(corev1.HostPathDirectory)},
		}}},
	}
}
