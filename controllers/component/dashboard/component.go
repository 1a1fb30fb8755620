// SPDX-License-Identifier: Apache-2.0

// Package dashboard renders the Kubernetes dashboard that the owner of a shoot for evaluation may add: a web page of the cluster, and
// what keeps the measurements of the last minutes for its charts. It has next to no rights of its own: users log in with a token, and
// see and do what the token allows.
package dashboard

import (
	"cmp"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

// Name is that of the component, of its workload and of its image.
const Name component.Name = name

const (
	name = "kubernetes-dashboard"
	// scraper keeps measurements for the dashboard. It is the name that the dashboard looks for, and that of its image.
	scraper   = "dashboard-metrics-scraper"
	namespace = gardencorev1beta1.NamespaceKubernetesDashboard

	// What the dashboard reads and writes under these names: the key of its sessions, the one against forged requests, and its settings.
	keyHolder = name + "-key-holder"
	csrf      = name + "-csrf"
	settings  = name + "-settings"

	port        = 8443
	scraperPort = 8000

	// certificates is where the dashboard looks for a certificate before it signs one for itself.
	certificates = "/certs"
	temporary    = "/tmp"

	priorityClass = "gardener-shoot-system-600"
)

// Component is the dashboard of a shoot with nodes, if its owner wants one.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: Name, Title: "the dashboard", Images: []string{name, scraper},
		Wanted:   func(f facts.Shoot) bool { return f.Workers() && query.KubernetesDashboard(&f.Shoot.Spec) != nil },
		Replicas: func(facts.Shoot) int32 { return 1 },
		Render:   render,
	}
}

// render returns the objects inside the shoot. The dashboard fills the Secrets and the ConfigMap itself; they are there without content,
// so that it needs no right to create any.
func render(f facts.Shoot, in *component.Inputs) ([]client.Object, error) {
	objs := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: labels(name)}},
		&corev1.Secret{ObjectMeta: meta(keyHolder, name), Type: corev1.SecretTypeOpaque},
		&corev1.Secret{ObjectMeta: meta(csrf, name), Type: corev1.SecretTypeOpaque},
		&corev1.ConfigMap{ObjectMeta: meta(settings, name)},
		service(name, 443, port),
		service(scraper, scraperPort, scraperPort),
		dashboard(f, in),
		measurements(in),
	}
	return append(objs, access()...), nil
}

// service is reached through the API server only: with `kubectl port-forward`, or as a proxy of a Service.
func service(name string, number, target int32) client.Object {
	return &corev1.Service{ObjectMeta: meta(name, name), Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeClusterIP, Selector: selector(name),
		Ports: []corev1.ServicePort{{Protocol: corev1.ProtocolTCP, Port: number, TargetPort: intstr.FromInt32(target)}},
	}}
}

// dashboard serves with a certificate that it signs for itself at each start: nobody but the API server and a forwarded port reaches it.
func dashboard(f facts.Shoot, in *component.Inputs) *appsv1.Deployment {
	mode := gardencorev1beta1.KubernetesDashboardAuthModeToken
	if asked := query.KubernetesDashboard(&f.Shoot.Spec); asked != nil {
		mode = cmp.Or(ptr.Deref(asked.AuthenticationMode, ""), mode)
	}
	return deployment(in.Replicas, corev1.Container{
		Name: name, Image: in.Image(name),
		Args:          []string{"--auto-generate-certificates", "--authentication-mode=" + mode, "--namespace=" + namespace, "--port=" + strconv.Itoa(port)},
		Ports:         []corev1.ContainerPort{{Name: "https", ContainerPort: port, Protocol: corev1.ProtocolTCP}},
		LivenessProbe: patient(corev1.URISchemeHTTPS, port), ReadinessProbe: component.HTTPProbe(corev1.URISchemeHTTPS, port, "/"),
		Resources:    component.Requests("50m", "50Mi"),
		VolumeMounts: []corev1.VolumeMount{{Name: "certificates", MountPath: certificates}, {Name: "temporary", MountPath: temporary}},
	}, "certificates", "temporary")
}

// measurements keeps what metrics-server measures, in memory of its node.
func measurements(in *component.Inputs) *appsv1.Deployment {
	return deployment(in.Replicas, corev1.Container{
		Name: scraper, Image: in.Image(scraper),
		Ports:         []corev1.ContainerPort{{Name: "http", ContainerPort: scraperPort, Protocol: corev1.ProtocolTCP}},
		LivenessProbe: patient(corev1.URISchemeHTTP, scraperPort), ReadinessProbe: component.HTTPProbe(corev1.URISchemeHTTP, scraperPort, "/"),
		Resources:    component.Requests("10m", "20Mi"),
		VolumeMounts: []corev1.VolumeMount{{Name: "temporary", MountPath: temporary}},
	}, "temporary")
}

// deployment runs one container under the service account of its name, with empty volumes.
func deployment(replicas int32, container corev1.Container, volumes ...string) *appsv1.Deployment {
	pod := component.Pod{PriorityClass: priorityClass, Container: container}
	for _, volume := range volumes {
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}
	d := pod.Deployment(meta(container.Name, container.Name), replicas)
	d.Spec.Selector.MatchLabels, d.Spec.Strategy = selector(container.Name), component.SurgeFirst()
	spec := &d.Spec.Template.Spec
	spec.ServiceAccountName, spec.AutomountServiceAccountToken = container.Name, new(true)
	return d
}

func patient(scheme corev1.URIScheme, port int32) *corev1.Probe {
	probe := component.HTTPProbe(scheme, port, "/")
	probe.InitialDelaySeconds, probe.PeriodSeconds, probe.TimeoutSeconds = 30, 10, 30
	return probe
}

func meta(name, app string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels(app)}
}

func selector(app string) map[string]string {
	return map[string]string{"k8s-app": app}
}

// labels have none against the clean-up of a shoot in deletion: an add-on goes before that.
func labels(app string) map[string]string {
	return map[string]string{
		"k8s-app":                     app,
		gardencorev1beta1.LabelRole:   gardencorev1beta1.RoleOptionalAddon,
		gardencorev1beta1.LabelOrigin: "gardener",
	}
}
