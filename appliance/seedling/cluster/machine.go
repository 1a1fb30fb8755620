// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/terrarium-garden/terrarium/appliance/seedling/node"
	"github.com/terrarium-garden/terrarium/appliance/seedling/process"
)

// machine changes the machine as the cluster needs it.
func (c *Cluster) machine(ctx context.Context) (string, error) {
	journal, err := node.OpenJournal(c.config.state("machine.json"))
	if err != nil {
		return "", fmt.Errorf("%w; remove the cluster with \"seedling down\"", err)
	}
	if err := journal.NoteAbsent(foreignFolders()...); err != nil {
		return "", err
	}
	network, err := thisNetwork()
	if err != nil {
		return "", err
	}
	if err := journal.NoteNetwork(network); err != nil {
		return "", err
	}
	node.LoadModules(ctx, "br_netfilter", "overlay")
	for _, setting := range settings() {
		if err := journal.Set(setting.name, setting.value); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	for _, limit := range limits() {
		if err := journal.Raise(limit.name, limit.least); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	groups, err := node.FindCgroups()
	if err != nil {
		return "", err
	}
	if err := groups.Make(c.config.Group); err != nil {
		return "", err
	}
	if err := node.AddAddress(c.config.NodeIP); err != nil {
		return "", err
	}
	if err := node.AddRoute(c.config.ServiceCIDR, c.config.NodeIP); err != nil {
		return "", err
	}
	if err := node.AllowForwarding(ctx, c.config.Bridge); err != nil {
		return "", err
	}
	if err := node.Masquerade(ctx, node.Ranges{
		Pods: c.config.PodCIDR, Services: c.config.ServiceCIDR, LoadBalancers: c.config.LoadBalancerCIDR, Node: c.config.NodeIP, Bridge: c.config.Bridge,
	}); err != nil {
		return "", err
	}
	all := warnings()
	if err := node.ForbidIPv6(ctx, c.config.Bridge); err != nil {
		all = append(all, fmt.Sprintf("NetworkPolicies do not apply to IPv6, by which pods of this node may reach each other: %v", err))
	}
	return strings.Join(all, "; "), nil
}

// warnings say what this machine cannot do for a cluster.
func warnings() []string {
	if node.HasSetting(bridgeFilter) {
		return nil
	}
	return []string{"NetworkPolicies do not apply between the pods of this node, because the kernel has no br_netfilter"}
}

type setting struct{ name, value string }

// bridgeFilter applies the packet filter to bridged packets. Without it, a pod does not recognize the answers of a Service
// from another pod on the same bridge.
const bridgeFilter = "net/bridge/bridge-nf-call-iptables"

// bridgeFilter6 does the same for IPv6, which no pod may use.
const bridgeFilter6 = "net/bridge/bridge-nf-call-ip6tables"

// settings are the kernel settings that the cluster needs, and those that a kubelet would change itself: they are changed
// here first, so that their original values are recorded.
func settings() []setting {
	return []setting{
		{"net/ipv4/ip_forward", "1"},
		{bridgeFilter, "1"},
		{bridgeFilter6, "1"},
		{"vm/overcommit_memory", "1"},
		{"vm/panic_on_oom", "0"},
		{"kernel/panic", "10"},
		{"kernel/panic_on_oops", "1"},
		{"kernel/keys/root_maxkeys", "1000000"},
		{"kernel/keys/root_maxbytes", "25000000"},
	}
}

type limit struct {
	name  string
	least int
}

// limits are the limits that a node and several machines of shoots need, because each of them watches files.
func limits() []limit {
	return []limit{
		{"fs/inotify/max_user_instances", 8192},
		{"fs/inotify/max_user_watches", 524288},
	}
}

// thisNetwork identifies the network namespace of this command, including the boot.
func thisNetwork() (string, error) {
	namespace, err := node.NetworkNamespace()
	if err != nil {
		return "", err
	}
	boot, err := process.Boot()
	if err != nil {
		return "", err
	}
	return boot + " " + namespace, nil
}

// inOtherNetwork reports whether the cluster was created in another network namespace of this boot. Another cluster may
// have the same addresses and tables here, so they must not be changed. As long as a part of the cluster runs, this is an
// error that says how to enter its namespace.
func (c *Cluster) inOtherNetwork() (bool, error) {
	journal, err := node.OpenJournal(c.config.state("machine.json"))
	if err != nil && !errors.Is(err, node.ErrUnreadableJournal) {
		return false, err
	}
	network, err := thisNetwork()
	if err != nil {
		return false, err
	}
	boot, _, _ := strings.Cut(network, " ")
	if journal.Network == network || !strings.HasPrefix(journal.Network, boot+" ") {
		return false, nil
	}
	for _, p := range c.parts() {
		record, alive, err := c.table.Find(p.name)
		if err != nil {
			return false, err
		}
		if alive {
			return false, fmt.Errorf("the cluster in %q runs in another network namespace: put \"nsenter --net=/proc/%d/ns/net\" before this command", c.config.StateDir, record.PID)
		}
	}
	return true, nil
}

// foreignFolders are the folders outside of the cluster that its parts create, because the paths are fixed in them.
func foreignFolders() []string {
	return []string{"/run/containerd", "/var/lib/cni", "/var/lib/kubelet", "/var/log/containers", "/opt/cni", "/opt/containerd", "/var/lib/dockershim", "/run/flannel"}
}
