// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/knftables"
)

// Table is the name of the firewall table of the policies.
const Table = "seedling-policies"

const (
	// passSelf are the packets of a pod to itself through a Service, by sender and receiver.
	passSelf = "self"
	// refusal ends a connection at once with an answer that an administrator prohibits it.
	refusal = "reject with icmp admin-prohibited"
)

// Write replaces the table by one that enforces the policies of a cluster.
func Write(tx *knftables.Transaction, c Cluster) error {
	tx.Add(&knftables.Table{})
	tx.Delete(&knftables.Table{})
	tx.Add(&knftables.Table{Comment: new("NetworkPolicies of the seedling")})
	all := c.pods()
	tx.Add(&knftables.Set{Name: passSelf, Type: "ipv4_addr . ipv4_addr"})
	for _, p := range all {
		address := p.address.String()
		tx.Add(&knftables.Element{Set: passSelf, Key: []string{address, address}})
	}
	for _, d := range []direction{egress(), ingress()} {
		if err := writeDirection(tx, d, c.policies(d), all); err != nil {
			return err
		}
	}
	// What one chain of a hook accepts still passes the other.
	writeHook(tx, egress(), "forward", knftables.ForwardHook)
	writeHook(tx, ingress(), "forward", knftables.ForwardHook)
	writeHook(tx, egress(), "input", knftables.InputHook)
	return nil
}

// writeHook sends new connections of pods that are restricted in a direction to the chain of the pod.
func writeHook(tx *knftables.Transaction, d direction, at string, hook knftables.BaseChainHook) {
	name := d.name + "-" + at
	tx.Add(&knftables.Chain{Name: name, Type: new(knftables.FilterType), Hook: new(hook), Priority: new(knftables.FilterPriority)})
	for _, match := range []string{"ct state established,related", "ip saddr . ip daddr @" + passSelf} {
		tx.Add(&knftables.Rule{Chain: name, Rule: match + " accept"})
	}
	tx.Add(&knftables.Rule{Chain: name, Rule: fmt.Sprintf("ip %s vmap @%s", d.self, d.name)})
}

// writeDirection writes a chain for each policy, a chain for each set of policies that select the same pods, and the map from pods to
// those chains.
func writeDirection(tx *knftables.Transaction, d direction, policies []*networkingv1.NetworkPolicy, all []pod) error {
	tx.Add(&knftables.Map{Name: d.name, Type: "ipv4_addr : verdict"})
	selectors := make([]labels.Selector, len(policies))
	for i, p := range policies {
		allowed, err := matches(d, p, all)
		if err == nil {
			selectors[i], err = selector(&p.Spec.PodSelector)
		}
		if err != nil {
			return fmt.Errorf("NetworkPolicy %q: %w", p.Namespace+"/"+p.Name, err)
		}
		chain := policyChain(d, p)
		tx.Add(&knftables.Chain{Name: chain, Comment: new(shortened(p.Namespace + "/" + p.Name))})
		for _, match := range allowed {
			tx.Add(&knftables.Rule{Chain: chain, Rule: match + " accept"})
		}
	}
	written := map[string]bool{}
	for _, p := range all {
		var chains []string
		for i, policy := range policies {
			if policy.Namespace == p.Namespace && selectors[i].Matches(labels.Set(p.Labels)) {
				chains = append(chains, policyChain(d, policy))
			}
		}
		if len(chains) == 0 {
			continue
		}
		name := d.name + "-pods-" + hash(strings.Join(chains, " "))
		if !written[name] {
			tx.Add(&knftables.Chain{Name: name})
			for _, chain := range chains {
				tx.Add(&knftables.Rule{Chain: name, Rule: "jump " + chain})
			}
			tx.Add(&knftables.Rule{Chain: name, Rule: refusal})
		}
		written[name] = true
		tx.Add(&knftables.Element{Map: d.name, Key: []string{p.address.String()}, Value: []string{"goto " + name}})
	}
	return nil
}

func policyChain(d direction, p *networkingv1.NetworkPolicy) string {
	return d.name + "-policy-" + hash(p.Namespace+"/"+p.Name)
}

// hash shortens a name: names of chains are limited, those of policies are longer.
func hash(of string) string {
	const length = 8
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:length])
}

// shortened makes a text fit into a comment.
func shortened(text string) string {
	const most = 120
	return text[:min(len(text), most)]
}
