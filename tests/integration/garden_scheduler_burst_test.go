// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestSchedulerBurst_SCHED_USAGE_1 orders 500 shoots at once. They are spread evenly, and no seed is ever overbooked.
func TestSchedulerBurst_SCHED_USAGE_1(t *testing.T) {
	t.Parallel()
	const shoots, seeds, small, writers = 500, 10, 30, 16
	o := operate(t, harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) { c.Controllers.Project.Quotas = nil }))
	o.provider("local")
	namespace := *o.project("dev").Spec.Namespace
	for n := range seeds {
		seed := o.seed(fmt.Sprintf("s%d", n), "local", "north")
		limit := "1000"
		if n < 2 {
			limit = fmt.Sprint(small)
		}
		o.changeStatus(seed, func() { seed.Status.Allocatable = corev1.ResourceList{"shoots": resource.MustParse(limit)} })
	}

	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(writers)
	for n := range shoots {
		group.Go(func() error { return o.Client.Create(ctx, ordered(namespace, fmt.Sprintf("b%d", n))) })
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("order shoots: %v", err)
	}
	on := map[string]int{}
	harness.Eventually(t, "each shoot gets a seed", func(ctx context.Context) error {
		list := &gardencorev1beta1.ShootList{}
		if err := o.Client.List(ctx, list); err != nil {
			return err
		}
		clear(on)
		for i := range list.Items {
			if name := list.Items[i].Spec.SeedName; name != nil {
				on[*name]++
			}
		}
		for _, name := range []string{"s0", "s1"} {
			if on[name] > small {
				t.Fatalf("SCHED-FILT-10d: seed %s has room for %d shoots and got %d", name, small, on[name])
			}
		}
		placed := 0
		for _, n := range on {
			placed += n
		}
		return has(placed == shoots, "%d of %d shoots have one", placed, shoots)
	})
	if diff := cmp.Diff(map[string]int{"s0": small, "s1": small}, map[string]int{"s0": on["s0"], "s1": on["s1"]}); diff != "" {
		t.Errorf("SCHED-STRAT-5: the small seeds are filled: shoots by seed (-want +got):\n%s", diff)
	}
	delete(on, "s0")
	delete(on, "s1")
	numbers := slices.Sorted(maps.Values(on))
	if least, most := numbers[0], numbers[len(numbers)-1]; (most-least)*20 > most {
		t.Errorf("SCHED-STRAT-5: shoots that come at once are spread evenly, got %v", on)
	}
}
