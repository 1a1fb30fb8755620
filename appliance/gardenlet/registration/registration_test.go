// SPDX-License-Identifier: Apache-2.0

package registration_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/registration"
)

func registrar(t *testing.T, objects ...client.Object) registration.Registrar {
	t.Helper()
	s, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	return registration.Registrar{
		Garden: fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).WithStatusSubresource(&gardencorev1beta1.Shoot{}).Build(),
		Template: gardencorev1beta1.SeedTemplate{
			ObjectMeta: metav1.ObjectMeta{Name: "one", Labels: map[string]string{"a": "new"}, Annotations: map[string]string{"b": "new"}},
			Spec:       gardencorev1beta1.SeedSpec{Provider: gardencorev1beta1.SeedProvider{Type: "local", Region: "north"}},
		},
		ClusterIdentity: "ours",
		Clock:           clocktesting.NewFakeClock(time.Unix(1000, 0)),
	}
}

func TestRegister(t *testing.T) {
	t.Parallel()
	existing := func(identity *string) *gardencorev1beta1.Seed {
		s := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one", Labels: map[string]string{"a": "old", "mine": "kept"}, Annotations: map[string]string{"c": "kept"}}}
		s.Spec.Provider = gardencorev1beta1.SeedProvider{Type: "local", Region: "south", Zones: []string{"x"}}
		s.Status.ClusterIdentity = identity
		return s
	}
	own := map[string]string{"a": "new", "gardener.cloud/role": "seed", "name.seed.gardener.cloud/one": "true"}
	cases := map[string]struct {
		reason          string
		existing        *gardencorev1beta1.Seed
		wantLabels      map[string]string
		wantAnnotations map[string]string
		wantErr         error
	}{
		"New": {reason: "GLET-REG-1: a missing Seed is created", wantLabels: own, wantAnnotations: map[string]string{"b": "new"}},
		"Existing": {
			reason:     "GLET-REG-1: labels and annotations are merged, the spec is replaced",
			existing:   existing(nil),
			wantLabels: map[string]string{"a": "new", "mine": "kept", "gardener.cloud/role": "seed", "name.seed.gardener.cloud/one": "true"}, wantAnnotations: map[string]string{"b": "new", "c": "kept"},
		},
		"OwnCluster":   {reason: "a Seed of this cluster is ours", existing: existing(new("ours")), wantLabels: map[string]string{"a": "new", "mine": "kept", "gardener.cloud/role": "seed", "name.seed.gardener.cloud/one": "true"}, wantAnnotations: map[string]string{"b": "new", "c": "kept"}},
		"OtherCluster": {reason: "a Seed of another cluster is left alone", existing: existing(new("theirs")), wantErr: registration.ErrNameTaken},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var objects []client.Object
			if tc.existing != nil {
				objects = append(objects, tc.existing)
			}
			r := registrar(t, objects...)
			if err := r.Register(t.Context()); !errors.Is(err, tc.wantErr) {
				t.Fatalf("%s\nRegister(...): got error %v, want %v", tc.reason, err, tc.wantErr)
			}
			got := &gardencorev1beta1.Seed{}
			if err := r.Garden.Get(t.Context(), client.ObjectKey{Name: "one"}, got); err != nil {
				t.Fatal(err)
			}
			if tc.wantErr != nil {
				if got.Spec.Provider.Region != "south" {
					t.Errorf("%s\nthe Seed was changed: %+v", tc.reason, got)
				}
				return
			}
			if diff := cmp.Diff(tc.wantLabels, got.Labels); diff != "" {
				t.Errorf("%s\nlabels (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.wantAnnotations, got.Annotations); diff != "" {
				t.Errorf("%s\nannotations (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(r.Template.Spec, got.Spec); diff != "" {
				t.Errorf("%s\nspec (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAwaitNamespace(t *testing.T) {
	t.Parallel()
	t.Run("There", func(t *testing.T) {
		t.Parallel()
		r := registrar(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "seed-one"}})
		if err := r.AwaitNamespace(t.Context()); err != nil {
			t.Errorf("A namespace that is there is not waited for: %v", err)
		}
	})
	t.Run("Never", func(t *testing.T) {
		t.Parallel()
		r := registrar(t)
		clk := clocktesting.NewFakeClock(time.Unix(1000, 0))
		r.Clock = clk
		done := make(chan error, 1)
		go func() { done <- r.AwaitNamespace(t.Context()) }()
		for steps := 0; ; {
			select {
			case err := <-done:
				if err != nil {
					t.Errorf("GLET-REG-3: a garden without that namespace is no reason to stop: %v", err)
				}
				if steps != 10 {
					t.Errorf("GLET-REG-3: looked for it %d times, want 10 in 5 s", steps)
				}
				return
			default:
				if clk.HasWaiters() {
					clk.Step(500 * time.Millisecond)
					steps++
				}
			}
		}
	})
}

func TestAbortOperations(t *testing.T) {
	t.Parallel()
	shoot := func(name, state, spec, status string) *gardencorev1beta1.Shoot {
		s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-x", Name: name, Labels: map[string]string{"name.seed.gardener.cloud/one": "true"}}}
		s.Spec.SeedName = &spec
		if status != "" {
			s.Status.SeedName = &status
		}
		if state != "" {
			s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Create", State: gardencorev1beta1.LastOperationState(state), Progress: 30, Description: "half"}
		}
		return s
	}
	r := registrar(t,
		shoot("working", "Processing", "one", "one"), shoot("new", "Processing", "one", ""), shoot("done", "Succeeded", "one", "one"),
		shoot("untouched", "", "one", ""), shoot("leaving", "Processing", "two", "one"), shoot("coming", "Processing", "one", "two"),
	)
	got, err := r.AbortOperations(t.Context())
	if err != nil {
		t.Fatalf("AbortOperations(...): %v", err)
	}
	if diff := cmp.Diff([]string{"garden-x/leaving", "garden-x/new", "garden-x/working"}, got); diff != "" {
		t.Errorf("GLET-REG-5: what this seed was in the middle of is aborted (-want +got):\n%s", diff)
	}
	found := &gardencorev1beta1.Shoot{}
	if err := r.Garden.Get(t.Context(), client.ObjectKey{Namespace: "garden-x", Name: "working"}, found); err != nil {
		t.Fatal(err)
	}
	want := &gardencorev1beta1.LastOperation{Type: "Create", State: "Aborted", Progress: 30, Description: "half", LastUpdateTime: metav1.Unix(1000, 0)}
	if diff := cmp.Diff(want, found.Status.LastOperation); diff != "" {
		t.Errorf("GLET-REG-5: only the state changes (-want +got):\n%s", diff)
	}
}
