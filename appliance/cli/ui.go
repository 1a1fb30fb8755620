// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/terrarium-garden/terrarium/appliance/gateway/ui"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

type uiOptions struct {
	env        Environment
	connection options.Connection
	server     string
	open       bool
}

func newUICommand(env Environment) *cobra.Command {
	o := &uiOptions{env: env}
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Print or open a link that signs in to the web UI",
		Long: `Prints a link that signs in to the web UI of the garden as its administrator. It works once, within a minute. The command
needs the kubeconfig of the administrator, which is in the data directory of the server.

The browser warns about the certificate, unless it trusts the CA of the garden.`,
		Example: `  terrarium ui
  terrarium ui --open
  terrarium ui --server https://garden.example.org:6443`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.server != "" {
				if err := validateServerURL(o.server); err != nil {
					return usage(cmd, fmt.Errorf("--server: %w", err))
				}
			}
			return o.run(cmd.Context())
		},
	}
	o.connection.AddFlags(cmd.Flags())
	cmd.Flags().StringVar(&o.server, "server", "", "URL of the garden in the link (default: the URL in the kubeconfig, or the one that the server publishes)")
	cmd.Flags().BoolVar(&o.open, "open", false, "open the link in the browser instead of printing it")
	return cmd
}

func (o *uiOptions) run(ctx context.Context) error {
	g, err := connect(o.connection, o.env.Getenv)
	if err != nil {
		return err
	}
	server := o.server
	if server == "" {
		if server, err = g.address(ctx); err != nil {
			return err
		}
	}
	data, err := raw(ctx, g.client.Discovery().RESTClient().Post().AbsPath(ui.LinksPath))
	switch {
	case apierrors.IsForbidden(err):
		return withHint(fmt.Errorf("create sign-in link: %w", err), "only the administrator can: use the kubeconfig in the data directory of the server")
	case err != nil:
		return fmt.Errorf("create sign-in link: %w", err)
	}
	var link ui.Link
	if err := json.Unmarshal(data, &link); err != nil {
		return fmt.Errorf("create sign-in link: %w", err)
	}
	url := ui.LinkURL(server, link)
	if o.open {
		return o.openLink(ctx, g, url, link)
	}
	o.env.tell("This link signs in once, within a minute:\n")
	_, err = fmt.Fprintln(o.env.Out, url)
	return err
}
