// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/terrarium-garden/terrarium/appliance/doctor"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

// statusPath is the path at which a server tells its status.
const statusPath = "/appliance/status"

type statusOptions struct {
	env        Environment
	connection options.Connection
	output     outputFlag
}

func newStatusCommand(env Environment) *cobra.Command {
	o := &statusOptions{env: env}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show a garden on one screen: version, store, controllers, seeds, shoots and findings",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.output.validate()); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.connection.AddFlags(cmd.Flags())
	o.output.addTo(cmd.Flags(), "", formatJSON, formatYAML)
	return cmd
}

// gardenStatus has the fields of the status that are shown to people.
type gardenStatus struct {
	Started time.Time `json:"started"`
	Now     time.Time `json:"now"`
	Version string    `json:"version"`
	// Directory says which program has used the data directory.
	Directory identity.Use `json:"directory"`
	Process   struct {
		ResidentBytes    int64 `json:"residentBytes"`
		MemoryLimitBytes int64 `json:"memoryLimitBytes"`
		OpenFiles        int   `json:"openFiles"`
	} `json:"process"`
	Store struct {
		External  string `json:"external"`
		Problem   string `json:"problem"`
		Databases []struct {
			Name      string `json:"name"`
			SizeBytes int64  `json:"sizeBytes"`
			WALBytes  int64  `json:"walBytes"`
			Revision  int64  `json:"revision"`
		} `json:"databases"`
	} `json:"store"`
	Certificates []struct {
		Name     string `json:"name"`
		DaysLeft int    `json:"daysLeft"`
	} `json:"certificates"`
	Units []struct {
		Name  string `json:"name"`
		Ready bool   `json:"ready"`
	} `json:"units"`
	Controllers []struct {
		Reconciles int `json:"reconciles"`
		Errors     int `json:"errors"`
		Queue      int `json:"queue"`
	} `json:"controllers"`
	Seeds *struct {
		Total   int `json:"total"`
		Ready   int `json:"ready"`
		Revoked int `json:"revoked"`
		// Versions counts the gardenlets by their version.
		Versions map[string]int `json:"versions"`
		Skewed   int            `json:"skewed"`
	} `json:"seeds"`
	Shoots *struct {
		Total   int            `json:"total"`
		ByState map[string]int `json:"byState"`
	} `json:"shoots"`
	Findings *doctor.Count `json:"findings"`
}

func (o *statusOptions) run(ctx context.Context) error {
	g, err := connect(o.connection, o.env.Getenv)
	if err != nil {
		return err
	}
	data, err := g.get(ctx, statusPath)
	if err != nil {
		return err
	}
	var everything any
	is := &gardenStatus{}
	for _, into := range []any{&everything, is} {
		if err := json.Unmarshal(data, into); err != nil {
			return fmt.Errorf("read status: %w", err)
		}
	}
	return o.output.write(o.env.Out, everything, func(w io.Writer) error { return writeTable(w, is.rows()) })
}

func (s *gardenStatus) rows() [][]string {
	rows := [][]string{
		{"Version", s.Version},
		{"Data directory", s.directory()},
		{"Up", duration.HumanDuration(s.Now.Sub(s.Started))},
		{"Memory", size(s.Process.ResidentBytes) + limitOf(s.Process.MemoryLimitBytes)},
		{"Open files", strconv.Itoa(s.Process.OpenFiles)},
	}
	for _, db := range s.Store.Databases {
		rows = append(rows, []string{"Store of " + db.Name, fmt.Sprintf("%s, write-ahead log %s, revision %d", size(db.SizeBytes), size(db.WALBytes), db.Revision)})
	}
	if len(s.Store.Databases) == 0 {
		where := cmp.Or(s.Store.External, "elsewhere")
		if s.Store.Problem != "" {
			where += ", does not answer: " + s.Store.Problem
		}
		rows = append(rows, []string{"Store", where})
	}
	return append(append(rows, s.parts()...), s.objects()...)
}

// directory describes the data directory.
func (s *gardenStatus) directory() string {
	text := fmt.Sprintf("schema %d", s.Directory.Schema)
	if u := s.Directory.Upgraded; u != nil {
		text += ", upgraded from " + cmp.Or(u.From, "the first version") + " to " + u.To
	}
	return text
}

func limitOf(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return " of at most " + size(bytes)
}

// parts are the rows about the server's own parts.
func (s *gardenStatus) parts() [][]string {
	var rows [][]string
	if len(s.Certificates) > 0 {
		first := s.Certificates[0]
		for _, c := range s.Certificates {
			if c.DaysLeft < first.DaysLeft {
				first = c
			}
		}
		rows = append(rows, []string{"Certificates", fmt.Sprintf("%q expires first, in %d days", first.Name, first.DaysLeft)})
	}
	var waiting []string
	for _, u := range s.Units {
		if !u.Ready {
			waiting = append(waiting, u.Name)
		}
	}
	ready := fmt.Sprintf("%d ready", len(s.Units)-len(waiting))
	if len(waiting) > 0 {
		ready += ", not ready: " + strings.Join(waiting, ", ")
	}
	var reconciles, errs, queue int
	for _, c := range s.Controllers {
		reconciles, errs, queue = reconciles+c.Reconciles, errs+c.Errors, queue+c.Queue
	}
	return append(rows, []string{"Units", ready},
		[]string{"Controllers", fmt.Sprintf("%d, %d reconciles, %d errors, %d waiting", len(s.Controllers), reconciles, errs, queue)})
}

// objects are the rows about objects and findings.
func (s *gardenStatus) objects() [][]string {
	var rows [][]string
	if n := s.Seeds; n != nil {
		text := fmt.Sprintf("%d, %d ready", n.Total, n.Ready)
		if n.Revoked > 0 {
			text += fmt.Sprintf(", %d revoked", n.Revoked)
		}
		rows = append(rows, []string{"Seeds", text})
		if len(n.Versions) > 0 {
			rows = append(rows, []string{"Gardenlets", counted(n.Versions) + skew(n.Skewed)})
		}
	}
	if n := s.Shoots; n != nil {
		text := strconv.Itoa(n.Total)
		if len(n.ByState) > 0 {
			text += ", " + counted(n.ByState)
		}
		rows = append(rows, []string{"Shoots", text})
	}
	if n := s.Findings; n != nil {
		text := fmt.Sprintf("%d critical, %d warnings, %d information", n.Critical, n.Warning, n.Info)
		if *n != (doctor.Count{}) {
			text += "; see terrarium doctor"
		}
		rows = append(rows, []string{"Findings", text})
	}
	return rows
}

// counted lists how many there are of each.
func counted(of map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%d %s", of[name], name))
	}
	return strings.Join(parts, ", ")
}

func skew(gardenlets int) string {
	if gardenlets == 0 {
		return ""
	}
	return fmt.Sprintf("; %d too old or too new, see terrarium doctor", gardenlets)
}

// size formats a number of bytes.
func size(bytes int64) string {
	const unit = 1024
	value, units := float64(bytes), []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for len(units) > 1 && value >= unit {
		value, units = value/unit, units[1:]
	}
	return fmt.Sprintf("%.4g %s", value, units[0])
}
