// SPDX-License-Identifier: Apache-2.0

package loadbalancer_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/loadbalancer"
)

const finalizer = "service.kubernetes.io/load-balancer-cleanup"

// place is a shoot and the cluster of its machines.
type place struct {
	shoot, cloud client.Client
	recorder     *events.FakeRecorder
	clock        *clocktesting.FakeClock
	reconciler   *loadbalancer.Reconciler
}

func newPlace(objects ...client.Object) *place {
	const enough = 100
	p := &place{
		shoot:    fake.NewClientBuilder().WithStatusSubresource(&corev1.Service{}).WithObjects(objects...).Build(),
		cloud:    fake.NewClientBuilder().WithStatusSubresource(&corev1.Service{}).Build(),
		recorder: events.NewFakeRecorder(enough), clock: clocktesting.NewFakeClock(time.Unix(0, 0)),
	}
	p.reconciler = &loadbalancer.Reconciler{
		Base: kit.Base{Client: p.shoot, Reader: p.shoot, Recorder: p.recorder, Clock: p.clock}, Namespace: namespace, Cloud: p.cloud,
	}
	return p
}

func key(name string) client.ObjectKey { return client.ObjectKey{Namespace: "default", Name: name} }

// pass makes one pass over each of the Services.
func (p *place) pass(t *testing.T, names ...string) reconcile.Result {
	t.Helper()
	var last reconcile.Result
	for _, name := range names {
		result, err := p.reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: key(name)})
		if err != nil {
			t.Fatal(err)
		}
		last = result
	}
	return last
}

// get is the Service of the shoot, or nil.
func (p *place) get(t *testing.T, name string) *corev1.Service {
	t.Helper()
	return read(t, p.shoot, key(name))
}

// made is the load balancer of a Service, or nil.
func (p *place) made(t *testing.T, name string) *corev1.Service {
	t.Helper()
	return read(t, p.cloud, client.ObjectKey{Namespace: namespace, Name: loadbalancer.Name(key(name))})
}

