// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// completionLimit is how long the command waits until a rotation is complete, which the server does by itself.
const completionLimit = time.Minute

// authorityStatus is how far the change of the certificate authorities is.
type authorityStatus struct {
	identity.AuthorityRotation

	Phase   string   `json:"phase"`
	Waiting []string `json:"waiting,omitempty"`
	Error   string   `json:"error,omitempty"`
}

func newCertificateCACommand(env Environment) *cobra.Command {
	r := &phasedRotation{
		certificateSource: certificateSource{env: env}, what: "authorities", forced: "complete although gardenlets are shut out",
	}
	r.started = func(report *certificateReport) {
		env.tell("New authorities are trusted beside the current ones.\n%s\n", describeAuthorities(report.Authorities))
	}
	r.completed = func(ctx context.Context) error {
		if err := r.awaitAuthorities(ctx); err != nil {
			return err
		}
		env.tell("The former authorities are not trusted any more. Get new kubeconfigs with terrarium kubeconfig, and new join tokens.\n")

		return nil
	}

	return r.command(&cobra.Command{
		Use:   "rotate-ca",
		Short: "Change the certificate authorities of the garden",
		Long: `Changes the authorities of the serving certificate, of client certificates and of the aggregation layer, in two phases, while the
server runs.

start makes new authorities, which are trusted beside the current ones. Client certificates are signed by the new one from now on.
Gardenlets take up the new authorities and get new certificates by themselves; "certificate check" shows which have not yet. Until the
rotation is completed, people have time to get new kubeconfigs and certificates.

complete makes the server use a certificate of the new authority, and refuse certificates of the former one. It is refused while a
gardenlet has not taken up the new authorities. With --force such gardenlets are shut out and have to join again.`,
		Example: `  terrarium certificate rotate-ca start
  terrarium certificate rotate-ca complete`,
	})
}

// awaitAuthorities waits until no rotation of the authorities goes on.
func (s *certificateSource) awaitAuthorities(ctx context.Context) error {
	end := s.env.Clock.Now().Add(completionLimit)
	for {
		report, answered, err := s.ask(ctx, nil)
		if err == nil && answered && report.Authorities == nil {
			return nil
		}
		if !s.env.Clock.Now().Before(end) {
			switch {
			case err != nil:
				return err
			case !answered:
				return errServerDown
			default:
				return fmt.Errorf("the server goes on with it: %s", describeAuthorities(report.Authorities))
			}
		}
		if err := s.pause(ctx); err != nil {
			return err
		}
	}
}

func describeAuthorities(is *authorityStatus) string {
	if is == nil {
		return "No rotation goes on."
	}
	started := "Started on " + is.Started.UTC().Format(time.DateOnly) + "; "
	switch {
	case is.Error != "":
		return "Tried again in a moment: " + is.Error
	case is.Completing != nil:
		return "The former authorities are being removed."
	case is.Phase == "":
		return started + "a running server tells which gardenlets have taken up the new ones."
	case len(is.Waiting) > 0:
		return started + "the gardenlets of these seeds have not taken up the new ones: " + strings.Join(is.Waiting, ", ")
	default:
		return started + "all gardenlets have taken up the new ones. It can be completed."
	}
}
