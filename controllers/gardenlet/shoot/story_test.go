// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/managed"
	"github.com/terrarium-garden/terrarium/controllers/managed/managedtest"
)

// lively is a cluster in which everything succeeds at once: Services have addresses, workloads run, extensions have succeeded.
func lively(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
	if err := c.Get(ctx, key, obj, options...); err != nil {
		return err
	}
	switch o := obj.(type) {
	case gardenextensionsv1alpha1.Object:
		status := o.GetExtensionStatus()
		status.ObservedGeneration = o.GetGeneration()
		status.LastOperation = &gardencorev1beta1.LastOperation{State: "Succeeded", LastUpdateTime: metav1.Now()}
		delete(o.GetAnnotations(), gardencorev1beta1.AnnotationOperation)
		if infrastructure, ok := obj.(*gardenextensionsv1alpha1.Infrastructure); ok {
			infrastructure.Status.Networking = &gardenextensionsv1alpha1.InfrastructureStatusNetworking{Nodes: []string{"10.98.0.0/24"}}
		}
		if config, ok := obj.(*gardenextensionsv1alpha1.OperatingSystemConfig); ok {
			config.Status.CloudConfig = &gardenextensionsv1alpha1.CloudConfig{SecretRef: corev1.SecretReference{Name: config.Name}}
		}
	case *corev1.Service:
		o.Spec.ClusterIP, o.Status.LoadBalancer.Ingress = "10.97.0.9", []corev1.LoadBalancerIngress{{IP: "10.99.1.1"}}
	case *appsv1.Deployment:
		o.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}}
	case *unstructured.Unstructured:
		instances, set, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
		if !set {
			instances = 1
		}
		o.Object["status"] = map[string]any{
			"replicas": instances, "updatedReplicas": instances, "readyReplicas": instances, "availableReplicas": instances,
			"loadBalancer": map[string]any{"ingress": []any{map[string]any{"ip": "10.99.1.1"}}},
		}
	}
	return nil
}

// livelySeed is a seed in which everything succeeds at once, with a resource manager that serves a shoot.
func livelySeed(types *runtime.Scheme, inShoot client.Client) client.Client {
	manager := &managedtest.Manager{Cluster: inShoot}
	get := func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
		if _, ok := obj.(*gardenresourcesv1alpha1.ManagedResource); ok {
			return manager.Get(ctx, c, key, obj, options...)
		}

		return lively(ctx, c, key, obj, options...)
	}

	return fake.NewClientBuilder().WithScheme(types).WithInterceptorFuncs(interceptor.Funcs{Get: get, Delete: manager.Delete}).Build()
}

// found lists the objects of some kinds, as kind and name.
func found(t *testing.T, c client.Client, kinds ...schema.GroupVersionKind) []string {
	t.Helper()
	var names []string
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := c.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			names = append(names, kind.Kind+" "+list.Items[i].GetName())
		}
	}
	return names
}

func inSeed() []schema.GroupVersionKind {
	kinds := []schema.GroupVersionKind{
		corev1.SchemeGroupVersion.WithKind("Namespace"), corev1.SchemeGroupVersion.WithKind("Service"), corev1.SchemeGroupVersion.WithKind("ConfigMap"),
		gardenresourcesv1alpha1.GroupVersion.WithKind("ManagedResource"), appsv1.SchemeGroupVersion.WithKind("StatefulSet"), appsv1.SchemeGroupVersion.WithKind("Deployment"),
	}
	for _, kind := range extensions.KindsWhere(func(k extensions.Kind) bool { return k.OfShoots }) {
		kinds = append(kinds, gardenextensionsv1alpha1.GroupVersion.WithKind(kind.Name))
	}
	return kinds
}

