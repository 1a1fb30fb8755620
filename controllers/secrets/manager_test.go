// SPDX-License-Identifier: Apache-2.0

package secrets_test

import (
	"crypto/x509"
	"encoding/pem"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const namespace = "shoot--dev--a"

// seed is a cluster whose secrets several runs share.
type seed struct {
	client client.Client
	clock  *clocktesting.FakePassiveClock
	// rotations are those of the next run.
	rotations secrets.Rotations
}

func newSeed(objs ...client.Object) *seed {
	return &seed{
		client: fake.NewClientBuilder().WithObjects(objs...).Build(),
		clock:  clocktesting.NewFakePassiveClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)),
	}
}

func (s *seed) load(t *testing.T) *secrets.Manager {
	t.Helper()
	m, err := secrets.Load(t.Context(), secrets.Config{
		Client: s.client, Namespace: namespace, Identity: "gardenlet", Clock: s.clock, Rotations: s.rotations,
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (s *seed) names(t *testing.T) []string {
	t.Helper()
	list := &corev1.SecretList{}
	if err := s.client.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, item := range list.Items {
		names = append(names, item.Name)
	}
	slices.Sort(names)
	return names
}

func (s *seed) get(t *testing.T, name string) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	if err := s.client.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: name}, secret); err != nil {
		t.Fatal(err)
	}
	return secret
}

