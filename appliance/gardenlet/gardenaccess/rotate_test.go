// SPDX-License-Identifier: Apache-2.0

package gardenaccess_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/terrarium-garden/terrarium/appliance/gardenlet/gardenaccess"
)

func TestMaintain(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		act    func(w *world)
		want   string // the serial number of the certificate after that
	}{
		"Asked": {
			reason: "the annotation asks for a renewal at any time",
			act:    (*world).ask,
			want:   "101",
		},
		"Due": {
			reason: "after 80 of 100 hours the certificate is renewed: the draw lies in the middle of 70 and 90 percent",
			act:    func(w *world) { w.clock.Step(80*time.Hour + time.Second) },
			want:   "101",
		},
		"NotDue": {
			reason: "before that it is not",
			act:    func(w *world) { w.clock.Step(79 * time.Hour) },
			want:   "100",
		},
		"Exchanged": {
			reason: "a certificate that somebody else stored is taken over",
			act: func(w *world) {
				other := newWorld(w.t)
				other.garden = w.garden
				other.bootstrapSecret(bootstrapToken)
				if _, err := other.open(); err != nil {
					w.t.Fatal(err)
				}
				secret := w.secret("gardenlet-kubeconfig")
				secret.Data = other.secret("gardenlet-kubeconfig").Data
				if err := w.seed.Update(w.t.Context(), secret); err != nil {
					w.t.Fatal(err)
				}
				w.clock.Step(11 * time.Second)
			},
			want: "101",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, access := opened(t)
			clients, err := kubernetes.NewForConfig(access.Config())
			if err != nil {
				t.Fatal(err)
			}
			stop := w.maintain(access)
			tc.act(w)
			w.eventually("the gardenlet has looked and waits again", w.clock.HasWaiters)

			w.garden.with(func() { w.garden.seen = nil })
			_, err = clients.CoreV1().ConfigMaps("any").Get(t.Context(), "any", metav1.GetOptions{})
			if !apierrors.IsNotFound(err) {
				t.Fatalf("%s\nuse a client made before: got error %v, want a plain not found", tc.reason, err)
			}
			w.garden.with(func() {
				if diff := cmp.Diff([]string{tc.want}, w.garden.seen); diff != "" {
					t.Errorf("%s\ncertificate of a client made before (-want +got):\n%s", tc.reason, diff)
				}
			})
			if operation := w.secret("gardenlet-kubeconfig").Annotations["gardener.cloud/operation"]; operation != "" {
				t.Errorf("%s\nthe request %q is answered and must be gone", tc.reason, operation)
			}
			leaf, err := w.stored().Leaf()
			if err != nil || leaf.SerialNumber.String() != tc.want {
				t.Errorf("%s\nthe stored certificate has serial number %s, want %s", tc.reason, leaf.SerialNumber, tc.want)
			}
			stop()
		})
	}
}

func TestMaintainReportsFailure(t *testing.T) {
	t.Parallel()
	w, access := opened(t)
	stop := w.maintain(access)
	w.garden.with(func() { w.garden.refuse = http.StatusForbidden })
	w.clock.Step(91 * time.Hour)
	w.eventually("the first try failed", w.clock.HasWaiters)
	if w.failed.Load() != nil {
		t.Error("A single failure is not worth an event")
	}
	w.clock.Step(16 * time.Minute)
	w.eventually("the failure was reported", func() bool { return w.failed.Load() != nil })
	if err := *w.failed.Load(); !errors.Is(err, gardenaccess.ErrForbidden) {
		t.Errorf("RotationFailed: got %v, want %v", err, gardenaccess.ErrForbidden)
	}
	w.garden.with(func() { w.garden.refuse = 0 })
	w.eventually("the gardenlet waits", w.clock.HasWaiters)
	w.clock.Step(11 * time.Second)
	w.eventually("the certificate is renewed after all", func() bool {
		return access.Expiry().After(w.clock.Now().Add(99 * time.Hour))
	})
	stop()
}

