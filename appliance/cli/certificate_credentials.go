// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func newCertificateCredentialsCommand(env Environment) *cobra.Command {
	r := &phasedRotation{certificateSource: certificateSource{env: env}, what: "credentials"}
	r.started = func(report *certificateReport) {
		env.tell("The rotation of all credentials is started.\n%s\n", describeAuthorities(report.Authorities))
	}
	r.completed = func(ctx context.Context) error {
		if err := r.awaitAuthorities(ctx); err != nil {
			return err
		}
		env.tell("The former credentials are not accepted any more. Get new kubeconfigs with terrarium kubeconfig, and new join tokens.\n")

		return nil
	}

	return r.command(&cobra.Command{
		Use:   "rotate-credentials",
		Short: "Change all authorities and keys of the garden",
		Long: `Changes the certificate authorities, the keys that sign tokens of service accounts and of workload identities, the key with which
Secrets are stored, and the password for the monitoring of seeds, while the server runs. Each of them has a command of its own.

start starts all of them, if none goes on. The key of Secrets is then changed without another step, and the password at once.

complete completes the others. It is refused, with all reasons, until each of them can be completed; one that has to be forced is
completed by its own command.`,
		Example: `  terrarium certificate rotate-credentials start
  terrarium certificate rotate-credentials complete`,
	})
}
