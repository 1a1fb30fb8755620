// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

// certificatesPath is the path at which a server lists and renews certificates and keys.
const certificatesPath = "/appliance/certificates"

// rotationPause is the time between two looks at the progress of a rotation.
const rotationPause = time.Second

func newCertificateCommand(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "certificate",
		Short: "Check and renew the certificates and keys of the garden",
		Long: `A running server renews its certificates by itself when 70 to 90 % of their life have passed, without closing connections.
Gardenlets renew theirs in the same way. These commands show what there is and renew it earlier.`,
	}
	cmd.AddCommand(newCertificateCheckCommand(env), newCertificateRotateCommand(env), newCertificateTokenKeyCommand(env),
		newCertificateWorkloadKeyCommand(env), newCertificateEncryptionKeyCommand(env), newCertificateCACommand(env), newCertificateMonitoringCommand(env),
		newCertificateCredentialsCommand(env))

	return cmd
}

// errServerDown says that a key cannot be changed in files alone.
var errServerDown = errors.New("the server does not run; start it, because keys are changed while it runs")

// certificateReport is what a server answers.
type certificateReport struct {
	Renewed []string        `json:"renewed,omitempty"`
	Items   []identity.Item `json:"items"`
	// Encryption is the rotation of the encryption key that goes on.
	Encryption *encryptionStatus `json:"encryption,omitempty"`
	// Authorities is the rotation of the authorities that goes on.
	Authorities *authorityStatus `json:"authorities,omitempty"`
	// Generation is that of the keys, and Servers are those that share them with an external datastore.
	Generation int64       `json:"generation,omitempty"`
	Servers    []keyHolder `json:"servers,omitempty"`
}

// keyHolder is a server of the garden, and which keys it has.
type keyHolder struct {
	Address    string    `json:"address"`
	Generation int64     `json:"generation"`
	Leads      bool      `json:"leads"`
	Runs       bool      `json:"runs"`
	Current    bool      `json:"current"`
	Seen       time.Time `json:"seen"`
	Failure    string    `json:"failure,omitempty"`
}

// certificateSource asks a running server, or looks into the data directory of a server that does not run.
type certificateSource struct {
	env        Environment
	connection options.Connection
	offline    bool
}

func (s *certificateSource) addTo(fs *pflag.FlagSet) {
	s.connection.AddFlags(fs)
	fs.BoolVar(&s.offline, "offline", false, "use the data directory of a server that does not run")
}

// dir is the data directory: that of the flag, or of the configuration of this machine.
func (s *certificateSource) dir() (string, error) {
	local, err := s.env.localServer(s.connection.DataDir)
	if err != nil {
		return "", withHint(err, "say with --data-dir where the data directory is")
	}

	return local.DataDir, nil
}

// ask sends a request to the server, with a body if there is one. It returns false if the server of this machine does not run.
func (s *certificateSource) ask(ctx context.Context, body any) (*certificateReport, bool, error) {
	if s.offline {
		return nil, false, nil
	}
	g, err := connect(s.connection, s.env.Getenv)
	if err != nil {
		return nil, true, err
	}
	request := g.client.Discovery().RESTClient().Get()
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, true, err
		}
		request = g.client.Discovery().RESTClient().Post().SetHeader("Content-Type", "application/json").Body(data)
	}
	data, err := raw(ctx, request.AbsPath(certificatesPath))
	local := s.connection.Kubeconfig == "" && (s.connection.DataDir != "" || s.env.Getenv("KUBECONFIG") == "")
	if errors.Is(err, syscall.ECONNREFUSED) && local {
		return nil, false, nil
	}
	if err != nil {
		return nil, true, fmt.Errorf("certificates of the server: %w", err)
	}
	report := &certificateReport{}
	if err := json.Unmarshal(data, report); err != nil {
		return nil, true, fmt.Errorf("read certificates: %w", err)
	}

	return report, true, nil
}

// pause waits before the next look at the progress of a rotation.
func (s *certificateSource) pause(ctx context.Context) error {
	timer := s.env.Clock.NewTimer(rotationPause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C():
		return nil
	}
}

type certificateCheckOptions struct {
	certificateSource

	output outputFlag
}

