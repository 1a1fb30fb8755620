// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func newCertificateWorkloadKeyCommand(env Environment) *cobra.Command {
	r := &phasedRotation{
		certificateSource: certificateSource{env: env}, what: "workloadIdentityKey",
		forced: "complete although tokens of the former key may still be in use",
	}
	r.started = func(*certificateReport) {
		env.tell("The new key signs all tokens of workload identities. The published key set has both keys until the rotation is completed.\n")
	}
	r.completed = func(context.Context) error {
		env.tell("The former key is not published any more, so its tokens cannot be verified.\n")

		return nil
	}

	return r.command(&cobra.Command{
		Use:   "rotate-workload-identity-key",
		Short: "Change the key that signs the tokens of workload identities",
		Long: `Changes the key that signs the tokens of workload identities, in two phases, while the server runs.

start makes a new key, which signs all tokens from now on. The key set that external systems read has both keys. If the two documents
of the issuer are published elsewhere, publish them anew after each phase.

complete removes the former key from the key set. It is refused while tokens of the former key may be valid: as long as the longest
lifetime of tokens (workloadIdentity.maxTokenLifetime in the configuration). With --force they cannot be verified at once: do this if the
former key is in wrong hands.`,
		Example: `  terrarium certificate rotate-workload-identity-key start
  terrarium certificate rotate-workload-identity-key complete`,
	})
}
