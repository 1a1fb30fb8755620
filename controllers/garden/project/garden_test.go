// SPDX-License-Identifier: Apache-2.0

package project_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/project"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

var errBoom = errors.New("boom")

// garden is one with a project dev and its controller.
type garden struct {
	client.WithWatch

	events *events.FakeRecorder
	// fails is the call that fails, such as "create *v1.Namespace"; made are all writes that were asked for.
	fails string
	made  []string
}

func newGarden(t *testing.T, objects ...client.Object) *garden {
	t.Helper()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	g := &garden{events: events.NewFakeRecorder(100)}
	call := func(verb string, object any) error {
		what := fmt.Sprintf("%s %T", verb, object)
		if verb != "get" && verb != "list" {
			g.made = append(g.made, what)
		}
		if what == g.fails {
			return errBoom
		}
		return nil
	}
	g.WithWatch = fake.NewClientBuilder().WithScheme(kinds).WithObjects(objects...).WithStatusSubresource(&gardencorev1beta1.Project{}).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			if err := call("get", o); err != nil {
				return err
			}
			return c.Get(ctx, key, o, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if err := call("list", list); err != nil {
				return err
			}
			return c.List(ctx, list, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			if err := call("create", o); err != nil {
				return err
			}
			return c.Create(ctx, o, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
			if err := call("update", o); err != nil {
				return err
			}
			return c.Update(ctx, o, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
			if err := call("patch", o); err != nil {
				return err
			}
			return c.Patch(ctx, o, patch, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			if err := call("delete", o); err != nil {
				return err
			}
			return c.Delete(ctx, o, options...)
		},
	}).Build()
	return g
}

// pass makes one pass for project dev, with a quota for those of tier gold.
func (g *garden) pass(t *testing.T) (reconcile.Result, error) {
	t.Helper()
	r := &project.Reconciler{
		Base: kit.Base{Client: g, Reader: g, Recorder: g.events},
		Config: gardenconfigv1alpha1.ServerProjectControllerConfiguration{Quotas: []gardenconfigv1alpha1.QuotaConfiguration{{
			ProjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}},
		}}},
	}
	return reconcile.AsReconciler(g, r).Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "dev"}})
}

// settle makes passes until one writes nothing, and fails if that takes too many.
func (g *garden) settle(t *testing.T) {
	t.Helper()
	for range 5 {
		g.made = nil
		if _, err := g.pass(t); err != nil {
			t.Fatal(err)
		}
		if len(g.made) == 0 {
			return
		}
	}
	t.Fatalf("the project does not settle, the last pass asked to %s", strings.Join(g.made, ", "))
}

func (g *garden) dev(t *testing.T) *gardencorev1beta1.Project {
	t.Helper()
	p := &gardencorev1beta1.Project{}
	if err := g.Get(t.Context(), client.ObjectKey{Name: "dev"}, p); err != nil {
		t.Fatal(err)
	}
	return p
}

// told returns the types and reasons of the events so far.
func (g *garden) told() []string {
	var all []string
	for len(g.events.Events) > 0 {
		all = append(all, strings.Join(strings.Fields(<-g.events.Events)[:2], " "))
	}
	return all
}

// rights returns the roles and bindings of the garden by their names, with the users that are bound.
func (g *garden) rights(t *testing.T) (clusterRoles, clusterBindings, bindings []string) {
	t.Helper()
	roles, bound, here := &rbacv1.ClusterRoleList{}, &rbacv1.ClusterRoleBindingList{}, &rbacv1.RoleBindingList{}
	if err := errors.Join(g.List(t.Context(), roles), g.List(t.Context(), bound), g.List(t.Context(), here)); err != nil {
		t.Fatal(err)
	}
	short := func(name string, subjects []rbacv1.Subject) string {
		name = strings.NewReplacer("gardener.cloud:system:", "s:", "gardener.cloud:extension:", "x:").Replace(name)
		for _, s := range subjects {
			name += " " + s.Name
		}
		return name
	}
	for _, role := range roles.Items {
		clusterRoles = append(clusterRoles, short(role.Name, nil))
	}
	for _, binding := range bound.Items {
		clusterBindings = append(clusterBindings, short(binding.Name, binding.Subjects))
	}
	for _, binding := range here.Items {
		bindings = append(bindings, short(binding.Namespace+"/"+binding.Name, binding.Subjects))
	}
	slices.Sort(clusterRoles)
	return clusterRoles, clusterBindings, bindings
}

// part is the ClusterRole with which an extension defines a role.
func part(role string) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "part-" + role, Labels: map[string]string{"rbac.gardener.cloud/aggregate-to-extension-role": role}}}
}

// ready is dev when it has a finalizer and its first phase is over.
func ready(change ...func(*gardencorev1beta1.Project)) *gardencorev1beta1.Project {
	p := dev()
	p.Finalizers, p.Status.Phase, p.Generation = []string{"gardener"}, "Ready", 3
	for _, c := range change {
		c(p)
	}
	return p
}

// owned makes dev the owner of a namespace, or a team.
func owned(n *corev1.Namespace, team bool) *corev1.Namespace {
	n.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "core.gardener.cloud/v1beta1", Kind: "Project", Name: "dev", UID: dev().UID, Controller: new(true), BlockOwnerDeletion: new(true),
	}}
	if team {
		n.OwnerReferences[0].Kind, n.OwnerReferences[0].UID = "Team", "other"
	}
	return n
}
