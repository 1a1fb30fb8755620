// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// belowDomain has a domain whose records are managed with credentials of the project.
func belowDomain(s *gardencorev1beta1.Shoot) {
	s.Spec.DNS = &gardencorev1beta1.DNS{Domain: new("a.example.com"), Providers: []gardencorev1beta1.DNSProvider{
		{Type: new("names"), Primary: new(true), SecretName: new("names")},
	}}
}

// evaluated is a cluster with both add-ons, on a seed in which everything succeeds. It tells in which order what it is about was deleted.
type evaluated struct {
	*landscape

	shoot   *gardencorev1beta1.Shoot
	inside  client.Client
	deleted []string
	// workload is what a user runs, and uncleaned tells that it was still there when the ingress controller was deleted.
	workload  *appsv1.Deployment
	uncleaned bool
	// credentials are those that a record was deleted with.
	credentials string
}

func newEvaluated(t *testing.T) *evaluated {
	t.Helper()
	s := fresh(added, belowDomain, byCredentialsBinding, annotated("shoot.gardener.cloud/tasks", "deployDNSRecordIngress"), func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.Version = "1.34.2"
		s.Spec.Networking = &gardencorev1beta1.Networking{Type: new("local")}
		s.Spec.Provider.Workers[0].Machine.Image = &gardencorev1beta1.ShootMachineImage{Name: "local", Version: new("1.0.0")}
	})
	e := &evaluated{landscape: newLandscape(t, s), shoot: s, workload: &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}}
	e.give(t, e.GardenClient, credentialsBinding("Secret"))
	e.give(t, e.GardenClient, account())
	e.give(t, e.GardenClient, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "names"}, Data: map[string][]byte{"key": []byte("secret")}})
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "m-1", Labels: map[string]string{"worker.gardener.cloud/pool": "small"}},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
	system := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system"}}
	types := e.SeedClient.Scheme()
	e.inside = fake.NewClientBuilder().WithScheme(types).WithObjects(node, system, tunnelPod(), e.workload).WithInterceptorFuncs(interceptor.Funcs{Get: lively}).Build()
	note := func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.DeleteOption) error {
		if _, ok := obj.(*gardenextensionsv1alpha1.DNSRecord); ok {
			secret := &corev1.Secret{}
			if err := c.Get(ctx, client.ObjectKey{Namespace: obj.GetNamespace(), Name: "dnsrecord-" + obj.GetName()}, secret); err != nil {
				return err
			}
			e.credentials = string(secret.Data["key"])
		}
		if obj.GetName() == "shoot-addon-nginx-ingress" {
			e.uncleaned = e.inside.Get(ctx, client.ObjectKeyFromObject(e.workload), &appsv1.Deployment{}) == nil
		}
		if err := c.Delete(ctx, obj, options...); err != nil {
			return err
		}
		if strings.Contains(obj.GetName(), "ingress") {
			e.deleted = append(e.deleted, obj.GetName())
		}
		return nil
	}
	e.SeedClient = interceptor.NewClient(livelySeed(types, e.inside).(client.WithWatch), interceptor.Funcs{Delete: note}) //nolint:forcetypeassert // that is what the fake is
	e.Shoots = &kit.Shoots{Seed: e.SeedClient, Connect: func([]byte) (*kit.Shoot, error) { return &kit.Shoot{Client: e.inside, Try: reached}, nil }}
	return e
}

func (e *evaluated) run(t *testing.T) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if err := shoot.RunFlow(t.Context(), e.Reconciler, e.shoot, "shoot--dev--a"); err != nil {
			t.Fatal(err)
		}
	})
}

// rename replaces the credentials of the owner for names.
func (e *evaluated) rename(t *testing.T, key string) {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "names"}, Data: map[string][]byte{"key": []byte(key)}}
	if err := e.GardenClient.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
}

// sets are the ManagedResources of add-ons.
func (e *evaluated) sets(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(found(t, e.SeedClient, gardenresourcesv1alpha1.GroupVersion.WithKind("ManagedResource")), func(name string) bool {
		return !strings.HasPrefix(name, "ManagedResource shoot-addon-")
	})
}

func (e *evaluated) balanced(t *testing.T) bool {
	t.Helper()
	return e.exists(t, e.inside, "kube-system", "addons-nginx-ingress-controller", &corev1.Service{})
}

