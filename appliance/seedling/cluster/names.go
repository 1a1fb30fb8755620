// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/terrarium-garden/terrarium/appliance/seedling/durable"
	"github.com/terrarium-garden/terrarium/appliance/seedling/node"
)

// ownerFile is in the run folder and contains the path of the state folder of its cluster.
const ownerFile = "state-dir"

// uniqueName returns the name of a cluster's run folder and control group. Other programs have folders below /run and control
// groups of common names, and two state folders can have the same base name, so it contains a hash of the whole path.
func uniqueName(stateDir string) string {
	const longest = 40 // a socket below the run folder has at most 107 characters
	name := filepath.Base(stateDir)
	if stateDir == DefaultStateDir {
		return name
	}
	sum := sha256.Sum256([]byte(stateDir))
	return name[:min(len(name), longest)] + "-" + hex.EncodeToString(sum[:4])
}

// forbidden are the characters that the Corefile, mount options, or kernel tables of the parts cannot contain in paths.
const forbidden = "\"{}\\:,\n\r\t"

// checkNames returns an error if the node or the state folder cannot have its name, or if the run folder or the control group of a new cluster
// belongs to others: Down would remove it with all processes in it.
func (c Config) checkNames() error {
	if wrong := validation.IsDNS1123Label(c.NodeName); len(wrong) > 0 {
		return fmt.Errorf("the node is named after the state folder, and %q is not a name of a node: choose another folder with --state-dir: %s", c.NodeName, strings.Join(wrong, "; "))
	}
	if strings.ContainsAny(c.StateDir, forbidden) {
		return fmt.Errorf("the path of the state folder %q contains one of the characters %q, which some parts cannot have in paths: choose another folder with --state-dir", c.StateDir, forbidden)
	}
	own, err := c.ownsRunDir()
	if err != nil || own {
		return err
	}
	groups, err := node.FindCgroups()
	if err != nil {
		return err
	}
	taken := []string{c.RunDir}
	for _, root := range groups.Roots {
		taken = append(taken, filepath.Join(root, c.Group))
	}
	for _, path := range taken {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%q exists and does not belong to a cluster in %q: remove it, or choose another folder with --state-dir", path, c.StateDir)
		}
	}
	return nil
}

// ownsRunDir reports whether the run folder is that of a cluster in this state folder.
func (c Config) ownsRunDir() (bool, error) {
	owner, err := os.ReadFile(c.run(ownerFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("read owner of the run folder: %w", err)
	}
	return string(owner) == c.StateDir, nil
}

// makeRunDir creates the run folder, which does not outlive a boot. Users may look at it, but not at all folders in it.
func (c Config) makeRunDir() error {
	if err := os.MkdirAll(c.RunDir, 0o755); err != nil { //nolint:gosec // Folders with secrets have stricter modes.
		return fmt.Errorf("make folder: %w", err)
	}
	return durable.Replace(c.run(ownerFile), []byte(c.StateDir), 0o644)
}
