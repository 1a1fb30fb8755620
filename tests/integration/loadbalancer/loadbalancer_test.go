// SPDX-License-Identifier: Apache-2.0

package loadbalancer_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr/testr"
	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloudcontroller"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/controlplane"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/loadbalancer"
	"github.com/terrarium-garden/terrarium/tests/harness"
	"github.com/terrarium-garden/terrarium/tests/kubeapi"
)

const (
	plane   = "shoot--dev--sprout"
	account = "cloud-controller-manager"
)

// stage is a seed and a shoot with the cloud controller of the latter.
type stage struct {
	*testing.T

	seed, shoot *kubeapi.Server
}

func newStage(t *testing.T) *stage {
	t.Helper()
	program := kubeapi.Build(t, filepath.Join("..", "..", ".."))
	s := &stage{T: t, seed: program.Start(t), shoot: program.Start(t)}
	s.create(s.seed, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: plane}})
	var rights []client.Object
	for _, object := range controlplane.Render(controlplane.Values{Namespace: plane}) {
		switch object.(type) {
		case *corev1.ServiceAccount, *rbacv1.Role, *rbacv1.RoleBinding:
			rights = append(rights, object)
		}
	}
	s.create(s.seed, rights...)
	harness.Eventually(t, "the namespace of system programs", func(ctx context.Context) error {
		return s.shoot.Client.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, &corev1.Namespace{})
	})
	s.create(s.shoot, append(controlplane.Rights(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: account}})...)
	return s
}

func (s *stage) create(at *kubeapi.Server, objects ...client.Object) {
	s.Helper()
	for _, object := range objects {
		if err := at.Client.Create(s.Context(), object); err != nil {
			s.Fatal(err)
		}
	}
}

// as is the connection of the cloud controller, with no rights but its own.
func (s *stage) as(at *kubeapi.Server, namespace string) *rest.Config {
	s.Helper()
	request := &authenticationv1.TokenRequest{}
	if err := at.Client.SubResource("token").Create(s.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}}, request); err != nil {
		s.Fatal(err)
	}
	config := rest.CopyConfig(at.Config)
	config.BearerToken = request.Status.Token
	return config
}

// run runs the cloud controller until the returned function is called.
func (s *stage) run() (stop func()) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	ended := make(chan error, 1)
	options := cloudcontroller.Options{
		Shoot: s.as(s.shoot, metav1.NamespaceSystem), Cloud: s.as(s.seed, plane), Namespace: plane, Log: testr.New(s.T),
	}
	go func() { ended <- cloudcontroller.Run(ctx, options) }()
	return func() {
		s.Helper()
		cancel()
		if err := <-ended; err != nil {
			s.Error(err)
		}
	}
}

// service awaits a Service of the shoot, made that of its load balancer in the seed.
func (s *stage) service(name, what string, check func(*corev1.Service) error) *corev1.Service {
	s.Helper()
	return harness.Await(s.T, s.shoot.Client, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}, what, check)
}

func (s *stage) made(name, what string, check func(*corev1.Service) error) *corev1.Service {
	s.Helper()
	return harness.Await(s.T, s.seed.Client, balancer(name), what, check)
}

func balancer(name string) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: plane, Name: loadbalancer.Name(client.ObjectKey{Namespace: "default", Name: name})}}
}

// gone awaits the end of an object.
func (s *stage) gone(at *kubeapi.Server, object client.Object) {
	s.Helper()
	harness.Eventually(s.T, fmt.Sprintf("%T %q is gone", object, object.GetName()), func(ctx context.Context) error {
		err := at.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it is there"), err)
	})
}

// change changes a Service of the shoot as its owner does.
func (s *stage) change(name, patch string) {
	s.Helper()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	if err := s.shoot.Client.Patch(s.Context(), service, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		s.Fatal(err)
	}
}

// address gives a load balancer an address, as the seed does.
func (s *stage) address(name, ip string) {
	s.Helper()
	live := s.made(name, "the load balancer", func(*corev1.Service) error { return nil })
	live.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: ip}}
	if err := s.seed.Client.Status().Update(s.Context(), live); err != nil {
		s.Fatal(err)
	}
}

func has(ip string) func(*corev1.Service) error {
	return func(service *corev1.Service) error {
		if all := service.Status.LoadBalancer.Ingress; len(all) != 1 || all[0].IP != ip {
			return fmt.Errorf("the addresses are %+v", all)
		}
		return nil
	}
}

func wanted(name string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, Selector: map[string]string{"app": "hello"},
			Ports: []corev1.ServicePort{
				{Name: "web", Protocol: corev1.ProtocolTCP, Port: 53, TargetPort: intstr.FromInt32(8080)},
				{Name: "names", Protocol: corev1.ProtocolUDP, Port: 53, TargetPort: intstr.FromInt32(8053)},
			},
		},
	}
}

