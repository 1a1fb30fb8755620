// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/terrarium-garden/terrarium/appliance/seedling/durable"
)

// DefaultStateDir is the default folder of a seedling.
const DefaultStateDir = "/var/lib/seedling"

// markerFile marks the state folder of a seedling. It contains the Config, so that later commands use the configuration of
// the existing cluster and not their own.
const markerFile = "seedling.json"

// Config says what a cluster looks like.
type Config struct {
	// StateDir holds persistent files, RunDir sockets and mounts.
	StateDir string `json:"stateDir"`
	RunDir   string `json:"runDir"`
	// NodeName is the name of the one node.
	NodeName string `json:"nodeName"`
	// Group is the name of the control group of the cluster and of its pod network, which no other cluster of the machine has.
	Group   string     `json:"group"`
	NodeIP  netip.Addr `json:"nodeAddress"`
	APIPort int        `json:"apiPort"`
	// PodCIDR is the range of all pods, NodeCIDR the part of it that the node gives to its pods.
	PodCIDR          netip.Prefix `json:"pods"`
	NodeCIDR         netip.Prefix `json:"nodePods"`
	ServiceCIDR      netip.Prefix `json:"services"`
	LoadBalancerCIDR netip.Prefix `json:"loadBalancers"`
	// Bridge is the network device of the pods.
	Bridge string `json:"bridge"`
}

// NewConfig returns the configuration of a new cluster in the given folder, which is a path from ResolveStateDir. Two clusters
// need two network namespaces.
func NewConfig(stateDir string) Config {
	name := filepath.Base(stateDir)
	group := uniqueName(stateDir)
	return Config{
		StateDir:         stateDir,
		RunDir:           filepath.Join("/run", group),
		NodeName:         name,
		Group:            group,
		NodeIP:           netip.AddrFrom4([4]byte{10, 99, 0, 1}),
		APIPort:          7443,
		PodCIDR:          netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 98, 0, 0}), 16),
		NodeCIDR:         netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 98, 0, 0}), 24),
		ServiceCIDR:      netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 97, 0, 0}), 16),
		LoadBalancerCIDR: netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 99, 1, 0}), 24),
		Bridge:           "seedling0",
	}
}

// ErrNoSeedling says that a folder contains no seedling.
var ErrNoSeedling = errors.New("no seedling here")

// LoadConfig returns the configuration of the cluster in the given folder, which is a path from ResolveStateDir. It refuses a
// folder that was copied or moved, because the parts of its cluster use the files in the other folder.
func LoadConfig(stateDir string) (Config, error) {
	content, err := os.ReadFile(filepath.Join(stateDir, markerFile)) //nolint:gosec // The caller names the path.
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, fmt.Errorf("folder %q: %w", stateDir, ErrNoSeedling)
	}
	if err != nil {
		return Config{}, fmt.Errorf("read description of the cluster: %w", err)
	}
	var config Config
	if err := json.Unmarshal(content, &config); err != nil {
		return Config{}, fmt.Errorf("parse description of the cluster in %q: %w", stateDir, err)
	}
	recorded, err := ResolveStateDir(config.StateDir)
	if err != nil {
		return Config{}, err
	}
	if recorded != stateDir {
		return Config{}, fmt.Errorf("the cluster in %q was made in %q: a state folder cannot be moved or copied", stateDir, config.StateDir)
	}
	config.StateDir = recorded
	config.Group = cmp.Or(config.Group, config.NodeName) // clusters of earlier versions
	return config, nil
}

// save creates the folders and writes the marker. It refuses a folder with other files, and names that others use.
func (c Config) save() error {
	entries, err := os.ReadDir(c.StateDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read state folder: %w", err)
	}
	// An interrupted start may have left a part of the marker.
	entries = slices.DeleteFunc(entries, func(entry fs.DirEntry) bool { return entry.Name() == markerFile+durable.Suffix })
	if len(entries) > 0 {
		return fmt.Errorf("state folder %q contains files that do not belong to a seedling: choose another one with --state-dir", c.StateDir)
	}
	if err := c.checkNames(); err != nil {
		return err
	}
	if err := os.MkdirAll(c.StateDir, 0o755); err != nil { //nolint:gosec // Folders with secrets have stricter modes.
		return fmt.Errorf("make folder: %w", err)
	}
	content, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("encode description of the cluster: %w", err)
	}
	return durable.Replace(filepath.Join(c.StateDir, markerFile), append(content, '\n'), 0o600)
}

func (c Config) state(elements ...string) string {
	return filepath.Join(append([]string{c.StateDir}, elements...)...)
}

func (c Config) run(elements ...string) string {
	return filepath.Join(append([]string{c.RunDir}, elements...)...)
}

func (c Config) pki(file string) string { return c.state("pki", file) }

func (c Config) kubeconfig(user string) string { return c.state("kubeconfigs", user) }

// AdminKubeconfig is the kubeconfig of the administrator.
func (c Config) AdminKubeconfig() string { return c.state("kubeconfig") }

// AddonsKubeconfig is the kubeconfig of the loops for load balancers, volumes and network policies.
func (c Config) AddonsKubeconfig() string { return c.kubeconfig(addonsUser) }

// ImagesDir holds the archives that machines of shoots import.
func (c Config) ImagesDir() string { return c.state("images") }

// ZonesDir holds the files of the zones that the DNS server serves.
func (c Config) ZonesDir() string { return c.state("zones") }

// VolumesDir holds the volumes.
func (c Config) VolumesDir() string { return c.state("volumes") }

// Server is the URL of the API server.
func (c Config) Server() string {
	return "https://" + netip.AddrPortFrom(c.NodeIP, uint16(c.APIPort)).String() //nolint:gosec // A port fits.
}

func (c Config) runtimeSocket() string { return c.run("containerd", "containerd.sock") }

// mark is the environment variable that marks every process of the cluster.
func (c Config) mark() string { return "SEEDLING_PROCESS_OF=" + c.StateDir }

// serviceIP is the address of the Service of the API server.
func (c Config) serviceIP() netip.Addr { return c.ServiceCIDR.Masked().Addr().Next() }

// local returns an address that can be reached only from this machine.
func local(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }
