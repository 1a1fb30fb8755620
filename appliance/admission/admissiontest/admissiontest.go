// SPDX-License-Identifier: Apache-2.0

// Package admissiontest runs an admission plugin on requests to a garden in memory.
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
	"github.com/terrarium-garden/terrarium/appliance/admission/holdings"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
	"github.com/terrarium-garden/terrarium/storage/registry/observe"
	"github.com/terrarium-garden/terrarium/storage/registry/registrytest"
)

// Garden is the garden that plugins see.
type Garden struct {
	World *world.World

	tb     testing.TB
	rights []string
	kinds  *runtime.Scheme
	all    map[schema.GroupResource]rest.Storage
	other  *elsewhere
}

// New returns a garden with some objects. Rights have the form "user verb resource[/subresource] [namespace/]name".
func New(tb testing.TB, rights []string, objects ...kind.Object) *Garden {
	tb.Helper()
	clock := clocktesting.NewFakePassiveClock(kindtest.Now())
	held := holdings.New(clock)
	groups, o := registrytest.Groups(tb, func(o *kind.Options) {
		o.RESTOptionsGetter = observe.Getter(o.RESTOptionsGetter, held.Changed, gardencorev1beta1.Resource("shoots"))
	})
	g := &Garden{tb: tb, rights: rights, kinds: o.Scheme, all: map[schema.GroupResource]rest.Storage{}, other: newElsewhere(tb)}
	for _, group := range groups {
		version := group.PrioritizedVersions[0]
		for resource, store := range group.VersionedResourcesStorageMap[version.Version] {
			g.all[version.WithResource(resource).GroupResource()] = store
		}
	}
	g.World = world.From(g.other, allow(rights), clock, groups...)
	g.World.Keep(held)
	for _, obj := range objects {
		g.Add(obj)
	}
	return g
}

// AddForeign adds an object of another group that exists only by name, such as "v1 secrets garden-meadow/local".
func (g *Garden) AddForeign(objects ...string) { g.other.objects = append(g.other.objects, objects...) }

// Break makes every read of objects of other groups fail.
func (g *Garden) Break(err error) { g.other.err = err }

// Add stores an object with its status. Objects of Kubernetes' kinds are stored as they are.
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
		g.tb.Fatalf("%T is not an object", stored)
	}
	// A second write keeps fields that a create request would drop, such as expired versions.
	for _, part := range []string{"", "/status"} {
		part := schema.GroupResource{Group: resource.Group, Resource: resource.Resource + part}
		writer, ok := g.all[part].(rest.Updater)
		if !ok {
			continue
		}
		again, ok := obj.DeepCopyObject().(kind.Object)
		if !ok {
			g.tb.Fatalf("%T is not an object", obj)
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
			g.tb.Fatalf("%T is not an object", stored)
		}
	}
}

// internal returns an object in the form that stores take.
func (g *Garden) internal(obj kind.Object) kind.Object {
	g.tb.Helper()
	converted, err := g.kinds.ConvertToVersion(obj, runtime.InternalGroupVersioner)
	if err != nil {
		g.tb.Fatal(err)
	}
	internal, ok := converted.(kind.Object)
	if !ok {
		g.tb.Fatalf("%T is not an object", converted)
	}
	return internal
}

// Delete deletes an object of core.gardener.cloud that has a finalizer, so that it remains in deletion.
func (g *Garden) Delete(resource, name string) { g.DeleteFrom("", resource, name) }

// DeleteFrom deletes an object of core.gardener.cloud in a namespace that has a finalizer, so that it remains in deletion.
func (g *Garden) DeleteFrom(namespace, resource, name string) {
	g.tb.Helper()
	g.DeleteOf(gardencorev1beta1.Resource(resource), namespace, name)
}

