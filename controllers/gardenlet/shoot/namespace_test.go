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

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
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

// TestPinned_GLET_RECON_1 makes the namespaces of shoots whose owners name zones for their control planes. That of a shoot whose volumes may be
// in other zones is not kept there.
func TestPinned_GLET_RECON_1(t *testing.T) {
	t.Parallel()
	const pinning = "high-availability-config.resources.gardener.cloud/zone-pinning"
	for name, tc := range map[string]struct {
		reason string
		live   map[string]string
		want   string
	}{
		"New":      {reason: "nothing is anywhere yet", want: "true"},
		"Pinned":   {reason: "it is where it has always been", live: map[string]string{pinning: "true"}, want: "true"},
		"Unpinned": {reason: "its volumes may be in any zone", live: map[string]string{"shoot.gardener.cloud/uid": "uid-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLandscape(t, fresh())
			home := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shoot--dev--a", Annotations: tc.live}}
			if tc.live != nil {
				l.give(t, l.SeedClient, home)
			}
			s := fresh(func(s *gardencorev1beta1.Shoot) {
				s.Spec.ControlPlane = &gardencorev1beta1.ControlPlane{Zones: []string{"z"}}
			})
			for range 2 {
				if err := shoot.RunTasks(t.Context(), l.Reconciler, s, home.Name, "namespace"); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.SeedClient.Get(t.Context(), client.ObjectKeyFromObject(home), home); err != nil {
				t.Fatal(err)
			}
			if got := home.Annotations[pinning]; got != tc.want {
				t.Errorf("%s: annotation %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
