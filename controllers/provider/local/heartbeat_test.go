// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/terrarium-garden/terrarium/controllers/provider/local"
)

const installation = "extension-provider-local"

func TestBeat(t *testing.T) {
	t.Parallel()
	seed := fake.NewClientBuilder().Build()
	clock := clocktesting.NewFakeClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	heartbeat := &local.Heartbeat{Namespace: installation, Client: seed, Clock: clock}
	for range 2 {
		if err := heartbeat.Beat(t.Context()); err != nil {
			t.Fatal(err)
		}
		lease := &coordinationv1.Lease{}
		if err := seed.Get(t.Context(), client.ObjectKey{Namespace: installation, Name: "gardener-extension-heartbeat"}, lease); err != nil {
			t.Fatal(err)
		}
		want := coordinationv1.LeaseSpec{
			HolderIdentity: new("provider-local"), LeaseDurationSeconds: new(int32(30)), RenewTime: new(metav1.NewMicroTime(clock.Now())),
		}
		if diff := cmp.Diff(want, lease.Spec); diff != "" {
			t.Errorf("lease (-want +got):\n%s", diff)
		}
		clock.Step(30 * time.Second)
	}
}

// TestStart: a beat that fails does not end the process, and the end of the process ends the heartbeat.
func TestStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	beats := make(chan struct{})
	seed := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			beats <- struct{}{}
			return errors.New("the seed does not answer")
		},
	})
	done := make(chan error)
	go func() {
		done <- (&local.Heartbeat{Namespace: installation, Client: seed, Clock: clock}).Start(ctx)
	}()
	<-beats
	clock.Step(30 * time.Second)
	<-beats
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Start(...) = %v", err)
	}
}
