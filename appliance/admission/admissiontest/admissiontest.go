// SPDX-License-Identifier: Apache-2.0

// Package admissiontest lets tests ask an admission rule about requests to a garden that is kept in memory.
package admissiontest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	clocktesting "k8s.io/utils/clock/testing"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
	"github.com/terrarium-garden/terrarium/storage/registry/registrytest"
)

// Garden is what rules see.
type Garden struct {
	World *world.World

	tb    testing.TB
	kinds *runtime.Scheme
	all   map[schema.GroupResource]rest.Storage
	other *elsewhere
}

// New makes a garden with some objects. Rights are in the form "user verb resource[/subresource] [namespace/]name".
func New(tb testing.TB, rights []string, objects ...kind.Object) *Garden {
	tb.Helper()
	groups, o := registrytest.Groups(tb)
	g := &Garden{tb: tb, kinds: o.Scheme, all: map[schema.GroupResource]rest.Storage{}, other: newElsewhere(tb)}
	for _, group := range groups {
		version := group.PrioritizedVersions[0]
		for resource, store := range group.VersionedResourcesStorageMap[version.Version] {
			g.all[version.WithResource(resource).GroupResource()] = store
		}
	}
	g.World = world.From(g.other, allow(rights), clocktesting.NewFakePassiveClock(kindtest.Now()), groups...)
	for _, obj := range objects {
		g.Add(obj)
	}
	return g
}

// AddForeign makes an object of another group exist, such as "v1 secrets garden-meadow/local".
func (g *Garden) AddForeign(objects ...string) { g.other.objects = append(g.other.objects, objects...) }

// Break makes every read of objects of other groups fail.
func (g *Garden) Break(err error) { g.other.err = err }

