// SPDX-License-Identifier: Apache-2.0

package heartbeat_test

import (
	"context"
	"errors"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/garden/heartbeat"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// look is one look at a seed, some seconds after the beginning.
type look struct {
	reason string
	at     int
	// renewed is when the lease was renewed last, in seconds of the clock of the gardenlet; none removes the lease.
	renewed int
	broken  bool
	alive   bool
	// reads says that the lease is read.
	reads bool
}

// TestListen looks at a seed several times, with a monitor period of 40 s.
func TestListen(t *testing.T) {
	t.Parallel()
	const none, ahead = -1, 1e6
	for name, tc := range map[string]struct {
		inDeletion bool
		looks      []look
	}{
		"GCM-SEEDLIFE-1 a renewal is good for its period": {looks: []look{
			{reason: "the first look reads", at: 10, renewed: 5, alive: true, reads: true},
			{reason: "no other one within the period does", at: 44, renewed: none, alive: true},
			{reason: "then it is read again", at: 45, renewed: 42, alive: true, reads: true},
			{reason: "and that is good for another period", at: 81, renewed: 42, alive: true},
			{reason: "which is over", at: 82, renewed: 42, reads: true},
			{reason: "silence is looked at each time", at: 83, renewed: 82, alive: true, reads: true},
		}},
		"GCM-SEEDLIFE-2 a clock that is ahead": {looks: []look{
			{reason: "a heartbeat", at: 0, renewed: ahead, alive: true, reads: true},
			{reason: "is good for a period, and not without a look for the time that it is ahead", at: 39, renewed: none, alive: true},
			{reason: "a lease that is gone is none", at: 40, renewed: none, reads: true},
			{reason: "one that cannot be read neither", at: 50, renewed: ahead, broken: true, reads: true},
			{reason: "until it can", at: 51, renewed: ahead, alive: true, reads: true},
		}},
		"GCM-SEEDLIFE-2 a clock that is a little ahead": {looks: []look{
			{reason: "a heartbeat", at: 0, renewed: 10, alive: true, reads: true},
			{reason: "the period counts from the time of the lease when that is past", at: 40, renewed: 10, alive: true, reads: true},
			{reason: "it is over", at: 50, renewed: 10, reads: true},
		}},
		"GCM-SEEDLIFE-2 a clock of the server that is set back": {looks: []look{
			{reason: "a heartbeat", at: 5000, renewed: 5000, alive: true, reads: true},
			{reason: "is not good until then", at: 100, renewed: 50, reads: true},
			{reason: "only what is renewed counts", at: 101, renewed: 101, alive: true, reads: true},
		}},
		"GCM-SEEDLIFE-1 a seed in deletion": {inDeletion: true, looks: []look{
			{reason: "nothing is kept of it", at: 10, renewed: 5, alive: true, reads: true},
			{reason: "so it is read each time", at: 20, renewed: 5, alive: true, reads: true},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := listening(t, tc.inDeletion)
			for _, look := range tc.looks {
				w.look(t, look)
			}
		})
	}
}

// ear is a listener with the seed that it listens to.
type ear struct {
	client   client.Client
	base     kit.Base
	clock    *clocktesting.FakeClock
	listener heartbeat.Listener
	seed     *gardencorev1beta1.Seed
	broken   bool
	reads    int
}

func listening(t *testing.T, inDeletion bool) *ear {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	w := &ear{clock: clocktesting.NewFakeClock(at(0)), seed: &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "eu", UID: "eu"}}}
	if inDeletion {
		w.seed.DeletionTimestamp = new(metav1.NewTime(at(0)))
	}
	w.client = fake.NewClientBuilder().WithScheme(types).Build()
	reader := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
			if w.reads++; w.broken {
				return errors.New("no answer")
			}
			return w.client.Get(ctx, key, object)
		},
	})
	w.base = kit.Base{Reader: reader, Clock: w.clock}
	return w
}

func (w *ear) look(t *testing.T, look look) {
	t.Helper()
	w.clock.SetTime(at(look.at))
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "gardener-system-seed-lease", Name: "eu"}}
	if err := client.IgnoreNotFound(w.client.Delete(t.Context(), lease.DeepCopy())); err != nil {
		t.Fatal(err)
	}
	if look.renewed >= 0 {
		lease.Spec.RenewTime = new(metav1.NewMicroTime(at(look.renewed)))
		if err := w.client.Create(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
	}
	w.reads, w.broken = 0, look.broken
	w.seed.Status.Conditions = []condition{{Type: "GardenletReady", Status: "True"}}
	_, err := w.listener.Listen(t.Context(), &w.base, gardenconfigv1alpha1.ServerSeedControllerConfiguration{
		MonitorPeriod: &metav1.Duration{Duration: 40 * time.Second}, SyncPeriod: &metav1.Duration{Duration: 10 * time.Second},
	}, heartbeat.Sender{Object: w.seed, Lease: client.ObjectKeyFromObject(lease), Conditions: &w.seed.Status.Conditions})
	if (err != nil) != look.broken {
		t.Errorf("after %d s: %s\nListen(...) = %v", look.at, look.reason, err)
	}
	alive := w.seed.Status.Conditions[0].Status == "True" && err == nil
	if alive != look.alive || (w.reads > 0) != look.reads {
		t.Errorf("after %d s: %s\nalive %t, %d reads, want alive %t and a read: %t", look.at, look.reason, alive, w.reads, look.alive, look.reads)
	}
}
