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
	// Binary is the file of this program, from which the parts of the cluster are started.
	Binary string
	// Applets are the names of the other programs inside the binary.
	Applets []string
	Clock   clock.WithTicker
}

// New returns the command tree.
func New(program Program) *cobra.Command {
	root := &cobra.Command{
		Use:   "seedling",
		Short: "A disposable one-node Kubernetes cluster on this machine",
		Long: `A disposable one-node Kubernetes cluster on this machine.

The same binary also contains the programs of the cluster. It runs one of them if it is called by the name of
the program, or with the name as its first argument: ` + strings.Join(program.Applets, ", ") + `.`,
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

// stateFlag is the flag that selects the cluster of a command.
type stateFlag struct{ dir string }

func (s *stateFlag) add(flags *pflag.FlagSet) {
	flags.StringVar(&s.dir, "state-dir", cluster.DefaultStateDir,
		"folder of the cluster; a second cluster needs another folder and its own network namespace")
}

func (s *stateFlag) path() (string, error) { return cluster.ResolveStateDir(s.dir) }

// config returns the configuration of the cluster in the folder.
func (s *stateFlag) config() (cluster.Config, error) {
	dir, err := s.path()
	if err != nil {
		return cluster.Config{}, err
	}
	return cluster.LoadConfig(dir)
}

// load returns the cluster in the folder.
func (s *stateFlag) load(options cluster.Options) (*cluster.Cluster, error) {
	config, err := s.config()
	if err != nil {
		return nil, err
	}
	options.Config = config
	return cluster.New(options), nil
}

// beside returns a folder next to the folder of the binary, as in the layout of the build.
func beside(binary, folder string) string {
	resolved, err := filepath.EvalSymlinks(binary)
	if err != nil {
		resolved = binary
	}
	return filepath.Join(filepath.Dir(filepath.Dir(resolved)), folder)
}