func ca(t *testing.T, m *secrets.Manager, name string) *secrets.CA {
	t.Helper()
	got, err := m.CA(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func certificate(t *testing.T, m *secrets.Manager, spec secrets.CertificateSpec) *secrets.Certificate {
	t.Helper()
	got, err := m.Certificate(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func parse(t *testing.T, data []byte) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(data)
	if block == nil {
		t.Fatalf("no PEM data in %q", data)
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func server(authority *secrets.CA, ips ...string) secrets.CertificateSpec {
	return secrets.CertificateSpec{
		Name: "kube-apiserver", CA: authority, Usage: secrets.UsageServer, CommonName: "kube-apiserver",
		DNSNames: []string{"kubernetes", "kube-apiserver"}, IPs: ips,
	}
}

func TestSecondRunTakesWhatTheFirstMade(t *testing.T) {
	t.Parallel()
	s := newSeed()
	run := func() []string {
		m := s.load(t)
		authority := ca(t, m, "ca")
		cert := certificate(t, m, server(authority, "10.97.0.9", "10.99.1.1"))
		key, err := m.RSAKey(t.Context(), "service-account-key")
		if err != nil {
			t.Fatal(err)
		}
		encryption, err := m.EncryptionKey(t.Context(), "kube-apiserver-etcd-encryption-key")
		if err != nil {
			t.Fatal(err)
		}
		return []string{
			authority.Current.SecretName, string(authority.Current.Key), cert.SecretName, string(cert.Key), key.SecretName, string(key.Key),
			encryption.SecretName, encryption.Name, string(encryption.Secret),
		}
	}
	first := run()
	s.clock.SetTime(s.clock.Now().Add(time.Hour))
	if diff := cmp.Diff(first, run()); diff != "" {
		t.Errorf("the second run made something anew (-first +second):\n%s", diff)
	}
	if got := len(s.names(t)); got != 6 {
		t.Errorf("%d secrets after two runs, want 6, of which two are bundles: %v", got, s.names(t))
	}
}

func TestNamesAndLabels_GLET_SEC_1_2(t *testing.T) {
	t.Parallel()
	s := newSeed()
	m := s.load(t)
	authority := ca(t, m, "ca-client")
	if authority.Current.SecretName != "ca-client" {
		t.Errorf("an authority is named %q, want its plain name ca-client until it is rotated", authority.Current.SecretName)
	}
	cert := certificate(t, m, secrets.CertificateSpec{Name: "kube-scheduler", CA: authority, Usage: secrets.UsageClient, CommonName: "system:kube-scheduler"})
	if !regexp.MustCompile(`^kube-scheduler-[0-9a-f]{8}$`).MatchString(cert.SecretName) {
		t.Errorf("a certificate is named %q, want kube-scheduler-<hash>", cert.SecretName)
	}
	secret := s.get(t, cert.SecretName)
	if secret.Immutable == nil || !*secret.Immutable {
		t.Error("a generated secret is not immutable")
	}
	want := map[string]string{
		"name": "kube-scheduler", "managed-by": "secrets-manager", "manager-identity": "gardenlet", "rotation-strategy": "inplace",
		"issued-at-time": "1772366400", "valid-until-time": "1803902400",
		"checksum-of-config": secret.Labels["checksum-of-config"], "checksum-of-signing-ca": secret.Labels["checksum-of-signing-ca"],
	}
	if diff := cmp.Diff(want, secret.Labels); diff != "" || want["checksum-of-config"] == "" || want["checksum-of-signing-ca"] == "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if got := s.get(t, "ca-client").Labels["persist"]; got != "true" {
		t.Errorf(`label persist of an authority is %q, want "true": it has to survive a move of the control plane`, got)
	}
}

func TestChangedWishIssuesAnew(t *testing.T) {
	t.Parallel()
	s := newSeed()
	m := s.load(t)
	authority, other := ca(t, m, "ca"), ca(t, m, "ca-other")
	base := server(authority, "10.99.1.1", "10.97.0.9")
	have := certificate(t, m, base)
	cases := map[string]struct {
		reason string
		change func(*secrets.CertificateSpec)
		anew   bool
	}{
		"Order":   {reason: "the order of addresses does not matter", change: func(c *secrets.CertificateSpec) { c.IPs = []string{"10.97.0.9", "10.99.1.1"} }},
		"Address": {reason: "the load balancer got another address", change: func(c *secrets.CertificateSpec) { c.IPs = []string{"10.99.1.2", "10.97.0.9"} }, anew: true},
		"Name": {reason: "a name was added", change: func(c *secrets.CertificateSpec) {
			c.DNSNames = append(c.DNSNames, "api.a.dev.internal.terrarium.local")
		}, anew: true},
		"Signer":       {reason: "another authority signs", change: func(c *secrets.CertificateSpec) { c.CA = other }, anew: true},
		"Organization": {reason: "the groups changed", change: func(c *secrets.CertificateSpec) { c.Organizations = []string{"system:masters"} }, anew: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := base
			spec.DNSNames = slices.Clone(base.DNSNames)
			tc.change(&spec)
			got := certificate(t, s.load(t), spec)
			if anew := got.SecretName != have.SecretName; anew != tc.anew {
				t.Errorf("%s\nissued anew: %v, want %v", tc.reason, anew, tc.anew)
			}
		})
	}
}

func TestRenewal_GLET_SEC_3(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	cases := map[string]struct {
		reason   string
		validity time.Duration
		age      time.Duration
		anew     bool
	}{
		"YearYoung":        {reason: "80 % of a year are 292 days", validity: 365 * day, age: 291 * day},
		"YearOld":          {reason: "80 % of a year are 292 days", validity: 365 * day, age: 292 * day, anew: true},
		"MonthYoung":       {reason: "ten days before the end comes before 80 %", validity: 30 * day, age: 20*day - time.Second},
		"MonthOld":         {reason: "ten days before the end comes before 80 %", validity: 30 * day, age: 20 * day, anew: true},
		"ShortLivedYoung":  {reason: "a week has no ten days; 80 % count", validity: 7 * day, age: 5 * day},
		"ShortLivedOldOne": {reason: "a week has no ten days; 80 % count", validity: 7 * day, age: 6 * day, anew: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSeed()
			issue := func() *secrets.Certificate {
				m := s.load(t)
				return certificate(t, m, secrets.CertificateSpec{Name: "c", CA: ca(t, m, "ca"), Usage: secrets.UsageClient, CommonName: "c", Validity: tc.validity})
			}
			first := issue()
			s.clock.SetTime(s.clock.Now().Add(tc.age))
			second := issue()
			if anew := second.SecretName != first.SecretName; anew != tc.anew {
				t.Errorf("%s\nrenewed: %v, want %v", tc.reason, anew, tc.anew)
			}
			if third := issue(); third.SecretName != second.SecretName {
				t.Errorf("%s\nthe renewed certificate is not reused", tc.reason)
			}
		})
	}
}

func TestAuthorityStaysWhenItGrowsOld_GLET_SEC_3(t *testing.T) {
	t.Parallel()
	s := newSeed()
	first := ca(t, s.load(t), "ca")
	s.clock.SetTime(s.clock.Now().Add(9 * 365 * 24 * time.Hour))
	if second := ca(t, s.load(t), "ca"); string(second.Current.Certificate) != string(first.Current.Certificate) {
		t.Error("an authority was replaced by age: only a rotation may do that")
	}
}

func TestCertificatesVerify(t *testing.T) {
	t.Parallel()
	m := newSeed().load(t)
	authority := ca(t, m, "ca")
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority.Current.Certificate)
	now := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

	serving := parse(t, certificate(t, m, server(authority, "10.99.1.1")).Certificate)
	for _, host := range []string{"kube-apiserver", "10.99.1.1"} {
		if _, err := serving.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, CurrentTime: now}); err != nil {
			t.Errorf("the serving certificate does not stand for %q: %v", host, err)
		}
	}
	if _, err := serving.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err == nil {
		t.Error("a serving certificate may identify a client")
	}
	user := parse(t, certificate(t, m, secrets.CertificateSpec{
		Name: "gardener", CA: authority, Usage: secrets.UsageClient, CommonName: "gardenlet", Organizations: []string{"system:masters"},
	}).Certificate)
	if diff := cmp.Diff([]string{"system:masters"}, user.Subject.Organization); diff != "" || user.Subject.CommonName != "gardenlet" {
		t.Errorf("subject of the client certificate is %s (-want +got):\n%s", user.Subject, diff)
	}
	if _, err := user.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Errorf("the client certificate does not identify a client: %v", err)
	}
	peer := parse(t, certificate(t, m, secrets.CertificateSpec{Name: "etcd-peer", CA: authority, Usage: secrets.UsagePeer, CommonName: "etcd", DNSNames: []string{"etcd-main-0"}}).Certificate)
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth} {
		if _, err := peer.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{usage}}); err != nil {
			t.Errorf("the peer certificate lacks usage %d: %v", usage, err)
		}
	}
}

