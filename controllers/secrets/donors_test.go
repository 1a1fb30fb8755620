// SPDX-License-Identifier: Apache-2.0

package secrets_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const useDataFor = "secrets-manager-use-data-for-name"

// offers is a Secret that offers data for a name.
func offers(name string, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "mine", Labels: map[string]string{useDataFor: name, "mine": "too"}}, Data: data}
}

// made is what another cluster has.
func made(t *testing.T) map[string]map[string][]byte {
	t.Helper()
	s := newSeed()
	m := s.load(t)
	ca(t, m, "ca")
	key, err := m.RSAKey(t.Context(), "service-account-key")
	if err != nil {
		t.Fatal(err)
	}
	login, err := m.SSHKey(t.Context(), "ssh-keypair")
	if err != nil {
		t.Fatal(err)
	}
	encryption, err := m.EncryptionKey(t.Context(), "kube-apiserver-etcd-encryption-key")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]map[string][]byte{
		"ca": s.get(t, "ca").Data, "service-account-key": s.get(t, key.SecretName).Data, "ssh-keypair": s.get(t, login.SecretName).Data,
		"kube-apiserver-etcd-encryption-key": s.get(t, encryption.SecretName).Data,
	}
}

// TestDataIsTakenOverOnce_GLET_SEC_6 gives a cluster what another one had.
func TestDataIsTakenOverOnce_GLET_SEC_6(t *testing.T) {
	t.Parallel()
	all := made(t)
	for name, obtain := range map[string]func(m *secrets.Manager) (string, error){
		"ca": func(m *secrets.Manager) (string, error) {
			found, err := m.CA(t.Context(), "ca")
			if err != nil {
				return "", err
			}
			return found.Current.SecretName, nil
		},
		"service-account-key": func(m *secrets.Manager) (string, error) {
			found, err := m.RSAKey(t.Context(), "service-account-key")
			if err != nil {
				return "", err
			}
			return found.SecretName, nil
		},
		"ssh-keypair": func(m *secrets.Manager) (string, error) {
			found, err := m.SSHKey(t.Context(), "ssh-keypair")
			if err != nil {
				return "", err
			}
			return found.SecretName, nil
		},
		"kube-apiserver-etcd-encryption-key": func(m *secrets.Manager) (string, error) {
			found, err := m.EncryptionKey(t.Context(), "kube-apiserver-etcd-encryption-key")
			if err != nil {
				return "", err
			}
			return found.SecretName, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := maps.Clone(all[name])
			data["more"] = []byte("nobody asks for this")
			s := newSeed(offers(name, data))
			first, err := obtain(s.load(t))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(all[name], s.get(t, first).Data); diff != "" {
				t.Errorf("the data was not taken over (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(map[string]string{"mine": "too"}, s.get(t, "mine").Labels); diff != "" {
				t.Errorf("the label is to go, so that the data is taken over once (-want +got):\n%s", diff)
			}
			at := s.clock.Now().Add(time.Hour)
			s.clock.SetTime(at)
			rotation := secrets.Rotation{Phase: gardencorev1beta1.CredentialsRotationPhasePreparing, Initiated: at}
			s.rotations = secrets.Rotations{Authorities: rotation, ServiceAccountKey: rotation, EncryptionKey: rotation, SSHKey: rotation}
			second, err := obtain(s.load(t))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(all[name], s.get(t, second).Data); diff == "" {
				t.Error("a rotation took the same data over again")
			}
		})
	}
}

// TestEndOfAnAuthority: the time at which an authority that was taken over ends is known, as of one that was made.
func TestEndOfAnAuthority_GLET_SEC_6(t *testing.T) {
	t.Parallel()
	s := newSeed(offers("ca", made(t)["ca"]))
	s.clock.SetTime(s.clock.Now().Add(24 * time.Hour))
	ca(t, s.load(t), "ca")
	other := newSeed()
	ca(t, other.load(t), "ca")
	if got, want := s.get(t, "ca").Labels["valid-until-time"], other.get(t, "ca").Labels["valid-until-time"]; got != want {
		t.Errorf("the authority is said to be valid until %s, and is until %s", got, want)
	}
	s = newSeed(offers("ca", made(t)["ca"]))
	s.clock.SetTime(s.clock.Now().Add(11 * 365 * 24 * time.Hour))
	if _, err := s.load(t).CA(t.Context(), "ca"); err == nil || !strings.Contains(err.Error(), "it ended on 2036-02-27") {
		t.Errorf("an authority that has ended was taken over: %v", err)
	}
}

