// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestRegistryKinds takes an object of every kind through its life, and checks what the reference says about the kind.
func TestRegistryKinds(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("kinds")
	namespace := o.owned("kinds")
	o.credentials(namespace, "kinds")
	o.create(soil("kinds", "kinds"), soil("other", "kinds"), bucket("kinds", "kinds"))
	o.create(order(namespace, "host", "kinds", func(s *gardencorev1beta1.Shoot) {
		s.Spec.SeedName = new("kinds")
		s.Spec.Networking.Pods, s.Spec.Networking.Services = new("10.11.0.0/16"), new("10.12.0.0/16")
	}))
	for _, k := range slices.Concat(servedKinds(), servedElsewhere()) {
		t.Run(k.kind, func(t *testing.T) {
			t.Parallel()
			l := &life{operator: o.in(t), served: k, namespace: namespace}
			if !k.namespaced || k.home != "" {
				l.namespace = k.home
			}
			l.discovered()
			l.dryCreate()
			object := l.create()
			l.selectable(object)
			l.printed(object)
			l.metadata(object)
			l.spec(object)
			l.status(object)
			l.conditions(object)
			l.managers(object)
			l.strict()
			l.watched()
			l.end(object)
		})
	}
}

// life is one object of a kind with the checks of its stages.
type life struct {
	*operator
	served

	namespace string
}

func (l *life) name() string {
	if l.kind == "Project" {
		return "kproj"
	}
	return "life-of-" + l.singular
}

func (l *life) discovered() {
	l.t.Helper()
	c, err := discovery.NewDiscoveryClientForConfig(l.Config)
	if err != nil {
		l.t.Fatal(err)
	}
	list, err := c.ServerResourcesForGroupVersion(l.version().String())
	if err != nil {
		l.t.Fatal(err)
	}
	i := slices.IndexFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == l.resource })
	if i < 0 {
		l.t.Fatalf("API-RES-2: %s are not served", l.resource)
	}
	got := list.APIResources[i]
	want := metav1.APIResource{
		Name: l.resource, SingularName: l.singular, Namespaced: l.namespaced, Kind: l.kind,
		Verbs:      metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
		ShortNames: l.shortNames, Categories: l.categories, StorageVersionHash: got.StorageVersionHash,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		l.t.Errorf("resources.md: discovery (-want +got):\n%s", diff)
	}
	hasStatus := slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool {
		return r.Name == l.resource+"/status" && cmp.Equal(r.Verbs, metav1.Verbs{"get", "patch", "update"})
	})
	if hasStatus != (l.report != nil) {
		l.t.Errorf("API-RES-7: there is a status: %t, want %t", hasStatus, l.report != nil)
	}
}

func (l *life) dryCreate() {
	l.t.Helper()
	object := l.made(l.namespace, "dry-"+strings.ToLower(l.name())[:3])
	if err := l.Client.Create(l.t.Context(), object, client.DryRunAll); err != nil {
		l.t.Fatalf("a dry run passes: %v", err)
	}
	l.absent(l.fresh(object), "a dry run leaves nothing")
}

func (l *life) create() client.Object {
	l.t.Helper()
	object := l.made(l.namespace, l.name())
	object.SetGeneration(7)
	if l.report != nil {
		l.report(object)
	}
	l.operator.create(object)
	if l.kind == "Project" {
		project, ok := object.(*gardencorev1beta1.Project)
		if !ok {
			l.t.Fatal("a project is none")
		}
		l.phase(project, gardencorev1beta1.ProjectPhaseReady)
		l.read(object)
	}
	if created := object.GetCreationTimestamp(); object.GetUID() == "" || created.IsZero() {
		l.t.Errorf("an object gets an identity: %q, %s", object.GetUID(), object.GetCreationTimestamp())
	}
	if got := object.GetGeneration(); l.generation && got != 1 {
		l.t.Errorf("API-STRAT-1: the generation begins with 1, got %d", got)
	}
	if l.reported != nil && l.kind != "Project" && l.reported(object) {
		l.t.Error("API-STRAT-1: a new object has no status")
	}
	err := l.Client.Create(l.t.Context(), l.made(l.namespace, l.name()))
	refused(l.t, "a name is taken once", err, apierrors.IsAlreadyExists)
	return object
}

