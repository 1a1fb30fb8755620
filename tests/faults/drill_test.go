// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/keyutil"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/storage/backup"
	"github.com/terrarium-garden/terrarium/tests/hollow"
	"github.com/terrarium-garden/terrarium/tests/road"
)

var (
	// increments is the time between two increments of the garden that is lost.
	increments = flag.Duration("increments", 5*time.Second, "the time between two increments in the drill; 30s is what a garden does by itself")
	// written is how long the garden is written to before it is lost.
	written = flag.Duration("written", 30*time.Second, "how long the garden is written to before it is lost; longer than the time between increments and 15s")
)

// late is by how much an increment may come after its time on a machine that is busy with other tests.
const late = 15 * time.Second

// TestDrill loses the machine of a garden with all that is on it, while it is written to and a gardenlet works for it. It is restored from
// the snapshots and the key, on another address. The gardenlet comes back by itself, the shoot was never touched, and only the newest
// writes are missing.
//
//nolint:paralleltest // The times are those of one garden on the machine.
func TestDrill(t *testing.T) {
	saved, key := t.TempDir(), filepath.Join(t.TempDir(), "copy.key")
	w := settle(t, childSnapshots+"="+saved, childIncrements+"="+increments.String())
	w.must(create(project("one")))
	w.until(ready("one"))
	way := road.New(t, "127.0.0.1:0", w.garden.config.Host)
	let := w.employ(t, way)
	w.must(plant("oak"))
	w.until(grown("oak"))
	before := w.shoot("oak")
	copyFile(t, filepath.Join(w.dir, backup.KeyFile), key)
	snapshot := &gardenappliancev1alpha1.Snapshot{}
	w.must(func(w *world) error { return w.client().Create(t.Context(), snapshot) })
	known := w.writeFor(t, *written)

	// The machine is lost.
	w.garden.kill()
	lost := time.Now()
	if err := os.RemoveAll(w.dir); err != nil {
		t.Fatal(err)
	}
	keys, err := backup.ReadKey(key)
	if err != nil {
		t.Fatal(err)
	}
	w.dir = filepath.Join(t.TempDir(), "data")
	done, err := backup.Restore{
		DataDir: w.dir, Store: backup.ReadFolder(saved), Identities: keys.Identities, Now: time.Now(),
		Lock: func(string) (func() error, error) { return nil, errors.New("the directory is not new") },
	}.Run(t.Context())
	if err != nil {
		t.Fatalf("restore: %v", err)
	}
	restored := time.Now()
	w.garden = start(t, w.dir, childSnapshots+"="+saved, childIncrements+"="+increments.String())
	started := time.Now()
	way.LeadTo(w.garden.config.Host)
	back := let.awaitBeat(t, started)

	if diff := cmp.Diff(before, w.shoot("oak")); diff != "" {
		t.Errorf("The shoot was touched (-before the loss +after the restore):\n%s", diff)
	}
	// The gardenlet sees what is new: its watches have come back too.
	w.must(plant("birch"))
	w.until(grown("birch"))
	works := time.Now()
	oldest, missing := w.missing(t, known, lost)
	if oldest > *increments+late {
		t.Errorf("A write is missing that was acknowledged %s before the loss.", oldest)
	}
	if len(known) == 0 || done.Increments == 0 {
		t.Errorf("%d writes and %d increments show nothing.", len(known), done.Increments)
	}
	round := func(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }
	t.Logf("%d writes acknowledged in %s, increments each %s", len(known), *written, *increments)
	t.Logf("restored %d objects and %d events from a snapshot and %d increments in %s; the server was ready %s later",
		done.Objects, done.Events, done.Increments, round(restored.Sub(lost)), round(started.Sub(restored)))
	t.Logf("the gardenlet renewed its lease %s after its road led to the new server, and had worked on a new shoot after %s",
		round(back.Sub(started)), round(works.Sub(started)))
	t.Logf("%d writes are missing, the oldest one was acknowledged %s before the loss", missing, round(oldest))
}

// must does something that does not fail.
func (w *world) must(do func(*world) error) {
	w.t.Helper()
	if err := do(w); err != nil {
		w.t.Fatal(err)
	}
}

// plant makes a shoot on the seed.
func plant(name string) func(*world) error {
	shoot := &gardencorev1beta1.Shoot{ObjectMeta: in("garden-one", name), Spec: shootSpec()}
	shoot.Spec.SeedName = new("north")

	return create(shoot)
}

// grown waits until the gardenlet has reported that a shoot is created.
func grown(name string) func(*world) error {
	return func(w *world) error {
		shoot := &gardencorev1beta1.Shoot{}
		if err := w.client().Get(w.t.Context(), client.ObjectKey{Namespace: "garden-one", Name: name}, shoot); err != nil {
			return err
		}
		if shoot.Status.LastOperation == nil || len(shoot.Status.Conditions) == 0 {
			return fmt.Errorf("nobody has reported on shoot %q", name)
		}

		return nil
	}
}

func (w *world) shoot(name string) *gardencorev1beta1.Shoot {
	w.t.Helper()
	shoot := &gardencorev1beta1.Shoot{}
	if err := w.client().Get(w.t.Context(), client.ObjectKey{Namespace: "garden-one", Name: name}, shoot); err != nil {
		w.t.Fatal(err)
	}

	return shoot
}

// writeFor writes for some time, and returns when each write was acknowledged.
func (w *world) writeFor(t *testing.T, d time.Duration) map[string]time.Time {
	t.Helper()
	known := map[string]time.Time{}
	for began, n := time.Now(), 0; time.Since(began) < d; n++ {
		name := fmt.Sprintf("drill-%d", n)
		if err := w.client().Create(t.Context(), note(name, "0")); err != nil {
			t.Fatal(err)
		}
		known[name] = time.Now()
	}

	return known
}

// missing returns how many of the writes are not there, and how old the oldest of them was.
func (w *world) missing(t *testing.T, known map[string]time.Time, lost time.Time) (oldest time.Duration, count int) {
	t.Helper()
	found := w.garden.notes(t.Context(), t)
	for name, at := range known {
		if _, ok := found[name]; !ok {
			oldest, count = max(oldest, lost.Sub(at)), count+1
		}
	}

	return oldest, count
}

// employee is a gardenlet that works until the test ends.
type employee struct {
	mu    sync.Mutex
	beats []time.Time
}

// employ starts the gardenlet of the seed. Its kubeconfig leads to the road.
func (w *world) employ(t *testing.T, r *road.Road) *employee {
	t.Helper()
	e := &employee{}
	config := rest.AnonymousClientConfig(w.garden.config)
	config.Host = "https://" + r.Address()
	config.CertData, config.KeyData = w.certificate(t, "north")
	ctx, end := context.WithCancel(context.WithoutCancel(t.Context()))
	member := &hollow.Gardenlet{
		Config: config, Scheme: w.client().Scheme(), Seed: "north", Renewal: 2 * time.Second,
		// It reports on what is new only, so that nobody but the garden could touch a shoot.
		Report: 1000 * time.Hour,
		Beat: func(_, answered time.Time, err error) {
			if err == nil {
				e.mu.Lock()
				defer e.mu.Unlock()
				e.beats = append(e.beats, answered)
			}
		},
		Asked: func(string, error) {},
	}
	seen := make(chan struct{})
	ended := make(chan error, 1)
	go func() { ended <- member.Run(ctx, func() { close(seen) }) }()
	t.Cleanup(func() {
		end()
		<-ended //nolint:errcheck // It ends because it is told to.
	})
	select {
	case <-seen:
	case err := <-ended:
		ended <- err
		t.Fatalf("the gardenlet has ended: %v", err)
	case <-time.After(time.Minute):
		t.Fatal("the gardenlet does not see the garden")
	}

	return e
}

// awaitBeat returns when the gardenlet has renewed its lease after a time.
func (e *employee) awaitBeat(t *testing.T, after time.Time) time.Time {
	t.Helper()
	for limit := time.Now().Add(2 * time.Minute); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
		e.mu.Lock()
		last := time.Time{}
		if n := len(e.beats); n > 0 {
			last = e.beats[n-1]
		}
		e.mu.Unlock()
		if last.After(after) {
			return last
		}
	}
	t.Fatal("the gardenlet does not come back")

	return time.Time{}
}

// certificate is that of a gardenlet which has joined.
func (w *world) certificate(t *testing.T, seed string) (certificate, private []byte) {
	t.Helper()
	ca, err := tls.LoadX509KeyPair(filepath.Join(w.dir, "pki", "client-ca.crt"), filepath.Join(w.dir, "pki", "client-ca.key"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: gardencorev1beta1.UserPrefixSeed + seed, Organization: []string{gardencorev1beta1.GroupSeeds}},
		NotBefore:    time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca.Leaf, key.Public(), ca.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	if private, err = keyutil.MarshalPrivateKeyToPEM(key); err != nil {
		t.Fatal(err)
	}

	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), private
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