func read(t *testing.T, c client.Client, key client.ObjectKey) *corev1.Service {
	t.Helper()
	s := &corev1.Service{}
	err := c.Get(t.Context(), key, s)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// change changes the Service of the shoot, as its owner does.
func (p *place) change(t *testing.T, name string, change func(*corev1.Service)) {
	t.Helper()
	s := p.get(t, name)
	change(s)
	if err := p.shoot.Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// address gives the load balancer of a Service one, as its cluster does.
func (p *place) address(t *testing.T, name, ip string) {
	t.Helper()
	s := p.made(t, name)
	s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{
		IP: ip, IPMode: new(corev1.LoadBalancerIPModeVIP), Ports: []corev1.PortStatus{{Port: 80, Protocol: "TCP", Error: new("of the seed")}},
	}}
	if err := p.cloud.Status().Update(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// events are those since the last call.
func (p *place) events() string {
	var all []string
	for len(p.recorder.Events) > 0 {
		all = append(all, <-p.recorder.Events)
	}
	return strings.Join(all, "\n")
}

func ips(s *corev1.Service) string {
	var all []string
	for _, ingress := range s.Status.LoadBalancer.Ingress {
		all = append(all, ingress.IP+ingress.Hostname)
	}
	return strings.Join(all, ",")
}

// TestLife follows a load balancer from its order to its end.
func TestLife(t *testing.T) {
	t.Parallel()
	for reason, end := range map[string]func(*testing.T, *place){
		"the type is changed": func(t *testing.T, p *place) {
			t.Helper()
			p.change(t, "web", func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeClusterIP })
		},
		"it is deleted": func(t *testing.T, p *place) {
			t.Helper()
			if err := p.shoot.Delete(t.Context(), p.get(t, "web")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			p := newPlace(service("web"))
			if result := p.pass(t, "web"); result.RequeueAfter == 0 {
				t.Error("nobody looks whether the load balancer gets an address")
			}
			if got := p.get(t, "web"); !slices.Contains(got.Finalizers, finalizer) || p.made(t, "web") == nil || ips(got) != "" {
				t.Fatalf("there is %+v for %+v", p.made(t, "web"), got)
			}
			p.address(t, "web", "10.99.1.7")
			p.pass(t, "web")
			want := []corev1.LoadBalancerIngress{{IP: "10.99.1.7", IPMode: new(corev1.LoadBalancerIPModeVIP)}}
			if diff := cmp.Diff(want, p.get(t, "web").Status.LoadBalancer.Ingress); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
			held := p.made(t, "web")
			held.Finalizers = []string{"cloud.example.com/hold"}
			if err := p.cloud.Update(t.Context(), held); err != nil {
				t.Fatal(err)
			}
			end(t, p)
			p.pass(t, "web", "web")
			if got := p.get(t, "web"); p.made(t, "web").DeletionTimestamp == nil || got == nil || !slices.Contains(got.Finalizers, finalizer) {
				t.Fatalf("the Service is not kept until its load balancer is gone: %+v", got)
			}
			held = p.made(t, "web")
			held.Finalizers = nil
			if err := p.cloud.Update(t.Context(), held); err != nil {
				t.Fatal(err)
			}
			p.pass(t, "web")
			if got := p.get(t, "web"); got != nil && slices.Contains(got.Finalizers, finalizer) {
				t.Errorf("the Service is kept for ever: %v", got.Finalizers)
			}
			if said := p.events(); said != "" {
				t.Errorf("the owner is told %s", said)
			}
		})
	}
}

// TestChange: what the owner changes reaches the load balancer, and what its cluster has chosen stays.
func TestChange(t *testing.T) {
	t.Parallel()
	p := newPlace(service("web"))
	p.pass(t, "web")
	chosen := p.made(t, "web")
	chosen.Spec.Ports[0].NodePort, chosen.Spec.ClusterIP = 31999, "10.97.0.9"
	chosen.Annotations["cloud.example.com/id"] = "lb-1"
	if err := p.cloud.Update(t.Context(), chosen); err != nil {
		t.Fatal(err)
	}
	before := p.made(t, "web").ResourceVersion
	p.pass(t, "web")
	if after := p.made(t, "web").ResourceVersion; after != before {
		t.Error("what is as it should be is written again")
	}
	p.change(t, "web", func(s *corev1.Service) {
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "names", Protocol: "UDP", Port: 80, NodePort: 30053})
		s.Spec.LoadBalancerSourceRanges = []string{"10.0.0.0/8"}
		s.Annotations = map[string]string{"cloud.example.com/id": "lb-of-others"}
	})
	p.pass(t, "web")
	got := p.made(t, "web")
	ports := []corev1.ServicePort{
		{Name: "tcp-80", Protocol: "TCP", Port: 80, TargetPort: intstr.FromInt32(30080), NodePort: 31999},
		{Name: "udp-80", Protocol: "UDP", Port: 80, TargetPort: intstr.FromInt32(30053)},
	}
	if diff := cmp.Diff(ports, got.Spec.Ports); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if got.Spec.ClusterIP != "10.97.0.9" || got.Annotations["cloud.example.com/id"] != "lb-1" || !slices.Equal(got.Spec.LoadBalancerSourceRanges, []string{"10.0.0.0/8"}) {
		t.Errorf("the load balancer is %+v", got)
	}
}

// TestUnowned: a load balancer whose Service is gone goes too, whatever has become of the finalizer.
func TestUnowned(t *testing.T) {
	t.Parallel()
	p := newPlace(service("web"))
	p.pass(t, "web")
	p.change(t, "web", func(s *corev1.Service) { s.Finalizers = nil })
	if err := p.shoot.Delete(t.Context(), p.get(t, "web")); err != nil {
		t.Fatal(err)
	}
	p.pass(t, "web")
	if left := p.made(t, "web"); left != nil {
		t.Errorf("left is %+v", left)
	}
}

