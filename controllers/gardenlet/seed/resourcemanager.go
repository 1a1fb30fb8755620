// SPDX-License-Identifier: Apache-2.0

package seed

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager"
)

const (
	resourceManagerHealthPort, resourceManagerMetricsPort = 8081, 8080
	// resourceManagerReplicas is the number of pods of the resource manager in a seed with that many nodes.
	resourceManagerReplicas = 2
)

// ResourceManagerSet is the inventory of the resource manager in the seed.
func ResourceManagerSet() deploy.Set {
	return deploy.Set{Namespace: gardencorev1beta1.NamespaceGarden, Name: resourcemanager.Name}
}

// ResourceManager returns the objects of the resource manager of a seed with so many nodes.
func ResourceManager(image string, nodes int) []client.Object {
	labels := map[string]string{"app": resourcemanager.Name, gardencorev1beta1.LabelRole: resourcemanager.Name}
	meta := metav1.ObjectMeta{Namespace: gardencorev1beta1.NamespaceGarden, Name: resourcemanager.Name, Labels: labels}
	account := &corev1.ServiceAccount{ObjectMeta: meta, AutomountServiceAccountToken: new(false)}
	return append(access(meta), account, resourceManagerDeployment(meta, image, int32(min(max(nodes, 1), resourceManagerReplicas))))
}

// access are the rights of the resource manager. It applies whatever ManagedResources hold, roles among it, and who may grant everything
// has everything. So whoever may write ManagedResources of the class seed and their Secrets is an administrator of the seed.
func access(meta metav1.ObjectMeta) []client.Object {
	return []client.Object{&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "gardener.cloud:system:resource-manager", Labels: meta.Labels},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: meta.Namespace, Name: meta.Name}},
	}}
}

func resourceManagerDeployment(meta metav1.ObjectMeta, image string, replicas int32) *appsv1.Deployment {
	probe := func(path string) *corev1.Probe {
		return component.HTTPProbe(corev1.URISchemeHTTP, resourceManagerHealthPort, path)
	}
	deployment := component.Pod{Container: corev1.Container{
		Name: "resource-manager", Image: image,
		Command: []string{
			component.BinDir + "terrarium", "resource-manager", "--lease-namespace=" + meta.Namespace, "--cluster-id=" + resourcemanager.ClusterIDOrNone,
			fmt.Sprintf("--health-address=:%d", resourceManagerHealthPort), fmt.Sprintf("--metrics-address=:%d", resourceManagerMetricsPort),
		},
		Ports: []corev1.ContainerPort{
			{Name: "health", ContainerPort: resourceManagerHealthPort}, {Name: "metrics", ContainerPort: resourceManagerMetricsPort},
		},
		LivenessProbe: probe("/healthz"), ReadinessProbe: probe("/readyz"), Resources: component.Requests("10m", "48Mi"),
	}}.Deployment(meta, replicas)
	pod := &deployment.Spec.Template.Spec
	pod.ServiceAccountName, pod.AutomountServiceAccountToken = meta.Name, new(true)
	// The names that it looks up are those of shoots, which are outside of the seed.
	pod.DNSPolicy = corev1.DNSDefault
	pod.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{MatchLabels: meta.Labels},
	}}
	deployment.Spec.Strategy = component.SurgeFirst()
	return deployment
}

// applyResourceManager deploys the resource manager. Nothing here waits for it; the care of the seed tells whether it is healthy.
func applyResourceManager(ctx context.Context, engine deploy.Engine, image string) error {
	nodes := &metav1.PartialObjectMetadataList{}
	nodes.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NodeList"))
	if err := engine.Client.List(ctx, nodes, client.Limit(resourceManagerReplicas)); err != nil {
		return fmt.Errorf("list nodes of the seed: %w", err)
	}
	return engine.ApplySet(ctx, ResourceManagerSet(), ResourceManager(image, len(nodes.Items))...)
}

// resourceManagerLeftovers are what the resource manager makes for itself.
func resourceManagerLeftovers() []client.Object {
	return []client.Object{&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: gardencorev1beta1.NamespaceGarden, Name: resourcemanager.Name}}}
}