// selectable checks the field selectors.
func (l *life) selectable(object client.Object) {
	l.t.Helper()
	all := map[string]string{"metadata.name": object.GetName()}
	if l.namespaced {
		all["metadata.namespace"] = l.namespace
	}
	maps.Copy(all, l.selectors)
	for field, value := range all {
		if !l.found(field+"="+value, object.GetName()) {
			l.t.Errorf("API-RES-9: %s=%q does not find the object", field, value)
		}
		if l.found(field+"=something-else", object.GetName()) {
			l.t.Errorf("API-RES-9: %s=something-else finds the object", field)
		}
	}
	answer := l.ask(http.MethodGet, l.path(l.namespace)+"?fieldSelector=spec.colour%3Dgreen", plain, nil)
	if answer.code != http.StatusBadRequest {
		l.t.Errorf("API-RES-9: an unknown selector is refused, got %d", answer.code)
	}
}

func (l *life) found(selector, name string) bool {
	l.t.Helper()
	list := l.list()
	o := &client.ListOptions{Namespace: l.namespace, Raw: &metav1.ListOptions{FieldSelector: selector}}
	if err := l.Client.List(l.t.Context(), list, o); err != nil {
		l.t.Errorf("API-RES-9: select by %q: %v", selector, err)
		return false
	}
	return slices.ContainsFunc(list.Items, func(u unstructured.Unstructured) bool { return u.GetName() == name })
}

// printed checks the columns, of a list and of one object.
func (l *life) printed(object client.Object) {
	l.t.Helper()
	for _, path := range []string{
		l.path(l.namespace) + "?fieldSelector=" + url.QueryEscape("metadata.name="+object.GetName()),
		l.path(l.namespace) + "/" + object.GetName(),
	} {
		table := l.table(path)
		if diff := cmp.Diff(l.columns, heads(table)); diff != "" {
			l.t.Errorf("API-RES-11: columns of %s (-want +got):\n%s", path, diff)
		}
		for name, cell := range cells(l.t, table) {
			if cell == "" && name != "Seed" && name != "Pending" {
				l.t.Errorf("API-RES-11: cell %q is empty", name)
			}
		}
	}
}

// metadata changes a label, which is no new generation.
func (l *life) metadata(object client.Object) {
	l.t.Helper()
	before := object.GetGeneration()
	l.change(object, func() { l.label(object, "touched", "yes") })
	if got := object.GetGeneration(); got != before {
		l.t.Errorf("API-STRAT-2: a label is no new generation, got %d after %d", got, before)
	}
}

func (*life) label(object client.Object, key, value string) {
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[key] = value
	object.SetLabels(labels)
}

// spec changes the spec, which is one, and tries to change the status by the way.
func (l *life) spec(object client.Object) {
	l.t.Helper()
	if l.edit == nil {
		return
	}
	before := object.GetGeneration()
	l.change(object, func() {
		l.edit(object)
		if l.report != nil {
			l.report(object)
		}
	})
	want := before
	if l.generation {
		want++
	}
	if got := object.GetGeneration(); got != want {
		l.t.Errorf("API-STRAT-2: a changed spec: generation %d, want %d", got, want)
	}
	if l.reported != nil && l.reported(object) {
		l.t.Error("API-RES-7: a write to the object never changes its status")
	}
	l.change(object, func() {})
	if got := object.GetGeneration(); got != want {
		l.t.Errorf("API-STRAT-2: the same spec is no new generation, got %d after %d", got, want)
	}
}

// status changes the status, and tries to change spec and metadata by the way.
func (l *life) status(object client.Object) {
	l.t.Helper()
	if l.report == nil {
		return
	}
	before := object.GetGeneration()
	l.read(object)
	was := l.unlisted(l.t, object)
	l.changeStatus(object, func() {
		l.report(object)
		l.label(object, "by-status", "yes")
		object.SetFinalizers(append(object.GetFinalizers(), "example.com/by-status"))
		l.edit(object)
	})
	if !l.reported(object) {
		l.t.Error("API-RES-7: a write to the status changes it")
	}
	is := l.unlisted(l.t, object)
	if diff := cmp.Diff(was.Object["spec"], is.Object["spec"]); diff != "" {
		l.t.Errorf("API-RES-7: a write to the status never changes the spec (-want +got):\n%s", diff)
	}
	if _, labelled := object.GetLabels()["by-status"]; labelled || slices.Contains(object.GetFinalizers(), "example.com/by-status") || object.GetGeneration() != before {
		l.t.Errorf("a write to the status changes nothing else: labels %v, finalizers %v, generation %d after %d",
			object.GetLabels(), object.GetFinalizers(), object.GetGeneration(), before)
	}
}