// Add keeps an object, with its status. Objects of Kubernetes' kinds are kept as they are.
func (g *Garden) Add(obj kind.Object) {
	g.tb.Helper()
	resource := g.resource(obj).GroupResource()
	store, served := g.all[resource]
	if !served {
		g.other.kept[world.Place{
			Group: resource.Group, Resource: resource.Resource, Namespace: obj.GetNamespace(), Name: obj.GetName(),
		}] = obj
		return
	}
	obj = g.internal(known(obj))
	ctx := genericapirequest.WithNamespace(g.tb.Context(), obj.GetNamespace())
	maker, ok := store.(rest.Creater) //nolint:misspell // the name is the library's
	if !ok {
		g.tb.Fatalf("%T cannot be created", obj)
	}
	stored, err := maker.Create(ctx, obj.DeepCopyObject(), rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	if err != nil {
		g.tb.Fatalf("create %T %q: %v", obj, obj.GetName(), err)
	}
	kept, ok := stored.(kind.Object)
	if !ok {
		g.tb.Fatalf("%T is no object", stored)
	}
	// A second write keeps what a new object would lose, such as expired versions.
	for _, part := range []string{"", "/status"} {
		part := schema.GroupResource{Group: resource.Group, Resource: resource.Resource + part}
		writer, ok := g.all[part].(rest.Updater)
		if !ok {
			continue
		}
		again, ok := obj.DeepCopyObject().(kind.Object)
		if !ok {
			g.tb.Fatalf("%T is no object", obj)
		}
		g.kinds.Default(again)
		again.SetResourceVersion(kept.GetResourceVersion())
		again.SetUID(kept.GetUID())
		stored, _, err = writer.Update(ctx, obj.GetName(), rest.DefaultUpdatedObjectInfo(again), rest.ValidateAllObjectFunc,
			rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
		if err != nil {
			g.tb.Fatalf("write %s %q: %v", part, obj.GetName(), err)
		}
		if kept, ok = stored.(kind.Object); !ok {
			g.tb.Fatalf("%T is no object", stored)
		}
	}
}

// internal is an object as stores get it.
func (g *Garden) internal(obj kind.Object) kind.Object {
	g.tb.Helper()
	converted, err := g.kinds.ConvertToVersion(obj, runtime.InternalGroupVersioner)
	if err != nil {
		g.tb.Fatal(err)
	}
	internal, ok := converted.(kind.Object)
	if !ok {
		g.tb.Fatalf("%T is no object", converted)
	}
	return internal
}

// Delete asks for an object of core.gardener.cloud to go; a finalizer holds it up.
func (g *Garden) Delete(resource, name string) { g.DeleteFrom("", resource, name) }

// DeleteFrom asks for an object of core.gardener.cloud in a namespace to go; a finalizer holds it up.
func (g *Garden) DeleteFrom(namespace, resource, name string) {
	g.tb.Helper()
	deleter, ok := g.all[gardencorev1beta1.Resource(resource)].(rest.GracefulDeleter)
	if !ok {
		g.tb.Fatalf("%s cannot be deleted", resource)
	}
	ctx := genericapirequest.WithNamespace(g.tb.Context(), namespace)
	if _, _, err := deleter.Delete(ctx, name, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{}); err != nil {
		g.tb.Fatalf("delete %s %q: %v", resource, name, err)
	}
}

// kind returns the kind under which a request names an object.
func (g *Garden) kind(obj runtime.Object) schema.GroupVersionKind {
	g.tb.Helper()
	kinds, _, err := g.kinds.ObjectKinds(obj)
	if err != nil {
		kinds, _, err = g.other.kinds.ObjectKinds(obj)
	}
	if err != nil {
		g.tb.Fatal(err)
	}
	// A garden kind has an internal twin, and may have more versions.
	for _, version := range g.kinds.PrioritizedVersionsForGroup(kinds[0].Group) {
		for _, kind := range kinds {
			if kind.GroupVersion() == version && version.Version != runtime.APIVersionInternal {
				return kind
			}
		}
	}
	return kinds[0]
}

func (g *Garden) resource(obj runtime.Object) schema.GroupVersionResource {
	g.tb.Helper()
	resource, _ := meta.UnsafeGuessKindToResource(g.kind(obj))
	return resource
}

// Request is a request that a rule is asked about.
type Request struct {
	// Object is what is asked for, Old what there is: both for an update, one for a create or a delete.
	Object, Old kind.Object
	Subresource string
	// User and Groups say who asks; rose by default.
	User   string
	Groups []string
	// Many deletes all objects of a namespace: the server asks about each without its name.
	Many bool
}

// Ask asks a rule as the API server does: first to change the object, then to judge it.
func (g *Garden) Ask(rule admission.Interface, r Request) error {
	g.tb.Helper()
	a := g.attributes(r)
	if !rule.Handles(a.GetOperation()) {
		return nil
	}
	ctx := genericapirequest.WithNamespace(g.tb.Context(), a.GetNamespace())
	if m, ok := rule.(admission.MutationInterface); ok {
		if err := m.Admit(ctx, a, nil); err != nil {
			return err
		}
	}
	if v, ok := rule.(admission.ValidationInterface); ok {
		return v.Validate(ctx, a, nil)
	}
	return nil
}

func (g *Garden) attributes(r Request) admission.Attributes {
	g.tb.Helper()
	if r.User == "" {
		r.User = "rose"
	}
	about, operation := r.Object, admission.Update
	var object, old runtime.Object
	var options runtime.Object = &metav1.UpdateOptions{}
	switch {
	case r.Old == nil:
		operation, object, options = admission.Create, r.Object, &metav1.CreateOptions{}
	case r.Object == nil:
		about, operation, old, options = r.Old, admission.Delete, r.Old, &metav1.DeleteOptions{}
	default:
		object, old = r.Object, r.Old
	}
	name := about.GetName()
	if r.Many {
		name = ""
	}
	return admission.NewAttributesRecord(object, old, g.kind(about), about.GetNamespace(), name, g.resource(about), r.Subresource, operation, options, false, &user.DefaultInfo{Name: r.User, Groups: r.Groups})
}

// allow is an authorizer that knows a list of rights.
func allow(rights []string) authorizer.Authorizer {
	return authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		resource, name := a.GetResource(), a.GetName()
		if a.GetSubresource() != "" {
			resource += "/" + a.GetSubresource()
		}
		if a.GetNamespace() != "" {
			name = a.GetNamespace() + "/" + name
		}
		asked := fmt.Sprintf("%s %s %s %s", a.GetUser().GetName(), a.GetVerb(), resource, name)
		if slices.Contains(rights, asked) {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	})
}

// Case is a request with the words that the refusal has to contain; without words it has to pass.
type Case struct {
	// Reason says what is tried.
	Reason string
	// Rights and Objects make up the garden; Foreign are objects of other groups.
	Rights  []string
	Objects []kind.Object
	Foreign []string
	Request Request
	Refused []string
	// As is the reason of the refusal for machines: Forbidden by default.
	As metav1.StatusReason
}

// Run asks a rule about every case.
func Run(t *testing.T, rule func(w *world.World) admission.Interface, cases map[string]Case) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := New(t, tc.Rights, tc.Objects...)
			g.AddForeign(tc.Foreign...)
			err := g.Ask(rule(g.World), tc.Request)
			if len(tc.Refused) == 0 {
				if err != nil {
					t.Errorf("%s: refused: %v", tc.Reason, err)
				}
				return
			}
			want := cmp.Or(tc.As, metav1.StatusReasonForbidden)
			if got := apierrors.ReasonForError(err); err == nil || got != want {
				t.Errorf("%s: got %v (%s), want %s", tc.Reason, err, got, want)
				return
			}
			for _, w := range tc.Refused {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%s: the message lacks %q: %v", tc.Reason, w, err)
				}
			}
		})
	}
}
