// SPDX-License-Identifier: Apache-2.0

// Package metricsserver renders what measures the nodes and pods of a shoot, for `kubectl top` and for autoscalers: metrics-server, and
// the API that it serves.
package metricsserver

import (
	"encoding/base64"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/shootsystem"
	"github.com/terrarium-garden/terrarium/controllers/component/shootwebhooks"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	// name is that of its workload, of its image and of its certificate.
	name = "metrics-server"
	// role is what it may do in the shoot.
	role = "system:" + name
	// group is that of the API that it serves.
	group = "metrics.k8s.io"
	// program is where upstream images have it.
	program = "/" + name
	// port is one of the node, see deployment.
	port = 4443

	serverFolder    = "server"
	kubeletCAFolder = "ca-kubelet"

	authority = gardencorev1beta1.SecretCAMetricsServer

	// resolution is the time between two looks at a node. It is ready after two of them, and a shoot is healthy only then. This is the
	// shortest that it accepts.
	resolution = 10 * time.Second
)

// Component is metrics-server in a shoot with nodes.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: name, Title: "the measurement of nodes and pods", After: []component.Name{shootsystem.Name, shootwebhooks.Name}, Images: []string{name},
		// Kubelets that sign their own certificates are not measured: it would show its token to any server that answers in their place.
		Wanted:   func(f facts.Shoot) bool { return f.Workers() && f.KubeletsSigned },
		Replicas: func(facts.Shoot) int32 { return 1 },
		Secrets: func(facts.Shoot, component.Addresses) ([]component.Request, error) {
			return []component.Request{
				component.Authority(authority), component.Authority(gardencorev1beta1.SecretCAKubelet),
				component.Certificate(authority, secrets.CertificateSpec{Name: name, Usage: secrets.UsageServer, CommonName: name, DNSNames: hosts()}),
			}, nil
		},
		Render: render,
	}
}

// hosts are the names of its Service.
func hosts() []string {
	const inNamespace = name + "." + metav1.NamespaceSystem
	return []string{name, inNamespace, inNamespace + ".svc", inNamespace + ".svc." + gardencorev1beta1.DefaultClusterDomain}
}

// render returns the objects inside the shoot.
func render(_ facts.Shoot, in *component.Inputs) ([]client.Object, error) {
	serving := in.Secret(name)
	certificate := component.Unique(&corev1.Secret{
		ObjectMeta: meta(name), Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{secrets.DataKeyCertificate: serving.Certificate, secrets.DataKeyPrivateKey: serving.Key},
	})
	kubelets := component.Unique(&corev1.Secret{
		ObjectMeta: meta(name + "-kubelets"), Type: corev1.SecretTypeOpaque,
		Data: map[string][]byte{gardencorev1beta1.DataKeyCertificateBundle: in.Secret(gardencorev1beta1.SecretCAKubelet).Trusted},
	})
	deployment := deployment(in, certificate, kubelets)
	component.Refer(deployment, certificate, kubelets)
	return append(access(),
		certificate, kubelets, deployment,
		&corev1.Service{ObjectMeta: meta(name), Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, Selector: selector(),
			Ports: []corev1.ServicePort{{Name: "https", Protocol: corev1.ProtocolTCP, Port: 443, TargetPort: intstr.FromInt32(port)}},
		}},
		service(in.Secret(authority).Trusted),
	), nil
}

// service makes the API server hand on requests for measurements. trusted verifies who answers them.
func service(trusted []byte) client.Object {
	api := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"group": group, "version": "v1beta1", "groupPriorityMinimum": int64(100), "versionPriority": int64(100),
		"service":  map[string]any{"namespace": metav1.NamespaceSystem, "name": name, "port": int64(443)},
		"caBundle": base64.StdEncoding.EncodeToString(trusted),
	}}}
	api.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"})
	api.SetName("v1beta1." + group)
	api.SetLabels(labels())
	return api
}

