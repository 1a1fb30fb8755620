// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// The phases of a rotation.
const (
	phaseStart    = "start"
	phaseComplete = "complete"
)

type certificateTokenKeyOptions struct {
	certificateSource

	phase string
	force bool
}

func newCertificateTokenKeyCommand(env Environment) *cobra.Command {
	o := &certificateTokenKeyOptions{certificateSource: certificateSource{env: env}}
	cmd := &cobra.Command{
		Use:   "rotate-service-account-key {start|complete}",
		Short: "Change the key that signs the tokens of service accounts",
		Long: `Changes the key that signs the tokens of service accounts, in two phases, while the server runs.

start makes a new key, which signs all tokens from now on. Tokens of the former key are still accepted, so nothing breaks.

complete makes the server refuse tokens of the former key. It is refused while such tokens may be valid: as long as the longest
lifetime of tokens (tokens.maxServiceAccountTokenLifetime in the configuration), and while Secrets contain such tokens. With
--force the former tokens are refused at once, and Secrets get new ones: do this if the former key is in wrong hands.`,
		Example: `  terrarium certificate rotate-service-account-key start
  terrarium certificate rotate-service-account-key complete`,
		ValidArgs: []string{phaseStart, phaseComplete},
		Args:      choice("phase", phaseStart, phaseComplete),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.phase = args[0]
			if o.force && o.phase != phaseComplete {
				return usage(cmd, fmt.Errorf("--force: only for %q", phaseComplete))
			}

			return o.run(cmd.Context())
		},
	}
	o.connection.AddFlags(cmd.Flags())
	cmd.Flags().BoolVar(&o.force, "force", false, "complete although tokens of the former key may still be in use")

	return cmd
}

func (o *certificateTokenKeyOptions) run(ctx context.Context) error {
	_, answered, err := o.ask(ctx, map[string]any{"rotate": "serviceAccountKey", "phase": o.phase, "force": o.force})
	if err != nil {
		return err
	}
	if !answered {
		return errServerDown
	}
	if o.phase == phaseStart {
		o.env.tell("The new key signs all tokens. Tokens of the former key are accepted until the rotation is completed.\n")
	} else {
		o.env.tell("Tokens of the former key are refused now.\n")
	}

	return nil
}
