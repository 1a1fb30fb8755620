// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/cobra"
)

type certificateMonitoringOptions struct {
	certificateSource
}

func newCertificateMonitoringCommand(env Environment) *cobra.Command {
	o := &certificateMonitoringOptions{certificateSource{env: env}}
	cmd := &cobra.Command{
		Use:   "rotate-observability-credentials",
		Short: "Change the password for the monitoring of seeds",
		Long: `Makes a new password for the monitoring of seeds, while the server runs. The former one is of no use once the seeds have the new one,
which they get from the garden by themselves. It is in the Secret with the label gardener.cloud/role=global-monitoring in the namespace
garden.`,
		Example: `  terrarium certificate rotate-observability-credentials`,
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.connection.AddFlags(cmd.Flags())

	return cmd
}

func (o *certificateMonitoringOptions) run(ctx context.Context) error {
	_, answered, err := o.ask(ctx, map[string]string{"rotate": "observabilityCredentials"})
	if err != nil {
		return err
	}
	if !answered {
		return errServerDown
	}
	o.env.tell("The password is being changed. The Secret in the namespace garden has the new one, and seeds get it from there.\n")

	return nil
}