// TestLifeOfAShoot runs whole flows on a seed where everything succeeds: every task has what it reads, no
// component is missing, and everything that was made is deleted again.
func TestLifeOfAShoot(t *testing.T) {
	t.Parallel()
	s := fresh(withWorkers, byCredentialsBinding, func(s *gardencorev1beta1.Shoot) {
		s.Spec.Networking = &gardencorev1beta1.Networking{Type: new("local")}
		s.Spec.Provider.Workers[0].Machine.Image = &gardencorev1beta1.ShootMachineImage{Name: "local", Version: new("1.0.0")}
	})
	l := newLandscape(t, s)
	l.give(t, l.GardenClient, credentialsBinding("Secret"))
	l.give(t, l.GardenClient, account())
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "m-1", Labels: map[string]string{"worker.gardener.cloud/pool": "small"}},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
	system := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system"}}
	inShoot := fake.NewClientBuilder().WithScheme(l.SeedClient.Scheme()).WithObjects(node, system, tunnelPod()).Build()
	l.SeedClient = livelySeed(l.SeedClient.Scheme(), inShoot)
	l.Shoots = &kit.Shoots{Seed: l.SeedClient, Connect: func([]byte) (*kit.Shoot, error) { return &kit.Shoot{Client: inShoot, Try: reached}, nil }}
	run := func(changes ...func(*gardencorev1beta1.Shoot)) {
		t.Helper()
		for _, change := range changes {
			change(s)
		}
		synctest.Test(t, func(t *testing.T) {
			if err := shoot.RunFlow(t.Context(), l.Reconciler, s, "shoot--dev--a"); err != nil {
				t.Fatal(err)
			}
		})
	}
	expect := func(reason string, c client.Client, want []string, kinds ...schema.GroupVersionKind) {
		t.Helper()
		if diff := cmp.Diff(want, found(t, c, kinds...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
	daemons := appsv1.SchemeGroupVersion.WithKind("DaemonSet")

	run()
	made := found(t, l.SeedClient, inSeed()...)
	for _, want := range []string{
		"Namespace shoot--dev--a", "Service kube-apiserver", "Service etcd-main-client", "ConfigMap inventory-kube-apiserver", "StatefulSet etcd-main",
		"StatefulSet etcd-events", "Deployment kube-apiserver", "Deployment kube-controller-manager", "Deployment kube-scheduler",
		"ManagedResource shoot-core-system", "ManagedResource shoot-core-coredns", "ManagedResource shoot-core-kube-proxy", "ManagedResource shoot-core-konnectivity-agent", "ManagedResource shoot-core-metrics-server",
		"Infrastructure a", "ControlPlane a", "Network a", "Worker a",
	} {
		if !slices.Contains(made, want) {
			t.Errorf("%s is not in the seed, only %v", want, made)
		}
	}
	expect("nodes get a service proxy", inShoot, []string{"DaemonSet kube-proxy"}, daemons)
	info := &corev1.ConfigMap{}
	if err := inShoot.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "shoot-info"}, info); err != nil || info.Data["nodeNetworks"] != "10.98.0.0/24" {
		t.Errorf("the first run already says which range the provider has chosen for the nodes: shoot-info has %q, %v", info.Data, err)
	}

	run(func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.KubeProxy = &gardencorev1beta1.KubeProxyConfig{Enabled: new(false)}
	})
	expect("what is disabled is deleted", inShoot, nil, daemons)
	made = slices.DeleteFunc(made, func(name string) bool { return name == "ManagedResource shoot-core-kube-proxy" })
	expect("and nothing else", l.SeedClient, made, inSeed()...)

	volume := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "volume"}}
	l.give(t, inShoot, volume)
	engine := deploy.Engine{Client: l.SeedClient, Owner: "extension", Clock: l.Clock}
	if err := (managed.Set{Namespace: "shoot--dev--a", Name: "extension-x"}).Apply(t.Context(), engine, volume); err != nil {
		t.Fatal(err)
	}
	run(func(s *gardencorev1beta1.Shoot) { s.DeletionTimestamp = &metav1.Time{Time: now()} })
	expect("a deletion leaves nothing", l.SeedClient, nil, inSeed()...)
	if err := inShoot.Get(t.Context(), client.ObjectKeyFromObject(volume), volume); !apierrors.IsNotFound(err) {
		t.Errorf("what an extension had in the shoot may have effects outside, and is still there: %v", err)
	}
	deployments := appsv1.SchemeGroupVersion.WithKind("Deployment")
	expect("what the gardenlet had goes with the cluster", inShoot, []string{"Deployment coredns", "Deployment konnectivity-agent", "Deployment metrics-server"}, deployments)
}