func TestCertificateRefusesBadWishes(t *testing.T) {
	t.Parallel()
	m := newSeed().load(t)
	authority := ca(t, m, "ca")
	bad := server(authority, "10.99.1")
	if _, err := m.Certificate(t.Context(), bad); err == nil || err.Error() != `certificate "kube-apiserver": "10.99.1" is not an IP address` {
		t.Errorf("Certificate(...) = %v", err)
	}
	bad = server(authority)
	bad.Usage = "both"
	if _, err := m.Certificate(t.Context(), bad); err == nil || err.Error() != `certificate "kube-apiserver": unknown usage "both"` {
		t.Errorf("Certificate(...) = %v", err)
	}
}

func TestCleanupDeletesWhatNobodyAskedFor_GLET_SEC_6(t *testing.T) {
	t.Parallel()
	foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cloudprovider"}}
	others := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "of-an-extension", Labels: map[string]string{
		"managed-by": "secrets-manager", "manager-identity": "provider-local", "name": "x",
	}}}
	s := newSeed(foreign, others)
	m := s.load(t)
	old := certificate(t, m, server(ca(t, m, "ca"), "10.99.1.1"))
	m = s.load(t)
	authority := ca(t, m, "ca")
	wanted := certificate(t, m, server(authority, "10.99.1.2"))
	if err := m.Cleanup(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"ca", authority.Bundle.SecretName, "cloudprovider", wanted.SecretName, "of-an-extension"}
	slices.Sort(want)
	if diff := cmp.Diff(want, s.names(t)); diff != "" {
		t.Errorf("secrets after Cleanup, which drops %s only (-want +got):\n%s", old.SecretName, diff)
	}
}

func TestInterruptedRunIsNotInTheWay(t *testing.T) {
	t.Parallel()
	s := newSeed()
	m := s.load(t) // sees nothing
	other := ca(t, s.load(t), "ca")
	if got := ca(t, m, "ca"); string(got.Current.Key) != string(other.Current.Key) {
		t.Error("an authority that another run has just made was not taken")
	}
	s = newSeed(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ca"}})
	_, err := s.load(t).CA(t.Context(), "ca")
	if want := `secret "ca" exists and does not belong to "gardenlet": delete or rename it`; err == nil || err.Error() != want {
		t.Errorf("CA(...) = %v, want %s", err, want)
	}
}

func TestEncryptionKey(t *testing.T) {
	t.Parallel()
	key, err := newSeed().load(t).EncryptionKey(t.Context(), "kube-apiserver-etcd-encryption-key")
	if err != nil {
		t.Fatal(err)
	}
	if key.Name != "key1772366400" || len(key.Secret) != 32 {
		t.Errorf("EncryptionKey(...) = %q with %d bytes, want key1772366400 with 32", key.Name, len(key.Secret))
	}
}

// TestToken: a later run gets the same text, and each name has one of its own.
func TestToken(t *testing.T) {
	t.Parallel()
	s := newSeed()
	token := func(name string) string {
		t.Helper()
		got, err := s.load(t).Token(t.Context(), name)
		if err != nil || !regexp.MustCompile("^[0-9a-f]{64}$").MatchString(got) {
			t.Fatalf("got the text %q, %v", got, err)
		}
		return got
	}
	first, other := token("a"), token("b")
	if again := token("a"); again != first || other == first {
		t.Errorf("got %q, then %q, and %q for another name", first, again, other)
	}
}

func TestKubeconfigLoads(t *testing.T) {
	t.Parallel()
	data, err := secrets.Kubeconfig(secrets.KubeconfigSpec{
		Context: "shoot--dev--a", Server: "https://10.97.0.9", CA: []byte("authority"),
		Certificate: &secrets.Certificate{Certificate: []byte("certificate"), Key: []byte("key")},
	})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.Load(data)
	if err != nil {
		t.Fatal(err)
	}
	current := config.Contexts[config.CurrentContext]
	got := []string{
		config.CurrentContext, config.Clusters[current.Cluster].Server, string(config.Clusters[current.Cluster].CertificateAuthorityData),
		string(config.AuthInfos[current.AuthInfo].ClientCertificateData), string(config.AuthInfos[current.AuthInfo].ClientKeyData),
	}
	if diff := cmp.Diff([]string{"shoot--dev--a", "https://10.97.0.9", "authority", "certificate", "key"}, got); diff != "" {
		t.Errorf("Kubeconfig(...) (-want +got):\n%s", diff)
	}
	data, err = secrets.Kubeconfig(secrets.KubeconfigSpec{Context: "node", Server: "https://10.99.1.1", CAFile: "/etc/ca.crt", TokenFile: "/run/token"})
	if err != nil || !strings.Contains(string(data), "tokenFile: /run/token") || !strings.Contains(string(data), "certificate-authority: /etc/ca.crt") {
		t.Errorf("a kubeconfig with files is %s, %v", data, err)
	}
}
