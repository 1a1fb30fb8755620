// SPDX-License-Identifier: Apache-2.0

package gardenaccess_test

import (
	"crypto/x509"
	"encoding/pem"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/terrarium-garden/terrarium/appliance/gardenlet/gardenaccess"
)

const bootstrapToken = "abcdef.0123456789abcdef"

// world is a garden, a seed and a gardenlet between them.
type world struct {
	t            *testing.T
	garden       *garden
	seed         client.Client
	clock        *clocktesting.FakeClock
	settings     gardenaccess.Settings
	alive        atomic.Int32
	failed       atomic.Pointer[error]
	surroundings gardenaccess.Surroundings
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: clocktesting.NewFakeClock(time.Now())}
	w.garden = newGarden(t, w.clock.Now)
	w.seed = fake.NewClientBuilder().Build()
	w.settings = gardenaccess.Settings{
		Seed:                "one",
		KubeconfigSecret:    &corev1.SecretReference{Namespace: "garden", Name: "gardenlet-kubeconfig"},
		BootstrapKubeconfig: &corev1.SecretReference{Namespace: "garden", Name: "gardenlet-kubeconfig-bootstrap"},
		RotateFrom:          70,
		RotateUntil:         90,
	}
	w.surroundings = gardenaccess.Surroundings{
		Seed: w.seed, Clock: w.clock, Log: logr.Discard(),
		Random:         func() float64 { return 0.5 },
		Alive:          func() { w.alive.Add(1) },
		RotationFailed: func(err error, _ time.Time) { w.failed.Store(&err) },
	}
	return w
}

// openPatiently opens while time flies.
func (w *world) openPatiently() error {
	done := make(chan error, 1)
	go func() {
		_, err := w.open()
		done <- err
	}()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-ticker.C:
			if w.clock.HasWaiters() {
				w.clock.Step(time.Second)
			}
		}
	}
}

func (w *world) open() (*gardenaccess.Access, error) {
	return gardenaccess.Open(w.t.Context(), w.settings, w.surroundings)
}

// bootstrapSecret puts the bootstrap kubeconfig into the seed.
func (w *world) bootstrapSecret(token string) {
	w.t.Helper()
	w.put("gardenlet-kubeconfig-bootstrap", gardenaccess.Material{Server: w.garden.URL, CA: w.garden.ca(), Token: token})
}

// storedSecret puts a kubeconfig with a certificate of that seed and age into the seed.
func (w *world) storedSecret(seed string, begin time.Time) {
	w.t.Helper()
	other := newWorld(w.t)
	other.garden = w.garden
	other.settings.Seed = seed
	other.bootstrapSecret(bootstrapToken)
	w.garden.with(func() { w.garden.now = func() time.Time { return begin } })
	if _, err := other.open(); err != nil {
		w.t.Fatalf("make a certificate: %v", err)
	}
	w.garden.with(func() {
		w.garden.now, w.garden.requests, w.garden.deleted = w.clock.Now, nil, nil
	})
	w.put("gardenlet-kubeconfig", other.stored())
}

func (w *world) put(name string, material gardenaccess.Material) {
	w.t.Helper()
	kubeconfig, err := material.Kubeconfig()
	if err != nil {
		w.t.Fatal(err)
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: name},
		Data:       map[string][]byte{"kubeconfig": kubeconfig},
	}
	if err := w.seed.Create(w.t.Context(), secret); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) secret(name string) *corev1.Secret {
	w.t.Helper()
	secret := &corev1.Secret{}
	err := w.seed.Get(w.t.Context(), client.ObjectKey{Namespace: "garden", Name: name}, secret)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return secret
}

// stored is what the gardenlet keeps in the seed.
func (w *world) stored() gardenaccess.Material {
	w.t.Helper()
	secret := w.secret("gardenlet-kubeconfig")
	if secret == nil {
		w.t.Fatal("No kubeconfig is stored")
	}
	material, err := gardenaccess.ParseKubeconfig(secret.Data["kubeconfig"])
	if err != nil {
		w.t.Fatal(err)
	}
	return material
}

func (w *world) eventually(what string, check func() bool) {
	w.t.Helper()
	deadline, ticker := time.NewTimer(20*time.Second), time.NewTicker(5*time.Millisecond)
	defer deadline.Stop()
	defer ticker.Stop()
	for !check() {
		select {
		case <-ticker.C:
		case <-deadline.C:
			w.t.Fatalf("Never happened: %s", what)
		}
	}
}

func publicKey(t *testing.T, request *certificatesv1.CertificateSigningRequest) []byte {
	t.Helper()
	block, _ := pem.Decode(request.Spec.Request)
	parsed, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.RawSubjectPublicKeyInfo
}
