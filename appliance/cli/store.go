// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/options"
)

// storePath is the path of what can be done with the databases.
const storePath = "/appliance/store"

func newStoreCommand(env Environment) *cobra.Command {
	cmd := &cobra.Command{Use: "store", Short: "Check the databases of a running server, or give back unused space"}
	cmd.AddCommand(
		newStoreVerbCommand(env, "vacuum", "Give unused space of the databases back to the file system",
			"Gives unused space of both databases back. Reads and writes go on meanwhile. The server does so by itself where much is unused."),
		newStoreVerbCommand(env, "check", "Check the integrity of the databases",
			"Checks the structure, the indexes and the checksum of each record of both databases. The server does so at its start, without the\n"+
				"indexes, and each week. Ends with status 1 if a database is damaged."),
	)
	return cmd
}

type storeOptions struct {
	env        Environment
	connection options.Connection
	output     outputFlag
	verb       string
}

func newStoreVerbCommand(env Environment, verb, short, long string) *cobra.Command {
	o := &storeOptions{env: env, verb: verb}
	cmd := &cobra.Command{
		Use:   verb,
		Short: short,
		Long:  long,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.output.validate()); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.connection.AddFlags(cmd.Flags())
	o.output.addTo(cmd.Flags(), formatTable, formatJSON, formatYAML)
	return cmd
}

var errStoreDamaged = errors.New("a database is damaged: restore a snapshot from before the damage")

func (o *storeOptions) run(ctx context.Context) error {
	g, err := connect(o.connection, o.env.Getenv)
	if err != nil {
		return err
	}
	data, err := raw(ctx, g.client.Discovery().RESTClient().Post().AbsPath(storePath, o.verb))
	if err != nil {
		return fmt.Errorf("%s the databases: %w", o.verb, err)
	}
	var found struct {
		Items []struct {
			Name        string     `json:"name"`
			SizeBytes   int64      `json:"sizeBytes"`
			WALBytes    int64      `json:"walBytes"`
			UnusedBytes int64      `json:"unusedBytes"`
			Checked     *time.Time `json:"checked,omitempty"`
			Problems    []string   `json:"problems,omitempty"`
		} `json:"items"`
	}
	if err := json.Unmarshal(data, &found); err != nil {
		return fmt.Errorf("read answer of the garden: %w", err)
	}
	damaged := false
	err = o.output.write(o.env.Out, found, func(w io.Writer) error {
		rows := [][]string{{"STORE", "SIZE", "WRITE-AHEAD LOG", "UNUSED", "CHECKED", "PROBLEMS"}}
		for _, i := range found.Items {
			checked := "<never>"
			if i.Checked != nil {
				checked = i.Checked.Format(time.RFC3339)
			}
			rows = append(rows, []string{i.Name, size(i.SizeBytes), size(i.WALBytes), size(i.UnusedBytes), checked, orNone(strings.Join(i.Problems, "; "))})
		}
		return writeTable(w, rows)
	})
	for _, i := range found.Items {
		damaged = damaged || len(i.Problems) > 0
	}
	if err == nil && damaged {
		err = errStoreDamaged
	}
	return err
}