// TestOthers: Services with a class, and those that are no load balancers, belong to others, and so do objects without the label.
func TestOthers(t *testing.T) {
	t.Parallel()
	classed := service("classed", func(s *corev1.Service) {
		s.Spec.LoadBalancerClass, s.Finalizers = new("example.com/own"), []string{finalizer}
		s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}
	})
	plain := service("plain", func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeNodePort })
	p := newPlace(classed, plain, service("web"))
	foreign := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: loadbalancer.Name(key("plain"))}}
	if err := errors.Join(p.cloud.Create(t.Context(), foreign)); err != nil {
		t.Fatal(err)
	}
	p.pass(t, "classed", "plain", "web")
	if got := p.get(t, "classed"); p.made(t, "classed") != nil || ips(got) != "192.0.2.1" || !slices.Equal(got.Finalizers, []string{finalizer}) {
		t.Errorf("the Service with a class is %+v", got)
	}
	if p.made(t, "plain") == nil || p.made(t, "web") == nil {
		t.Error("an object of somebody else is deleted")
	}
}

// TestLimits: a shoot has no more load balancers and ports than allowed, older Services do not push others out, and what becomes free is
// given away.
func TestLimits(t *testing.T) {
	t.Parallel()
	p := newPlace()
	var names []string
	for i := range 9 {
		names = append(names, fmt.Sprintf("s%d", i))
		if err := p.shoot.Create(t.Context(), service(names[i])); err != nil {
			t.Fatal(err)
		}
	}
	if result := p.pass(t, names...); result.RequeueAfter == 0 {
		t.Error("nobody looks again whether there is room")
	}
	refused := p.get(t, "s8")
	if said := p.events(); p.made(t, "s8") != nil || p.made(t, "s7") == nil || slices.Contains(refused.Finalizers, finalizer) || !strings.Contains(said, "Warning TooManyLoadBalancers") || !strings.Contains(said, "8 load balancers") {
		t.Errorf("the ninth is %+v, and its owner is told %q", refused, said)
	}
	p.pass(t, names[:8]...)
	if said := p.events(); said != "" {
		t.Errorf("those that have one are told %q", said)
	}
	p.change(t, "s0", func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeClusterIP })
	p.pass(t, "s0", "s0", "s8")
	if p.made(t, "s0") != nil || p.made(t, "s8") == nil {
		t.Error("what has become free is not given away")
	}
	p.address(t, "s8", "10.99.1.9")
	p.pass(t, "s8")
	p.change(t, "s8", func(s *corev1.Service) {
		for i := range int32(26) {
			s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: fmt.Sprintf("p%d", i), Port: 1000 + i, NodePort: 31000 + i})
		}
	})
	p.pass(t, "s8", "s8")
	if said := p.events(); p.made(t, "s8") != nil || ips(p.get(t, "s8")) != "" || !strings.Contains(said, "Warning TooManyPorts") {
		t.Errorf("with too many ports there is %+v, and the owner is told %q", p.made(t, "s8"), said)
	}
	if got := p.get(t, "s8"); slices.Contains(got.Finalizers, finalizer) {
		t.Errorf("a refused Service without a load balancer is kept: %v", got.Finalizers)
	}
}

// TestNoAddress: the owner is told, after some time, that there is no address.
func TestNoAddress(t *testing.T) {
	t.Parallel()
	p := newPlace(service("web"))
	p.pass(t, "web")
	made := p.made(t, "web")
	made.CreationTimestamp = metav1.NewTime(p.clock.Now())
	if err := p.cloud.Update(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	p.clock.Step(59 * time.Second)
	p.pass(t, "web")
	if said := p.events(); said != "" {
		t.Errorf("the owner is told %q at once", said)
	}
	p.clock.Step(time.Second)
	p.pass(t, "web")
	if said := p.events(); !strings.Contains(said, "Warning NoAddress") {
		t.Errorf("the owner is told %q", said)
	}
}

// TestForgetFormer: the address of a load balancer that went while the shoot slept may be that of somebody else now.
func TestForgetFormer(t *testing.T) {
	t.Parallel()
	had := func(s *corev1.Service) {
		s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "10.99.1.7"}}
	}
	p := newPlace(service("gone", had), service("there", had), service("classed", had, func(s *corev1.Service) { s.Spec.LoadBalancerClass = new("example.com/own") }))
	p.pass(t, "there")
	p.address(t, "there", "10.99.1.7")
	p.pass(t, "there")
	if err := p.reconciler.ForgetFormer(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, name := range []string{"gone", "there", "classed"} {
		got[name] = ips(p.get(t, name))
	}
	if diff := cmp.Diff(map[string]string{"gone": "", "there": "10.99.1.7", "classed": "10.99.1.7"}, got); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
}

