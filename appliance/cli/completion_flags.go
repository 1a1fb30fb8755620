// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/join"
	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
)

// valuesAnnotation is the annotation of a flag with all its values.
const valuesAnnotation = "terrarium_values"

// flagValues are the values of flags that have only a few, by the names of the flags, which mean the same in all commands.
func flagValues() map[string][]string {
	return map[string][]string{
		"type":       timelineTypes(),
		"mode":       {string(join.ModeDeployment), string(join.ModeProcess)},
		"print":      {printCommand, printToken},
		"log-level":  texts(telemetry.Levels()),
		"log-format": texts(telemetry.Formats()),
	}
}

func texts[T ~string](values []T) []string {
	all := make([]string, 0, len(values))
	for _, v := range values {
		all = append(all, string(v))
	}
	return all
}

// completeFlags has the flags of a command and of those below it completed: those with a few values, and those that name an object of the
// garden in commands that are connected to it.
func completeFlags(cmd *cobra.Command, env Environment) {
	for _, c := range cmd.Commands() {
		completeFlags(c, env)
	}
	fs, values := cmd.Flags(), flagValues()
	connected := fs.Lookup("kubeconfig") != nil && fs.Lookup("context") != nil && fs.Lookup("data-dir") != nil
	resources := map[string]schema.GroupVersionResource{
		"namespace": corev1.SchemeGroupVersion.WithResource("namespaces"),
		"seed":      gardencorev1beta1.GroupVersion.WithResource("seeds"),
	}
	fs.VisitAll(func(f *pflag.Flag) {
		known := f.Annotations[valuesAnnotation]
		if known == nil {
			known = values[f.Name]
		}
		resource, named := resources[f.Name]
		switch {
		case known != nil:
			completeFlag(cmd, f, cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp))
		case connected && named:
			completeFlag(cmd, f, func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
				return namesOf(cmd.Context(), connectionOf(cmd), env, resource, ""), cobra.ShellCompDirectiveNoFileComp
			})
		}
	})
}

func completeFlag(cmd *cobra.Command, f *pflag.Flag, complete cobra.CompletionFunc) {
	// The error says that the command has no such flag, or that it is completed already.
	_ = cmd.RegisterFlagCompletionFunc(f.Name, complete)
}

// connectionOf returns the connection that the flags of a command describe.
func connectionOf(cmd *cobra.Command) options.Connection {
	text := func(flag string) string { return cmd.Flags().Lookup(flag).Value.String() }
	return options.Connection{Kubeconfig: text("kubeconfig"), Context: text("context"), DataDir: text("data-dir")}
}
