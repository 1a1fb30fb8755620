// SPDX-License-Identifier: Apache-2.0

package networkpolicy

import (
	"fmt"
	"net/netip"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/guard"
)

// everywhere are all addresses.
func everywhere() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")} }

// privateBlocks are the private networks and the shared ones of carriers (GLET-NP-3).
func privateBlocks() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"),
		netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("100.64.0.0/10"),
	}
}

// Networks are the networks that policies of a namespace are about.
type Networks struct {
	// Seed are those of pods, Services and nodes of the seed, Blocked those that the seed blocks.
	Seed, Blocked []netip.Prefix
	// Shoot are those of pods, Services and nodes of the shoot that the namespace belongs to, if any.
	Shoot []netip.Prefix
}

// networksOf reads the networks of a seed and, if there is one, of a shoot.
func networksOf(seed *gardencorev1beta1.Seed, shoot *gardencorev1beta1.Shoot) (Networks, error) {
	var n Networks
	own := []string{seed.Spec.Networks.Pods, seed.Spec.Networks.Services}
	if seed.Spec.Networks.Nodes != nil {
		own = append(own, *seed.Spec.Networks.Nodes)
	}
	var err error
	if n.Seed, err = prefixes(own...); err != nil {
		return n, fmt.Errorf("networks of the seed: %w", err)
	}
	if n.Blocked, err = prefixes(seed.Spec.Networks.BlockCIDRs...); err != nil {
		return n, fmt.Errorf("blocked networks of the seed: %w", err)
	}
	if shoot == nil {
		return n, nil
	}
	var used []string
	if given := shoot.Spec.Networking; given != nil {
		for _, network := range []*string{given.Pods, given.Services, given.Nodes} {
			if network != nil {
				used = append(used, *network)
			}
		}
	}
	if found := shoot.Status.Networking; found != nil {
		used = slices.Concat(used, found.Pods, found.Services, found.Nodes)
	}
	if n.Shoot, err = prefixes(used...); err != nil {
		return n, fmt.Errorf("networks of the shoot: %w", err)
	}
	return n, nil
}

// prefixes reads networks, each once and in a fixed order.
func prefixes(texts ...string) ([]netip.Prefix, error) {
	var read []netip.Prefix
	for _, text := range texts {
		if text == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("read network: %w", err)
		}
		read = append(read, prefix.Masked())
	}
	slices.SortFunc(read, netip.Prefix.Compare)
	return slices.Compact(read), nil
}

// Public are all networks that are neither private, nor shared, nor blocked (GLET-NP-3).
func (n Networks) Public() []networkingv1.NetworkPolicyPeer {
	return peers(everywhere(), slices.Concat(privateBlocks(), n.Blocked, guard.Never()))
}

// Private are the private networks without those of the seed and of the shoot, and without what is blocked (GLET-NP-3).
func (n Networks) Private() []networkingv1.NetworkPolicyPeer {
	return peers(privateBlocks(), slices.Concat(n.Seed, n.Shoot, n.Blocked, guard.Never()))
}

// OfShoot are those of the shoot. They leave out what belongs to the seed as well: the nodes of a shoot may be pods of the seed, and the
// way to these is opened by the provider that makes them.
func (n Networks) OfShoot() []networkingv1.NetworkPolicyPeer {
	return peers(n.Shoot, slices.Concat(n.Seed, n.Blocked, guard.Never()))
}

// peers are networks without others. Two networks are apart, or one contains the other. An exception inside of another is left out.
func peers(networks, without []netip.Prefix) []networkingv1.NetworkPolicyPeer {
	var found []networkingv1.NetworkPolicyPeer
	without = outermost(without)
	for _, network := range networks {
		block := &networkingv1.IPBlock{CIDR: network.String()}
		hidden := false
		for _, other := range without {
			switch {
			case !network.Overlaps(other):
			case other.Bits() <= network.Bits():
				hidden = true
			default:
				block.Except = append(block.Except, other.String())
			}
		}
		if !hidden {
			slices.Sort(block.Except)
			block.Except = slices.Compact(block.Except)
			found = append(found, networkingv1.NetworkPolicyPeer{IPBlock: block})
		}
	}
	return found
}

// outermost are the networks that are inside of no other.
func outermost(networks []netip.Prefix) []netip.Prefix {
	var found []netip.Prefix
	for _, network := range networks {
		inside := func(other netip.Prefix) bool { return other.Bits() < network.Bits() && other.Overlaps(network) }
		if !slices.ContainsFunc(networks, inside) {
			found = append(found, network)
		}
	}
	return found
}
