// SPDX-License-Identifier: Apache-2.0

// Package verticalpodautoscaler renders what sizes the pods of a shoot by their use: the recommender, which says how large pods should be,
// the updater, which resizes or evicts those that are not, and the admission controller, which sizes new ones. The programs are the upstream
// ones. They run beside the API server in the seed; inside of the shoot are the kinds that they act on, their rights, and the webhook.
package verticalpodautoscaler

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/vertical"
	"github.com/terrarium-garden/terrarium/controllers/reach"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
	"github.com/terrarium-garden/terrarium/controllers/shootaccess"
)

// Names of the programs, which are also those of their images, of their service accounts in the shoot and of their tasks.
const (
	Recommender         component.Name = gardencorev1beta1.DeploymentVPARecommender
	Updater             component.Name = gardencorev1beta1.DeploymentVPAUpdater
	AdmissionController component.Name = gardencorev1beta1.DeploymentVPAAdmissionController
)

const (
	// certificate is the serving certificate of the admission controller, serverFolder is where its pod has it.
	certificate  = "vpa-webhook"
	serverFolder = "server"
	// kubeconfigVolume is the volume with the access to the shoot.
	kubeconfigVolume = "kubeconfig"
	healthPath       = "/health-check"
	// Ports on which the programs answer health checks and show metrics.
	recommenderPort, updaterPort, admissionPort = 8942, 8943, 8944
)

// program is one of the three.
type program struct {
	name component.Name
	// command is where the image has it, port is where it answers health checks.
	command string
	port    int32
	// memory is what it requests.
	memory string
	// alone is set if two instances would get in each other's way.
	alone bool
}

// Components are the three programs of a shoot with nodes that asks for them. None of them runs while the shoot is not awake.
func Components() []component.Component[facts.Shoot] {
	return []component.Component[facts.Shoot]{
		program{name: Recommender, command: "/recommender", port: recommenderPort, memory: "40Mi", alone: true}.component("the recommender of sizes of pods"),
		program{name: Updater, command: "/updater", port: updaterPort, memory: "30Mi", alone: true}.component("the updater of sizes of pods"),
		program{name: AdmissionController, command: "/admission-controller", port: admissionPort, memory: "30Mi"}.component("the webhook that sizes pods"),
	}
}

func (p program) component(title string) component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: p.name, Title: title, Images: []string{string(p.name)}, Wanted: wanted, Replicas: facts.Instances,
		Care: component.Care{Condition: gardencorev1beta1.ConditionTypeControlPlaneHealthy, Workload: component.WorkloadDeployment},
		Secrets: func(f facts.Shoot, _ component.Addresses) ([]component.Request, error) {
			requests := []component.Request{component.Authority(gardencorev1beta1.SecretCACluster)}
			if p.name == AdmissionController {
				requests = append(requests, component.Certificate(gardencorev1beta1.SecretCACluster, secrets.CertificateSpec{
					Name: certificate, Usage: secrets.UsageServer, CommonName: reach.VPAWebhook, DNSNames: []string{host(f.Namespace)},
				}))
			}
			return requests, nil
		},
		Render: p.render,
	}
}

func wanted(f facts.Shoot) bool {
	return query.VerticalPodAutoscaler(&f.Shoot.Spec) != nil && !f.Deleting()
}

// host is the name under which the API server of a shoot reaches the webhook.
func host(namespace string) string {
	return reach.VPAWebhook + "." + namespace + ".svc"
}

func (p program) render(f facts.Shoot, in *component.Inputs) ([]client.Object, error) {
	name := string(p.name)
	meta := metav1.ObjectMeta{Namespace: f.Namespace, Name: name, Labels: component.ControlPlaneLabels("kubernetes", name)}
	container := p.container(f, in)
	pod := component.Pod{
		Program: name, PriorityClass: gardencorev1beta1.PriorityClassShootControlPlane200,
		// The programs read the authority of the API server only when they start.
		Annotations: component.Checksum("ca", in.Secret(gardencorev1beta1.SecretCACluster).Bundle),
		Volumes:     []corev1.Volume{shootaccess.Volume(kubeconfigVolume, name)},
		Container:   container,
	}
	objs := []client.Object{shootaccess.Program(f.Namespace, name)}
	if p.name == AdmissionController {
		pod.Files = []corev1.VolumeProjection{in.CertificateFiles(certificate, serverFolder)}
		objs = append(objs, service(f.Namespace, meta.Labels))
	}
	deployment := pod.Deployment(meta, in.Replicas)
	deployment.Spec.Strategy = component.SurgeFirst()
	if p.alone {
		deployment.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	}
	return append(append(objs, deployment), vertical.Autoscaler(f, vertical.Workload{
		Kind: vertical.Deployment, Name: name, Labels: meta.Labels, Container: name, Least: container.Resources.Requests, Most: vertical.Most("1", "4Gi"),
	})...), nil
}

func (p program) container(f facts.Shoot, in *component.Inputs) corev1.Container {
	name := string(p.name)
	live := component.HTTPProbe(corev1.URISchemeHTTP, p.port, healthPath)
	live.PeriodSeconds = 10
	container := corev1.Container{
		Name: name, Image: in.Image(name), Command: []string{p.command},
		Args:  append([]string{"--kubeconfig=" + shootaccess.KubeconfigFile, fmt.Sprintf("--address=:%d", p.port), "--v=2"}, p.flags(f)...),
		Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: p.port, Protocol: corev1.ProtocolTCP}},
		VolumeMounts: []corev1.VolumeMount{
			{Name: kubeconfigVolume, MountPath: shootaccess.Dir, ReadOnly: true},
		},
		LivenessProbe: live, Resources: component.Requests("10m", p.memory),
	}
	if p.name == AdmissionController {
		container.Ports = append(container.Ports, corev1.ContainerPort{Name: "server", ContainerPort: reach.VPAWebhookPort, Protocol: corev1.ProtocolTCP})
		// Its health check answers before the webhook does. Only the start is told by a connection, because it logs each that asks nothing.
		container.StartupProbe = component.StartupProbe(corev1.URISchemeHTTP, p.port, healthPath, 60)
		container.StartupProbe.ProbeHandler = corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(reach.VPAWebhookPort)}}
	}
	return container
}

// service is where the API server of the shoot reaches the webhook.
func service(namespace string, selector map[string]string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: reach.VPAWebhook, Labels: selector},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, Selector: selector,
			Ports: []corev1.ServicePort{{Name: "server", Protocol: corev1.ProtocolTCP, Port: 443, TargetPort: intstr.FromInt32(reach.VPAWebhookPort)}},
		},
	}
}
