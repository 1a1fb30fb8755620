// SPDX-License-Identifier: Apache-2.0

package containerruntime_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/managed/managedtest"
	"github.com/terrarium-garden/terrarium/controllers/operation"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/containerruntime"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

const namespace = "shoot--dev--sprout"

func object(pool, typ string) *gardenextensionsv1alpha1.ContainerRuntime {
	r := &gardenextensionsv1alpha1.ContainerRuntime{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: typ + "-" + pool}}
	r.Spec.Type, r.Spec.BinaryPath, r.Spec.WorkerPool.Name = typ, "/var/bin/containerruntimes", pool
	return r
}

func newClient(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) client.Client {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(types).WithObjects(objects...).WithInterceptorFuncs(funcs).Build()
}

// newShoot returns a shoot, and a seed whose resource manager serves it.
func newShoot(t *testing.T, objects ...client.Object) (seed, shoot client.Client) {
	t.Helper()
	shoot = newClient(t, interceptor.Funcs{})
	return newClient(t, (&managedtest.Manager{Cluster: shoot}).Funcs(), objects...), shoot
}

func newActor(seed client.Client) *containerruntime.Actor {
	return &containerruntime.Actor{Access: engine.Access{Reader: seed, Seed: deploy.Engine{Client: seed, Owner: "test", Clock: clock.RealClock{}}}}
}

func classes(t *testing.T, shoot client.Client) []string {
	t.Helper()
	list := &nodev1.RuntimeClassList{}
	if err := shoot.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, c := range list.Items {
		for label, value := range c.Scheduling.NodeSelector {
			found = append(found, c.Name+" runs "+c.Handler+" on "+label+"="+value)
		}
	}
	return found
}

func TestLife(t *testing.T) {
	t.Parallel()
	first, second := object("a", "local"), object("b", "local")
	seed, shoot := newShoot(t, first, second, object("c", "other"))
	actor := newActor(seed)
	want := []string{"local runs local on containerruntime.worker.gardener.cloud/local=true"}
	check := func(what string, want []string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if diff := cmp.Diff(want, classes(t, shoot)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	for _, o := range []*gardenextensionsv1alpha1.ContainerRuntime{first, second} {
		check("pods find the nodes of all pools by one class", want, actor.Reconcile(t.Context(), o, nil))
	}
	check("a migration leaves the shoot alone", want, actor.Migrate(t.Context(), first, nil))
	check("the other control plane takes it over", want, actor.Reconcile(t.Context(), first, nil))
	check("the class stays for the other pool", want, actor.Delete(t.Context(), first, nil))
	if err := seed.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	check("it goes with the last one of its type", nil, actor.Delete(t.Context(), second, nil))
}

func TestReconcileRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(*gardenextensionsv1alpha1.ContainerRuntime)
		want   string
	}{
		"configuration": {
			reason: "the configuration would have no effect",
			change: func(r *gardenextensionsv1alpha1.ContainerRuntime) {
				r.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{}`)}
			},
			want: "takes no providerConfig",
		},
		"elsewhere": {
			reason: "containerd is configured for one folder",
			change: func(r *gardenextensionsv1alpha1.ContainerRuntime) { r.Spec.BinaryPath = "/opt" },
			want:   `not in "/opt"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := object("a", "local")
			seed, shoot := newShoot(t)
			tc.change(o)
			err := newActor(seed).Reconcile(t.Context(), o, nil)
			if err == nil || !strings.Contains(err.Error(), tc.want) || len(operation.Codes(err)) != 1 {
				t.Errorf("%s\nReconcile(...) = %v, codes %v, want %q and a configuration problem", tc.reason, err, operation.Codes(err), tc.want)
			}
			if found := classes(t, shoot); len(found) > 0 {
				t.Errorf("%s: classes %v were made", tc.reason, found)
			}
		})
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	pool := func(name string, runtimes ...gardencorev1beta1.ContainerRuntime) gardencorev1beta1.Worker {
		return gardencorev1beta1.Worker{Name: name, CRI: &gardencorev1beta1.CRI{Name: "containerd", ContainerRuntimes: runtimes}}
	}
	shoot := &gardencorev1beta1.Shoot{Spec: gardencorev1beta1.ShootSpec{Provider: gardencorev1beta1.Provider{Workers: []gardencorev1beta1.Worker{
		{Name: "bare"}, pool("plain"), pool("asks", gardencorev1beta1.ContainerRuntime{Type: "local"}), pool("other", gardencorev1beta1.ContainerRuntime{Type: "other"}),
	}}}}
	for name, want := range map[string][]string{
		"asks": {"/var/bin/containerruntimes/local 755"}, "bare": nil, "plain": nil, "other": nil, "gone": nil,
	} {
		var got []string
		for _, f := range containerruntime.Files(shoot, name) {
			got = append(got, fmt.Sprintf("%s %o", f.Path, *f.Permissions))
			if !strings.Contains(f.Content.Inline.Data, `exec runc "$@"`) {
				t.Errorf("the program of the runtime is %q, which is not runc", f.Content.Inline.Data)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("EXT-CR-1: files of pool %q (-want +got):\n%s", name, diff)
		}
	}
}

// TestSetIsOfAnExtension_EXT_CONV_2: the resource manager applies the objects in the shoot, and nobody takes them for the core's own.
func TestSetIsOfAnExtension_EXT_CONV_2(t *testing.T) {
	t.Parallel()
	first := object("a", "local")
	seed, _ := newShoot(t, first)
	if err := newActor(seed).Reconcile(t.Context(), first, nil); err != nil {
		t.Fatal(err)
	}
	list := &gardenresourcesv1alpha1.ManagedResourceList{}
	if err := seed.List(t.Context(), list, client.InNamespace(namespace)); err != nil || len(list.Items) != 1 {
		t.Fatalf("%d ManagedResources: %v", len(list.Items), err)
	}
	mr := list.Items[0]
	if _, claimed := mr.Labels["origin"]; mr.Spec.Class != nil || claimed || mr.Spec.InjectLabels["origin"] != "" {
		t.Errorf("class %v, labels %v, injected %v", mr.Spec.Class, mr.Labels, mr.Spec.InjectLabels)
	}
}
