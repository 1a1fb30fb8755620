// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

const (
	// many is how many shoots the garden of the budgets has.
	many = 2000
	// gardeners is how many of them are created at the same time.
	gardeners = 16
)

// TestBudgets runs the tests in webui/e2e/budgets in front of a garden with many shoots. They measure how fast the pages are, so no other test
// of this package runs meanwhile.
func TestBudgets(t *testing.T) { //nolint:paralleltest // It measures times.
	run := prepare(t)
	w := furnish(t, harness.Start(t, harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) {
		c.Controllers.Project.Quotas = nil // They allow a project fewer shoots.
	})))
	began := time.Now()
	w.plantMany()
	t.Logf("%d shoots created within %s", many, time.Since(began).Round(time.Millisecond))
	run(w, w.flood(), "budgets")
}

// largeSeeds are those that take the shoots.
func largeSeeds() []string { return []string{"eu-1", "eu-2"} }

// plantMany creates the shoots of a large garden, each with a status.
func (w *world) plantMany() {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "team.yaml"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, seed := range largeSeeds() {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"capacity":{"shoots":"5000"},"allocatable":{"shoots":"5000"}}}`))
		if err := w.Client.Status().Patch(w.t.Context(), &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: seed}}, patch); err != nil {
			w.t.Fatal(err)
		}
	}
	group, ctx := errgroup.WithContext(w.t.Context())
	group.SetLimit(gardeners)
	for n := range many {
		group.Go(func() error { return w.plant(ctx, string(w.filled(data)), n) })
	}
	if err := group.Wait(); err != nil {
		w.t.Fatalf("create %d shoots: %v", many, err)
	}
}

// plant creates one of them.
func (w *world) plant(ctx context.Context, template string, n int) error {
	purposes, seeds := []string{"development", "evaluation", "production"}, largeSeeds()
	manifest := strings.NewReplacer(
		"NAME", fmt.Sprintf("team-%04d", n), "PURPOSE", purposes[n%len(purposes)], "SEED", seeds[n%len(seeds)],
	).Replace(template)
	shoot := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &shoot.Object); err != nil {
		return err
	}
	status, err := json.Marshal(map[string]any{"status": shoot.Object["status"]})
	if err != nil {
		return err
	}
	if err := w.Client.Create(ctx, shoot); err != nil {
		return err
	}

	return w.Client.Status().Patch(ctx, shoot, client.RawPatch(types.MergePatchType, status))
}
