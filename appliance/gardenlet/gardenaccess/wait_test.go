// SPDX-License-Identifier: Apache-2.0

package gardenaccess_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"

	"github.com/terrarium-garden/terrarium/appliance/gardenlet/gardenaccess"
)

func TestOpenWaitsForGarden(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.bootstrapSecret(bootstrapToken)
	w.garden.refuse = http.StatusServiceUnavailable
	done := make(chan error, 1)
	go func() {
		_, err := w.open()
		done <- err
	}()
	w.eventually("the gardenlet waits for a garden that does not answer", w.clock.HasWaiters)
	note := w.secret("gardenlet-kubeconfig-bootstrap").Annotations[gardenaccess.AnnotationProblem]
	if !strings.Contains(note, gardenaccess.ErrUnreachable.Error()) {
		t.Errorf("Those who watch the seed must be told: got the note %q", note)
	}
	if w.alive.Load() == 0 {
		t.Error("A patient gardenlet must not be taken for a dead one")
	}
	w.garden.with(func() { w.garden.refuse = 0 })
	w.clock.Step(3 * time.Second)
	if err := <-done; err != nil {
		t.Fatalf("Open(...): %v", err)
	}
}

func TestOpenWaitsForGardenThatHasJustStarted(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]int{"Unauthorized": http.StatusUnauthorized, "Forbidden": http.StatusForbidden} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.bootstrapSecret(bootstrapToken)
			w.garden.refuse = code
			done := make(chan error, 1)
			go func() {
				_, err := w.open()
				done <- err
			}()
			w.eventually("the gardenlet gives the garden a moment", w.clock.HasWaiters)
			w.clock.Step(14 * time.Second)
			w.eventually("the gardenlet asks again", w.clock.HasWaiters)
			w.garden.with(func() { w.garden.refuse = 0 })
			w.clock.Step(3 * time.Second)
			if err := <-done; err != nil {
				t.Errorf("A garden that has just started does not know its tokens and roles yet: %v", err)
			}
		})
	}
}

func TestOpenStopsWithContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.bootstrapSecret(bootstrapToken)
	w.garden.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := gardenaccess.Open(ctx, w.settings, w.surroundings)
		done <- err
	}()
	w.eventually("the gardenlet waits for a garden that is not there", w.clock.HasWaiters)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Open(...): got error %v, want %v", err, context.Canceled)
	}
}

func TestOpenReplacesLostRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.bootstrapSecret(bootstrapToken)
	w.garden.decide = func(*certificatesv1.CertificateSigningRequest) {}
	done := make(chan error, 1)
	go func() {
		_, err := w.open()
		done <- err
	}()
	w.eventually("the gardenlet waits for the certificate", w.clock.HasWaiters)
	note := w.secret("gardenlet-kubeconfig-bootstrap").Annotations[gardenaccess.AnnotationRequest]
	if note != "seed-csr-0" {
		t.Errorf("Those who watch the seed must know which request to look at: got the note %q", note)
	}
	w.garden.with(func() { w.garden.decide = nil })
	w.clock.Step(16 * time.Minute)
	if err := <-done; err != nil {
		t.Fatalf("Open(...): %v", err)
	}
	if n := len(w.garden.created()); n != 2 {
		t.Errorf("After 15 minutes a request counts as lost and a new one is made: got %d requests, want 2", n)
	}
}

// TestOpenAsksAgainWithItsKey is about a gardenlet that ends between its request and the certificate. The garden gives one
// certificate for a token, and to nobody but who has the key.
func TestOpenAsksAgainWithItsKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.bootstrapSecret(bootstrapToken)
	w.garden.decide = func(*certificatesv1.CertificateSigningRequest) {}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := gardenaccess.Open(ctx, w.settings, w.surroundings)
		done <- err
	}()
	w.eventually("the gardenlet waits for the certificate", w.clock.HasWaiters)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatalf("Open(...): got error %v, want %v", err, context.Canceled)
	}

	w.garden.with(func() { w.garden.decide = nil })
	if _, err := w.open(); err != nil {
		t.Fatalf("Open(...): %v", err)
	}
	requests := w.garden.created()
	if len(requests) != 2 {
		t.Fatalf("Open(...): %d requests were made, want 2", len(requests))
	}
	if diff := cmp.Diff(publicKey(t, requests[0]), publicKey(t, requests[1])); diff != "" {
		t.Errorf("The second request is for the same key (-first +second):\n%s", diff)
	}
	if w.secret("gardenlet-kubeconfig-bootstrap") != nil {
		t.Error("The key is forgotten together with the token, but the bootstrap Secret is still there")
	}
}
