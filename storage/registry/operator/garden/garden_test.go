// SPDX-License-Identifier: Apache-2.0

package garden_test

import (
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
	"github.com/terrarium-garden/terrarium/storage/registry/operator/garden"
)

type object = gardenoperatorv1alpha1.Garden

func stores(t *testing.T) (main, status kindtest.Resource[*object]) {
	t.Helper()
	all, err := garden.Storage(kindtest.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	return kindtest.Of[*object](t, all, "gardens"), kindtest.Of[*object](t, all, "gardens/status")
}

func made(name string) *object {
	g := &object{ObjectMeta: metav1.ObjectMeta{Name: name}}
	g.Spec.VirtualCluster.Maintenance.TimeWindow = gardencorev1beta1.MaintenanceTimeWindow{Begin: "220000+0100", End: "230000+0100"}
	g.Spec.VirtualCluster.Kubernetes.Version = "1.36.3"
	return g
}

func TestOnlyOne(t *testing.T) {
	t.Parallel()
	ctx := kindtest.Context(t, "", "rose")
	main, _ := stores(t)
	const tries = 8
	errs := make([]error, tries)
	var wait sync.WaitGroup
	for i := range tries {
		wait.Go(func() { _, errs[i] = main.Create(ctx, made("garden-"+string(rune('a'+i)))) })
	}
	wait.Wait()
	made := 0
	for _, err := range errs {
		switch {
		case err == nil:
			made++
		case !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "there can be only one"):
			t.Errorf("OPER-WH-2: a further Garden is a bad request, got %v", err)
		}
	}
	if made != 1 {
		t.Errorf("OPER-API-1: of %d Gardens that are created at once, one is made, got %d", tries, made)
	}
}

func TestSpecAndStatus(t *testing.T) {
	t.Parallel()
	ctx := kindtest.Context(t, "", "rose")
	main, status := stores(t)
	g := made("garden")
	g.Status.ObservedGeneration = 7
	g = main.MustCreate(ctx, g)
	if g.Generation != 1 || g.Status.ObservedGeneration != 0 {
		t.Errorf("API-STRAT-1: a new Garden is the first of its kind and has no status, got generation %d, observed %d", g.Generation, g.Status.ObservedGeneration)
	}
	g.Spec.RuntimeCluster.Provider.Zones = []string{"a"}
	g.Status.ObservedGeneration = 7
	g = main.MustUpdate(ctx, g)
	if g.Generation != 2 || g.Status.ObservedGeneration != 0 {
		t.Errorf("API-STRAT-2: another spec is another generation, and no status, got generation %d, observed %d", g.Generation, g.Status.ObservedGeneration)
	}
	g.Spec.RuntimeCluster.Provider.Zones = nil
	g.Status.ObservedGeneration = 2
	g = status.MustUpdate(ctx, g)
	if g.Generation != 2 || g.Status.ObservedGeneration != 2 || len(g.Spec.RuntimeCluster.Provider.Zones) != 1 {
		t.Errorf("API-RES-7: a status is written alone, got generation %d, observed %d, zones %q", g.Generation, g.Status.ObservedGeneration, g.Spec.RuntimeCluster.Provider.Zones)
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	plain := map[string]string{
		"K8S Version": "1.36.3", "Gardener Version": "", "Last Operation": "", "Runtime": "", "Virtual": "", "API Server": "", "Observability": "",
	}
	for name, tc := range map[string]struct {
		reason string
		change func(*object)
		want   map[string]string
	}{
		"new": {"nothing is known yet", func(*object) {}, nil},
		"known": {
			"what is known is told",
			func(g *object) {
				g.Status.Gardener = &gardencorev1beta1.Gardener{Version: "v1.149.0"}
				g.Status.LastOperation = &gardencorev1beta1.LastOperation{State: "Succeeded"}
				g.Status.Conditions = []gardencorev1beta1.Condition{
					{Type: "RuntimeComponentsHealthy", Status: "True"},
					{Type: "VirtualComponentsHealthy", Status: "False"},
					{Type: "VirtualGardenAPIServerAvailable", Status: "Progressing"},
					{Type: "ObservabilityComponentsHealthy", Status: "Unknown"},
				}
			},
			map[string]string{
				"Gardener Version": "v1.149.0", "Last Operation": "Succeeded", "Runtime": "True", "Virtual": "False",
				"API Server": "Progressing", "Observability": "Unknown",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			main, _ := stores(t)
			g := made("garden")
			tc.change(g)
			want := maps.Clone(plain)
			maps.Copy(want, tc.want)
			if diff := cmp.Diff(want, main.Row(t.Context(), g)); diff != "" {
				t.Errorf("OPER-CFG-2: %s\ncells (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
