// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func newCertificateTokenKeyCommand(env Environment) *cobra.Command {
	r := &phasedRotation{
		certificateSource: certificateSource{env: env}, what: "serviceAccountKey",
		forced: "complete although tokens of the former key may still be in use",
	}
	r.started = func(*certificateReport) {
		env.tell("The new key signs all tokens. Tokens of the former key are accepted until the rotation is completed.\n")
	}
	r.completed = func(context.Context) error {
		env.tell("Tokens of the former key are refused now.\n")

		return nil
	}

	return r.command(&cobra.Command{
		Use:   "rotate-service-account-key",
		Short: "Change the key that signs the tokens of service accounts",
		Long: `Changes the key that signs the tokens of service accounts, in two phases, while the server runs.

start makes a new key, which signs all tokens from now on. Tokens of the former key are still accepted, so nothing breaks.

complete makes the server refuse tokens of the former key. It is refused while such tokens may be valid: as long as the longest
lifetime of tokens (tokens.maxServiceAccountTokenLifetime in the configuration), and while Secrets contain such tokens. With
--force the former tokens are refused at once, and Secrets get new ones: do this if the former key is in wrong hands.`,
		Example: `  terrarium certificate rotate-service-account-key start
  terrarium certificate rotate-service-account-key complete`,
	})
}