func newCertificateCheckCommand(env Environment) *cobra.Command {
	o := &certificateCheckOptions{certificateSource: certificateSource{env: env}}
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Show all certificates, authorities and keys, and when they are renewed",
		Long: `Shows the certificates, authorities and keys of a garden: their subjects or ids, how long they are valid, and when the server
renews them. If the server of this machine does not run, its data directory is read instead. It does not show the certificates of
gardenlets, which are in the status of their Seeds.

Exit status: 0 if all is well, 3 if a renewal is overdue or an authority ends within half a year, 4 if something is not valid or
cannot be read.`,
		Example: `  terrarium certificate check
  terrarium certificate check -o json
  terrarium certificate check --offline --data-dir /var/lib/terrarium`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.output.validate()); err != nil {
				return err
			}

			return o.run(cmd.Context())
		},
	}
	o.addTo(cmd.Flags())
	o.output.addTo(cmd.Flags(), formatTable, formatJSON, formatYAML)

	return cmd
}

func (o *certificateCheckOptions) run(ctx context.Context) error {
	report, answered, err := o.ask(ctx, nil)
	if err != nil {
		return err
	}
	if !answered {
		dir, err := o.dir()
		if err != nil {
			return err
		}
		if report, err = inspect(dir, o.env.Clock.Now()); err != nil {
			return fmt.Errorf("read certificates: %w", err)
		}
	}
	err = o.output.write(o.env.Out, report, func(w io.Writer) error { return writeCertificates(w, report) })
	if err != nil {
		return err
	}
	if status := certificateStatus(report.Items); status != statusOK {
		return &statusError{status}
	}

	return nil
}

// inspect reads the data directory of a server that does not run.
func inspect(dir string, now time.Time) (*certificateReport, error) {
	items, err := identity.Inspect(dir, now)
	if err != nil {
		return nil, err
	}
	report := &certificateReport{Items: items}
	held, err := identity.Held(dir)
	if err != nil {
		return nil, err
	}
	report.Generation = held.Number
	key, authority, err := identity.Rotations(dir)
	if key != nil {
		report.Encryption = &encryptionStatus{EncryptionRotation: *key, Next: key.Next}
	}
	if authority != nil {
		report.Authorities = &authorityStatus{AuthorityRotation: *authority}
	}

	return report, err
}

// certificateStatus is the exit status for the worst item.
func certificateStatus(items []identity.Item) int {
	worst := statusOK
	for i := range items {
		switch items[i].State {
		case identity.StateExpired, identity.StateNotYetValid, identity.StateUnreadable:
			worst = statusCritical
		case identity.StateDue, identity.StateExpiring:
			worst = max(worst, statusWarning)
		case identity.StateOK, identity.StateRotating:
		}
	}

	return worst
}

func writeCertificates(w io.Writer, report *certificateReport) error {
	items := report.Items
	rows := [][]string{{"NAME", "KIND", "STATE", "NOT AFTER", "DAYS LEFT", "RENEWAL DUE", "SUBJECT"}}
	for i := range items {
		item := &items[i]
		state := string(item.State)
		if item.Message != "" {
			state += ": " + item.Message
		}
		left := "-"
		if item.DaysLeft != nil {
			left = strconv.Itoa(*item.DaysLeft)
		}
		rows = append(rows, []string{item.Name, string(item.Kind), state, moment(item.NotAfter), left, moment(item.RenewalDue), item.Subject})
	}

	err := writeTable(w, rows)
	if err == nil && report.Encryption != nil {
		_, err = fmt.Fprintf(w, "\nRotation of the encryption key: %s\n", describeEncryption(report.Encryption))
	}
	if err == nil && report.Authorities != nil {
		_, err = fmt.Fprintf(w, "\nRotation of the authorities: %s\n", describeAuthorities(report.Authorities))
	}
	if err == nil && report.Generation > 0 {
		_, err = fmt.Fprintf(w, "\nGeneration of the shared keys: %d\n", report.Generation)
	}
	if err == nil && len(report.Servers) > 0 {
		err = writeTable(w, describeHolders(report.Servers))
	}

	return err
}

// describeHolders are the rows about the servers that share the keys.
func describeHolders(servers []keyHolder) [][]string {
	rows := [][]string{{"SERVER", "GENERATION", "KEYS", "STATE"}}
	for i := range servers {
		s := &servers[i]
		keys, state := "newest", "stands by"
		if !s.Current {
			keys = "old"
		}
		if s.Failure != "" {
			keys += ": " + s.Failure
		}
		switch {
		case s.Leads:
			state = "leads"
		case !s.Runs:
			state = "off since " + s.Seen.UTC().Format(time.RFC3339)
		}
		rows = append(rows, []string{s.Address, strconv.FormatInt(s.Generation, 10), keys, state})
	}

	return rows
}

func moment(t *time.Time) string {
	if t == nil {
		return "-"
	}

	return t.UTC().Format(time.DateOnly)
}