// TestLoadBalancers follows two load balancers through their lives, and a restart of the program in between.
func TestLoadBalancers(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	stop := s.run()
	s.create(s.shoot, wanted("web"), wanted("other"))
	s.address("web", "10.99.1.2")
	web := s.service("web", "the address", has("10.99.1.2"))
	leads := func(service *corev1.Service) func(*corev1.Service) error {
		return func(made *corev1.Service) error {
			var want, got []string
			for _, port := range service.Spec.Ports {
				want = append(want, fmt.Sprintf("%s %d", port.Protocol, port.NodePort))
			}
			for _, port := range made.Spec.Ports {
				got = append(got, fmt.Sprintf("%s %d", port.Protocol, port.TargetPort.IntVal))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				return fmt.Errorf("node ports that the ports lead to (-want +got):\n%s", diff)
			}
			return nil
		}
	}
	before := s.made("web", "the node ports", leads(web))

	// One port more, and others stay what they are.
	s.change("web", `{"spec":{"ports":[{"name":"web","port":53,"protocol":"TCP"},{"name":"names","port":53,"protocol":"UDP"},{"name":"more","port":80,"protocol":"TCP"}]}}`)
	web = s.service("web", "the third port", func(service *corev1.Service) error {
		if len(service.Spec.Ports) != 3 {
			return fmt.Errorf("the ports are %+v", service.Spec.Ports)
		}
		return nil
	})
	after := s.made("web", "the third port", func(made *corev1.Service) error {
		if len(made.Spec.Ports) != 3 {
			return fmt.Errorf("the ports are %+v", made.Spec.Ports)
		}
		return leads(web)(made)
	})
	if before.Spec.Ports[0].NodePort == 0 || before.Spec.Ports[0].NodePort != after.Spec.Ports[0].NodePort {
		t.Errorf("the node ports of the seed were %+v and are %+v", before.Spec.Ports, after.Spec.Ports)
	}
	s.localAndBack()

	s.address("other", "10.99.1.3")
	s.service("other", "the address", has("10.99.1.3"))
	stop()
	// While nobody looks, as in a shoot that sleeps, the load balancer goes.
	if err := s.seed.Client.Delete(t.Context(), balancer("other")); err != nil {
		t.Fatal(err)
	}
	stop = s.run()
	s.service("other", "the former address is forgotten", func(service *corev1.Service) error {
		if len(service.Status.LoadBalancer.Ingress) > 0 {
			return errors.New("it is there")
		}
		return nil
	})
	s.made("other", "another load balancer", func(*corev1.Service) error { return nil })

	s.change("other", `{"spec":{"type":"ClusterIP"}}`)
	s.gone(s.seed, balancer("other"))
	s.service("other", "the finalizer goes", func(service *corev1.Service) error {
		if len(service.Finalizers) > 0 || len(service.Status.LoadBalancer.Ingress) > 0 {
			return fmt.Errorf("the Service is %+v", service)
		}
		return nil
	})
	if err := s.shoot.Client.Delete(t.Context(), wanted("web")); err != nil {
		t.Fatal(err)
	}
	s.gone(s.seed, balancer("web"))
	s.gone(s.shoot, wanted("web"))
	stop()
}

// localAndBack changes the traffic policy to Local, for which only the machine with a pod counts, and back.
func (s *stage) localAndBack() {
	s.Helper()
	for i, name := range []string{"machine-a", "machine-b"} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: plane, Name: name, Labels: map[string]string{"app": "machine"}},
			Spec:       corev1.PodSpec{NodeName: "seedling", Containers: []corev1.Container{{Name: "machine", Image: "machine"}}},
		}
		s.create(s.seed, pod)
		ip := fmt.Sprintf("10.98.0.%d", 2+i)
		pod.Status.PodIP, pod.Status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		if err := s.seed.Client.Status().Update(s.Context(), pod); err != nil {
			s.Fatal(err)
		}
	}
	s.create(s.shoot, &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-x", Labels: map[string]string{discoveryv1.LabelServiceName: "web"}}, AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.100.0.7"}, NodeName: new("machine-b")}},
	})
	left := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: plane, Name: "left-behind", Labels: map[string]string{discoveryv1.LabelServiceName: balancer("web").Name}},
		AddressType: discoveryv1.AddressTypeIPv4, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.98.0.2"}}},
	}
	s.create(s.seed, left)
	s.change("web", `{"spec":{"externalTrafficPolicy":"Local"}}`)
	s.made("web", "nothing is selected", func(made *corev1.Service) error {
		if len(made.Spec.Selector) > 0 || made.Spec.ExternalTrafficPolicy != corev1.ServiceExternalTrafficPolicyLocal {
			return fmt.Errorf("the load balancer is %+v", made.Spec)
		}
		return nil
	})
	own := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: plane, Name: balancer("web").Name}}
	harness.Await(s.T, s.seed.Client, own, "the machine with the pod", func(slice *discoveryv1.EndpointSlice) error {
		if len(slice.Endpoints) != 1 || slice.Endpoints[0].Addresses[0] != "10.98.0.3" || len(slice.OwnerReferences) != 1 {
			return fmt.Errorf("the slice is %+v", slice)
		}
		return nil
	})
	s.gone(s.seed, left)
	s.change("web", `{"spec":{"externalTrafficPolicy":"Cluster"}}`)
	s.made("web", "machines are selected again", func(made *corev1.Service) error {
		if made.Spec.Selector["app"] != "machine" || made.Spec.HealthCheckNodePort != 0 {
			return fmt.Errorf("the load balancer is %+v", made.Spec)
		}
		return nil
	})
	s.gone(s.seed, own)
	s.service("web", "the address stays", has("10.99.1.2"))
}
