// SPDX-License-Identifier: Apache-2.0

package shootstatus_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shootstatus"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const plane = "shoot--meadow--sprout"

// plant is a shoot of two manual pools that wait for their owner.
func plant() *gardencorev1beta1.Shoot {
	manual := gardencorev1beta1.MachineUpdateStrategyManualInPlaceUpdate
	s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "sprout"}}
	s.Spec.Kubernetes.Version = "1.36.3"
	s.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "a", UpdateStrategy: &manual}, {Name: "b", UpdateStrategy: &manual}}
	s.Spec.SeedName, s.Status.SeedName, s.Status.TechnicalID = new("local"), new("local"), plane
	s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Succeeded"}
	s.Status.InPlaceUpdates = listed("a", "b")
	return s
}

func listed(pools ...string) *gardencorev1beta1.InPlaceUpdatesStatus {
	return &gardencorev1beta1.InPlaceUpdatesStatus{PendingWorkerUpdates: &gardencorev1beta1.PendingWorkerUpdates{ManualInPlaceUpdate: pools}}
}

func preparing(s *gardencorev1beta1.Shoot) {
	s.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{
		CertificateAuthorities: &gardencorev1beta1.CARotation{Phase: "Preparing"},
	}}
}

// TestFinishedPoolsGo_GLET_STAT_1 tells which pools remain, and when the shoot is reconciled.
func TestFinishedPoolsGo_GLET_STAT_1(t *testing.T) {
	t.Parallel()
	type change = func(*gardencorev1beta1.Shoot)
	for name, tc := range map[string]struct {
		reason  string
		change  change
		updated []string
		left    *gardencorev1beta1.InPlaceUpdatesStatus
		asked   string
	}{
		"none":    {reason: "nothing is updated", change: preparing, left: listed("a", "b")},
		"one":     {reason: "the other one still waits, and so does the rotation", change: preparing, updated: []string{"a"}, left: listed("b")},
		"all":     {reason: "the rotation goes on", change: preparing, updated: []string{"a", "b"}, asked: "reconcile"},
		"no wait": {reason: "nobody has waited", updated: []string{"a", "b"}},
		"prepared": {reason: "the rotation waits for its owner", updated: []string{"a", "b"}, change: func(s *gardencorev1beta1.Shoot) {
			preparing(s)
			s.Status.Credentials.Rotation.CertificateAuthorities.Phase = "Prepared"
		}},
		"running":    {reason: "the operation that runs sees it", updated: []string{"a", "b"}, change: func(s *gardencorev1beta1.Shoot) { preparing(s); s.Status.LastOperation.State = "Processing" }},
		"not listed": {reason: "only operations list pools", change: func(s *gardencorev1beta1.Shoot) { s.Status.InPlaceUpdates = listed("a") }, updated: []string{"a"}},
		"gone":       {reason: "a pool that does not exist waits for nobody", change: func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers = s.Spec.Provider.Workers[:1] }, left: listed("a")},
		"with another": {reason: "what is asked for already remains", updated: []string{"a", "b"}, change: func(s *gardencorev1beta1.Shoot) {
			preparing(s)
			s.Annotations = map[string]string{gardencorev1beta1.AnnotationOperation: "rotate-ssh-keypair"}
		}, asked: "rotate-ssh-keypair;reconcile"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := plant()
			worker := &gardenextensionsv1alpha1.Worker{ObjectMeta: metav1.ObjectMeta{Namespace: plane, Name: "sprout"}}
			if tc.change != nil {
				tc.change(s)
			}
			hashes := map[string]string{"a": "v1-old", "b": "v1-old"}
			for _, pool := range tc.updated {
				hashes[pool] = query.InPlaceHash(s, query.Pool(&plant().Spec, pool))
			}
			worker.Status.InPlaceUpdates = &gardenextensionsv1alpha1.InPlaceUpdatesWorkerStatus{WorkerPoolToHashMap: hashes}
			types, err := scheme.New()
			if err != nil {
				t.Fatal(err)
			}
			garden := fake.NewClientBuilder().WithScheme(types).WithObjects(s).WithStatusSubresource(s).Build()
			r := &shootstatus.Reconciler{SeedBase: kit.SeedBase{
				GardenClient: garden, GardenReader: garden, SeedClient: fake.NewClientBuilder().WithScheme(types).WithObjects(worker).Build(), SeedName: "local",
			}}
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)}); err != nil {
				t.Fatal(err)
			}
			after := &gardencorev1beta1.Shoot{}
			if err := garden.Get(t.Context(), client.ObjectKeyFromObject(s), after); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.left, after.Status.InPlaceUpdates); diff != "" {
				t.Errorf("%s\npending (-want +got):\n%s", tc.reason, diff)
			}
			if got := after.Annotations[gardencorev1beta1.AnnotationOperation]; got != tc.asked {
				t.Errorf("%s\nasked for %q, want %q", tc.reason, got, tc.asked)
			}
		})
	}
}

