// SPDX-License-Identifier: Apache-2.0

package managedresource_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/managedresource"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/target"
)

func TestWhatIsNotDeleted_GRM_DEL_5(t *testing.T) {
	t.Parallel()
	now := clocktesting.NewFakePassiveClock(time.Now())
	cases := map[string]struct {
		reason, metadata string
		garbage, spared  bool
	}{
		"Plain":     {reason: "an object is deleted"},
		"Own":       {reason: "also one with the own origin", metadata: `annotations: {resources.gardener.cloud/origin: garden/test}`},
		"Kept":      {reason: "one that asks for it stays", metadata: `annotations: {resources.gardener.cloud/keep-object: "1"}`, spared: true},
		"TakenOver": {reason: "one that another ManagedResource applies stays", metadata: `annotations: {resources.gardener.cloud/origin: garden/other}`, spared: true},
		"Garbage":   {reason: "the garbage collector has its own", metadata: `labels: {resources.gardener.cloud/garbage-collectable-reference: "true"}`, garbage: true, spared: true},
		"NoGarbage": {reason: "if there is one", metadata: `labels: {resources.gardener.cloud/garbage-collectable-reference: "true"}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: ns, "+strings.TrimSuffix(tc.metadata+", ", ", ")+"}\n")
			c := cluster(t, u.DeepCopy())
			left, err := managedresource.RemoveOne(t.Context(), c, now, tc.garbage, u)
			if err != nil || left {
				t.Fatalf("%s: left: %t, %v", tc.reason, left, err)
			}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(u), u); apierrors.IsNotFound(err) == tc.spared {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

func TestFinalizersGoAfterATime_GRM_DEL_8(t *testing.T) {
	t.Parallel()
	deleted := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now := clocktesting.NewFakePassiveClock(deleted.Add(59 * time.Minute))
	u := object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: ns, finalizers: [a/b], annotations: {resources.gardener.cloud/finalize-deletion-after: 1h}}\n")
	held := u.DeepCopy()
	held.SetDeletionTimestamp(new(metav1.NewTime(deleted)))
	c := cluster(t, held)
	for _, step := range []struct {
		reason string
		there  bool
	}{{"it is not time yet", true}, {"the time has come", false}} {
		if _, err := managedresource.RemoveOne(t.Context(), c, now, false, u); err != nil {
			t.Fatal(err)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(u), u.DeepCopy()); apierrors.IsNotFound(err) == step.there {
			t.Errorf("%s: %v", step.reason, err)
		}
		now.SetTime(deleted.Add(time.Hour))
	}
}

func TestVolumesGoWithTheirSet_GRM_DEL_7(t *testing.T) {
	t.Parallel()
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s"}}
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	claim := func(name, value string) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{"a": value}}}
	}
	var foreground bool
	c := interceptor.NewClient(cluster(t, set, claim("ours", "b"), claim("theirs", "c")), interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			applied := (&client.DeleteOptions{}).ApplyOptions(options)
			foreground = *applied.PropagationPolicy == metav1.DeletePropagationForeground
			return c.Delete(ctx, o, options...)
		},
	})
	if _, err := managedresource.RemoveOne(t.Context(), c, clocktesting.NewFakePassiveClock(time.Now()), false, object(t, "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s, namespace: ns}\n")); err != nil {
		t.Fatal(err)
	}
	list := &corev1.PersistentVolumeClaimList{}
	if err := c.List(t.Context(), list); err != nil || len(list.Items) != 1 || list.Items[0].Name != "theirs" {
		t.Errorf("the claims left are %+v, %v", list.Items, err)
	}
	if !foreground {
		t.Error("GRM-DEL-6: workloads are deleted in the foreground")
	}
}

// TestNamespacesAreFinalized_GRM_DEL_8: the finalizers of a Namespace are in its spec, and only its subresource writes them.
func TestNamespacesAreFinalized_GRM_DEL_8(t *testing.T) {
	t.Parallel()
	deleted := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	home := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: "ns", Finalizers: []string{"a/b"}, DeletionTimestamp: new(metav1.NewTime(deleted)),
		Annotations: map[string]string{"resources.gardener.cloud/finalize-deletion-after": "1h"},
	}}
	home.Spec.Finalizers = []corev1.FinalizerName{corev1.FinalizerKubernetes}
	var wrote []string
	c := interceptor.NewClient(cluster(t, home), interceptor.Funcs{
		SubResourceUpdate: func(_ context.Context, _ client.Client, subresource string, o client.Object, _ ...client.SubResourceUpdateOption) error {
			if n, ok := o.(*corev1.Namespace); ok {
				wrote = append(wrote, fmt.Sprintf("%s of %s: %v", subresource, n.Name, n.Spec.Finalizers))
			}
			return nil
		},
	})
	now := clocktesting.NewFakePassiveClock(deleted.Add(time.Hour))
	if _, err := managedresource.RemoveOne(t.Context(), c, now, false, object(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: ns}\n")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"finalize of ns: []"}, wrote); diff != "" {
		t.Errorf("subresources (-want +got):\n%s", diff)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(home), home); !apierrors.IsNotFound(err) {
		t.Errorf("the other finalizers are left: %v, %v", home.Finalizers, err)
	}
}

// leaving is a ManagedResource of the class seed that is being deleted, in a seed with its objects.
func leaving(t *testing.T, on interceptor.Funcs, objects ...client.Object) (client.WithWatch, reconcile.Request) {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	mr := &gardenresourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{
		Namespace: "garden", Name: "m", Finalizers: []string{"resources.gardener.cloud/gardener-resource-manager-seed"},
		DeletionTimestamp: new(metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))),
	}}
	mr.Spec.Class = new("seed")
	for _, object := range objects {
		if event, ok := object.(*corev1.Event); ok {
			event.Namespace = "ns"
			continue
		}
		kind := object.GetObjectKind().GroupVersionKind()
		mr.Status.Resources = append(mr.Status.Resources, gardenresourcesv1alpha1.ObjectReference{ObjectReference: corev1.ObjectReference{
			APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Namespace: object.GetNamespace(), Name: object.GetName(),
		}})
	}
	index := func(of func(*corev1.Event) string) client.IndexerFunc {
		return func(o client.Object) []string { return []string{of(o.(*corev1.Event))} } //nolint:forcetypeassert // an index of Events
	}
	seed := fake.NewClientBuilder().WithScheme(types).WithObjects(append(objects, mr)...).WithStatusSubresource(mr).
		WithIndex(&corev1.Event{}, "involvedObject.kind", index(func(e *corev1.Event) string { return e.InvolvedObject.Kind })).
		WithIndex(&corev1.Event{}, "involvedObject.name", index(func(e *corev1.Event) string { return e.InvolvedObject.Name })).
		WithIndex(&corev1.Event{}, "type", index(func(e *corev1.Event) string { return e.Type })).
		WithInterceptorFuncs(on).Build()
	return seed, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(mr)}
}

// pass makes a pass on a ManagedResource, and returns its condition ResourcesApplied as words.
func pass(t *testing.T, seed client.WithWatch, request reconcile.Request) (result reconcile.Result, applied string, err error) {
	t.Helper()
	r := &managedresource.Reconciler{
		Base: kit.Base{Client: seed, Reader: seed, Clock: clock.RealClock{}}, SyncPeriod: time.Minute, Targets: target.Finder{Seed: seed},
	}
	result, err = r.Reconcile(t.Context(), request)
	mr := &gardenresourcesv1alpha1.ManagedResource{}
	if err := seed.Get(t.Context(), request.NamespacedName, mr); err != nil {
		t.Fatal(err)
	}
	for _, c := range mr.Status.Conditions {
		if c.Type == gardenresourcesv1alpha1.ConditionTypeResourcesApplied {
			applied = string(c.Status) + " " + c.Reason + ": " + c.Message
		}
	}
	return result, applied, err
}

// held is an object that somebody does not let go.
func held(kind string) client.Object {
	meta := metav1.ObjectMeta{Namespace: "ns", Name: "a", Finalizers: []string{"example.org/hold"}}
	if kind == "Service" {
		return &corev1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: kind}, ObjectMeta: meta}
	}
	return &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: kind}, ObjectMeta: meta}
}

func TestDeletion_GRM_DEL_3(t *testing.T) {
	t.Parallel()
	errBoom := errors.New("boom")
	cases := map[string]struct {
		reason string
		refuse error
		after  time.Duration
		want   string
	}{
		"Pending": {
			reason: "what is left is named and looked at again after 5s", after: 5 * time.Second,
			want: `Progressing DeletionPending: Objects are being deleted: ConfigMap "ns/a"`,
		},
		"Failed": {
			reason: "an error is shown, and tried again after a growing pause", refuse: errBoom,
			want: `False DeletionFailed: delete ConfigMap "ns/a": boom`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
				if tc.refuse != nil {
					return tc.refuse
				}
				return c.Delete(ctx, o, options...)
			}}
			seed, request := leaving(t, on, held("ConfigMap"))
			for range 2 {
				result, applied, err := pass(t, seed, request)
				if result.RequeueAfter != tc.after || !errors.Is(err, tc.refuse) {
					t.Errorf("%s\nReconcile(...) = %v, %v, want another pass after %s, error %v", tc.reason, result, err, tc.after, tc.refuse)
				}
				if diff := cmp.Diff(tc.want, applied); diff != "" {
					t.Errorf("%s\ncondition (-want +got):\n%s", tc.reason, diff)
				}
			}
		})
	}
}

func TestWarningsOfServices_GRM_DEL_3(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	warning := func(minute int, message string, changes ...func(*corev1.Event)) client.Object {
		e := &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("e%d", minute)}, InvolvedObject: corev1.ObjectReference{Kind: "Service", Name: "a"},
			Type: "Warning", Reason: "Sync", Message: message, LastTimestamp: metav1.NewTime(begin.Add(time.Duration(minute) * time.Minute)),
		}
		for _, change := range changes {
			change(e)
		}
		return e
	}
	six := func() []client.Object {
		var all []client.Object
		for i := range 6 {
			all = append(all, warning(i, fmt.Sprint(i)))
		}
		return all
	}
	late := func(e *corev1.Event) {
		e.LastTimestamp = metav1.Time{}
		e.Series = &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(begin.Add(time.Hour))}
	}
	const service, others = `Service "ns/a"`, `ConfigMap "ns/a"`
	cases := map[string]struct {
		reason, kind string
		events       []client.Object
		refuse       error
		want         string
	}{
		"None":  {reason: "nobody complains", kind: "Service", want: service},
		"Last":  {reason: "the last five count, the latest first", kind: "Service", events: six(), want: service + " (Sync: 5; Sync: 4; Sync: 3; Sync: 2; Sync: 1)"},
		"Same":  {reason: "the same is told once", kind: "Service", events: []client.Object{warning(1, "x"), warning(2, "y"), warning(3, "x")}, want: service + " (Sync: x; Sync: y)"},
		"Times": {reason: "a series has its own time", kind: "Service", events: []client.Object{warning(1, "x", late), warning(2, "y")}, want: service + " (Sync: x; Sync: y)"},
		"Long":  {reason: "a text is cut", kind: "Service", events: []client.Object{warning(1, strings.Repeat("x", 400))}, want: service + " (Sync: " + strings.Repeat("x", 294) + "…)"},
		"Theirs": {reason: "events of others and what is no warning do not count", kind: "Service", events: []client.Object{
			warning(1, "x", func(e *corev1.Event) { e.Type = "Normal" }),
			warning(2, "x", func(e *corev1.Event) { e.InvolvedObject.Name = "b" }),
			warning(3, "x", func(e *corev1.Event) { e.InvolvedObject.Kind = "ConfigMap" }),
		}, want: service},
		"Others": {reason: "of other kinds none are told", kind: "ConfigMap", events: []client.Object{
			warning(3, "x", func(e *corev1.Event) { e.InvolvedObject.Kind = "ConfigMap" }),
		}, want: others},
		"Unread": {reason: "the deletion goes on if events cannot be read", kind: "Service", refuse: errors.New("boom"), want: service + " (its events cannot be read: list events: boom)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				if tc.refuse != nil {
					return tc.refuse
				}
				return c.List(ctx, list, options...)
			}}
			seed, request := leaving(t, on, append(slices.Clone(tc.events), held(tc.kind))...)
			result, applied, err := pass(t, seed, request)
			if err != nil || result.RequeueAfter != 5*time.Second {
				t.Errorf("%s\nReconcile(...) = %v, %v, want another pass after 5s", tc.reason, result, err)
			}
			if diff := cmp.Diff(string(gardencorev1beta1.ConditionProgressing)+" DeletionPending: Objects are being deleted: "+tc.want, applied); diff != "" {
				t.Errorf("%s\ncondition (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