// TestRemove: when a shoot goes to sleep, its load balancers go and nothing else does.
func TestRemove(t *testing.T) {
	t.Parallel()
	p := newPlace(service("a"), service("b"))
	p.pass(t, "a", "b")
	other := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "kube-apiserver"}}
	neighbour := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--other", Name: "load-balancer-a", Labels: loadbalancer.Labels()}}
	if err := errors.Join(p.cloud.Create(t.Context(), other), p.cloud.Create(t.Context(), neighbour)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{false, true} {
		if gone, err := loadbalancer.Remove(t.Context(), p.cloud, p.cloud, namespace); gone != want || err != nil {
			t.Errorf("Remove(...) = %t, %v, want %t", gone, err, want)
		}
	}
	left := &corev1.ServiceList{}
	if err := p.cloud.List(t.Context(), left); err != nil || len(left.Items) != 2 {
		t.Errorf("left is %+v, %v: want the Service of the API server, and that of another shoot", left.Items, err)
	}
}

func TestTouched(t *testing.T) {
	t.Parallel()
	plain := service("web", func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeClusterIP })
	kept := service("web", func(s *corev1.Service) {
		s.Spec.Type, s.Finalizers = corev1.ServiceTypeClusterIP, []string{finalizer}
	})
	for reason, tc := range map[string]struct{ got, want bool }{
		"nobody asks for a load balancer":         {loadbalancer.Touched().Create(event.CreateEvent{Object: plain}), false},
		"there was one before the last restart":   {loadbalancer.Touched().Create(event.CreateEvent{Object: kept}), true},
		"there was one before the type changed":   {loadbalancer.Touched().Update(event.UpdateEvent{ObjectOld: service("web"), ObjectNew: plain}), true},
		"there is to be one":                      {loadbalancer.Touched().Update(event.UpdateEvent{ObjectOld: plain, ObjectNew: service("web")}), true},
		"nobody has ever asked for one":           {loadbalancer.Touched().Update(event.UpdateEvent{ObjectOld: plain, ObjectNew: plain}), false},
		"one went without its finalizer":          {loadbalancer.Touched().Delete(event.DeleteEvent{Object: service("web")}), true},
		"what goes has never had a load balancer": {loadbalancer.Touched().Delete(event.DeleteEvent{Object: plain}), false},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: an event passes: %t, want %t", reason, tc.got, tc.want)
		}
	}
}

func machine(name, ip string, ready corev1.ConditionStatus) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": "machine"}},
		Spec:       corev1.PodSpec{NodeName: "seedling"},
		Status:     corev1.PodStatus{PodIP: ip, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}},
	}
}

// ofWeb are endpoints of the Service web on some nodes.
func ofWeb(conditions discoveryv1.EndpointConditions, nodes ...string) discoveryv1.EndpointSlice {
	slice := discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "web-" + strings.Join(nodes, "-"), Labels: map[string]string{"kubernetes.io/service-name": "web"},
	}}
	for _, node := range nodes {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{"10.100.0.5"}, NodeName: new(node), Conditions: conditions})
	}
	return slice
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	leaving := machine("leaving", "10.98.0.9", "True")
	leaving.DeletionTimestamp = new(metav1.Unix(1, 0))
	machines := []corev1.Pod{
		machine("b", "10.98.0.3", "True"), machine("a", "10.98.0.2", "True"), machine("sick", "10.98.0.4", "False"), machine("other", "10.98.0.5", "True"),
		machine("starting", "", "True"), leaving,
	}
	own := []discoveryv1.EndpointSlice{
		ofWeb(discoveryv1.EndpointConditions{Ready: new(true)}, "a", "a", "sick", "starting", "leaving", "gone"),
		ofWeb(discoveryv1.EndpointConditions{}, "b"), ofWeb(discoveryv1.EndpointConditions{Ready: new(false)}, "other"),
		{Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.98.0.5"}}}},
	}
	want := []discoveryv1.Endpoint{
		{Addresses: []string{"10.98.0.2"}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)}, NodeName: new("seedling")},
		{Addresses: []string{"10.98.0.3"}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)}, NodeName: new("seedling")},
	}
	if diff := cmp.Diff(want, loadbalancer.Endpoints(own, machines)); diff != "" {
		t.Errorf("endpoints are not the ready machines with ready pods (-want +got):\n%s", diff)
	}
}

