// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
)

const (
	operation   = "gardener.cloud/operation"
	maintenance = "maintenance.gardener.cloud/operation"
)

// grows tells what an update made of the generation and of the operation annotations.
type grows struct {
	Grown                  bool
	Operation, Maintenance string
}

func TestGeneration(t *testing.T) {
	t.Parallel()
	processing, failed := last("Reconcile", "Processing"), last("Reconcile", "Failed")
	confined := func(s *object) {
		s.Spec.Maintenance = &gardencorev1beta1.Maintenance{ConfineSpecUpdateRollout: new(true)}
	}
	purpose := func(s *object) { s.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting) }
	asleep := func(s *object) { s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)} }
	withoutSSH := func(s *object) {
		s.Spec.Provider.WorkersSettings = &gardencorev1beta1.WorkersSettings{SSHAccess: &gardencorev1beta1.SSHAccess{}}
	}
	none := func(*object) {}
	for name, tc := range map[string]struct {
		reason string
		// before is how the shoot is made, status how it does then, change the update.
		before, status, change func(*object)
		want                   grows
	}{
		"API-STRAT-2 nothing":        {"an update that changes nothing counts for nothing", none, none, none, grows{}},
		"API-STRAT-2 label":          {"metadata does not count", none, none, annotated("a", "b"), grows{}},
		"API-SHOOTSTRAT-1 spec":      {"a changed spec counts", none, none, purpose, grows{Grown: true}},
		"API-SHOOTSTRAT-2 confined":  {"with confined roll-out a changed spec waits", confined, none, purpose, grows{}},
		"API-SHOOTSTRAT-2 sleep":     {"but going to sleep does not", confined, none, asleep, grows{Grown: true}},
		"API-SHOOTSTRAT-3 retry":     {"a failed shoot is tried again", none, failed, annotated(operation, "retry"), grows{Grown: true}},
		"API-SHOOTSTRAT-3 other":     {"a failed shoot does nothing else", none, failed, annotated(operation, "reconcile"), grows{Operation: "reconcile"}},
		"API-SHOOTSTRAT-3 rotate":    {"not even a rotation", none, failed, annotated(operation, "rotate-ca-start"), grows{Operation: "rotate-ca-start"}},
		"API-SHOOTSTRAT-4 too early": {"without a last operation nothing is to be repeated", none, none, annotated(operation, "reconcile"), grows{Operation: "reconcile"}},
		"API-SHOOTSTRAT-4 reconcile": {"reconcile is taken away", none, processing, annotated(operation, "reconcile"), grows{Grown: true}},
		"API-SHOOTSTRAT-4 rotate":    {"a rotation stays for the gardenlet", none, processing, annotated(operation, "rotate-ca-start"), grows{Grown: true, Operation: "rotate-ca-start"}},
		"API-SHOOTSTRAT-4 ssh":       {"a key pair is rotated", none, processing, annotated(operation, "rotate-ssh-keypair"), grows{Grown: true, Operation: "rotate-ssh-keypair"}},
		"API-SHOOTSTRAT-4 no ssh":    {"there is none without access by SSH", withoutSSH, processing, annotated(operation, "rotate-ssh-keypair"), grows{}},
		"API-SHOOTSTRAT-4 maintain":  {"maintenance is the controller's business", none, processing, annotated(operation, "maintain"), grows{Operation: "maintain"}},
		"API-SHOOTSTRAT-4 retry":     {"what has not failed is not tried again", none, processing, annotated(operation, "retry"), grows{Operation: "retry"}},
		"API-SHOOTSTRAT-5 start": {
			"operations on all credentials absorb the single ones", none, processing,
			annotated(operation, "rotate-credentials-start;rotate-ca-start;rotate-observability-credentials;rotate-etcd-encryption-key"),
			grows{Grown: true, Operation: "rotate-credentials-start"},
		},
		"API-SHOOTSTRAT-5 pools":    {"a roll-out of pools stays", none, processing, annotated(operation, "rollout-workers=one"), grows{Grown: true, Operation: "rollout-workers=one"}},
		"API-SHOOTSTRAT-5 in place": {"permission for updates in place changes nothing by itself", none, processing, annotated(operation, "force-in-place-update"), grows{Operation: "force-in-place-update"}},
		"API-SHOOTSTRAT-6": {
			"lists are cleaned up and sorted", none, processing,
			func(s *object) {
				annotated(operation, " rotate-ssh-keypair;rotate-ca-start;rotate-ssh-keypair ")(s)
				annotated(maintenance, "reconcile ; reconcile")(s)
			},
			grows{Grown: true, Operation: "rotate-ca-start;rotate-ssh-keypair", Maintenance: "reconcile"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.main.MustCreate(w.ctx, sprout(tc.before))
			tc.status(s)
			s = w.status.MustUpdate(w.ctx, s)
			tc.change(s)
			before := s.Generation
			got, err := w.main.Update(w.ctx, s)
			if err != nil {
				t.Fatalf("%s\nUpdate: %v", tc.reason, err)
			}
			is := grows{Grown: got.Generation == before+1, Operation: got.Annotations[operation], Maintenance: got.Annotations[maintenance]}
			if diff := cmp.Diff(tc.want, is); diff != "" || got.Generation > before+1 {
				t.Errorf("%s\nUpdate (-want +got):\n%s\ngeneration %d after %d", tc.reason, diff, got.Generation, before)
			}
		})
	}
}

