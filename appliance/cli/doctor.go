// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/build"
	"github.com/terrarium-garden/terrarium/appliance/doctor"
	"github.com/terrarium-garden/terrarium/appliance/doctor/machine"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/appliance/upgrade"
	"github.com/terrarium-garden/terrarium/storage/log"
)

// The exit status of the doctor, by the worst finding. A failure of the command itself has its own status.
const (
	statusWarning  = 3
	statusCritical = 4
)

// doctorPath is the path at which a server reports its findings about itself.
const doctorPath = "/appliance/doctor"

type doctorOptions struct {
	env        Environment
	connection options.Connection
	output     outputFlag
	offline    bool
	listen     string
}

func newDoctorCommand(env Environment) *cobra.Command {
	o := &doctorOptions{env: env}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find what is wrong with a garden, or will be soon",
		Long: `Examines a garden: the machine, the disk, the clock, the databases, certificates, snapshots, seeds, and objects that are stuck.
Each finding says what is wrong, why it matters and what to do.

The server examines itself. If it does not run, its data directory and the machine are examined instead. Where they are is read from
the configuration of this machine, unless flags say it.

Exit status: 0 without findings or with information only, 3 with warnings, 4 with critical findings.`,
		Example: `  terrarium doctor
  terrarium doctor -o json
  terrarium doctor --offline
  terrarium doctor --offline --data-dir /mnt/terrarium --listen :7443`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.output.validate()); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.connection.AddFlags(cmd.Flags())
	o.output.addTo(cmd.Flags(), "", formatJSON, formatYAML)
	cmd.Flags().BoolVar(&o.offline, "offline", false, "examine the data directory of a server that does not run")
	cmd.Flags().StringVar(&o.listen, "listen", "", "address of a server that does not run, to see whether it is free (default: the one in the configuration of this machine, else :6443)")
	return cmd
}

func (o *doctorOptions) run(ctx context.Context) error {
	report, err := o.report(ctx)
	if err != nil {
		return err
	}
	err = o.output.write(o.env.Out, report, func(w io.Writer) error { return writeReport(w, report, colours(w, o.env.Getenv)) })
	if err != nil {
		return err
	}
	switch {
	case report.Severity.AtLeast(doctor.Critical):
		return &statusError{statusCritical}
	case report.Severity.AtLeast(doctor.Warning):
		return &statusError{statusWarning}
	default:
		return nil
	}
}

// report asks the server, or examines its data directory if nobody answers there.
func (o *doctorOptions) report(ctx context.Context) (*doctor.Report, error) {
	if o.offline {
		return o.examine(ctx, "")
	}
	g, err := connect(o.connection, o.env.Getenv)
	if err != nil {
		return nil, err
	}
	data, err := g.get(ctx, doctorPath)
	local := o.connection.Kubeconfig == "" && (o.connection.DataDir != "" || o.env.Getenv("KUBECONFIG") == "")
	if errors.Is(err, syscall.ECONNREFUSED) && local {
		return o.examine(ctx, err.Error())
	}
	if err != nil {
		return nil, err
	}
	report := &doctor.Report{}
	if err := json.Unmarshal(data, report); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	if o.listen != "" {
		o.env.tell("Warning: --listen has no effect, because the server runs and has examined itself.\n")
	}
	return report, nil
}

// examine examines the data directory. Unanswered is the reason why the server was not asked, if it should have answered.
func (o *doctorOptions) examine(ctx context.Context, unanswered string) (*doctor.Report, error) {
	local, err := o.env.localServer(o.connection.DataDir)
	if err != nil {
		o.env.tell("Warning: %v; the data directory and the port are the default ones.\n", err)
	}
	dir, listen := local.DataDir, local.Listen
	if o.listen != "" {
		listen = o.listen
	}
	used, err := machine.InUse(dir)
	if err != nil {
		return nil, fmt.Errorf("examine data directory: %w", err)
	}
	f := &doctor.Facts{
		Now: o.env.Clock.Now(), Version: build.Version, Offline: true, Unanswered: unanswered, InUse: used,
		Host: machine.Host(dir), Disk: machine.Disk(dir), Clock: machine.Clock(dir), Stores: machine.Stores(dir),
	}
	if f.Certificates, err = machine.Certificates(dir); err != nil {
		return nil, fmt.Errorf("examine certificates: %w", err)
	}
	if f.Directory, err = directoryFacts(dir); err != nil {
		return nil, err
	}
	if !used {
		f.Port = machine.Port(listen)
		for i := range f.Stores {
			s := &f.Stores[i]
			if s.Problems, err = log.CheckFile(ctx, machine.StorePath(dir, s.Name), false); err != nil {
				return nil, fmt.Errorf("examine databases: %w", err)
			}
			s.Checked = f.Now
		}
		// A check makes a file that keeps others from the database.
		if err := identity.GiveToOwner(dir, databasesDir); err != nil {
			return nil, fmt.Errorf("examine databases: %w", err)
		}
	}
	return doctor.Examine(f), nil
}

// directoryFacts says which program has used a data directory; nil if none has.
func directoryFacts(dir string) (*doctor.Directory, error) {
	is, used, err := identity.ReadUse(dir)
	if err != nil || !used {
		return nil, err
	}
	found := &doctor.Directory{Version: is.Version, Schema: is.Schema}
	if is.Begun != nil {
		found.Begun, found.Snapshot = is.Begun.To, is.Begun.Snapshot
	}
	program := upgrade.Program{Version: build.Version, Migrations: upgrade.Migrations()}
	if err := program.Check(dir); err != nil {
		found.Refused = err.Error()
	}
	return found, nil
}

// writeReport writes a report for people.
func writeReport(w io.Writer, r *doctor.Report, colour bool) error {
	paint := func(s doctor.Severity) string {
		text := strings.ToUpper(string(s))
		if !colour {
			return text
		}
		codes := map[doctor.Severity]string{doctor.Critical: "31", doctor.Warning: "33", doctor.Info: "36", doctor.OK: "32"}
		return "\x1b[1;" + codes[s] + "m" + text + "\x1b[0m"
	}
	var b strings.Builder
	for i := range r.Findings {
		f := &r.Findings[i]
		fmt.Fprintf(&b, "%s  %s\n    why: %s\n    do:  %s\n    id:  %s\n\n", paint(f.Severity), plain(f.What), plain(f.Why), plain(f.Do), f.ID)
	}
	for _, s := range r.Skipped {
		fmt.Fprintf(&b, "not checked: %s (%s)\n", s.Check, plain(s.Reason))
	}
	n := r.Count()
	fmt.Fprintf(&b, "%s: %d critical, %d warnings, %d information; checked: %s\n",
		paint(r.Severity), n.Critical, n.Warning, n.Info, strings.Join(r.Checked, ", "))
	_, err := io.WriteString(w, b.String())
	return err
}