// TestLocal: with the traffic policy Local, a load balancer leads to the machines with pods of the Service only, and with Cluster to all.
func TestLocal(t *testing.T) {
	t.Parallel()
	own := ofWeb(discoveryv1.EndpointConditions{}, "a")
	p := newPlace(service("web", func(s *corev1.Service) { s.Spec.ExternalTrafficPolicy = "Local" }), &own)
	for _, m := range []corev1.Pod{machine("a", "10.98.0.2", "True"), machine("b", "10.98.0.3", "True")} {
		if err := p.cloud.Create(t.Context(), &m); err != nil {
			t.Fatal(err)
		}
	}
	p.pass(t, "web", "web")
	slice, at := &discoveryv1.EndpointSlice{}, client.ObjectKeyFromObject(p.made(t, "web"))
	if err := p.cloud.Get(t.Context(), at, slice); err != nil {
		t.Fatal(err)
	}
	if len(slice.Endpoints) != 1 || slice.Endpoints[0].Addresses[0] != "10.98.0.2" || slice.Labels["kubernetes.io/service-name"] != at.Name || *slice.Ports[0].Port != 30080 || *slice.Ports[0].Name != "tcp-80" {
		t.Errorf("the EndpointSlice is %+v", slice)
	}
	if err := p.shoot.Create(t.Context(), new(ofWeb(discoveryv1.EndpointConditions{}, "b"))); err != nil {
		t.Fatal(err)
	}
	p.pass(t, "web")
	if err := p.cloud.Get(t.Context(), at, slice); err != nil || len(slice.Endpoints) != 2 {
		t.Errorf("with pods on both machines there are endpoints %+v, %v", slice.Endpoints, err)
	}
	p.change(t, "web", func(s *corev1.Service) { s.Spec.ExternalTrafficPolicy = "Cluster" })
	p.pass(t, "web")
	if err := p.cloud.Get(t.Context(), at, slice); !apierrors.IsNotFound(err) || p.made(t, "web").Spec.Selector["app"] != "machine" {
		t.Errorf("the load balancer selects %v, and of its own endpoints there is %v", p.made(t, "web").Spec.Selector, err)
	}

	// The cluster of the machines makes slices for Services with a selector, and leaves them behind.
	every := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: at.Name + "-x2x4z", Labels: map[string]string{"kubernetes.io/service-name": at.Name},
	}}
	other := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "kube-apiserver-x2x4z", Labels: map[string]string{"kubernetes.io/service-name": "kube-apiserver"},
	}}
	if err := errors.Join(p.cloud.Create(t.Context(), every), p.cloud.Create(t.Context(), other)); err != nil {
		t.Fatal(err)
	}
	p.address(t, "web", "10.99.1.7")
	p.change(t, "web", func(s *corev1.Service) { s.Spec.ExternalTrafficPolicy = "Local" })
	if result := p.pass(t, "web"); result.RequeueAfter != 10*time.Second {
		t.Errorf("it is looked at after %s, want 10 seconds: another slice may have been made meanwhile", result.RequeueAfter)
	}
	if err := p.cloud.Get(t.Context(), client.ObjectKeyFromObject(every), every); !apierrors.IsNotFound(err) || p.cloud.Get(t.Context(), at, slice) != nil {
		t.Errorf("the slice with all machines: %v", err)
	}
	if err := p.cloud.Get(t.Context(), client.ObjectKeyFromObject(other), other); err != nil {
		t.Errorf("a slice of the control plane: %v", err)
	}
	if result := p.pass(t, "web"); result.RequeueAfter != 0 {
		t.Errorf("it is looked at again after %s, want never", result.RequeueAfter)
	}
}
