// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
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

	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

// TestNamespaceIsDeleted_GLET_DEL_5 deletes a namespace that somebody holds for a while, or for ever.
func TestNamespaceIsDeleted_GLET_DEL_5(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		held   time.Duration
		// within is when the deletion has ended.
		within time.Duration
		fails  string
	}{
		"NotHeld": {reason: "it goes at once"},
		"Held":    {reason: "who holds it has ten minutes", held: 9 * time.Minute, within: 9*time.Minute + 10*time.Second},
		"ForEver": {reason: "and not longer", held: time.Hour, within: 10 * time.Minute, fails: `task "namespace-delete-wait" failed: not done within 10m0s: `},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLandscape(t, fresh())
			home := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--a"}}
			if tc.held > 0 {
				home.Finalizers = []string{"example.org/hold"}
			}
			if err := l.SeedClient.Create(t.Context(), home); err != nil {
				t.Fatal(err)
			}
			var confirmed []string
			inSeed := l.SeedClient.(client.WithWatch) //nolint:forcetypeassert // the client of the tests
			l.SeedClient = interceptor.NewClient(inSeed, interceptor.Funcs{
				Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
					live := &corev1.Namespace{}
					if err := c.Get(ctx, client.ObjectKeyFromObject(o), live); err != nil {
						return err
					}
					confirmed = append(confirmed, live.Name+" "+live.Annotations["confirmation.gardener.cloud/deletion"])
					return c.Delete(ctx, o, options...)
				},
			})
			synctest.Test(t, func(t *testing.T) {
				begin := clock.RealClock{}.Now()
				let := time.AfterFunc(tc.held, func() {
					_ = inSeed.Patch(context.WithoutCancel(t.Context()), home, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))
				})
				defer let.Stop()
				if err := shoot.RunTasks(t.Context(), l.Reconciler, fresh(), "shoot--dev--a", "namespace-delete"); err != nil {
					t.Errorf("%s: RunTasks(...) returned %v", tc.reason, err)
				}
				err := shoot.RunBoundedTasks(t.Context(), l.Reconciler, fresh(), "shoot--dev--a", "namespace-delete-wait")
				if took := (clock.RealClock{}).Since(begin); took > tc.within || took < min(tc.held, tc.within) {
					t.Errorf("%s: it took %s, want %s at most", tc.reason, took, tc.within)
				}
				if (err != nil) != (tc.fails != "") || err != nil && !strings.HasPrefix(err.Error(), tc.fails) {
					t.Errorf("%s: RunBoundedTasks(...) = %v, want %q", tc.reason, err, tc.fails)
				}
			})
			if diff := cmp.Diff([]string{"shoot--dev--a true"}, confirmed); diff != "" {
				t.Errorf("a seed may protect namespaces: deletions and their confirmation (-want +got):\n%s", diff)
			}
		})
	}
}
