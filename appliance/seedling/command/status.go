// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/seedling/cluster"
)

// errNotWell makes the command fail, so that scripts notice; the table has the details.
var errNotWell = errors.New("the cluster is not healthy; \"seedling up\" starts the parts that do not run")

func newStatus(program Program) *cobra.Command {
	var state stateFlag
	var output string
	command := &cobra.Command{
		Use:   "status",
		Short: "Show the state of each part of the cluster",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			write, known := map[string]func(io.Writer, cluster.Status) error{"table": printTable, "json": printJSON}[output]
			if !known {
				return fmt.Errorf("--output: %q is neither table nor json", output)
			}
			c, err := state.load(cluster.Options{Binary: program.Binary, Clock: program.Clock})
			if err != nil {
				return err
			}
			status := c.Status(cmd.Context())
			if err := write(cmd.OutOrStdout(), status); err != nil {
				return err
			}
			if !status.Well() {
				return errNotWell
			}
			return nil
		},
	}
	state.add(command.Flags())
	command.Flags().StringVarP(&output, "output", "o", "table", "output format: table or json")
	return command
}

func printJSON(out io.Writer, status cluster.Status) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(status)
}

func printTable(out io.Writer, status cluster.Status) error {
	rows := []string{"PART\tPID\tHEALTHY\tMESSAGE"}
	for _, part := range status.Parts {
		pid := "-"
		if part.PID > 0 {
			pid = strconv.Itoa(part.PID)
		}
		rows = append(rows, fmt.Sprintf("%s\t%s\t%t\t%s", part.Name, pid, part.Healthy, part.Message))
	}
	rows = append(rows, fmt.Sprintf("node %s\t-\t%t\t%s", status.Node.Name, status.Node.Ready, status.Node.Message))
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	if _, err := fmt.Fprintln(table, strings.Join(rows, "\n")); err != nil {
		return err
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, warning := range status.Warnings {
		if _, err := fmt.Fprintln(out, "Warning:", warning); err != nil {
			return err
		}
	}
	return nil
}
