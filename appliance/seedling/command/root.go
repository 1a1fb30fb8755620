// SPDX-License-Identifier: Apache-2.0

package command

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/seedling/cluster"
)

// Program is what all commands share.
type Program struct {
	// Binary is the file of this very program, which the parts of the cluster are started from.
	Binary string
	// Applets are the names of the other programs inside the binary.
	Applets []string
	Clock   clock.WithTicker
}

// New returns the command tree.
func New(program Program) *cobra.Command {
	root := &cobra.Command{
		Use:   "seedling",
		Short: "A throw-away, real, one-node Kubernetes cluster on this machine",
		Long: `A throw-away, real, one-node Kubernetes cluster on this machine.

The same binary is each program of the cluster, too; it is one of them when it is called by that name, or
gets it as its first argument: ` + strings.Join(program.Applets, ", ") + `.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(
		newUp(program),
		newDown(program),
		newStatus(program),
		newKubeconfig(),
		newLoad(program),
		newImages(program),
		newVersion(),
		newAddons(program),
	)
	return root
}

// stateFlag is the one flag that says which cluster a command is about.
type stateFlag struct{ dir string }

func (s *stateFlag) add(flags *pflag.FlagSet) {
	flags.StringVar(&s.dir, "state-dir", cluster.DefaultStateDir,
		"folder of the cluster; a second cluster needs another one, and a network namespace of its own")
}

func (s *stateFlag) path() (string, error) { return filepath.Abs(s.dir) }

// load returns the cluster that was brought up in the folder.
func (s *stateFlag) load(options cluster.Options) (*cluster.Cluster, error) {
	dir, err := s.path()
	if err != nil {
		return nil, err
	}
	options.Config, err = cluster.LoadConfig(dir)
	if err != nil {
		return nil, err
	}
	return cluster.New(options), nil
}

// beside returns a folder next to the one that the binary is in, as the build lays them out.
func beside(binary, folder string) string {
	resolved, err := filepath.EvalSymlinks(binary)
	if err != nil {
		resolved = binary
	}
	return filepath.Join(filepath.Dir(filepath.Dir(resolved)), folder)
}
