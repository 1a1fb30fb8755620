// SPDX-License-Identifier: Apache-2.0

package scheduler

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
)

// User is the name of the scheduler in the shoot.
const User = "system:kube-scheduler"

const (
	port           = 10259
	kubeconfigName = "kube-scheduler-kubeconfig"
	configName     = "kube-scheduler-config"
	configFolder   = "config"
	configKey      = "config.yaml"
)

// Values describe a scheduler.
type Values struct {
	Namespace string
	// Image is the container image.
	Image string
	// Replicas is the number of instances; one of them is active.
	Replicas int32
	// Access is the way to the API server.
	Access component.Access
	// Settings is what the shoot's owner asks for; it may be nil.
	Settings *gardencorev1beta1.KubeSchedulerConfig
}

// Render returns the configuration and the deployment.
func Render(v Values) ([]client.Object, error) {
	kubeconfig, err := v.Access.Kubeconfig(v.Namespace, kubeconfigName)
	if err != nil {
		return nil, err
	}
	config, err := configuration(v)
	if err != nil {
		return nil, err
	}
	labels := component.ControlPlaneLabels("kubernetes", "scheduler")
	startup := component.HTTPProbe(corev1.URISchemeHTTPS, port, "/healthz")
	startup.PeriodSeconds, startup.FailureThreshold = 1, 120
	pod := component.Pod{
		PriorityClass: gardencorev1beta1.PriorityClassShootControlPlane300,
		Files:         append(v.Access.Files(kubeconfigName), component.FromConfigMap(configName, configFolder, configKey)),
		Container: corev1.Container{
			Name:          "kube-scheduler",
			Image:         v.Image,
			Command:       []string{component.BinDir + "kube-scheduler"},
			Args:          args(v),
			Ports:         []corev1.ContainerPort{{Name: "metrics", ContainerPort: port, Protocol: corev1.ProtocolTCP}},
			StartupProbe:  startup,
			LivenessProbe: component.HTTPProbe(corev1.URISchemeHTTPS, port, "/healthz"),
			Resources:     component.Requests("10m", "60Mi"),
		},
	}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: v.Namespace, Name: gardencorev1beta1.DeploymentKubeScheduler, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(v.Replicas), RevisionHistoryLimit: new(int32(2)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: map[string]string{
					component.ChecksumAnnotation("configuration"): component.Checksum(kubeconfig.Data[component.KubeconfigKey], config.Data[configKey]),
				}},
				Spec: pod.Spec(),
			},
		},
	}
	return []client.Object{kubeconfig, config, deployment}, nil
}

func args(v Values) []string {
	kubeconfig := v.Access.KubeconfigFile()
	flags := []string{
		"--config=" + component.File(configFolder, configKey),
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		fmt.Sprintf("--secure-port=%d", port),
	}
	if v.Settings != nil {
		if gates := component.FeatureGates(v.Settings.FeatureGates); gates != "" {
			flags = append(flags, "--feature-gates="+gates)
		}
	}
	return flags
}

func configuration(v Values) (*corev1.ConfigMap, error) {
	config := map[string]any{
		"apiVersion":       "kubescheduler.config.k8s.io/v1",
		"kind":             "KubeSchedulerConfiguration",
		"clientConnection": map[string]string{"kubeconfig": v.Access.KubeconfigFile()},
		"leaderElection":   map[string]any{"leaderElect": true},
		"enableProfiling":  false,
	}
	if v.Settings != nil && v.Settings.Profile != nil && *v.Settings.Profile == gardencorev1beta1.SchedulingProfileBinPacking {
		config["profiles"] = []any{binPacking()}
	}
	text, err := component.YAML(config)
	if err != nil {
		return nil, err
	}
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: v.Namespace, Name: configName},
		Data:       map[string]string{configKey: text},
	}, nil
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
