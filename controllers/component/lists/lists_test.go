// SPDX-License-Identifier: Apache-2.0

package lists_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/images"
	"github.com/terrarium-garden/terrarium/controllers/component/lists"
	"github.com/terrarium-garden/terrarium/controllers/flow"
)

func shootFacts() facts.Shoot {
	s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a"}}
	s.Spec.Kubernetes.Version = "1.36.3"
	s.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "small"}}
	return facts.Shoot{Shoot: s, Seed: &gardencorev1beta1.Seed{}, Project: "dev", Namespace: "shoot--dev--a"}
}

// TestListsAreInOrder is about what the assembly relies on: a component comes after those that it needs, and no two share a
// name or a task.
func TestListsAreInOrder(t *testing.T) {
	t.Parallel()
	tasks := map[flow.ID]bool{}
	addressed := map[component.Name]bool{}
	for place, list := range [][]component.Component[facts.Shoot]{slices.Concat(lists.ControlPlane(), lists.Machines(), lists.Scaling(), lists.Sizing()), lists.System(), lists.Optional()} {
		var before []component.Name
		for _, c := range list {
			if slices.Contains(before, c.Name) || tasks[c.TaskID()] {
				t.Errorf("list %d: component %q or its task %q is listed twice", place, c.Name, c.TaskID())
			}
			known := func(name component.Name) bool { return slices.Contains(before, name) }
			late := slices.DeleteFunc(slices.Clone(c.After), known)
			if diff := cmp.Diff([]component.Name{}, late, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("list %d: components that %q comes after and that are not listed before it (-want +got):\n%s", place, c.Name, diff)
			}
			missing := slices.DeleteFunc(slices.Clone(c.Addresses), func(name component.Name) bool { return addressed[name] })
			if diff := cmp.Diff([]component.Name{}, missing, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("list %d: components of which %q needs the address, without a Service or not listed before it (-want +got):\n%s", place, c.Name, diff)
			}
			if c.Title == "" {
				t.Errorf("list %d: component %q has no title", place, c.Name)
			}
			addressed[c.Name] = c.Service != nil
			before, tasks[c.TaskID()] = append(before, c.Name), true
		}
	}
}

// TestComponentsAskForWhatTheyNeed renders every component with nothing but what it asked for.
func TestComponentsAskForWhatTheyNeed(t *testing.T) {
	t.Parallel()
	vector, err := images.Load("")
	if err != nil {
		t.Fatal(err)
	}
	f := shootFacts()
	for _, c := range slices.Concat(lists.ControlPlane(), lists.Machines(), lists.Scaling(), lists.Sizing(), lists.System(), lists.Optional()) {
		in := &component.Inputs{Images: map[string]string{}, Secrets: map[string]component.Secret{}, Addresses: component.Addresses{}}
		for _, name := range append([]component.Name{c.Name}, c.Addresses...) {
			in.Addresses[name] = component.Address{ClusterIP: "10.97.0.9", LoadBalancer: "10.99.1.1"}
		}
		for _, name := range c.Images {
			if in.Images[name], err = vector.Find(name, f.Shoot.Spec.Kubernetes.Version); err != nil {
				t.Error(err)
			}
		}
		if c.Secrets != nil {
			requests, err := c.Secrets(f, in.Addresses)
			if err != nil {
				t.Error(err)
			}
			for _, r := range requests {
				in.Secrets[r.Name] = component.Secret{Name: r.Name}
			}
		}
		objs, err := c.Render(f, in)
		if err != nil || in.Missing() != nil {
			t.Errorf("component %q: %v, %v", c.Name, err, in.Missing())
		}
		expectWorkload(t, c, objs)
		if c.Service != nil && !slices.ContainsFunc(objs, func(obj client.Object) bool { return isService(obj, c.Service(f).Name) }) {
			t.Errorf("component %q has Service %q and does not render it", c.Name, c.Service(f).Name)
		}
	}
}

// expectWorkload checks that health checks find what they look for.
func expectWorkload(t *testing.T, c component.Component[facts.Shoot], objs []client.Object) {
	t.Helper()
	if c.Care.Condition == "" {
		return
	}
	for _, obj := range objs {
		if obj.GetName() == string(c.Name) && obj.GetLabels()[gardencorev1beta1.LabelRole] == gardencorev1beta1.RoleControlPlane {
			return
		}
	}
	t.Errorf("health checks look for component %q, but it renders nothing of that name with the role of a control plane", c.Name)
}

func isService(obj client.Object, name string) bool {
	_, ok := obj.(*corev1.Service)
	return ok && obj.GetName() == name
}
