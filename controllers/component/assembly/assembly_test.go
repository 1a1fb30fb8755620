// SPDX-License-Identifier: Apache-2.0

package assembly_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/assembly"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/managed/managedtest"
)

const namespace = "shoot--dev--a"

// switches are the facts of these tests: which components are off, and which ConfigMaps each one renders.
type switches struct {
	off     map[component.Name]bool
	renders map[component.Name][]string
}

// part is a component that renders ConfigMaps.
func part(name component.Name, after ...component.Name) component.Component[switches] {
	return component.Component[switches]{
		Name: name, Title: "the " + string(name), After: after,
		Wanted: func(s switches) bool { return !s.off[name] },
		Render: func(s switches, _ *component.Inputs) ([]client.Object, error) {
			var objs []client.Object
			for _, name := range s.renders[name] {
				objs = append(objs, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
			}
			return objs, nil
		},
	}
}

func parts() []component.Component[switches] {
	store, server, scaler := part("store"), part("server"), part("scaler", "server")
	store.Service = func(switches) *corev1.Service { return nil }
	server.Task, server.Addresses = "api", []component.Name{"store"}
	return []component.Component[switches]{store, server, scaler}
}

func edges(tasks []flow.Task) []string {
	var lines []string
	for _, task := range tasks {
		var before []string
		for _, id := range task.After {
			before = append(before, string(id))
		}
		line := strings.Join(before, "+") + ">" + string(task.ID)
		if len(task.Reads) > 0 {
			line += " (reads)"
		}
		if len(task.Sets) > 0 {
			line += " (sets)"
		}
		if task.Skip {
			line += " (skipped)"
		}
		lines = append(lines, line)
	}
	return lines
}

func TestOrderOfTasks(t *testing.T) {
	t.Parallel()
	order := assembly.Order{After: []flow.ID{"namespace"}, Besides: map[component.Name][]flow.ID{"server": {"dns"}}}
	gather := func(list []component.Component[switches], f switches, await bool) *assembly.Assembly[switches] {
		return &assembly.Assembly[switches]{Components: list, Facts: f, Await: await, Addresses: assembly.Addresses{}}
	}
	noScaler := switches{off: map[component.Name]bool{"scaler": true}}
	cases := map[string]struct {
		reason string
		tasks  []flow.Task
		want   []string
	}{
		"Deploy": {
			reason: "each after those that it needs are ready; an address travels as a value",
			tasks:  gather(parts(), switches{}, true).Deploy(order),
			want: []string{
				"namespace>store", "store>store-wait (sets)", "namespace+dns>api (reads)", "api>api-wait", "namespace+api-wait>scaler", "scaler>scaler-wait",
			},
		},
		"NotWanted": {
			reason: "what is not wanted is removed, and not waited for",
			tasks:  gather(parts(), noScaler, true).Deploy(order),
			want: []string{
				"namespace>store", "store>store-wait (sets)", "namespace+dns>api (reads)", "api>api-wait", "namespace+api-wait>scaler", "scaler>scaler-wait (skipped)",
			},
		},
		"NoWaiting": {
			reason: "where nothing waits, the order stays",
			tasks:  gather(parts(), switches{}, false).Deploy(order),
			want:   []string{"namespace>store", "namespace+dns>api (reads)", "namespace+api>scaler"},
		},
		"Restore": {
			reason: "before a deletion, what is not wanted stays as it is",
			tasks:  gather(parts(), noScaler, true).Restore(order),
			want:   []string{"namespace>store", "store>store-wait (sets)", "namespace+dns>api (reads)", "api>api-wait"},
		},
		"Delete": {
			reason: "each goes after those that need it, wanted or not",
			tasks:  gather(parts(), noScaler, false).Delete(order),
			want:   []string{"namespace>scaler-delete", "namespace+dns+scaler-delete>api-delete", "namespace+api-delete>store-delete"},
		},
		"Skipped": {
			reason: "a flow may leave all of them out",
			tasks:  gather(parts()[:1], switches{}, false).Delete(assembly.Order{Skip: true}),
			want:   []string{">store-delete (skipped)"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, edges(tc.tasks)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// site is a cluster in which components are.
type site struct {
	client client.Client
}

func newSite(t *testing.T) site {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	return site{client: fake.NewClientBuilder().WithScheme(types).Build()}
}

func (s site) assembly(f switches, list ...component.Component[switches]) *assembly.Assembly[switches] {
	return &assembly.Assembly[switches]{
		Components: list, Facts: f, Await: true, Namespace: namespace, Addresses: assembly.Addresses{},
		Engine: func(context.Context) deploy.Engine {
			return deploy.Engine{Client: s.client, Owner: "test", Clock: clock.RealClock{}}
		},
	}
}

func run(ctx context.Context, tasks []flow.Task) error {
	graph, err := flow.Compile("test", tasks...)
	if err != nil {
		return err
	}
	return graph.Run(ctx, flow.Options{Clock: clock.RealClock{}})
}

// names are those of all ConfigMaps.
func (s site) names(t *testing.T) []string {
	t.Helper()
	list := &corev1.ConfigMapList{}
	if err := s.client.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

// TestEntrustedComponents has a resource manager apply a component that an earlier version has applied itself.
func TestEntrustedComponents(t *testing.T) {
	t.Parallel()
	s, seed := newSite(t), newSite(t)
	seed.client = interceptor.NewClient(seed.client.(client.WithWatch), (&managedtest.Manager{Cluster: s.client}).Funcs()) //nolint:forcetypeassert // that is what newSite makes
	f := switches{renders: map[component.Name][]string{"proxy": {"config", "rules"}}}
	entrusted := func(f switches) *assembly.Assembly[switches] {
		a := s.assembly(f, part("proxy"))
		a.Await, a.Prefix = false, "core-"
		a.Managed = &assembly.Managed{Seed: deploy.Engine{Client: seed.client, Owner: "test", Clock: clock.RealClock{}}, Namespace: namespace}

		return a
	}
	former := entrusted(f)
	former.Managed = nil
	managed := func() int {
		list := &gardenresourcesv1alpha1.ManagedResourceList{}
		if err := seed.client.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}

		return len(list.Items)
	}
	one := switches{renders: map[component.Name][]string{"proxy": {"config"}}}
	off := switches{off: map[component.Name]bool{"proxy": true}}
	for _, step := range []struct {
		reason  string
		tasks   []flow.Task
		want    []string
		managed int
	}{
		{"an earlier version", former.Deploy(assembly.Order{}), []string{"config", "inventory-core-proxy", "rules"}, 0},
		{"the objects are adopted, what this version does not have is deleted", entrusted(one).Deploy(assembly.Order{}), []string{"config"}, 1},
		{"nothing is left of what is not wanted", entrusted(off).Deploy(assembly.Order{}), nil, 0},
	} {
		if err := run(t.Context(), step.tasks); err != nil {
			t.Fatalf("%s: %v", step.reason, err)
		}
		if diff := cmp.Diff(step.want, s.names(t)); diff != "" || managed() != step.managed {
			t.Errorf("%s: %d ManagedResources, want %d; the cluster has (-want +got):\n%s", step.reason, managed(), step.managed, diff)
		}
	}
}

// TestEntrustedAgain switches a component on again while the resource manager still deletes it.
func TestEntrustedAgain(t *testing.T) {
	t.Parallel()
	s, seed := newSite(t), newSite(t)
	manager := &managedtest.Manager{Cluster: s.client}
	key := client.ObjectKey{Namespace: namespace, Name: "core-proxy"}
	leaving := &gardenresourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Finalizers: []string{"test"}}}
	fakeSeed := seed.client.(client.WithWatch) //nolint:forcetypeassert // that is what newSite makes
	if err := errors.Join(fakeSeed.Create(t.Context(), leaving), fakeSeed.Delete(t.Context(), leaving)); err != nil {
		t.Fatal(err)
	}
	// It is there for one more look.
	get := func(ctx context.Context, c client.WithWatch, at client.ObjectKey, obj client.Object, options ...client.GetOption) error {
		mr, ok := obj.(*gardenresourcesv1alpha1.ManagedResource)
		if !ok {
			return c.Get(ctx, at, obj, options...)
		}
		if err := c.Get(ctx, at, mr); err != nil || mr.DeletionTimestamp == nil {
			return manager.Get(ctx, c, at, obj, options...)
		}
		gone := mr.DeepCopy()
		gone.Finalizers = nil
		return c.Update(ctx, gone)
	}
	seed.client = interceptor.NewClient(fakeSeed, interceptor.Funcs{Get: get})
	a := s.assembly(switches{renders: map[component.Name][]string{"proxy": {"config"}}}, part("proxy"))
	a.Await, a.Prefix = false, "core-"
	a.Managed = &assembly.Managed{Seed: deploy.Engine{Client: seed.client, Owner: "test", Clock: clock.RealClock{}}, Namespace: namespace}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := run(ctx, a.Deploy(assembly.Order{})); err != nil {
		t.Fatalf("a component that is wanted again: %v", err)
	}
	if err := fakeSeed.Get(t.Context(), key, leaving); err != nil || leaving.DeletionTimestamp != nil {
		t.Errorf("the ManagedResource is not a new one: in deletion %t, %v", leaving.DeletionTimestamp != nil, err)
	}
}

func TestLifeOfAComponent(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	both := switches{renders: map[component.Name][]string{"proxy": {"config", "rules"}}}
	one := switches{renders: map[component.Name][]string{"proxy": {"config"}}}
	off := switches{off: map[component.Name]bool{"proxy": true}}
	steps := []struct {
		reason string
		tasks  []flow.Task
		want   []string
	}{
		{"what is rendered is there, with an inventory", s.assembly(both, part("proxy")).Deploy(assembly.Order{}), []string{"config", "inventory-proxy", "rules"}},
		{"what left the rendering is deleted", s.assembly(one, part("proxy")).Deploy(assembly.Order{}), []string{"config", "inventory-proxy"}},
		{"a restoration touches nothing that is not wanted", s.assembly(off, part("proxy")).Restore(assembly.Order{}), []string{"config", "inventory-proxy"}},
		{"what is switched off is removed", s.assembly(off, part("proxy")).Deploy(assembly.Order{}), nil},
		{"and comes back", s.assembly(both, part("proxy")).Deploy(assembly.Order{}), []string{"config", "inventory-proxy", "rules"}},
		{"a deletion needs no rendering", s.assembly(off, part("proxy")).Delete(assembly.Order{}), nil},
	}
	for _, step := range steps {
		if err := run(t.Context(), step.tasks); err != nil {
			t.Fatalf("%s: %v", step.reason, err)
		}
		if diff := cmp.Diff(step.want, s.names(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
	}
}

// TestAddressesReachThoseWhoComeAfter is also about a component whose own certificate needs its address.
func TestAddressesReachThoseWhoComeAfter(t *testing.T) {
	t.Parallel()
	service := func(switches) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "store"}, Spec: corev1.ServiceSpec{ClusterIP: "10.97.0.9"}}
	}
	var asked, rendered string
	store, server := part("store"), part("server")
	store.Service, server.Addresses = service, []component.Name{"store"}
	store.Secrets = func(_ switches, addresses component.Addresses) ([]component.Request, error) {
		asked = addresses["store"].ClusterIP
		return nil, nil
	}
	server.Render = func(_ switches, in *component.Inputs) ([]client.Object, error) {
		rendered = in.Address("store").ClusterIP
		return nil, nil
	}
	a := newSite(t).assembly(switches{}, store, server)
	if err := run(t.Context(), a.Deploy(assembly.Order{})); err != nil {
		t.Fatal(err)
	}
	if asked != "10.97.0.9" || rendered != "10.97.0.9" {
		t.Errorf("the address is %q for its certificate, %q for others", asked, rendered)
	}
}

func TestKeptObjectIsSeenAsItIs(t *testing.T) {
	t.Parallel()
	c := part("store")
	c.Keep = func(switches) client.Object {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "key"}}
	}
	var seen []string
	c.Render = func(_ switches, in *component.Inputs) ([]client.Object, error) {
		if kept, ok := in.Kept.(*corev1.Secret); ok {
			seen = append(seen, string(kept.Data["key"]))
		} else {
			seen = append(seen, "none")
		}
		return nil, nil
	}
	s := newSite(t)
	deploy := func() {
		t.Helper()
		if err := run(t.Context(), s.assembly(switches{}, c).Deploy(assembly.Order{})); err != nil {
			t.Fatal(err)
		}
	}
	deploy()
	live := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "key"}, Data: map[string][]byte{"key": []byte("1")}}
	if err := s.client.Create(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	deploy()
	if diff := cmp.Diff([]string{"none", "1"}, seen); diff != "" {
		t.Errorf("what the rendering saw (-want +got):\n%s", diff)
	}
}