// deployment runs in the network of a node, because the API server reaches nodes also where it does not reach pods. So there is one
// instance of it on a node, and an old one ends before a new one starts.
func deployment(in *component.Inputs, certificate, kubelets *corev1.Secret) *appsv1.Deployment {
	ready := component.HTTPProbe(corev1.URISchemeHTTPS, port, "/readyz")
	// Nobody but this probe tells that it is ready.
	ready.PeriodSeconds = 2
	live := component.HTTPProbe(corev1.URISchemeHTTPS, port, "/livez")
	live.InitialDelaySeconds, live.FailureThreshold = 30, 5
	deployment := component.Pod{
		PriorityClass: "system-cluster-critical",
		Files: []corev1.VolumeProjection{
			component.FromSecret(certificate.Name, serverFolder, secrets.DataKeyCertificate, secrets.DataKeyPrivateKey),
			component.FromSecret(kubelets.Name, kubeletCAFolder, gardencorev1beta1.DataKeyCertificateBundle),
		},
		Container: corev1.Container{
			Name: name, Image: in.Image(name), Command: []string{program},
			Args: []string{
				fmt.Sprintf("--secure-port=%d", port),
				"--tls-cert-file=" + component.File(serverFolder, secrets.DataKeyCertificate),
				"--tls-private-key-file=" + component.File(serverFolder, secrets.DataKeyPrivateKey),
				"--tls-min-version=VersionTLS12",
				"--authorization-always-allow-paths=/livez,/readyz",
				"--kubelet-preferred-address-types=InternalIP,Hostname,ExternalIP",
				"--metric-resolution=" + resolution.String(),
				// A request must end before the next one is due.
				"--kubelet-request-timeout=" + (resolution * 9 / 10).String(),
				"--kubelet-certificate-authority=" + component.File(kubeletCAFolder, gardencorev1beta1.DataKeyCertificateBundle),
				"--profiling=false",
			},
			Ports:        []corev1.ContainerPort{{Name: "https", ContainerPort: port, Protocol: corev1.ProtocolTCP}},
			StartupProbe: component.StartupProbe(corev1.URISchemeHTTPS, port, "/livez", 60), ReadinessProbe: ready, LivenessProbe: live,
			Resources: component.Requests("20m", "60Mi"),
		},
	}.Deployment(meta(name), in.Replicas)
	deployment.Spec.Selector.MatchLabels = selector()
	deployment.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{
		MaxSurge: new(intstr.FromInt32(0)), MaxUnavailable: new(intstr.FromInt32(1)),
	}}
	spec := &deployment.Spec.Template.Spec
	spec.ServiceAccountName, spec.AutomountServiceAccountToken = name, new(true)
	spec.HostNetwork = true
	// Other names than those of its node are not looked up, and cluster DNS may be what does not work.
	spec.DNSPolicy = corev1.DNSDefault
	spec.Tolerations = []corev1.Toleration{{Key: "CriticalAddonsOnly", Operator: corev1.TolerationOpExists}}
	return deployment
}

// access are its rights, and those to what it serves.
func access() []client.Object {
	global := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Labels: labels()} }
	self := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceSystem, Name: name}}
	clusterRole := func(name string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
	}
	readers := global("system:aggregated-metrics-reader")
	for _, to := range []string{"view", "edit", "admin"} {
		readers.Labels[rbacv1.GroupName+"/aggregate-to-"+to] = "true"
	}
	return []client.Object{
		&corev1.ServiceAccount{ObjectMeta: meta(name), AutomountServiceAccountToken: new(false)},
		&rbacv1.ClusterRole{ObjectMeta: global(role), Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"nodes/metrics"}, Verbs: []string{"get"}},
			{APIGroups: []string{""}, Resources: []string{"nodes", "pods"}, Verbs: []string{"get", "list", "watch"}},
		}},
		&rbacv1.ClusterRoleBinding{ObjectMeta: global(role), RoleRef: clusterRole(role), Subjects: self},
		&rbacv1.ClusterRoleBinding{ObjectMeta: global(name + ":system:auth-delegator"), RoleRef: clusterRole("system:auth-delegator"), Subjects: self},
		&rbacv1.RoleBinding{
			ObjectMeta: meta(name + "-auth-reader"), Subjects: self,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "extension-apiserver-authentication-reader"},
		},
		&rbacv1.ClusterRole{ObjectMeta: readers, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{group}, Resources: []string{"nodes", "pods"}, Verbs: []string{"get", "list", "watch"}},
		}},
	}
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name, Labels: labels()}
}

func selector() map[string]string {
	return map[string]string{"k8s-app": name}
}

func labels() map[string]string {
	return map[string]string{
		"k8s-app":                             name,
		gardencorev1beta1.LabelRole:           gardencorev1beta1.RoleSystemComponent,
		gardencorev1beta1.LabelShootNoCleanup: "true",
	}
}