// TestNoOperation writes annotations that ask for an operation without a name, and for none.
func TestNoOperation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.main.MustCreate(w.ctx, sprout())
	for _, key := range []string{operation, maintenance} {
		for _, value := range []string{";", " ; ", "reconcile;"} {
			asked := s.DeepCopy()
			annotated(key, value)(asked)
			if _, err := w.main.Update(w.ctx, asked); !apierrors.IsInvalid(err) {
				t.Errorf("API-VALOP-1: %s=%q names no operation: got %v, want Invalid", key, value, err)
			}
		}
		asked := s.DeepCopy()
		annotated(key, " ")(asked)
		s = w.main.MustUpdate(w.ctx, asked)
		if value, ok := s.Annotations[key]; ok {
			t.Errorf("API-SHOOTSTRAT-6: a blank %s asks for nothing and goes, got %q", key, value)
		}
	}
}

func TestGenerationByRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.main.MustCreate(w.ctx, sprout())
	last("Reconcile", "Succeeded")(s)
	s = w.status.MustUpdate(w.ctx, s)
	annotated(operation, "rotate-ca-start")(s)
	s = w.main.MustUpdate(w.ctx, s)
	before := s.Generation
	annotated("a", "b")(s)
	if s = w.main.MustUpdate(w.ctx, s); s.Generation != before || s.Annotations[operation] != "rotate-ca-start" {
		t.Errorf("API-SHOOTSTRAT-4: a rotation that is still to do does not count twice, got generation %d after %d", s.Generation, before)
	}
}

func TestGenerationByForce(t *testing.T) {
	t.Parallel()
	const force = "confirmation.gardener.cloud/force-deletion"
	w := newWorld(t)
	s := w.main.MustCreate(w.ctx, sprout(func(s *object) { s.Finalizers = []string{"example.com/mine"} }))
	s.Status.LastErrors = []gardencorev1beta1.LastError{{Codes: []gardencorev1beta1.ErrorCode{"ERR_INFRA_UNAUTHORIZED"}}}
	s = w.status.MustUpdate(w.ctx, s)
	s = w.delete(t, s)
	if s.Generation != 2 {
		t.Errorf("API-STRAT-2: a deletion counts, got generation %d", s.Generation)
	}
	annotated(force, "true")(s)
	if s = w.main.MustUpdate(w.ctx, s); s.Generation != 3 {
		t.Errorf("API-SHOOTSTRAT-1: the wish to delete by force counts, got generation %d", s.Generation)
	}
	annotated(force, "1")(s)
	if s = w.main.MustUpdate(w.ctx, s); s.Generation != 3 {
		t.Errorf("API-SHOOTSTRAT-1: it counts once, got generation %d", s.Generation)
	}
}

func TestGenerationOnCreate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.main.MustCreate(w.ctx, sprout(last("Create", "Succeeded"), func(s *object) { s.Generation = 7 }))
	if s.Generation != 1 || s.Status.LastOperation != nil {
		t.Errorf("API-STRAT-1: a new shoot has generation 1 and no status, got %d, %v", s.Generation, s.Status.LastOperation)
	}
}