func (e *evaluated) exists(t *testing.T, c client.Client, namespace, name string, obj client.Object) bool {
	t.Helper()
	err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, obj)
	if client.IgnoreNotFound(err) != nil {
		t.Error(err) // Flows ask as well, in goroutines of their own.
	}
	return err == nil
}

// TestAddonsOfOwners follows a cluster whose owner has the add-ons, switches the ingress controller off and on again, and deletes the cluster:
// a name leads to the load balancer while it is there, and goes before it.
func TestAddonsOfOwners_GLET_RECON_1_EXT_DNS_1(t *testing.T) {
	t.Parallel()
	e := newEvaluated(t)
	const dashboard, ingress = "ManagedResource shoot-addon-kubernetes-dashboard", "ManagedResource shoot-addon-nginx-ingress"
	away := []string{"a-ingress", "dnsrecord-a-ingress", "shoot-addon-nginx-ingress", "managedresource-shoot-addon-nginx-ingress"}
	record := &gardenextensionsv1alpha1.DNSRecord{}

	e.run(t)
	if diff := cmp.Diff([]string{dashboard, ingress}, e.sets(t)); diff != "" {
		t.Errorf("both are asked for (-want +got):\n%s", diff)
	}
	if !e.balanced(t) || !e.exists(t, e.inside, "", "kubernetes-dashboard", &corev1.Namespace{}) {
		t.Error("they are not in the cluster")
	}
	if !e.exists(t, e.SeedClient, "shoot--dev--a", "a-ingress", record) {
		t.Fatal("no name leads to the ingress controller")
	}
	want := gardenextensionsv1alpha1.DNSRecordSpec{
		Name: "*.ingress.a.example.com", RecordType: "A", Values: []string{"10.99.1.1"}, TTL: new(int64(120)),
		SecretRef: corev1.SecretReference{Namespace: "shoot--dev--a", Name: "dnsrecord-a-ingress"},
	}
	want.Type = "names"
	if diff := cmp.Diff(want, record.Spec); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	live := &gardencorev1beta1.Shoot{}
	if err := e.GardenClient.Get(t.Context(), client.ObjectKeyFromObject(e.shoot), live); err != nil || live.Annotations["shoot.gardener.cloud/tasks"] != "" {
		t.Errorf("GLET-RECON-4: tasks %q are left, error %v", live.Annotations["shoot.gardener.cloud/tasks"], err)
	}
	if len(e.deleted) > 0 {
		t.Errorf("%v were deleted", e.deleted)
	}

	e.shoot.Spec.Addons.NginxIngress.Enabled = false
	e.rename(t, "new")
	e.run(t)
	if e.credentials != "new" {
		t.Errorf("EXT-DNS-5: the record was deleted with the credentials %q, which its owner has replaced", e.credentials)
	}
	if e.balanced(t) || e.exists(t, e.SeedClient, "shoot--dev--a", "dnsrecord-a-ingress", &corev1.Secret{}) {
		t.Error("the load balancer, or the credentials of its record, are still there")
	}
	if diff := cmp.Diff(away, slices.Compact(e.deleted)); diff != "" {
		t.Errorf("the record goes first (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{dashboard}, e.sets(t)); diff != "" {
		t.Errorf("the other one stays (-want +got):\n%s", diff)
	}

	e.shoot.Spec.Addons.NginxIngress.Enabled = true
	e.run(t)
	if !e.balanced(t) || !e.exists(t, e.SeedClient, "shoot--dev--a", "a-ingress", record) {
		t.Error("it does not come back")
	}
	e.deleted, e.uncleaned = nil, false
	e.shoot.DeletionTimestamp = &metav1.Time{Time: now()}
	e.run(t)
	if !e.uncleaned {
		t.Error("EXT-DEL-3: the add-ons went after what users have made, or with it")
	}
	if e.balanced(t) || e.exists(t, e.inside, "", "kubernetes-dashboard", &corev1.Namespace{}) {
		t.Error("an add-on outlives its cluster, and so does what it costs")
	}
	if diff := cmp.Diff(away, slices.Compact(e.deleted)[:len(away)]); diff != "" {
		t.Errorf("the record goes first (-want +got):\n%s", diff)
	}
}

// TestAddonsAtNight puts a cluster with add-ons to sleep: what is inside stays as it is, and the names come back with the cluster.
func TestAddonsAtNight_GLET_HIB_6(t *testing.T) {
	t.Parallel()
	e := newEvaluated(t)
	e.run(t)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "m-1"}}
	if err := e.inside.Delete(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	names := []string{"DNSRecord a-external", "DNSRecord a-ingress"}
	expect := func(when string, want []string) {
		t.Helper()
		if diff := cmp.Diff(want, found(t, e.SeedClient, gardenextensionsv1alpha1.GroupVersion.WithKind("DNSRecord"))); diff != "" {
			t.Errorf("names of a cluster that %s (-want +got):\n%s", when, diff)
		}
	}
	expect("is awake", names)
	e.shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
	e.run(t)
	expect("sleeps", nil)
	if left := e.sets(t); len(left) != 2 || !e.balanced(t) {
		t.Errorf("of the add-ons %v are left, the load balancer: %t", left, e.balanced(t))
	}
	e.give(t, e.inside, machineNode())
	e.shoot.Spec.Hibernation.Enabled = new(false)
	e.run(t)
	expect("has woken up", names)
}

