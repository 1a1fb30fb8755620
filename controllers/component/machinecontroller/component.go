// SPDX-License-Identifier: Apache-2.0

// Package machinecontroller renders the machine controller manager of a shoot, and its rights in the shoot. It turns the machine objects
// that the extension of the provider makes into machines: the program itself knows no provider, so a webhook of the extension puts a
// container beside it that does. Shoots with local machines have none, because their extension acts on machine objects itself.
package machinecontroller

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/vertical"
	"github.com/terrarium-garden/terrarium/controllers/shootaccess"
)

const (
	// Name is the name of the component, of its Deployment, its image and its service accounts.
	Name component.Name = name

	name = gardencorev1beta1.DeploymentMachineControllerManager
	// kubeconfigVolume is the volume with the access to the shoot. The container of the provider mounts it too, so the name is fixed.
	kubeconfigVolume = "kubeconfig"
	// port has health checks and metrics. The next one belongs to the container of the provider.
	port = 10258
)

// Component is the machine controller of a shoot whose machines are not local (EXT-WORKER-6). It also runs while a shoot falls asleep or is
// deleted, because it is what makes the machines go.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: Name, Title: "the machine controller", Images: []string{name}, Wanted: Wanted, Replicas: facts.Instances,
		Care: component.Care{Condition: gardencorev1beta1.ConditionTypeControlPlaneHealthy, Workload: component.WorkloadDeployment},
		Secrets: func(facts.Shoot, component.Addresses) ([]component.Request, error) {
			return []component.Request{component.Authority(gardencorev1beta1.SecretCACluster)}, nil
		},
		Render: render,
	}
}

// Wanted reports whether a shoot has one.
func Wanted(f facts.Shoot) bool {
	return f.Workers() && !f.LocalMachines()
}

// render returns the rights in the seed, the request for access to the shoot, and the deployment.
func render(f facts.Shoot, in *component.Inputs) ([]client.Object, error) {
	meta := metav1.ObjectMeta{Namespace: f.Namespace, Name: name, Labels: component.ControlPlaneLabels("kubernetes", name)}
	container := container(f, in.Image(name))
	deployment := component.Pod{
		Program: name, PriorityClass: gardencorev1beta1.PriorityClassShootControlPlane300,
		// It reads the authority of the API server only when it starts.
		Annotations: component.Checksum("ca", in.Secret(gardencorev1beta1.SecretCACluster).Bundle),
		Volumes:     []corev1.Volume{shootaccess.Volume(kubeconfigVolume, name)},
		Container:   container,
	}.Deployment(meta, in.Replicas)
	// Two at the same time would wait for each other.
	deployment.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	deployment.Spec.Template.Spec.ServiceAccountName = name
	deployment.Spec.Template.Spec.AutomountServiceAccountToken = new(true)
	return append(append(rights(meta), shootaccess.Program(f.Namespace, name), component.Mutable(deployment)), vertical.Autoscaler(f, vertical.Workload{
		Kind: vertical.Deployment, Name: name, Labels: meta.Labels, Container: name, Least: container.Resources.Requests, Most: vertical.Most("2", "5Gi"),
	})...), nil
}

func container(f facts.Shoot, image string) corev1.Container {
	live := component.HTTPProbe(corev1.URISchemeHTTP, port, "/healthz")
	live.InitialDelaySeconds, live.PeriodSeconds = 30, 10
	return corev1.Container{
		Name: name, Image: image, Command: []string{"./" + name},
		Args: []string{
			"--control-kubeconfig=inClusterConfig", "--target-kubeconfig=" + shootaccess.KubeconfigFile, "--namespace=" + f.Namespace, fmt.Sprintf("--port=%d", port),
			// More machines than wanted stop a MachineSet until it has shrunk again.
			"--machine-safety-overshooting-period=1m", "--safety-up=2", "--safety-down=1",
			"--concurrent-syncs=50", "--kube-api-qps=150", "--kube-api-burst=200", "--v=3",
		},
		Ports:         []corev1.ContainerPort{{Name: "metrics", ContainerPort: port, Protocol: corev1.ProtocolTCP}},
		VolumeMounts:  []corev1.VolumeMount{{Name: kubeconfigVolume, MountPath: shootaccess.Dir, ReadOnly: true}},
		LivenessProbe: live, Resources: component.Requests("31m", "70Mi"),
	}
}

// rights are those on the machine objects of its namespace, and on the Secrets with the credentials and user data of machines, which get a
// finalizer. The container of the provider has them too.
func rights(meta metav1.ObjectMeta) []client.Object {
	read := []string{"get", "list", "watch"}
	rules := []rbacv1.PolicyRule{
		{
			APIGroups: []string{gardenmachinev1alpha1.GroupName},
			Resources: []string{"machineclasses", "machinedeployments", "machinesets", "machines"},
			Verbs:     append([]string{"create", "patch", "update", "delete", "deletecollection"}, read...),
		},
		{
			APIGroups: []string{gardenmachinev1alpha1.GroupName},
			Resources: []string{"machinedeployments/status", "machinesets/status", "machines/status"}, Verbs: []string{"patch", "update"},
		},
		// An owner that waits for what it owns.
		{
			APIGroups: []string{gardenmachinev1alpha1.GroupName},
			Resources: []string{"machinedeployments/finalizers", "machinesets/finalizers"}, Verbs: []string{"update"},
		},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: append([]string{"patch", "update"}, read...)},
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch", "update"}},
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create"}},
		{
			APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"},
			ResourceNames: []string{name, "machine-controller"}, Verbs: []string{"get", "watch", "patch", "update"},
		},
	}
	return []client.Object{
		&corev1.ServiceAccount{ObjectMeta: meta, AutomountServiceAccountToken: new(false)},
		&rbacv1.Role{ObjectMeta: meta, Rules: rules},
		&rbacv1.RoleBinding{
			ObjectMeta: meta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: meta.Namespace, Name: name}},
		},
	}
}