// TestUnfitData: what nobody could use is refused before anything is made of it.
func TestUnfitData_GLET_SEC_6(t *testing.T) {
	t.Parallel()
	all := made(t)
	without := func(name, key string, instead ...byte) map[string][]byte {
		data := maps.Clone(all[name])
		data[key] = instead
		return data
	}
	leaf := func() map[string][]byte {
		s := newSeed()
		m := s.load(t)
		cert := certificate(t, m, server(ca(t, m, "ca"), "10.99.1.1"))
		return map[string][]byte{"ca.crt": cert.Certificate, "ca.key": cert.Key}
	}
	for reason, tc := range map[string]struct {
		name string
		data map[string][]byte
		want string
	}{
		"a certificate is missing":       {"ca", without("ca", "ca.crt"), "it has no ca.crt"},
		"a key belongs to another one":   {"ca", without("ca", "ca.key", made(t)["ca"]["ca.key"]...), "private key does not match public key"},
		"a certificate is none of a CA":  {"ca", leaf(), "none of an authority"},
		"a key is a text":                {"service-account-key", without("service-account-key", "id_rsa", 'x'), "parse its id_rsa"},
		"a key is of another sort":       {"service-account-key", map[string][]byte{"id_rsa": all["ca"]["ca.key"]}, "its id_rsa is a *ecdsa.PrivateKey"},
		"a public key is another one":    {"ssh-keypair", without("ssh-keypair", "id_rsa.pub", made(t)["ssh-keypair"]["id_rsa.pub"]...), "belongs to another key"},
		"an encryption key is too short": {"kube-apiserver-etcd-encryption-key", without("kube-apiserver-etcd-encryption-key", "secret", 'x'), "its secret has 1 bytes and not 32"},
		"an encryption key has no name":  {"kube-apiserver-etcd-encryption-key", without("kube-apiserver-etcd-encryption-key", "key"), "it has no key"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s := newSeed(offers(tc.name, tc.data))
			m := s.load(t)
			var errs []error
			for _, obtain := range []func() error{
				func() error { _, err := m.CA(t.Context(), "ca"); return err },
				func() error { _, err := m.RSAKey(t.Context(), "service-account-key"); return err },
				func() error { _, err := m.SSHKey(t.Context(), "ssh-keypair"); return err },
				func() error { _, err := m.EncryptionKey(t.Context(), "kube-apiserver-etcd-encryption-key"); return err },
			} {
				errs = append(errs, obtain())
			}
			err := errors.Join(errs...)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "PRIVATE KEY-") {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if got := s.get(t, "mine").Labels[useDataFor]; got != tc.name {
				t.Errorf("the label of data that was not taken over is %q", got)
			}
		})
	}
}

// TestSeveralDonors: nobody guesses which data is meant.
func TestSeveralDonors_GLET_SEC_6(t *testing.T) {
	t.Parallel()
	one, two := offers("ca", made(t)["ca"]), offers("ca", made(t)["ca"])
	two.Name = "yours"
	if _, err := newSeed(one, two).load(t).CA(t.Context(), "ca"); err == nil || !strings.Contains(err.Error(), "several Secrets offer data for it") {
		t.Errorf("CA(...) = %v", err)
	}
}

// TestInterruptedTakeover: a run ends between the two writes, and the next one makes up for the second.
func TestInterruptedTakeover_GLET_SEC_6(t *testing.T) {
	t.Parallel()
	s := newSeed()
	broken := true
	s.client = fake.NewClientBuilder().WithObjects(offers("ca", made(t)["ca"])).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if broken {
				return errors.New("boom")
			}
			return c.Patch(ctx, obj, patch, opts...)
		},
	}).Build()
	if _, err := s.load(t).CA(t.Context(), "ca"); err == nil {
		t.Fatal("a label that could not be removed was not reported")
	}
	broken = false
	ca(t, s.load(t), "ca")
	if diff := cmp.Diff(s.get(t, "mine").Data, s.get(t, "ca").Data); diff != "" {
		t.Errorf("the second run has another authority (-want +got):\n%s", diff)
	}
	if got := s.get(t, "mine").Labels[useDataFor]; got != "" {
		t.Errorf("the label is still there: %q", got)
	}
}
