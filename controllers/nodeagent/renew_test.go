// SPDX-License-Identifier: Apache-2.0

package nodeagent_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
)

// replaced is the configuration of a pool whose machines are replaced, as this version of the gardenlet writes it: with what verifies the API
// server. Earlier versions leave that out.
func replaced(authorities string) configuration {
	c := kubelet("1")
	c.Units = append(c.Units, unit{Name: nodeagent.Unit, Content: new("[Service]\nExecStart=/agent\n")})
	if authorities != "" {
		c.Files = append(c.Files, nodeagent.ServerCA([]byte(authorities)))
	}
	return c
}

// trusted is what the kubelet verifies the API server with.
func (s *scene) trusted(t *testing.T) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(filepath.Join(s.agent.Machine.Root, s.agent.Kubeconfig))
	if err != nil {
		t.Fatal(err)
	}
	return string(config.Clusters["c"].CertificateAuthorityData)
}

// trusts has the kubelet of a new machine verify the API server with these certificates.
func (s *scene) trusts(t *testing.T, authorities string) {
	t.Helper()
	path := filepath.Join(s.agent.Machine.Root, s.agent.Kubeconfig)
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	config.Clusters["c"].CertificateAuthorityData = []byte(authorities)
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
}

// TestOldAuthorityGoes_GLET_CRED_10: when a rotation is completed, a node that has both authorities loses the old one at its turn, and only
// then a kubelet and its agent restart. The upgrade from a version that did not say whom to trust restarts nothing.
func TestOldAuthorityGoes_GLET_CRED_10(t *testing.T) {
	t.Parallel()
	first, second := newAuthority(t, "first"), newAuthority(t, "second")
	only, both := inPEM(second.certificate), inPEM(second.certificate)+inPEM(first.certificate)
	s := newScene(t, replaced(""))
	s.joined(t, first, &first)
	s.trusts(t, both)
	s.pass(t)
	s.units.take()
	type seen struct {
		Trusted string
		Told    bool
		Did     []string
	}
	for _, step := range []struct {
		reason string
		next   configuration
		waited bool
		want   seen
	}{
		{reason: "an upgrade waits for the turn of the node", next: replaced(both), want: seen{Trusted: both}},
		{reason: "and restarts nothing", next: replaced(both), waited: true, want: seen{Trusted: both, Told: true}},
		{reason: "nor does the same configuration", next: replaced(both), want: seen{Trusted: both, Told: true}},
		{reason: "the end of a rotation waits as well", next: replaced(only), want: seen{Trusted: both}},
		{
			reason: "the old authority goes at the turn of the node", next: replaced(only), waited: true,
			want: seen{Trusted: only, Told: true, Did: []string{"restart kubelet.service", "restart " + nodeagent.Unit}},
		},
		{reason: "once", next: replaced(only), want: seen{Trusted: only, Told: true}},
		{reason: "without the file, what is trusted stays", next: replaced(""), want: seen{Trusted: only}},
		{reason: "at the turn of the node, too", next: replaced(""), waited: true, want: seen{Trusted: only, Told: true}},
	} {
		checksum := s.configure(t, step.next)
		s.pass(t)
		if step.waited {
			s.clock.Step(10 * time.Minute)
			s.pass(t)
		}
		got := seen{Trusted: s.trusted(t), Told: s.reported(t) == checksum, Did: s.units.take()}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
	}
}

// TestTrustIsTriedAgain: a kubelet that did not start with what it is to trust is started again, although its kubeconfig is right by then.
func TestTrustIsTriedAgain_GLET_CRED_10(t *testing.T) {
	t.Parallel()
	first, second := newAuthority(t, "first"), newAuthority(t, "second")
	s := newScene(t, replaced(inPEM(first.certificate)))
	s.joined(t, first, &first)
	s.trusts(t, inPEM(first.certificate))
	s.pass(t)
	s.units.take()
	s.configure(t, replaced(inPEM(second.certificate)))
	s.units.fails = "kubelet.service"
	s.pass(t)
	s.clock.Step(10 * time.Minute)
	if _, _, err := s.agent.Pass(t.Context()); err == nil {
		t.Fatal("Pass(...) succeeds without the kubelet")
	}
	s.units.take()
	s.units.fails = ""
	s.pass(t)
	if diff := cmp.Diff([]string{"restart kubelet.service", "restart " + nodeagent.Unit}, s.units.take()); diff != "" {
		t.Errorf("the next pass (-want +got):\n%s", diff)
	}
}

// TestNobodyIsNotTrusted: a kubelet that trusts nobody could not be reached any more.
func TestNobodyIsNotTrusted_GLET_CRED_10(t *testing.T) {
	t.Parallel()
	first := newAuthority(t, "first")
	s := newScene(t, replaced("no certificate"))
	s.joined(t, first, &first)
	s.trusts(t, inPEM(first.certificate))
	if _, _, err := s.agent.Pass(t.Context()); err == nil {
		t.Error("Pass(...) succeeds without a certificate")
	}
	if got := s.trusted(t); got != inPEM(first.certificate) {
		t.Errorf("the kubelet trusts %q", got)
	}
}