// TestResetAddons is about a shoot whose add-ons a newer version of Kubernetes has taken away.
func TestResetAddons_GCM_MAINT_13(t *testing.T) {
	t.Parallel()
	e := newEvaluated(t)
	e.run(t)
	e.shoot.Spec.Kubernetes.Version, e.shoot.Spec.Addons = "1.35.1", nil
	e.run(t)
	if left := e.sets(t); len(left) > 0 || e.balanced(t) || e.exists(t, e.SeedClient, "shoot--dev--a", "a-ingress", &gardenextensionsv1alpha1.DNSRecord{}) {
		t.Errorf("%v are left, a load balancer or a DNS record", left)
	}
}

// TestLoadBalancerIsAwaited: no name is made until the provider has an address for it.
func TestLoadBalancerIsAwaited_GLET_RECON_1(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		after time.Duration
		want  string
	}{
		"InTime": {after: 9 * time.Minute},
		"Never":  {after: 11 * time.Minute, want: "the load balancer has no address yet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := fresh(added, belowDomain)
				l := newLandscape(t, s)
				// The seed stands for the shoot.
				service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "addons-nginx-ingress-controller"}}
				l.give(t, l.SeedClient, service)
				waited := make(chan error, 1)
				go func() { waited <- shoot.RunTasks(t.Context(), l.Reconciler, s, "shoot--dev--a", "nginx-lb-wait") }()
				time.Sleep(tc.after) // of the time of the bubble
				service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{Hostname: "lb.example.com"}}
				if err := l.SeedClient.Status().Update(t.Context(), service); err != nil {
					t.Fatal(err)
				}
				err := <-waited
				if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got error %v, want %q", err, tc.want)
				}
			})
		})
	}
}

// TestAddonsDoNotHoldADeletion has an object that keeps an add-on from going: after the grace period of the owner, or the usual one, the rest is
// left to the clean-up, which ends such objects (GLET-CLEAN-3).
func TestAddonsDoNotHoldADeletion(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		grace string
		after time.Duration
	}{
		"Usual": {after: 5 * time.Minute},
		"Owner": {grace: "60", after: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := fresh(added, belowDomain)
				if tc.grace != "" {
					metav1.SetMetaDataAnnotation(&s.ObjectMeta, "shoot.gardener.cloud/cleanup-kubernetes-resources-finalize-grace-period-seconds", tc.grace)
				}
				l := newLandscape(t, s)
				set := &gardenresourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{
					Namespace: "shoot--dev--a", Name: "shoot-addon-nginx-ingress", Finalizers: []string{"resources.gardener.cloud/gardener-resource-manager"},
				}}
				l.give(t, l.SeedClient, set)
				began, kept := time.Now(), time.Duration(0)
				// The resource manager lets go only of what it is told to keep.
				l.SeedClient = interceptor.NewClient(l.SeedClient.(client.WithWatch), interceptor.Funcs{ //nolint:forcetypeassert // that is what the fake is
					Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
						err := c.Patch(ctx, obj, patch, options...)
						if mr, ok := obj.(*gardenresourcesv1alpha1.ManagedResource); ok && err == nil && ptr.Deref(mr.Spec.KeepObjects, false) {
							kept = time.Since(began)
							mr.Finalizers = nil
							return c.Update(ctx, mr)
						}
						return err
					},
				})
				if err := shoot.RunTasks(t.Context(), l.Reconciler, s, "shoot--dev--a", "addons-delete"); err != nil {
					t.Fatal(err)
				}
				if kept < tc.after || kept > tc.after+time.Minute {
					t.Errorf("the objects are left to the clean-up after %s, want after %s", kept, tc.after)
				}
			})
		})
	}
}