func TestRenderingThatTakesWhatWasNotAskedFor(t *testing.T) {
	t.Parallel()
	c := part("server")
	c.Render = func(_ switches, in *component.Inputs) ([]client.Object, error) {
		in.Image("server")
		in.Secret("ca")
		return nil, nil
	}
	err := run(t.Context(), newSite(t).assembly(switches{}, c).Deploy(assembly.Order{}))
	if err == nil || !strings.Contains(err.Error(), `image "server", secret "ca"`) {
		t.Errorf("Deploy = %v, want an error that names what is missing", err)
	}
}

func TestDeletionWaitsUntilEverythingIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		f := switches{renders: map[component.Name][]string{"proxy": {"config"}}}
		if err := run(t.Context(), s.assembly(f, part("proxy")).Deploy(assembly.Order{})); err != nil {
			t.Fatal(err)
		}
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "config"}}
		if err := s.client.Patch(t.Context(), config, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":["a/b"]}}`))); err != nil {
			t.Fatal(err)
		}
		err := run(t.Context(), s.assembly(f, part("proxy")).Delete(assembly.Order{}))
		if err == nil || !strings.Contains(err.Error(), "still exists") {
			t.Errorf("Delete = %v, want an error that says what still exists", err)
		}
		if diff := cmp.Diff([]string{"config", "inventory-proxy"}, s.names(t)); diff != "" {
			t.Errorf("the next run has to know what is left (-want +got):\n%s", diff)
		}
	})
}

func TestImagesOfWhatIsWanted(t *testing.T) {
	t.Parallel()
	server, scaler := part("server"), part("scaler")
	server.Images, scaler.Images = []string{"server"}, []string{"scaler"}
	find := func(name string) (string, error) {
		if name == "scaler" {
			return "", errors.New("there is none")
		}
		return "registry/" + name, nil
	}
	got, err := assembly.Images(switches{off: map[component.Name]bool{"scaler": true}}, find, []component.Component[switches]{server, scaler})
	if diff := cmp.Diff(map[string]string{"server": "registry/server"}, got); diff != "" || err != nil {
		t.Errorf("Images(...), error %v (-want +got):\n%s", err, diff)
	}
	if _, err := assembly.Images(switches{}, find, []component.Component[switches]{scaler}); err == nil {
		t.Error("an image that is missing is an error")
	}
}
