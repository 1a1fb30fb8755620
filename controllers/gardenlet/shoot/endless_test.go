// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// endless is a cluster in which a program of the owner answers lists of a kind without an end: every page has more objects of other names.
func endless(t *testing.T, c client.Client, kind string) client.WithWatch {
	t.Helper()
	whole, _ := c.(client.WithWatch)
	pages := 0
	return interceptor.NewClient(whole, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			found, ok := list.(*metav1.PartialObjectMetadataList)
			if !ok || found.Kind != kind+"List" {
				return c.List(ctx, list, options...)
			}
			if pages++; pages > 5000 {
				t.Error("the list is read without an end")
				return context.Canceled
			}
			limit := (&client.ListOptions{}).ApplyOptions(options).Limit
			for i := range limit {
				found.Items = append(found.Items, metav1.PartialObjectMetadata{
					ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("%d-%d", pages, i)},
				})
			}
			found.Continue = "more"
			return nil
		},
		// Nothing is written of what does not exist.
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			if object.GetNamespace() == "default" && object.GetObjectKind().GroupVersionKind().Kind == kind && strings.Contains(object.GetName(), "-") {
				return nil
			}
			return c.Delete(ctx, object, options...)
		},
	})
}

// TestCleanEndlessList cleans up what there is beside a list that has no end, and names little of that.
func TestCleanEndlessList_GLET_CLEAN_8(t *testing.T) {
	t.Parallel()
	c := cleaner(t, service("users", nil))
	c.Client = endless(t, c.Client, "ConfigMap")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		group := services(time.Hour)
		group.Kinds = append(group.Kinds, corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		err := c.Clean(ctx, group)
		if err == nil || !strings.Contains(err.Error(), " more, and more than could be looked at (") || strings.Count(err.Error(), "ConfigMap") > 10 {
			t.Errorf("Clean(...) = %v, want ten objects, a number, and that there are more", err)
		}
		if diff := cmp.Diff([]string(nil), left(t, c)); diff != "" {
			t.Errorf("Services after the clean-up (-want +got):\n%s", diff)
		}
	})
}

// TestCleanUnknownHomes has more namespaces than are read: an object is waited for although nobody has seen its namespace.
func TestCleanUnknownHomes_GLET_CLEAN_6(t *testing.T) {
	t.Parallel()
	c := cleaner(t, service("held", nil, "example.com/hold"))
	c.Client = endless(t, c.Client, "Namespace")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		group := services(time.Hour)
		group.Latest = clock.RealClock{}.Now().Add(time.Hour)
		if err := c.Clean(ctx, group); err == nil || !strings.Contains(err.Error(), "still there: Service default/held (") {
			t.Errorf("Clean(...) = %v, want it to wait for the object", err)
		}
	})
}
