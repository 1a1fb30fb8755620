// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// keyOf sorts objects as an API server does.
func keyOf(o runtime.Object) string {
	object, _ := meta.Accessor(o)
	return object.GetNamespace() + "/" + object.GetName()
}

// heavy is a cluster whose owner has made large objects: an answer with more than two of the given kinds is too large. Without a kind, all
// objects are.
func heavy(t *testing.T, c client.Client, kinds ...string) client.WithWatch {
	t.Helper()
	whole, ok := c.(client.WithWatch)
	if !ok {
		t.Fatal("the client cannot be intercepted")
	}
	return interceptor.NewClient(whole, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			kind, err := apiutil.GVKForObject(list, c.Scheme())
			if err != nil {
				return err
			}
			o := (&client.ListOptions{}).ApplyOptions(options)
			if len(kinds) > 0 && !slices.Contains(kinds, strings.TrimSuffix(kind.Kind, "List")) {
				return c.List(ctx, list, options...)
			}
			if o.Limit == 0 || o.Limit > 2 {
				return fmt.Errorf("read the answer: %w", kit.ErrTooLarge)
			}
			return page(ctx, c, list, *o)
		},
	})
}

// page lists one page of a client that knows no pages.
func page(ctx context.Context, c client.Client, list client.ObjectList, o client.ListOptions) error {
	limit, after := int(o.Limit), o.Continue
	o.Limit, o.Continue = 0, ""
	if err := c.List(ctx, list, &o); err != nil {
		return err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	items = slices.DeleteFunc(items, func(o runtime.Object) bool { return keyOf(o) <= after })
	slices.SortFunc(items, func(a, b runtime.Object) int { return strings.Compare(keyOf(a), keyOf(b)) })
	if len(items) > limit {
		items = items[:limit]
		list.SetContinue(keyOf(items[limit-1]))
	}
	return meta.SetList(list, items)
}

// TestCleanHeavyCluster cleans up a cluster whose namespaces and objects do not fit into one answer.
func TestCleanHeavyCluster_GLET_CLEAN_6(t *testing.T) {
	t.Parallel()
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "b"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}},
	}
	for i := range 5 {
		objects = append(objects, service(fmt.Sprintf("users-%d", i), nil))
	}
	c := cleaner(t, append(objects, service("held", nil, "example.com/hold"))...)
	c.Client = heavy(t, c.Client)
	synctest.Test(t, func(t *testing.T) {
		group := services(time.Hour)
		group.Latest = c.Clock.Now().Add(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := c.Clean(ctx, group); err == nil || !strings.Contains(err.Error(), "still there: Service default/held (") {
			t.Errorf("Clean(...) = %v, want it to wait for the one object that is held", err)
		}
	})
}

// TestUnrestOfAHeavyCluster puts a cluster to sleep none of whose lists fit into one answer.
func TestUnrestOfAHeavyCluster_GLET_HIB_2(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	inside := heavy(t, b.inside)
	named := func(i int) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("one-%d", i)}
	}
	for _, kind := range []struct {
		object func(meta metav1.ObjectMeta) client.Object
		want   string
		// helped says that what is left is deleted meanwhile.
		helped bool
	}{
		{object: func(m metav1.ObjectMeta) client.Object {
			m.Namespace = ""
			return &corev1.Node{ObjectMeta: m}
		}, want: `node "one-%d"`},
		{object: func(m metav1.ObjectMeta) client.Object {
			return &corev1.Pod{ObjectMeta: m, Spec: corev1.PodSpec{NodeName: "gone"}}
		}, want: `pod "default/one-%d"`, helped: true},
		{object: func(m metav1.ObjectMeta) client.Object {
			return &discoveryv1.EndpointSlice{ObjectMeta: m, Endpoints: []discoveryv1.Endpoint{{TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: "gone"}}}}
		}, want: `addresses of pods in endpoint slice "default/one-%d"`},
		{object: func(m metav1.ObjectMeta) client.Object {
			m.Namespace = ""
			return &storagev1.VolumeAttachment{ObjectMeta: m}
		}, want: `volume attachment "one-%d"`, helped: true},
	} {
		var want []string
		for i := range 5 {
			b.give(t, b.inside, kind.object(named(i)))
			want = append(want, fmt.Sprintf(kind.want, i))
		}
		left, err := shoot.Unrest(t.Context(), b.Reconciler, inside)
		if diff := cmp.Diff(want, left); diff != "" || err != nil {
			t.Errorf("what is left: error %v (-want +got):\n%s", err, diff)
		}
		for i := range 5 {
			if err := b.inside.Delete(t.Context(), kind.object(named(i))); !kind.helped && err != nil {
				t.Fatal(err)
			}
		}
	}
	if left, err := shoot.Unrest(t.Context(), b.Reconciler, inside); len(left) > 0 || err != nil {
		t.Errorf("the cluster is at rest, but %v is left, error %v", left, err)
	}
}
