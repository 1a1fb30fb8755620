// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"github.com/terrarium-garden/terrarium/appliance/options"
)

func newCompletionCommand() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the shell completion script",
		Example: `  source <(terrarium completion bash)
  terrarium completion zsh > "${fpath[1]}/_terrarium"
  terrarium completion fish > ~/.config/fish/completions/terrarium.fish`,
		ValidArgs: shells,
		Args:      choice("shell", shells...),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return errors.New("unknown shell")
		},
	}
}

// completionPatience is how long a garden may take to answer: the user waits for it after a key was pressed.
const completionPatience = 2 * time.Second

// briefly returns what completes an argument, or nothing if that cannot be found out soon.
func briefly(ctx context.Context, find func(ctx context.Context) ([]string, error)) []string {
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	found, err := within(ctx, func() ([]string, error) { return find(ctx) })
	if err != nil {
		return nil
	}
	return found
}

// namesOf are the names of all objects of a resource, for completion. There are none if the garden does not answer.
func namesOf(ctx context.Context, connection options.Connection, env Environment, resource schema.GroupVersionResource, namespace string) []string {
	return briefly(ctx, func(ctx context.Context) ([]string, error) {
		config, err := connection.RESTConfig(env.Getenv)
		if err != nil {
			return nil, err
		}
		c, err := metadata.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		found, err := c.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		names := make([]string, 0, len(found.Items))
		for i := range found.Items {
			names = append(names, found.Items[i].Name)
		}
		return names, nil
	})
}
