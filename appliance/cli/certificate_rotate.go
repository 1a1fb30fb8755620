// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

type certificateRotateOptions struct {
	certificateSource
}

func newCertificateRotateCommand(env Environment) *cobra.Command {
	o := &certificateRotateOptions{certificateSource{env: env}}
	cmd := &cobra.Command{
		Use:   "rotate",
		Short: "Renew the certificates that the garden issues to itself, now",
		Long: `Renews the serving certificate, the administrator's certificate and that of the aggregation layer, each with a new key, and the
kubeconfig in the data directory. A running server goes on with the new ones without closing connections. If the server of this
machine does not run, the files in its data directory are renewed.

What was issued before stays valid until it expires. Authorities and keys stay as they are.`,
		Example: `  terrarium certificate rotate
  terrarium certificate rotate --offline --data-dir /var/lib/terrarium`,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.addTo(cmd.Flags())

	return cmd
}

func (o *certificateRotateOptions) run(ctx context.Context) error {
	report, answered, err := o.ask(ctx, map[string]string{"rotate": "certificates"})
	if err != nil {
		return err
	}
	if !answered {
		dir, err := o.dir()
		if err != nil {
			return err
		}
		report = &certificateReport{}
		report.Renewed, err = identity.RenewDirectory(dir, o.env.Clock)
		if errors.Is(err, identity.ErrInUse) {
			return withHint(err, "the server runs: leave out --offline")
		}
		if err != nil {
			return fmt.Errorf("renew certificates: %w", err)
		}
	}
	for _, name := range report.Renewed {
		if _, err := fmt.Fprintln(o.env.Out, name); err != nil {
			return err
		}
	}
	o.env.tell("Renewed. Copies of the administrator's kubeconfig stay valid until their certificate expires.\n")

	return nil
}