// TestNodesTell_GLET_STAT_1: of pools whose provider counts in another way, the nodes tell when all of them are updated. They are looked at again as long
// as a pool waits.
func TestNodesTell_GLET_STAT_1(t *testing.T) {
	t.Parallel()
	wanted := query.InPlaceHash(plant(), &plant().Spec.Provider.Workers[0])
	node := func(name, pool, applied string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{gardencorev1beta1.LabelWorkerPool: pool},
			Annotations: map[string]string{gardenmachinev1alpha1.AnnotationInPlaceApplied: applied},
		}}
	}
	for name, tc := range map[string]struct {
		reason string
		nodes  []*corev1.Node
		left   *gardencorev1beta1.InPlaceUpdatesStatus
	}{
		"behind":  {"no node is updated", []*corev1.Node{node("1", "a", "v1-old"), node("2", "b", "v1-old")}, listed("a", "b")},
		"partly":  {"a pool waits for each of its nodes", []*corev1.Node{node("1", "a", "v1-old"), node("2", "a", wanted), node("3", "b", wanted)}, listed("a")},
		"updated": {"all nodes are", []*corev1.Node{node("1", "a", wanted), node("2", "a", ""), node("3", "b", wanted)}, nil},
		"none":    {"a pool without nodes waits for nobody", []*corev1.Node{node("3", "b", "v1-old")}, listed("b")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			types, err := scheme.New()
			if err != nil {
				t.Fatal(err)
			}
			s := plant()
			worker := &gardenextensionsv1alpha1.Worker{ObjectMeta: metav1.ObjectMeta{Namespace: plane, Name: "sprout"}}
			worker.Status.InPlaceUpdates = &gardenextensionsv1alpha1.InPlaceUpdatesWorkerStatus{WorkerPoolToHashMap: map[string]string{"a": "0123"}}
			garden := fake.NewClientBuilder().WithScheme(types).WithObjects(s).WithStatusSubresource(s).Build()
			inside := fake.NewClientBuilder().WithScheme(types)
			for _, n := range tc.nodes {
				inside = inside.WithObjects(n)
			}
			r := &shootstatus.Reconciler{SeedBase: kit.SeedBase{
				GardenClient: garden, GardenReader: garden, SeedClient: fake.NewClientBuilder().WithScheme(types).WithObjects(worker).Build(), SeedName: "local",
				Shoots: &kit.Shoots{
					Kubeconfig: func(context.Context, string) ([]byte, error) { return []byte("a kubeconfig"), nil },
					Connect:    func([]byte) (*kit.Shoot, error) { return &kit.Shoot{Client: inside.Build()}, nil },
				},
			}}
			result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)})
			if err != nil || result.RequeueAfter > 0 != (tc.left != nil) {
				t.Errorf("%s\nReconcile(...) = %v, %v", tc.reason, result, err)
			}
			after := &gardencorev1beta1.Shoot{}
			if err := garden.Get(t.Context(), client.ObjectKeyFromObject(s), after); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.left, after.Status.InPlaceUpdates); diff != "" {
				t.Errorf("%s\npending (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