// conditions checks which writes are taken: those of the version that was read, and only of objects that exist.
func (l *life) conditions(object client.Object) {
	l.t.Helper()
	stale := l.fresh(object)
	l.read(stale)
	l.change(object, func() { l.label(object, "touched", "again") })
	l.label(stale, "touched", "too late")
	refused(l.t, "who writes what is no longer true is told so", l.Client.Update(l.t.Context(), stale), apierrors.IsConflict)

	harness.Eventually(l.t, "API-STRAT-8: updates without a resource version", func(ctx context.Context) error {
		if err := l.Client.Get(ctx, client.ObjectKeyFromObject(stale), stale); err != nil {
			return err
		}
		stale.SetResourceVersion("")
		err := l.Client.Update(ctx, stale)
		switch {
		case l.unconditional:
			return err
		case apierrors.IsInvalid(err) && strings.Contains(err.Error(), "metadata.resourceVersion"):
			return nil
		default:
			return fmt.Errorf("want Invalid, got %w", err)
		}
	})

	ghost := l.made(l.namespace, "ghost")
	ghost.SetResourceVersion("1")
	err := l.Client.Update(l.t.Context(), ghost)
	refused(l.t, "API-STRAT-8: PUT never creates", err, func(err error) bool { return apierrors.IsNotFound(err) || apierrors.IsConflict(err) })
	l.absent(l.made(l.namespace, "ghost"), "API-STRAT-8: PUT never creates")
	refused(l.t, "what does not exist cannot be deleted", l.Client.Delete(l.t.Context(), ghost), apierrors.IsNotFound)
}

// managers lets two appliers own a label each.
func (l *life) managers(object client.Object) {
	l.t.Helper()
	fields := func(labels map[string]string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(l.version().WithKind(l.kind))
		u.SetNamespace(l.namespace)
		u.SetName(object.GetName())
		u.SetLabels(labels)
		return u
	}
	ctx := l.t.Context()
	accepted(l.t, "the first applier owns its label", l.apply(ctx, "first", fields(map[string]string{"one": "1", "common": "x"})))
	accepted(l.t, "so does the second", l.apply(ctx, "second", fields(map[string]string{"two": "2", "common": "x"})))
	refused(l.t, "another value is a conflict", l.apply(ctx, "second", fields(map[string]string{"two": "2", "common": "y"})), apierrors.IsConflict, "common")
	accepted(l.t, "unless it is forced", l.apply(ctx, "second", fields(map[string]string{"two": "2", "common": "y"}), client.ForceOwnership))
	accepted(l.t, "what an applier drops goes", l.apply(ctx, "first", fields(nil)))
	l.read(object)
	got := map[string]string{}
	for _, key := range []string{"one", "two", "common"} {
		if value, ok := object.GetLabels()[key]; ok {
			got[key] = value
		}
	}
	if diff := cmp.Diff(map[string]string{"two": "2", "common": "y"}, got); diff != "" {
		l.t.Errorf("each applier rules its own fields (-want +got):\n%s", diff)
	}
	if l.edit == nil {
		return
	}
	whole := l.fresh(object)
	l.edit(whole)
	before := object.GetGeneration()
	u := l.unlisted(l.t, whole)
	accepted(l.t, "a whole object can be applied", l.apply(ctx, "third", u, client.ForceOwnership))
	u = l.unlisted(l.t, whole)
	accepted(l.t, "and again", l.apply(ctx, "third", u))
	l.read(object)
	if got := object.GetGeneration(); got != before {
		l.t.Errorf("applying what is there is no new generation, got %d after %d", got, before)
	}
}

