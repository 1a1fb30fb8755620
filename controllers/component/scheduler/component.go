// SPDX-License-Identifier: Apache-2.0

// Package scheduler renders the kube-scheduler of a shoot.
package scheduler

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/vertical"
)

const (
	// name is also the name of its image and of its certificate.
	name = gardencorev1beta1.DeploymentKubeScheduler
	// user is its name in the shoot.
	user = "system:kube-scheduler"

	port         = 10259
	configName   = "kube-scheduler-config"
	configFolder = "config"
	configKey    = "config.yaml"
)

// Component is the scheduler. A shoot without nodes, or in deletion, has none.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: name, Title: "the scheduler", Task: "scheduler", Images: []string{name}, Replicas: facts.Instances,
		After:  []component.Name{apiserver.Name},
		Wanted: func(f facts.Shoot) bool { return f.Workers() && !f.Deleting() },
		Care:   component.Care{Condition: gardencorev1beta1.ConditionTypeControlPlaneHealthy, Workload: component.WorkloadDeployment},
		Secrets: func(facts.Shoot, component.Addresses) ([]component.Request, error) {
			return apiserver.ClientRequests(name, user), nil
		},
		Render: render,
	}
}

// render returns the kubeconfig, the configuration and the deployment.
func render(f facts.Shoot, in *component.Inputs) ([]client.Object, error) {
	access, err := apiserver.AccessOf(f, in, name)
	if err != nil {
		return nil, err
	}
	settings := cmp.Or(f.Shoot.Spec.Kubernetes.KubeScheduler, &gardencorev1beta1.KubeSchedulerConfig{})
	config, err := configuration(settings)
	if err != nil {
		return nil, err
	}
	pod := component.Pod{
		Program:       name,
		PriorityClass: gardencorev1beta1.PriorityClassShootControlPlane300,
		Annotations:   component.Checksum("configuration", access.Kubeconfig.Data[gardencorev1beta1.DataKeyKubeconfig], config),
		Files:         append(access.Files, component.FromConfigMap(configName, configFolder, configKey)),
		Container: corev1.Container{
			Name:    name,
			Image:   in.Image(name),
			Command: []string{component.BinDir + name},
			Args: append([]string{
				"--config=" + component.File(configFolder, configKey),
				"--authentication-kubeconfig=" + apiserver.KubeconfigFile,
				"--authorization-kubeconfig=" + apiserver.KubeconfigFile,
				fmt.Sprintf("--secure-port=%d", port),
			}, component.Switches("feature-gates", settings.FeatureGates)...),
			Env:           volumesOfNodes(settings),
			Ports:         []corev1.ContainerPort{{Name: "metrics", ContainerPort: port, Protocol: corev1.ProtocolTCP}},
			StartupProbe:  component.StartupProbe(corev1.URISchemeHTTPS, port, "/healthz", 120),
			LivenessProbe: component.HTTPProbe(corev1.URISchemeHTTPS, port, "/healthz"),
			Resources:     component.Requests("10m", "60Mi"),
		},
	}
	labels := component.ControlPlaneLabels("kubernetes", "scheduler")
	objs := []client.Object{
		access.Kubeconfig,
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: configName}, Data: map[string]string{configKey: config}},
		component.Mutable(pod.Deployment(metav1.ObjectMeta{Namespace: f.Namespace, Name: name, Labels: labels}, in.Replicas)),
	}
	return append(objs, vertical.Autoscaler(f, vertical.Workload{
		Kind: vertical.Deployment, Name: name, Labels: labels, Container: name, Least: pod.Container.Resources.Requests, Most: vertical.Most("4", "10Gi"),
	})...), nil
}

// volumesOfNodes bounds how many volumes of a cloud a node gets, for volumes without a driver that says so itself.
func volumesOfNodes(settings *gardencorev1beta1.KubeSchedulerConfig) []corev1.EnvVar {
	if most := ptr.Deref(settings.KubeMaxPDVols, ""); most != "" {
		return []corev1.EnvVar{{Name: "KUBE_MAX_PD_VOLS", Value: most}}
	}
	return nil
}

func configuration(settings *gardencorev1beta1.KubeSchedulerConfig) (string, error) {
	config := map[string]any{
		"apiVersion":       "kubescheduler.config.k8s.io/v1",
		"kind":             "KubeSchedulerConfiguration",
		"clientConnection": map[string]string{"kubeconfig": apiserver.KubeconfigFile},
		"leaderElection":   map[string]any{"leaderElect": true},
		"enableProfiling":  false,
	}
	if ptr.Deref(settings.Profile, "") == gardencorev1beta1.SchedulingProfileBinPacking {
		config["profiles"] = []any{binPacking()}
	}
	return component.YAML(config)
}

// binPacking fills nodes one after the other, so that fewer of them are needed.
func binPacking() map[string]any {
	return map[string]any{
		"schedulerName": corev1.DefaultSchedulerName,
		"pluginConfig": []any{map[string]any{
			"name": "NodeResourcesFit",
			"args": map[string]any{"scoringStrategy": map[string]any{"type": "MostAllocated"}},
		}},
		"plugins": map[string]any{"score": map[string]any{
			"disabled": []any{map[string]string{"name": "NodeResourcesBalancedAllocation"}},
		}},
	}
}
