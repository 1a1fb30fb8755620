// SPDX-License-Identifier: Apache-2.0

package providerlocal_test

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// TestOwnAuthority_EXT_SEC_2 has an extension keep an authority of its own while that of the shoot is rotated, and while the control plane
// moves to another seed with what is marked for that.
func TestOwnAuthority_EXT_SEC_2(t *testing.T) {
	t.Parallel()
	s := newSeed(t)
	for _, name := range []string{"shoot--dev--own", "shoot--dev--moved"} {
		s.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	// The core has Secrets of the same kind in the namespace, which are none of the extension's business (EXT-SEC-3).
	core, err := secrets.Load(t.Context(), secrets.Config{Client: s, Namespace: "shoot--dev--own", Identity: "gardenlet", Clock: s.applier.Clock})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := core.CA(t.Context(), "ca"); err != nil {
		t.Fatal(err)
	}
	start := time.Now().Add(-time.Hour).Truncate(time.Second)
	first := s.own(t, "shoot--dev--own", "", time.Time{})
	first.check(t, "before any rotation", 1, first)
	prepared := s.own(t, "shoot--dev--own", "Preparing", start)
	if bytes.Equal(prepared.newest, first.newest) || prepared.blocks != 2 {
		t.Errorf("EXT-SEC-2: in the first phase there is a new authority, and both are trusted: %d are, new: %t", prepared.blocks, !bytes.Equal(prepared.newest, first.newest))
	}
	if prepared.servedBy(first) != nil {
		t.Error("EXT-SEC-2: servers still have certificates of the old authority: some clients know no other")
	}
	s.own(t, "shoot--dev--own", "Preparing", start).check(t, "an interrupted phase goes on with what it has made", 2, prepared)
	s.own(t, "shoot--dev--own", "Prepared", start).check(t, "both are trusted until the rotation completes", 2, prepared)
	done := s.own(t, "shoot--dev--own", "Completing", start)
	done.check(t, "EXT-SEC-2: in the last phase the old one goes", 1, prepared)
	if err := done.servedBy(prepared); err != nil {
		t.Errorf("EXT-SEC-2: servers have certificates of the new authority: %v", err)
	}
	s.own(t, "shoot--dev--own", "Completed", start).check(t, "and it stays", 1, prepared)

	s.carry(t, "shoot--dev--own", "shoot--dev--moved")
	s.own(t, "shoot--dev--moved", "Completed", start).check(t, "EXT-SEC-2: it survives a migration", 1, prepared)
	list := &corev1.SecretList{}
	if err := s.List(t.Context(), list, client.InNamespace("shoot--dev--own"), client.MatchingLabels{"manager-identity": "gardenlet"}); err != nil || len(list.Items) != 2 {
		t.Errorf("EXT-SEC-3: of the core there are %d Secrets, want 2 that nobody has touched, error %v", len(list.Items), err)
	}
}

// kept is an authority as an extension has it after a run.
type kept struct {
	// newest is the certificate that signs; blocks is the number of those that are trusted.
	newest []byte
	blocks int
	served []byte
}

// own makes one run of an extension in which a shoot is in a phase of a rotation.
func (s *seed) own(t *testing.T, namespace, phase string, initiated time.Time) kept {
	t.Helper()
	cluster := &engine.Cluster{Namespace: namespace, Shoot: &gardencorev1beta1.Shoot{}}
	if !initiated.IsZero() {
		cluster.Shoot.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{
			CertificateAuthorities: &gardencorev1beta1.CARotation{Phase: gardencorev1beta1.CredentialsRotationPhase(phase), LastInitiationTime: new(metav1.NewTime(initiated))},
		}}
	}
	keys, err := engine.Access{Seed: s.applier}.Secrets(t.Context(), cluster, "registry")
	if err != nil {
		t.Fatal(err)
	}
	authority, err := keys.CA(t.Context(), "ca-provider-local-registry")
	if err != nil {
		t.Fatal(err)
	}
	made, err := keys.Certificate(t.Context(), secrets.CertificateSpec{Name: "registry", CA: authority, Usage: secrets.UsageServer, DNSNames: []string{"registry"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := keys.Cleanup(t.Context()); err != nil {
		t.Fatal(err)
	}
	return kept{newest: authority.Current.Certificate, blocks: strings.Count(string(authority.Bundle.PEM), "BEGIN"), served: made.Certificate}
}

func (k kept) check(t *testing.T, reason string, blocks int, want kept) {
	t.Helper()
	if k.blocks != blocks || !bytes.Equal(k.newest, want.newest) {
		t.Errorf("%s: %d authorities are trusted, want %d; the newest is the same: %t", reason, k.blocks, blocks, bytes.Equal(k.newest, want.newest))
	}
}

// servedBy returns why the certificate of the server is not signed by the newest authority of a run.
func (k kept) servedBy(authority kept) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority.newest)
	block, _ := pem.Decode(k.served)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return err
	}
	if _, err := certificate.Verify(x509.VerifyOptions{Roots: roots, DNSName: "registry"}); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	return nil
}

// carry copies what is marked to survive a migration to the namespace of a control plane elsewhere.
func (s *seed) carry(t *testing.T, from, to string) {
	t.Helper()
	list := &corev1.SecretList{}
	if err := s.List(t.Context(), list, client.InNamespace(from), client.MatchingLabels{"persist": "true", "managed-by": "secrets-manager"}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, secret := range list.Items {
		if secret.Labels["manager-identity"] == "gardenlet" {
			continue
		}
		names = append(names, secret.Labels["name"])
		s.create(t, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: to, Name: secret.Name, Labels: secret.Labels}, Type: secret.Type, Immutable: secret.Immutable, Data: secret.Data,
		})
	}
	if diff := cmp.Diff([]string{"ca-provider-local-registry"}, names); diff != "" {
		t.Errorf("what is marked to be carried along (-want +got):\n%s", diff)
	}
}