// DeleteOf is DeleteFrom for objects of any group of the garden.
func (g *Garden) DeleteOf(resource schema.GroupResource, namespace, name string) {
	g.tb.Helper()
	deleter, ok := g.all[resource].(rest.GracefulDeleter)
	if !ok {
		g.tb.Fatalf("%s cannot be deleted", resource)
	}
	ctx := genericapirequest.WithNamespace(g.tb.Context(), namespace)
	if _, _, err := deleter.Delete(ctx, name, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{}); err != nil {
		g.tb.Fatalf("delete %s %q: %v", resource, name, err)
	}
}

// kind returns the kind of an object in requests.
func (g *Garden) kind(obj runtime.Object) schema.GroupVersionKind {
	g.tb.Helper()
	kinds, _, err := g.kinds.ObjectKinds(obj)
	if err != nil {
		kinds, _, err = g.other.kinds.ObjectKinds(obj)
	}
	if err != nil {
		g.tb.Fatal(err)
	}
	// A garden kind has an internal version, and may have several external ones.
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

// Request is a request to run the plugin on.
type Request struct {
	// Object is the new object, Old the stored one: an update has both, a create or delete request has one.
	Object, Old kind.Object
	Subresource string
	// User and Groups are those of the client; rose by default.
	User   string
	Groups []string
	// Extra is what the server knows of the client besides.
	Extra map[string][]string
	// Many deletes all objects of a namespace: the server runs plugins for each of them without its name.
	Many bool
	// DryRun writes nothing.
	DryRun bool
}

// Ask runs a plugin as the API server does: first to mutate the object, then to validate it.
func (g *Garden) Ask(rule admission.Interface, r Request) error {
	g.tb.Helper()
	return g.AskIn(g.tb.Context(), rule, r)
}

// AskIn is Ask in a context, such as that of a request whose outcome somebody tells.
func (g *Garden) AskIn(ctx context.Context, rule admission.Interface, r Request) error {
	g.tb.Helper()
	a := g.attributes(r)
	if !rule.Handles(a.GetOperation()) {
		return nil
	}
	ctx = genericapirequest.WithNamespace(ctx, a.GetNamespace())
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
	return admission.NewAttributesRecord(object, old, g.kind(about), about.GetNamespace(), name, g.resource(about), r.Subresource, operation, options, r.DryRun, &user.DefaultInfo{Name: r.User, Groups: r.Groups, Extra: r.Extra})
}

// allow is an authorizer with a list of rights.
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

// Case is a request with the words that its rejection has to contain; without words it must be accepted.
type Case struct {
	// Reason says what the case is about.
	Reason string
	// Rights and Objects are those of the garden; Foreign are objects of other groups.
	Rights  []string
	Objects []kind.Object
	Foreign []string
	// Failing is the resource that cannot be read. The request is then neither accepted nor rejected.
	Failing string
	Request Request
	Refused []string
	// As is the machine-readable reason of the rejection: Forbidden by default.
	As metav1.StatusReason
}

// Run runs a plugin on every case.
func Run(t *testing.T, rule func(w *world.World) admission.Interface, cases map[string]Case) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.run(t, rule)
		})
	}
}

func (c Case) run(t *testing.T, rule func(w *world.World) admission.Interface) {
	t.Helper()
	g := New(t, c.Rights, c.Objects...)
	g.AddForeign(c.Foreign...)
	if c.Failing != "" {
		if err := g.Ask(rule(g.Failing(c.Failing)), c.Request); !apierrors.IsInternalError(err) {
			t.Errorf("%s: got %v, want an internal error", c.Reason, err)
		}
		return
	}
	err := g.Ask(rule(g.World), c.Request)
	if len(c.Refused) == 0 {
		if err != nil {
			t.Errorf("%s: refused: %v", c.Reason, err)
		}
		return
	}
	want := cmp.Or(c.As, metav1.StatusReasonForbidden)
	if got := apierrors.ReasonForError(err); err == nil || got != want {
		t.Errorf("%s: got %v (%s), want %s", c.Reason, err, got, want)
		return
	}
	for _, w := range c.Refused {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: the message lacks %q: %v", c.Reason, w, err)
		}
	}
}
