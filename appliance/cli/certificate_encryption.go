// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// encryptionStatus is how far the change of the encryption key is.
type encryptionStatus struct {
	identity.EncryptionRotation

	Next         identity.EncryptionStep `json:"next"`
	Done         int64                   `json:"done"`
	Total        int64                   `json:"total"`
	RemovedAfter *time.Time              `json:"removedAfter,omitempty"`
	Error        string                  `json:"error,omitempty"`
}

type certificateEncryptionKeyOptions struct {
	certificateSource

	follow bool
}

func newCertificateEncryptionKeyCommand(env Environment) *cobra.Command {
	o := &certificateEncryptionKeyOptions{certificateSource: certificateSource{env: env}}
	cmd := &cobra.Command{
		Use:   "rotate-encryption-key",
		Short: "Change the key with which Secrets are stored, and write them anew",
		Long: `Makes a new key with which Secrets, InternalSecrets and ShootStates are stored, and writes all of them anew, while the server
runs. Shows the progress until all objects are written with the new key; the server goes on if the command is interrupted, and after
a restart. The former key is removed an hour later, by itself.`,
		Example: `  terrarium certificate rotate-encryption-key
  terrarium certificate rotate-encryption-key --follow`,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.connection.AddFlags(cmd.Flags())
	cmd.Flags().BoolVar(&o.follow, "follow", false, "show the progress of a rotation that has begun, and begin none")

	return cmd
}

func (o *certificateEncryptionKeyOptions) run(ctx context.Context) error {
	var want any
	if !o.follow {
		want = map[string]string{"rotate": "encryptionKey"}
	}
	for shown := ""; ; want = nil {
		report, answered, err := o.ask(ctx, want)
		if err != nil {
			return err
		}
		if !answered {
			return errServerDown
		}
		if report.Encryption == nil {
			o.env.tell("No rotation goes on.\n")

			return nil
		}
		line := describeEncryption(report.Encryption)
		if line != shown {
			o.env.tell("%s\n", line)
		}
		shown = line
		if report.Encryption.Rewritten != nil {
			return nil
		}
		if err := o.pause(ctx); err != nil {
			return err
		}
	}
}

func describeEncryption(is *encryptionStatus) string {
	switch {
	case is.Error != "":
		return "Tried again in a moment: " + is.Error
	case is.Rewritten != nil && is.RemovedAfter != nil:
		return fmt.Sprintf("All objects are stored with %s. The former key is removed after %s.", is.Key, is.RemovedAfter.UTC().Format(time.RFC3339))
	case is.Rewritten != nil:
		return fmt.Sprintf("All objects are stored with %s. The server removes the former key.", is.Key)
	case is.Next == identity.EncryptionRewrite:
		return fmt.Sprintf("Written with %s: %d of %d objects", is.Key, is.Done, is.Total)
	default:
		return fmt.Sprintf("%s is made, and saved in a snapshot", is.Key)
	}
}