// opened is a world whose gardenlet has joined.
func opened(t *testing.T) (*world, *gardenaccess.Access) {
	t.Helper()
	w := newWorld(t)
	w.bootstrapSecret(bootstrapToken)
	access, err := w.open()
	if err != nil {
		t.Fatalf("Open(...): %v", err)
	}

	return w, access
}

// ask asks the gardenlet for new credentials, and lets it look.
func (w *world) ask() {
	w.t.Helper()
	secret := w.secret("gardenlet-kubeconfig")
	secret.Annotations = map[string]string{"gardener.cloud/operation": "renew"}
	if err := w.seed.Update(w.t.Context(), secret); err != nil {
		w.t.Fatal(err)
	}
	w.clock.Step(11 * time.Second)
}

// maintain runs Maintain until the returned function is called, and returns once it waits.
func (w *world) maintain(access *gardenaccess.Access) func() {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- access.Maintain(ctx) }()
	w.eventually("the gardenlet looks after its certificate", w.clock.HasWaiters)
	return func() {
		w.t.Helper()
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("Maintain(...): %v", err)
		}
	}
}

// TestMaintainTakesNewCA takes up the authority that the garden publishes, from time to time and whenever somebody asks for new
// credentials.
func TestMaintainTakesNewCA(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]bool{"Asked": true, "InTime": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, access := opened(t)
			before := access.Marks()
			_, next := authority(t)
			both := string(w.garden.ca()) + string(encode(next))
			w.garden.with(func() { w.garden.published = both })
			stop := w.maintain(access)
			if ask {
				w.ask()
			} else {
				w.clock.Step(10*time.Minute + time.Second)
			}
			w.eventually("the gardenlet has looked and waits again", w.clock.HasWaiters)
			if diff := cmp.Diff(both, string(w.stored().CA)); diff != "" {
				t.Errorf("stored CA (-want +got):\n%s", diff)
			}
			marks := access.Marks()
			if len(marks) != 2 || marks[gardenaccess.AnnotationBundle] == before[gardenaccess.AnnotationBundle] {
				t.Errorf("The gardenlet tells that it has taken up the CA: got %v, before %v", marks, before)
			}
			stop()
		})
	}
}

// TestTakenCAKeepsRequest takes up an authority while a request for new credentials waits: the request is not answered by that.
func TestTakenCAKeepsRequest(t *testing.T) {
	t.Parallel()
	w, _ := opened(t)
	secret := w.secret("gardenlet-kubeconfig")
	secret.Annotations = map[string]string{"gardener.cloud/operation": "renew"}
	if err := w.seed.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	_, next := authority(t)
	both := string(w.garden.ca()) + string(encode(next))
	w.garden.with(func() { w.garden.published = both })
	if _, err := w.open(); err != nil {
		t.Fatalf("Open(...) with stored credentials: %v", err)
	}
	if diff := cmp.Diff(both, string(w.stored().CA)); diff != "" {
		t.Errorf("stored CA (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("renew", w.secret("gardenlet-kubeconfig").Annotations["gardener.cloud/operation"]); diff != "" {
		t.Errorf("operation of the Secret (-want +got):\n%s", diff)
	}
}

// TestFileIsNotRenewed connects with a certificate from a file: although it is about to expire, nobody looks at it, because there is no
// Secret for another one.
func TestFileIsNotRenewed_GLET_ROT_1(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.storedSecret("one", w.clock.Now())
	kubeconfig, err := w.stored().Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	w.settings.Kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(w.settings.Kubeconfig, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	w.settings.KubeconfigSecret, w.settings.BootstrapKubeconfig = nil, nil
	access, err := w.open()
	if err != nil {
		t.Fatalf("Open(...): %v", err)
	}
	w.clock.Step(99 * time.Hour)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- access.Maintain(ctx) }()
		synctest.Wait()
		if w.clock.HasWaiters() {
			t.Error("Maintain(...) looks after the certificate of a file")
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Maintain(...): %v", err)
		}
	})
	if requests := w.garden.created(); len(requests) != 0 {
		t.Errorf("%d certificates were requested, want none", len(requests))
	}
}
