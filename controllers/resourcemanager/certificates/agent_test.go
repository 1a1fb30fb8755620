// SPDX-License-Identifier: Apache-2.0

package certificates_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"

	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/certificates"
)

// agentOfA is what the node a asks for its agent, in the pool small.
func agentOfA(change func(*asked)) *asked {
	a := &asked{
		user: "system:node:a", group: "system:nodes", usages: []certificatesv1.KeyUsage{"digital signature", "client auth"},
		content: x509.CertificateRequest{Subject: pkix.Name{
			CommonName: "gardener.cloud:node-agent:machine:a", Organization: []string{"gardener.cloud:node-agents", "gardener.cloud:node-agents:pool:small"},
		}},
	}
	if change != nil {
		change(a)
	}
	return a
}

func subject(name string, organizations ...string) func(*asked) {
	return func(a *asked) { a.content.Subject = pkix.Name{CommonName: name, Organization: organizations} }
}

// TestAgents_GRM_CSR_2 has requests of an honest node and of one that wants to be more than it is.
func TestAgents_GRM_CSR_2(t *testing.T) {
	t.Parallel()
	const agentA, agents, small, large = "gardener.cloud:node-agent:machine:a", "gardener.cloud:node-agents", "gardener.cloud:node-agents:pool:small", "gardener.cloud:node-agents:pool:large"
	one := []map[string]string{{"node": "a", "worker.gardener.cloud/pool": "small"}, {"node": "b", "worker.gardener.cloud/pool": "large"}}
	for name, tc := range map[string]struct {
		reason   string
		change   func(*asked)
		machines []map[string]string
		want     certificatesv1.RequestConditionType
	}{
		"Own":       {reason: "an agent of the pool that the machine is in", machines: one, want: certificatesv1.CertificateApproved},
		"OtherPool": {reason: "the configuration of another pool", change: subject(agentA, agents, large), machines: one, want: certificatesv1.CertificateDenied},
		"TwoPools":  {reason: "its own pool and another one", change: subject(agentA, agents, large, small), machines: one, want: certificatesv1.CertificateDenied},
		"NoPool":    {reason: "no pool", change: subject(agentA, agents), machines: one, want: certificatesv1.CertificateDenied},
		"EmptyPool": {reason: "a pool without a name", change: subject(agentA, agents, "gardener.cloud:node-agents:pool:"), machines: one, want: certificatesv1.CertificateDenied},
		"Administrator": {
			reason: "more groups than an agent has", change: subject(agentA, agents, small, "gardener.cloud:system:admins"), machines: one, want: certificatesv1.CertificateDenied,
		},
		"OtherNode": {reason: "the agent of another node", change: subject("gardener.cloud:node-agent:machine:b", agents, large), machines: one, want: certificatesv1.CertificateDenied},
		"OtherName": {reason: "the groups of agents under another name", change: subject("somebody", agents, small), machines: one, want: certificatesv1.CertificateDenied},
		"Person":    {reason: "somebody who is not a node", change: func(a *asked) { a.user, a.group = "admin", "admins" }, machines: one, want: certificatesv1.CertificateDenied},
		"Server":    {reason: "a certificate for servers", change: func(a *asked) { a.usages = append(a.usages, "server auth") }, machines: one, want: certificatesv1.CertificateDenied},
		"Address":   {reason: "an address", change: func(a *asked) { a.content.IPAddresses = []net.IP{net.ParseIP("10.0.0.1")} }, machines: one, want: certificatesv1.CertificateDenied},
		"NoMachine": {reason: "a node without a machine", machines: one[1:], want: certificatesv1.CertificateDenied},
		"TwoMachines": {
			reason: "two machines claim the node", machines: append([]map[string]string{one[0]}, one...), want: certificatesv1.CertificateDenied,
		},
		"NoObjects": {reason: "nobody but the node says in which pool it is", want: certificatesv1.CertificateDenied},
		"Stranger":  {reason: "what is not about agents is for others to decide", change: subject("somebody", "people"), machines: one},
		"Unreadable": {
			reason: "what cannot be read is for others to decide", change: func(a *asked) { a.spoil = func([]byte) []byte { return []byte("x") } }, machines: one,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := agentOfA(tc.change).request(t)
			request.Spec.SignerName = "kubernetes.io/kube-apiserver-client"
			written := map[string]*certificatesv1.CertificateSigningRequest{}
			decider := certificates.Decider{Seed: seed(t, tc.machines), Namespace: home, Shoot: shoot(t, written)}
			if err := decider.Decide(t.Context(), request); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decision(tc.want), decisions(written)); diff != "" {
				t.Errorf("%s\nwhat was written (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
