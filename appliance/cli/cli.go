// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/install"
)

const (
	statusOK      = 0
	statusFailure = 1
	statusUsage   = 2
)

// The groups of commands in the help.
const (
	groupRoles  = "roles"
	groupGarden = "garden"
	groupSelf   = "self"
)

// Environment holds the dependencies of commands on the process and the system.
type Environment struct {
	// In, Out and Err are the standard streams.
	In       io.Reader
	Out, Err io.Writer
	// Getenv reads an environment variable.
	Getenv func(name string) string
	// Clock tells the time.
	Clock clock.WithTicker
	// ConfigDir is the directory of the configuration files that are used by default; if empty, there are none.
	ConfigDir string
	// Machine is the machine on which services are installed; if nil, it is that of the process.
	Machine *install.Machine
	// Open opens a file in the browser of the user; if nil, the program of the system does.
	Open func(ctx context.Context, file string) error
}

// tell writes a message for people, without control characters: errors quote what servers say. It ignores errors, because there is no other
// place to report them.
func (e Environment) tell(format string, args ...any) {
	_, _ = io.WriteString(e.Err, plainLines(fmt.Sprintf(format, args...)))
}

// Main runs the command in args, which do not contain the name of the program, and returns the exit status of the process.
// Long-running commands end when ctx ends.
func Main(ctx context.Context, env Environment, args []string) int {
	root := newRootCommand(env) //nolint:contextcheck // commands are given ctx by ExecuteContext
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return statusOK
	}
	if status, ok := errors.AsType[*statusError](err); ok {
		return status.code
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	env.tell("Error: %s\n", indent(err.Error()))
	if hint := hintFor(err); hint != "" {
		env.tell("Hint: %s\n", indent(hint))
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return statusUsage
	}
	return statusFailure
}

// indent indents the lines of an error after the first one.
func indent(text string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}

func newRootCommand(env Environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "terrarium",
		Short: "A whole Gardener garden in one binary",
		Long: `Terrarium is a whole Gardener garden in one binary: the API server, its database and the controllers of the central
control plane in one process, and the gardenlet, which runs the control planes of shoot clusters in a seed cluster.`,
		SilenceErrors:              true,
		SilenceUsage:               true,
		DisableAutoGenTag:          true,
		SuggestionsMinimumDistance: 2,
		CompletionOptions:          cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usage(cmd, err) })
	root.SetHelpCommandGroupID(groupSelf)
	root.AddGroup(
		&cobra.Group{ID: groupRoles, Title: "Roles:"},
		&cobra.Group{ID: groupGarden, Title: "Commands for a garden:"},
		&cobra.Group{ID: groupSelf, Title: "Other commands:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(groupRoles, newServerCommand(env), newGardenletCommand(env), newResourceManagerCommand(env), newNodeAgentCommand(env),
		newProviderLocalCommand(env))
	add(groupGarden, newTokenCommand(env), newKubeconfigCommand(env), newTimelineCommand(env), newSnapshotCommand(env), newUICommand(env),
		newSSHCommand(env))
	add(groupGarden, newStatusCommand(env), newDoctorCommand(env), newSeedCommand(env), newAuditCommand(env), newSupportBundleCommand(env),
		newLogLevelCommand(env), newStoreCommand(env), newCertificateCommand(env), newMigrateDatastoreCommand(env),
		newBundleCommand(env))
	add(groupSelf, newVersionCommand(env), newCompletionCommand(), newManPagesCommand(), newConfigCommand(env),
		newInstallCommand(env), newUninstallCommand(env))
	checkArguments(root)
	completeFlags(root, env)
	return root
}
