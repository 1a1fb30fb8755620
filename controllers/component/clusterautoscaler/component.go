// SPDX-License-Identifier: Apache-2.0

// Package clusterautoscaler renders the cluster autoscaler of a shoot, and its rights in the shoot. Shoots with local machines get the one
// of this project (see package controllers/provider/local/autoscaler), others get the upstream one, which acts on the same kinds of
// machine objects. Both understand the same flags.
package clusterautoscaler

import (
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/images"
	"github.com/terrarium-garden/terrarium/controllers/component/vertical"
)

const (
	// Name is the name of the component, of its Deployment, its image and its certificate.
	Name component.Name = name

	name = gardencorev1beta1.DeploymentClusterAutoscaler
	// user is its name in the shoot.
	user = "gardener.cloud:system:cluster-autoscaler"

	metricsPort = 8085
	healthPort  = 8081
)

// errNoImage says that a gardenlet cannot deploy the autoscaler of this project.
var errNoImage = errors.New("the cluster autoscaler of shoots with local machines runs from the image of the gardenlet: start the gardenlet with --image")

// Component is the autoscaler of a shoot in which a pool may have more machines than its minimum (EXT-WORKER-7). It runs as long as the
// shoot is awake: while machines go because the shoot falls asleep, nothing may bring new ones.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: Name, Title: "the cluster autoscaler", Images: []string{name, images.Own}, Wanted: wanted, Replicas: facts.Instances,
		Care: component.Care{Condition: gardencorev1beta1.ConditionTypeControlPlaneHealthy, Workload: component.WorkloadDeployment},
		Keep: func(f facts.Shoot) client.Object {
			return &gardenextensionsv1alpha1.Worker{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: f.Shoot.Name}}
		},
		Secrets: func(facts.Shoot, component.Addresses) ([]component.Request, error) {
			return apiserver.ClientRequests(name, user), nil
		},
		Render: render,
	}
}

func wanted(f facts.Shoot) bool {
	return query.Autoscaled(&f.Shoot.Spec) && !f.Deleting()
}

// render returns the rights in the seed, the kubeconfig and the deployment. What it scales says the status of the Worker.
func render(f facts.Shoot, in *component.Inputs) ([]client.Object, error) {
	access, err := apiserver.AccessOf(f, in, name)
	if err != nil {
		return nil, err
	}
	own := f.LocalMachines()
	container := upstream(f, in)
	if own {
		if container = ours(f, in); container.Image == "" {
			return nil, errNoImage
		}
	}
	least, demanded := container.Resources, settingsOf(f).Autoscaling
	most := vertical.Most("1", "4Gi")
	container.Resources = vertical.AtLeast(least, demanded, most)
	worker, _ := in.Kept.(*gardenextensionsv1alpha1.Worker)
	container.Args = append(container.Args, flags(f)...)
	container.Args = append(container.Args, groups(worker)...)
	pod := component.Pod{
		Program:       name,
		PriorityClass: gardencorev1beta1.PriorityClassShootControlPlane300,
		Annotations:   component.Checksum("kubeconfig", access.Kubeconfig.Data[gardencorev1beta1.DataKeyKubeconfig]),
		Files:         access.Files,
		Container:     container,
	}
	meta := metav1.ObjectMeta{Namespace: f.Namespace, Name: name, Labels: component.ControlPlaneLabels("kubernetes", name)}
	deployment := pod.Deployment(meta, in.Replicas)
	// Two at the same time would get in each other's way.
	deployment.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	deployment.Spec.Template.Spec.ServiceAccountName = name
	deployment.Spec.Template.Spec.AutomountServiceAccountToken = new(true)
	return append(append(rights(meta), access.Kubeconfig, deployment), vertical.Autoscaler(f, vertical.Workload{
		Kind: vertical.Deployment, Name: name, Labels: meta.Labels, Container: name, Least: least.Requests, Most: most, Demanded: demanded,
	})...), nil
}

// ours is the container with the autoscaler of this project.
func ours(f facts.Shoot, in *component.Inputs) corev1.Container {
	return corev1.Container{
		Name: name, Image: in.Image(images.Own),
		Command: []string{component.BinDir + "terrarium", "provider-local", "cluster-autoscaler"},
		Args: []string{
			"--kubeconfig=" + apiserver.KubeconfigFile, "--namespace=" + f.Namespace, fmt.Sprintf("--health-address=:%d", healthPort),
			fmt.Sprintf("--metrics-address=:%d", metricsPort),
		},
		Ports: []corev1.ContainerPort{
			{Name: "health", ContainerPort: healthPort, Protocol: corev1.ProtocolTCP}, {Name: "metrics", ContainerPort: metricsPort, Protocol: corev1.ProtocolTCP},
		},
		ReadinessProbe: component.HTTPProbe(corev1.URISchemeHTTP, healthPort, "/readyz"),
		LivenessProbe:  component.HTTPProbe(corev1.URISchemeHTTP, healthPort, "/healthz"),
		Resources:      component.Requests("10m", "48Mi"),
	}
}

// upstream is the container with the autoscaler that the image vector names.
func upstream(f facts.Shoot, in *component.Inputs) corev1.Container {
	return corev1.Container{
		Name: name, Image: in.Image(name),
		Command: []string{"./cluster-autoscaler"},
		Args: []string{
			"--kubeconfig=" + apiserver.KubeconfigFile, fmt.Sprintf("--address=:%d", metricsPort), "--cloud-provider=mcm", "--stderrthreshold=info",
			"--skip-nodes-with-system-pods=false", "--skip-nodes-with-local-storage=false", "--expendable-pods-priority-cutoff=-10",
			"--balance-similar-node-groups=true",
		},
		Env: []corev1.EnvVar{
			{Name: "CONTROL_NAMESPACE", Value: f.Namespace}, {Name: "TARGET_KUBECONFIG", Value: apiserver.KubeconfigFile},
		},
		Ports:         []corev1.ContainerPort{{Name: "metrics", ContainerPort: metricsPort, Protocol: corev1.ProtocolTCP}},
		LivenessProbe: component.HTTPProbe(corev1.URISchemeHTTP, metricsPort, "/health-check"),
		Resources:     component.Requests("10m", "30Mi"),
	}
}

// rights let the autoscaler read and scale the machines of its namespace, and nothing else.
func rights(meta metav1.ObjectMeta) []client.Object {
	rules := []rbacv1.PolicyRule{
		{
			APIGroups: []string{gardenmachinev1alpha1.GroupName}, Resources: []string{"machineclasses", "machinesets"},
			Verbs: []string{"get", "list", "watch"},
		},
		{
			APIGroups: []string{gardenmachinev1alpha1.GroupName}, Resources: []string{"machinedeployments", "machines"},
			Verbs: []string{"get", "list", "watch", "patch", "update"},
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