func TestGenerationOnStatus(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason       string
		first, then  func(*object)
		before, want int64
	}{
		"API-SHOOTSTRAT-7 let go":  {"the new seed starts once the old one has let go", last("Migrate", "Processing"), last("Migrate", "Succeeded"), 1, 2},
		"API-SHOOTSTRAT-7 aborted": {"or has given up", last("Migrate", "Processing"), last("Migrate", "Aborted"), 1, 2},
		"API-SHOOTSTRAT-7 once":    {"that counts once", last("Migrate", "Succeeded"), last("Migrate", "Succeeded"), 2, 2},
		"API-SHOOTSTRAT-7 etcd":    {"an encryption key that is to be exchanged in one go is exchanged further", etcdKey("Preparing", true), etcdKey("Prepared", true), 1, 2},
		"API-SHOOTSTRAT-7 steps":   {"one that is exchanged in two steps waits", etcdKey("Preparing", false), etcdKey("Prepared", false), 1, 1},
		"API-SHOOTSTRAT-7 others":  {"other operations do not count", last("Reconcile", "Processing"), last("Reconcile", "Succeeded"), 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := w.main.MustCreate(w.ctx, sprout())
			tc.first(s)
			s = w.status.MustUpdate(w.ctx, s)
			if s.Generation != tc.before {
				t.Fatalf("generation = %d, want %d", s.Generation, tc.before)
			}
			tc.then(s)
			if got := w.status.MustUpdate(w.ctx, s); got.Generation != tc.want {
				t.Errorf("%s: generation %d, want %d", tc.reason, got.Generation, tc.want)
			}
		})
	}
}

func TestStatusKeepsTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.main.MustCreate(w.ctx, sprout(func(s *object) { s.Finalizers = []string{"example.com/mine"} }))
	s.Labels, s.Annotations, s.Finalizers = map[string]string{"a": "b"}, map[string]string{"a": "b"}, nil
	s.Spec.Region, s.Status.TechnicalID = "south", "shoot--meadow--sprout"
	s = w.status.MustUpdate(w.ctx, s)
	if len(s.Labels) != 1 || s.Labels["a"] != "" || s.Annotations != nil || len(s.Finalizers) != 1 || s.Spec.Region != "north" || s.Status.TechnicalID == "" {
		t.Errorf("API-RES-7: a write to the status changes nothing else, got %+v", s)
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.main.MustCreate(w.ctx, sprout(func(s *object) {
		s.Labels = map[string]string{"name.seed.gardener.cloud/forged": "true", "shoot.gardener.cloud/self-hosted": "true", "mine": "yes"}
	}))
	if diff := cmp.Diff(map[string]string{"mine": "yes", "shoot.gardener.cloud/status": "healthy"}, s.Labels); diff != "" {
		t.Errorf("API-STRAT-10: labels of the server cannot be forged (-want +got):\n%s", diff)
	}
	seeded("a")(s)
	s = w.binding.MustUpdate(w.ctx, s)
	s.Status.SeedName = new("b")
	s = w.status.MustUpdate(w.ctx, s)
	want := map[string]string{
		"mine": "yes", "name.seed.gardener.cloud/a": "true", "name.seed.gardener.cloud/b": "true",
		"shoot.gardener.cloud/status": "healthy",
	}
	if diff := cmp.Diff(want, s.Labels); diff != "" {
		t.Errorf("API-STRAT-10: both seeds select the shoot (-want +got):\n%s", diff)
	}
	s.Status.SeedName = new("a")
	s = w.status.MustUpdate(w.ctx, s)
	want = map[string]string{"mine": "yes", "name.seed.gardener.cloud/a": "true", "shoot.gardener.cloud/status": "healthy"}
	if diff := cmp.Diff(want, s.Labels); diff != "" {
		t.Errorf("API-STRAT-10: a seed that was left selects it no more (-want +got):\n%s", diff)
	}
	hosting := w.main.MustCreate(kindtest.Context(t, "garden", "rose"), sprout(func(s *object) {
		s.Namespace, s.Spec.Provider.Workers[0].ControlPlane = "garden", &gardencorev1beta1.WorkerControlPlane{}
	}))
	want = map[string]string{"shoot.gardener.cloud/self-hosted": "true", "shoot.gardener.cloud/status": "healthy"}
	if diff := cmp.Diff(want, hosting.Labels); diff != "" {
		t.Errorf("API-STRAT-10: a shoot that hosts itself shows it (-want +got):\n%s", diff)
	}
}
