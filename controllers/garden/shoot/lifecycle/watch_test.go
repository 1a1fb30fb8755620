// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/shoot/lifecycle"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/kit/kittest"
)

// TestWhoIsLookedAt_GCM_SEEDLIFE_6 has shoots come and change. One that is on a seed starts no pass, however much happens to it, and a
// self-hosted one does when its gardenlet has reported for the first time, which nobody waits for.
func TestWhoIsLookedAt_GCM_SEEDLIFE_6(t *testing.T) {
	t.Parallel()
	kinds, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	looked := make(chan string, 100)
	// No shoot is found, so that a look ends at once.
	garden := fake.NewClientBuilder().WithScheme(kinds).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, o ...client.GetOption) error {
			looked <- key.Name
			return c.Get(ctx, key, object, o...)
		},
	}).Build()
	cluster := kittest.NewCluster(t, kinds)
	r := &lifecycle.Reconciler{Base: kit.Base{Client: garden, Reader: garden, Queue: kit.Queue{Concurrency: 1}}}
	if err := r.AddToManager(kit.Clusters{Garden: cluster.Manager}); err != nil {
		t.Fatal(err)
	}
	cluster.Start(t)
	shoots := cluster.Of(&gardencorev1beta1.Shoot{})

	next := func(what string) string {
		t.Helper()
		select {
		case name := <-looked:
			return name
		case <-time.After(30 * time.Second):
			t.Fatalf("nobody looks: %s", what)
			return ""
		}
	}

	hosted, lone := selfHosted(ready("True", 0)), selfHosted()
	hosted.Name, hosted.Spec.Provider.Workers[0].ControlPlane = "hosted", nil
	shoots.Add(hosted.DeepCopy())
	shoots.Add(lone.DeepCopy())
	got := []string{next("a self-hosted shoot comes")}
	for _, change := range []func(s *gardencorev1beta1.Shoot){
		func(s *gardencorev1beta1.Shoot) { s.Labels = map[string]string{"a": "b"} },
		func(s *gardencorev1beta1.Shoot) { s.Generation++ },
		func(s *gardencorev1beta1.Shoot) { s.Status.TechnicalID = "shoot--dev--s" },
	} {
		for _, shoot := range []*gardencorev1beta1.Shoot{hosted, lone} {
			change(shoot)
			shoots.Modify(shoot.DeepCopy())
		}
	}
	// What a change before the last one would have started is seen before this look, or together with it.
	last := selfHosted()
	last.Name = "last"
	shoots.Add(last)
	got = append(got, next("another one comes"))
	lone.Status.Conditions = []condition{ready("True", 0)}
	shoots.Modify(lone.DeepCopy())
	got = append(got, next("its gardenlet has reported"))
	if diff := cmp.Diff([]string{"lone", "last", "lone"}, got); diff != "" {
		t.Errorf("looks at shoots (-want +got):\n%s", diff)
	}
}