// strict checks what happens to fields that the kind does not have.
func (l *life) strict() {
	l.t.Helper()
	u := l.unlisted(l.t, l.made(l.namespace, "strange"))
	if err := unstructured.SetNestedField(u.Object, "green", "colour"); err != nil {
		l.t.Fatal(err)
	}
	answer := l.ask(http.MethodPost, l.path(l.namespace)+"?dryRun=All&fieldValidation=Warn", plain, u.Object)
	if answer.code != http.StatusCreated || !strings.Contains(strings.Join(answer.warnings, " "), `unknown field \"colour\"`) {
		l.t.Errorf("an unknown field is warned of, got %d, warnings %q", answer.code, answer.warnings)
	}
	answer = l.ask(http.MethodPost, l.path(l.namespace)+"?dryRun=All&fieldValidation=Strict", plain, u.Object)
	if answer.code != http.StatusBadRequest || !strings.Contains(string(answer.body), "colour") {
		l.t.Errorf("an unknown field is refused on request, got %d: %s", answer.code, answer.body)
	}
}

// watched follows another object from its beginning to its end.
func (l *life) watched() {
	l.t.Helper()
	name := "seen"
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	defer cancel()
	w, err := l.Client.Watch(ctx, l.list(), &client.ListOptions{Namespace: l.namespace, Raw: &metav1.ListOptions{FieldSelector: "metadata.name=" + name}})
	if err != nil {
		l.t.Fatalf("watch: %v", err)
	}
	defer w.Stop()
	object := l.made(l.namespace, name)
	l.operator.create(object)
	l.change(object, func() { l.label(object, "touched", "yes") })
	l.remove(object)
	var seen []watch.EventType
	for e := range w.ResultChan() {
		if len(seen) == 0 || seen[len(seen)-1] != e.Type {
			seen = append(seen, e.Type)
		}
		if e.Type == watch.Deleted || e.Type == watch.Error {
			break
		}
	}
	if diff := cmp.Diff([]watch.EventType{watch.Added, watch.Modified, watch.Deleted}, seen); diff != "" {
		l.t.Errorf("a watch shows the life of an object (-want +got):\n%s", diff)
	}
}

// confirmed reports whether a deletion must be confirmed first.
func (l *life) confirmed() bool {
	return slices.Contains([]string{"Project", "Shoot", "ShootState"}, l.kind)
}

// remove deletes an object in the way its kind asks for.
func (l *life) remove(object client.Object) {
	l.t.Helper()
	if l.confirmed() {
		l.confirm(object)
		return
	}
	l.delete(object)
}

// end deletes the object: first in a dry run, then for good, with a finalizer that holds it up.
func (l *life) end(object client.Object) {
	l.t.Helper()
	before := object.GetGeneration()
	l.change(object, func() { object.SetFinalizers(append(object.GetFinalizers(), "example.com/hold")) })
	if l.confirmed() {
		refused(l.t, "API-DELCONF-1: no deletion without a confirmation", l.Client.Delete(l.t.Context(), object), apierrors.IsForbidden, "not confirmed")
		l.change(object, func() {
			object.SetAnnotations(map[string]string{gardencorev1beta1.AnnotationConfirmationDeletion: "true"})
		})
	}
	accepted(l.t, "a dry run of a deletion passes", l.Client.Delete(l.t.Context(), object, client.DryRunAll))
	l.read(object)
	if object.GetDeletionTimestamp() != nil {
		l.t.Fatal("a dry run of a deletion deletes nothing")
	}
	l.delete(object)
	l.read(object)
	if object.GetDeletionTimestamp() == nil {
		l.t.Error("a finalizer holds an object up")
	}
	if got := object.GetGeneration(); l.generation && got != before+1 {
		l.t.Errorf("API-STRAT-2: the deletion is a new generation, got %d after %d", got, before)
	}
	harness.Eventually(l.t, "API-ADM-6: finalizers can always be removed", func(ctx context.Context) error {
		if err := l.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		object.SetFinalizers(slices.DeleteFunc(object.GetFinalizers(), func(f string) bool { return f == "example.com/hold" }))
		return l.Client.Update(ctx, object)
	})
	l.gone(object, "an object without finalizers goes")
}
