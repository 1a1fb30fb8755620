// SPDX-License-Identifier: Apache-2.0

// Package nginxingress renders the ingress controller that the owner of a shoot for evaluation may add. It serves the Ingresses of class
// nginx behind a load balancer of its own.
package nginxingress

import (
	"maps"
	"net/netip"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

const (
	// Name is that of the component.
	Name component.Name = "nginx-ingress"
	// Service is the name of the load balancer of the controller, in kube-system. Its configuration and its workload are called so too.
	Service = name

	name = "addons-nginx-ingress-controller"
	// account is that of its rights.
	account = "addons-nginx-ingress"
	// leader is the lease of the instance that writes addresses into Ingresses.
	leader = "addons-nginx-ingress-leader"
	image  = "nginx-ingress-controller"
	// class is what Ingresses name, and controller what the class names.
	class      = "nginx"
	controller = "k8s.io/ingress-nginx"

	httpPort   = 80
	httpsPort  = 443
	healthPort = 10254

	// user and group own what the upstream image changes in its own file system.
	user  int64 = 101
	group int64 = 82
	// drain is how long it goes on with requests that have begun before it ends, in seconds.
	drain int64 = 300

	priorityClass = "gardener-shoot-system-600"
)

// Component is the ingress controller of a shoot with nodes, if its owner wants one.
func Component() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: Name, Title: "the ingress controller", Images: []string{image},
		Wanted:   func(f facts.Shoot) bool { return f.Workers() && query.NginxIngress(&f.Shoot.Spec) != nil },
		Replicas: func(facts.Shoot) int32 { return 1 },
		Render:   render,
	}
}

// render returns the objects inside the shoot. There is no webhook that checks Ingresses: it would run what they contain with the rights of
// the controller, and anybody who reaches its pod could call it.
func render(f facts.Shoot, in *component.Inputs) ([]client.Object, error) {
	settings := query.NginxIngress(&f.Shoot.Spec)
	if settings == nil {
		settings = &gardencorev1beta1.NginxIngress{}
	}
	return append([]client.Object{
		// All that the owner writes is taken over, also parts of the configuration of nginx. Who may change a shoot may give itself every
		// right in it in other ways, so there is nothing to protect from the owner. Users of the cluster cannot add such parts by annotations
		// of Ingresses unless the owner allows it here: the program has that off by default.
		&corev1.ConfigMap{ObjectMeta: meta(name), Data: maps.Clone(settings.Config)},
		&networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: class, Labels: labels()}, Spec: networkingv1.IngressClassSpec{Controller: controller}},
		service(settings),
		deployment(in),
	}, access()...), nil
}

// service is the load balancer. Webhooks of the provider's extension may say more about it.
func service(settings *gardencorev1beta1.NginxIngress) client.Object {
	policy := ptr.Deref(settings.ExternalTrafficPolicy, gardencorev1beta1.ExternalTrafficPolicyCluster)
	return &corev1.Service{ObjectMeta: meta(Service), Spec: corev1.ServiceSpec{
		Type: corev1.ServiceTypeLoadBalancer, Selector: selector(),
		ExternalTrafficPolicy:    corev1.ServiceExternalTrafficPolicy(policy),
		LoadBalancerSourceRanges: ranges(settings.LoadBalancerSourceRanges),
		Ports: []corev1.ServicePort{
			{Name: "http", Protocol: corev1.ProtocolTCP, Port: httpPort, TargetPort: intstr.FromString("http")},
			{Name: "https", Protocol: corev1.ProtocolTCP, Port: httpsPort, TargetPort: intstr.FromString("https")},
		},
	}}
}

// ranges writes networks in the form that every version of Kubernetes takes: newer ones refuse bits of a host in them, which the API of the
// garden accepts.
func ranges(texts []string) []string {
	var all []string
	for _, text := range texts {
		if network, err := netip.ParsePrefix(text); err == nil {
			text = network.Masked().String()
		}
		all = append(all, text)
	}
	return all
}

// deployment has no checksum of the configuration: a changed one is read without a restart. The program writes what nginx runs with into
// its own file system.
func deployment(in *component.Inputs) *appsv1.Deployment {
	healthy := component.HTTPProbe(corev1.URISchemeHTTP, healthPort, "/healthz")
	live := healthy.DeepCopy()
	live.InitialDelaySeconds, live.PeriodSeconds, live.FailureThreshold = 10, 10, 5
	field := func(name, path string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path}}}
	}
	d := component.Pod{
		PriorityClass: priorityClass,
		// nginx serves ports below 1024. Not every container runtime allows that to all by itself.
		Sysctls: []corev1.Sysctl{{Name: "net.ipv4.ip_unprivileged_port_start", Value: "0"}},
		Container: corev1.Container{
			Name: image, Image: in.Image(image),
			Args: []string{
				"/nginx-ingress-controller",
				"--publish-service=" + metav1.NamespaceSystem + "/" + Service,
				"--configmap=" + metav1.NamespaceSystem + "/" + name,
				"--election-id=" + leader,
				"--controller-class=" + controller,
				"--ingress-class=" + class,
			},
			Env: []corev1.EnvVar{field("POD_NAME", "metadata.name"), field("POD_NAMESPACE", "metadata.namespace")},
			Ports: []corev1.ContainerPort{
				{Name: "http", ContainerPort: httpPort, Protocol: corev1.ProtocolTCP},
				{Name: "https", ContainerPort: httpsPort, Protocol: corev1.ProtocolTCP},
			},
			// Nobody sends requests any more when it ends, but those that have begun are answered.
			Lifecycle:     &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"/wait-shutdown"}}}},
			LivenessProbe: live, ReadinessProbe: healthy,
			Resources: component.Requests("100m", "90Mi"),
		},
	}.Deployment(meta(name), in.Replicas)
	d.Spec.Selector.MatchLabels, d.Spec.Strategy = selector(), component.SurgeFirst()
	spec := &d.Spec.Template.Spec
	spec.ServiceAccountName, spec.AutomountServiceAccountToken = account, new(true)
	spec.TerminationGracePeriodSeconds = new(drain)
	spec.SecurityContext.RunAsUser, spec.SecurityContext.RunAsGroup = new(user), new(group)
	spec.SecurityContext.FSGroup, spec.SecurityContext.FSGroupChangePolicy = nil, nil
	own := spec.Containers[0].SecurityContext
	own.ReadOnlyRootFilesystem = new(false)
	// The file of nginx has this capability, and nobody may start it who could not be given that.
	own.Capabilities.Add = []corev1.Capability{"NET_BIND_SERVICE"}
	return d
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name, Labels: labels()}
}

func selector() map[string]string {
	return map[string]string{"app": "nginx-ingress", "component": "controller", "release": "addons"}
}

// labels have none against the clean-up of a shoot in deletion: an add-on goes before that, as its load balancer has to.
func labels() map[string]string {
	all := selector()
	all[gardencorev1beta1.LabelRole] = gardencorev1beta1.RoleOptionalAddon
	all[gardencorev1beta1.LabelOrigin] = "gardener"
	return all
}
