// SPDX-License-Identifier: Apache-2.0

package secrets_test

import (
	"bytes"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/keyutil"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// blocks counts the blocks of PEM data.
func blocks(data []byte) int {
	n := 0
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		n++
	}
	return n
}

func trusts(t *testing.T, s *seed, bundle []byte, certificate *secrets.Certificate) bool {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	_, err := parse(t, certificate.Certificate).Verify(x509.VerifyOptions{
		Roots: roots, CurrentTime: s.clock.Now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	return err == nil
}

// pass is one run that needs an authority, a server's and a client's certificate.
type pass struct {
	ca             *secrets.CA
	server, client *secrets.Certificate
}

func (s *seed) pass(t *testing.T) pass {
	t.Helper()
	s.clock.SetTime(s.clock.Now().Add(time.Hour))
	m := s.load(t)
	p := pass{ca: ca(t, m, "ca")}
	p.server, p.client = certificate(t, m, server(p.ca, "10.99.1.1")), certificate(t, m, clientOf(p.ca))
	if err := m.Cleanup(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRotationOfAnAuthority_GLET_SEC_5_GLET_CRED_10(t *testing.T) {
	t.Parallel()
	for _, preparing := range []gardencorev1beta1.CredentialsRotationPhase{"Preparing", "PreparingWithoutWorkersRollout"} {
		t.Run(string(preparing), func(t *testing.T) {
			t.Parallel()
			s := newSeed()
			before := s.pass(t)
			if before.ca.Current.SecretName != "ca" || blocks(before.ca.Bundle.PEM) != 1 {
				t.Fatalf("before any rotation the authority is %q, its bundle has %d certificates", before.ca.Current.SecretName, blocks(before.ca.Bundle.PEM))
			}
			s.rotations.Authorities.Initiated = s.clock.Now()
			var during pass
			for _, phase := range []gardencorev1beta1.CredentialsRotationPhase{preparing, preparing, "WaitingForWorkersRollout", "Prepared"} {
				s.rotations.Authorities.Phase = phase
				during = s.pass(t)
				if bytes.Equal(during.ca.Current.Certificate, before.ca.Current.Certificate) || blocks(during.ca.Bundle.PEM) != 2 {
					t.Fatalf("%s: the authority is %q, its bundle has %d certificates; want a new one and 2", phase, during.ca.Current.SecretName, blocks(during.ca.Bundle.PEM))
				}
				if !trusts(t, s, before.ca.Bundle.PEM, during.server) || during.server.SecretName != before.server.SecretName {
					t.Errorf("%s: a client that knows the old authority only does not trust the server any more", phase)
				}
				if trusts(t, s, before.ca.Bundle.PEM, during.client) || !trusts(t, s, during.ca.Bundle.PEM, during.client) {
					t.Errorf("%s: the certificate of a client is not signed by the new authority", phase)
				}
				if !trusts(t, s, during.ca.Bundle.PEM, before.client) {
					t.Errorf("%s: a client with a certificate of the old authority is locked out", phase)
				}
			}
			var after pass
			for _, phase := range []gardencorev1beta1.CredentialsRotationPhase{"Completing", "Completed"} {
				s.rotations.Authorities.Phase = phase
				after = s.pass(t)
				if after.ca.Current.SecretName != during.ca.Current.SecretName || blocks(after.ca.Bundle.PEM) != 1 {
					t.Errorf("%s: the authority is %q, its bundle has %d certificates; want %q alone", phase, after.ca.Current.SecretName, blocks(after.ca.Bundle.PEM), during.ca.Current.SecretName)
				}
				if !trusts(t, s, after.ca.Bundle.PEM, after.server) || trusts(t, s, after.ca.Bundle.PEM, before.client) {
					t.Errorf("%s: the new authority alone is to sign and to be trusted", phase)
				}
			}
			if got := len(s.names(t)); got != 4 {
				t.Errorf("%d secrets are left, want authority, bundle and two certificates: %v", got, s.names(t))
			}
		})
	}
}

func TestSecondRotation_GLET_SEC_1(t *testing.T) {
	t.Parallel()
	s := newSeed()
	first := s.pass(t)
	seen := map[string]bool{first.ca.Current.SecretName: true}
	for range 2 {
		s.rotations.Authorities = secrets.Rotation{Phase: "Preparing", Initiated: s.clock.Now()}
		s.pass(t)
		s.rotations.Authorities.Phase = "Completing"
		name := s.pass(t).ca.Current.SecretName
		if seen[name] || !regexp.MustCompile(`^ca-[0-9a-f]{8}$`).MatchString(name) {
			t.Errorf("a rotated authority is named %q, want ca-<hash> and another one each time", name)
		}
		seen[name] = true
	}
}

func TestALostStatusReplacesNothing(t *testing.T) {
	t.Parallel()
	s := newSeed()
	s.pass(t)
	s.rotations.Authorities = secrets.Rotation{Phase: "Preparing", Initiated: s.clock.Now()}
	s.pass(t)
	s.rotations.Authorities.Phase = "Completed"
	rotated := s.pass(t)
	for _, rotation := range []secrets.Rotation{{}, {Phase: "Completed"}, {Phase: "Preparing"}, {Phase: "Preparing", Initiated: s.clock.Now().Add(-24 * time.Hour)}} {
		s.rotations.Authorities = rotation
		if got := s.pass(t); got.ca.Current.SecretName != rotated.ca.Current.SecretName {
			t.Errorf("with %+v the authority is %q, want %q: only a new rotation makes another", rotation, got.ca.Current.SecretName, rotated.ca.Current.SecretName)
		}
	}
}

func TestALostStatusKeepsWhatMayStillBeNeeded_GLET_CRED_13(t *testing.T) {
	t.Parallel()
	s := newSeed()
	keys := func(r secrets.Rotation) (*secrets.EncryptionKey, bool) {
		t.Helper()
		s.clock.SetTime(s.clock.Now().Add(time.Hour))
		s.rotations.EncryptionKey = r
		m := s.load(t)
		key, err := m.EncryptionKey(t.Context(), "kube-apiserver-etcd-encryption-key")
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Cleanup(t.Context()); err != nil {
			t.Fatal(err)
		}

		return key, key.Old != nil
	}
	first, _ := keys(secrets.Rotation{})
	began := s.clock.Now()
	keys(secrets.Rotation{Phase: "Preparing", Initiated: began})
	for _, lost := range []secrets.Rotation{{}, {Phase: "Completed"}, {Phase: "Completed", Initiated: began.Add(-24 * time.Hour)}} {
		if key, old := keys(lost); !old || key.Old.SecretName != first.SecretName {
			t.Fatalf("with %+v, what the old key has encrypted cannot be read any more", lost)
		}
	}
	if _, old := keys(secrets.Rotation{Phase: "Completing", Initiated: began}); old {
		t.Error("the old key outlives the rotation")
	}
}

func TestClientsOfMachinesComeLater_GLET_SEC_5(t *testing.T) {
	t.Parallel()
	s := newSeed()
	get := func() (*secrets.CA, *secrets.Certificate) {
		t.Helper()
		m := s.load(t)
		authority := ca(t, m, "ca-client")

		return authority, certificate(t, m, secrets.CertificateSpec{Name: "kubelet-client", CA: authority, Usage: secrets.UsageClient, CommonName: "api", ServersComeLater: true})
	}
	before, _ := get()
	s.clock.SetTime(s.clock.Now().Add(time.Hour))
	s.rotations.Authorities = secrets.Rotation{Phase: "Preparing", Initiated: s.clock.Now()}
	if _, client := get(); !trusts(t, s, before.Bundle.PEM, client) {
		t.Error("machines that only know the old authority refuse the API server")
	}
	s.rotations.Authorities.Phase = "Completing"
	if _, client := get(); trusts(t, s, before.Bundle.PEM, client) {
		t.Error("the old authority still signs")
	}
}

func TestExpiredAuthorityIsNotTrusted_GLET_SEC_4(t *testing.T) {
	t.Parallel()
	s := newSeed()
	s.pass(t)
	s.clock.SetTime(s.clock.Now().Add(11 * 365 * 24 * time.Hour))
	s.rotations.Authorities = secrets.Rotation{Phase: "Preparing", Initiated: s.clock.Now()}
	if got := s.pass(t); blocks(got.ca.Bundle.PEM) != 1 || !trusts(t, s, got.ca.Bundle.PEM, got.server) {
		t.Errorf("the bundle has %d certificates, want the new one alone, which also signs for servers", blocks(got.ca.Bundle.PEM))
	}
}

func TestBundleOfAServiceAccountKey_GLET_SEC_4(t *testing.T) {
	t.Parallel()
	s := newSeed()
	key := func() *secrets.RSAKey {
		t.Helper()
		s.clock.SetTime(s.clock.Now().Add(time.Hour))
		got, err := s.load(t).RSAKey(t.Context(), "service-account-key")
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(got.Key)
		private, err := x509.ParsePKCS1PrivateKey(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		first, _ := pem.Decode(got.Bundle.PEM)
		public, err := x509.ParsePKIXPublicKey(first.Bytes)
		if err != nil {
			t.Fatalf("the bundle holds something else than public keys: %v", err)
		}
		if rsaKey, ok := public.(*rsa.PublicKey); !ok || !rsaKey.Equal(private.Public()) {
			t.Error("the first key of the bundle is not the one that signs")
		}
		return got
	}
	before := key()
	s.rotations.ServiceAccountKey = secrets.Rotation{Phase: "Preparing", Initiated: s.clock.Now()}
	during := key()
	if during.SecretName == before.SecretName || !bytes.HasSuffix(during.Bundle.PEM, before.Bundle.PEM) || blocks(during.Bundle.PEM) != 2 {
		t.Error("while it is rotated, the new key signs and both are trusted")
	}
	if keys, err := keyutil.ParsePublicKeysPEM(during.Bundle.PEM); err != nil || len(keys) != 2 {
		t.Errorf("an API server reads %d keys from the bundle, want 2: %v", len(keys), err)
	}
	s.rotations.ServiceAccountKey.Phase = "Completing"
	if after := key(); after.SecretName != during.SecretName || blocks(after.Bundle.PEM) != 1 {
		t.Error("a rotation that completes leaves the new key alone")
	}
	if got := s.get(t, before.Bundle.SecretName).Labels["bundle-for"]; got != "service-account-key" {
		t.Errorf("label bundle-for = %q", got)
	}
}

func TestOldKeysStayForAWhile_GLET_CRED_14(t *testing.T) {
	t.Parallel()
	s := newSeed()
	began := metav1.NewTime(s.clock.Now().Add(time.Minute))
	keys := func() []bool {
		t.Helper()
		s.clock.SetTime(s.clock.Now().Add(time.Hour))
		m := s.load(t)
		encryption, err := m.EncryptionKey(t.Context(), "kube-apiserver-etcd-encryption-key")
		if err != nil {
			t.Fatal(err)
		}
		ssh, err := m.SSHKey(t.Context(), "ssh-keypair")
		if err != nil {
			t.Fatal(err)
		}
		if encryption.Old != nil && encryption.Old.Name == encryption.Name || ssh.Old != nil && bytes.Equal(ssh.Old.Public, ssh.Public) {
			t.Error("the old key is the new one")
		}
		return []bool{encryption.Old != nil, ssh.Old != nil}
	}
	for _, step := range []struct {
		reason string
		status *gardencorev1beta1.ShootCredentialsRotation
		old    []bool
	}{
		{"nothing was rotated yet", nil, []bool{false, false}},
		{"both are rotated", &gardencorev1beta1.ShootCredentialsRotation{
			ETCDEncryptionKey: &gardencorev1beta1.ETCDEncryptionKeyRotation{Phase: "Preparing", LastInitiationTime: &began},
			SSHKeypair:        &gardencorev1beta1.ShootSSHKeypairRotation{LastInitiationTime: &began},
		}, []bool{true, true}},
		{"the old key opens machines until the next rotation", &gardencorev1beta1.ShootCredentialsRotation{
			ETCDEncryptionKey: &gardencorev1beta1.ETCDEncryptionKeyRotation{Phase: "Completing", LastInitiationTime: &began},
			SSHKeypair:        &gardencorev1beta1.ShootSSHKeypairRotation{LastInitiationTime: &began, LastCompletionTime: &began},
		}, []bool{false, true}},
	} {
		s.rotations = secrets.RotationsOf(gardencorev1beta1.ShootStatus{Credentials: &gardencorev1beta1.ShootCredentials{Rotation: step.status}})
		if diff := cmp.Diff(step.old, keys()); diff != "" {
			t.Errorf("%s: an old key for encryption, for machines (-want +got):\n%s", step.reason, diff)
		}
	}
}
