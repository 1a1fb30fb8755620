// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

// revocationsPath is the path of the seeds that are shut out.
const revocationsPath = "/appliance/revocations"

func newSeedCommand(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "seed",
		Short: "Shut a seed out of the garden, take that back, or list what a seed can read",
	}
	cmd.AddCommand(newSeedRevokeCommand(env), newSeedForgiveCommand(env), newSeedExposureCommand(env), newSeedRevokedCommand(env))
	return cmd
}

// seedOptions are those of all commands for one seed.
type seedOptions struct {
	env        Environment
	connection options.Connection
	output     outputFlag

	name string
}

// addTo adds the flags, and makes the command take the name of a seed.
func (o *seedOptions) addTo(cmd *cobra.Command, run func(ctx context.Context) error) {
	o.connection.AddFlags(cmd.Flags())
	o.output.addTo(cmd.Flags(), "", formatJSON, formatYAML)
	cmd.Args = exactly("NAME")
	o.completeName(cmd, o.seeds)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.name = args[0]
		if err := usage(cmd, o.output.validate()); err != nil {
			return err
		}
		return run(cmd.Context())
	}
}

// completeName has the name of the seed completed.
func (o *seedOptions) completeName(cmd *cobra.Command, names func(ctx context.Context) []string) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(cmd.Context()), cobra.ShellCompDirectiveNoFileComp
	}
}

// seeds are the names of all seeds, for completion.
func (o *seedOptions) seeds(ctx context.Context) []string {
	return namesOf(ctx, o.connection, o.env, gardencorev1beta1.GroupVersion.WithResource("seeds"), "")
}

// revoked are the names of the seeds that are shut out, for completion. Some of them may not exist any more.
func (o *seedOptions) revoked(ctx context.Context) []string {
	return briefly(ctx, func(ctx context.Context) ([]string, error) {
		found, err := revocations(ctx, o.connection, o.env)
		if err != nil {
			return nil, err
		}
		var names []string
		for i := range found.Items {
			names = append(names, found.Items[i].Seed)
		}
		return names, nil
	})
}

// revocationItem is what the server says about a seed.
type revocationItem struct {
	Seed            string          `json:"seed"`
	Revoked         bool            `json:"revoked"`
	Reason          string          `json:"reason,omitempty"`
	By              string          `json:"by,omitempty"`
	At              *time.Time      `json:"at,omitempty"`
	CredentialsFrom *time.Time      `json:"credentialsFrom,omitempty"`
	Open            int             `json:"open,omitempty"`
	Exposed         []exposedObject `json:"exposed,omitempty"`
}

type exposedObject struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// ask sends a request about the seed.
func (o *seedOptions) ask(ctx context.Context, request func(rest.Interface) *rest.Request) (*revocationItem, error) {
	g, err := connect(o.connection, o.env.Getenv)
	if err != nil {
		return nil, err
	}
	data, err := raw(ctx, request(g.client.Discovery().RESTClient()).AbsPath(revocationsPath, o.name))
	if err != nil {
		return nil, err
	}
	found := &revocationItem{}
	if err := json.Unmarshal(data, found); err != nil {
		return nil, fmt.Errorf("read answer of the garden: %w", err)
	}
	return found, nil
}

func newSeedRevokeCommand(env Environment) *cobra.Command {
	o := &seedOptions{env: env}
	var reason string
	var unknown bool
	cmd := &cobra.Command{
		Use:   "revoke NAME",
		Short: "Shut a seed out of the garden at once",
		Long: `Shuts a compromised seed out of the garden: its certificates, the tokens of its extensions and its join tokens are refused at once,
its open watches are closed, and it gets no new certificate. Its shoots get the constraint SeedTrusted=False. The clusters of the
shoots are not touched. Prints what the seed could read, and whose credentials therefore have to be rotated.
A seed that does not exist any more can be shut out with --unknown: its gardenlet may still have credentials.`,
		Example: `  terrarium seed revoke eu-1 --reason "the machine was stolen"
  terrarium seed revoke eu-2 --unknown --reason "retired"`,
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why, for those who see that the seed is shut out")
	cmd.Flags().BoolVar(&unknown, "unknown", false, "shut out a seed that does not exist, or not any more")
	o.addTo(cmd, func(ctx context.Context) error {
		body, err := json.Marshal(map[string]any{"reason": reason, "unknown": unknown})
		if err != nil {
			return err
		}
		found, err := o.ask(ctx, func(c rest.Interface) *rest.Request {
			return c.Post().SetHeader("Content-Type", "application/json").Body(body)
		})
		if err != nil {
			return fmt.Errorf("revoke seed %q: %w", o.name, err)
		}
		return o.output.write(o.env.Out, found, func(w io.Writer) error {
			o.env.tell("Seed %q is shut out of the garden.\n", o.name)
			if found.Open > 0 {
				o.env.tell("%d of its requests have not ended yet. They change nothing after they were refused.\n", found.Open)
			}
			o.env.tell("Rotate what it could read. To take this back: terrarium seed forgive %s\n\n", o.name)
			return writeExposed(w, found.Exposed)
		})
	})
	return cmd
}

func newSeedForgiveCommand(env Environment) *cobra.Command {
	o := &seedOptions{env: env}
	var fresh bool
	cmd := &cobra.Command{
		Use:   "forgive NAME",
		Short: "Let a seed that was shut out come back",
		Long: `Takes back that a seed was shut out. By default, its gardenlet goes on with the certificate that it has, as after a false alarm.
With --new-credentials, all credentials that were issued until now stay refused, and the seed has to join again.`,
		Example: `  terrarium seed forgive eu-1
  terrarium seed forgive eu-1 --new-credentials && terrarium token create --seed eu-1 --renew`,
	}
	cmd.Flags().BoolVar(&fresh, "new-credentials", false, "refuse all credentials that the seed got until now; it has to join again")
	o.addTo(cmd, func(ctx context.Context) error {
		found, err := o.ask(ctx, func(c rest.Interface) *rest.Request {
			r := c.Delete()
			if fresh {
				r = r.Param("credentials", "new")
			}
			return r
		})
		if err != nil {
			return fmt.Errorf("forgive seed %q: %w", o.name, err)
		}
		return o.output.write(o.env.Out, found, func(io.Writer) error {
			o.env.tell("Seed %q is no longer shut out.\n", o.name)
			if fresh {
				o.env.tell("It has to join again: terrarium token create --seed %s --renew\n", o.name)
			}
			return nil
		})
	})
	o.completeName(cmd, o.revoked)
	return cmd
}

func newSeedExposureCommand(env Environment) *cobra.Command {
	o := &seedOptions{env: env}
	cmd := &cobra.Command{
		Use:   "exposure NAME",
		Short: "List what a seed can read, or could before it was shut out",
	}
	o.addTo(cmd, func(ctx context.Context) error {
		found, err := o.ask(ctx, func(c rest.Interface) *rest.Request { return c.Get() })
		if err != nil {
			return fmt.Errorf("list what seed %q can read: %w", o.name, err)
		}
		return o.output.write(o.env.Out, found, func(w io.Writer) error { return writeExposed(w, found.Exposed) })
	})
	return cmd
}

// writeExposed writes objects by their kinds, in the order of the server: those with credentials first.
func writeExposed(w io.Writer, all []exposedObject) error {
	rows, counts := [][]string{{"KIND", "NAMESPACE", "NAME"}}, map[string]int{}
	for _, x := range all {
		rows = append(rows, []string{x.Kind, orNone(x.Namespace), x.Name})
		counts[x.Kind]++
	}
	if err := writeTable(w, rows); err != nil {
		return err
	}
	var sums []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		sums = append(sums, fmt.Sprintf("%d %s", counts[kind], kind))
	}
	_, err := fmt.Fprintf(w, "\nIn total: %s\n", orNone(strings.Join(sums, ", ")))
	return err
}

type seedRevokedOptions struct {
	env        Environment
	connection options.Connection
	output     outputFlag
}

func newSeedRevokedCommand(env Environment) *cobra.Command {
	o := &seedRevokedOptions{env: env}
	cmd := &cobra.Command{
		Use:   "revoked",
		Short: "List the seeds that are shut out",
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

// revocationList are the seeds that are shut out.
type revocationList struct {
	Items []revocationItem `json:"items"`
}

func revocations(ctx context.Context, connection options.Connection, env Environment) (*revocationList, error) {
	g, err := connect(connection, env.Getenv)
	if err != nil {
		return nil, err
	}
	data, err := g.get(ctx, revocationsPath)
	if err != nil {
		return nil, err
	}
	found := &revocationList{}
	if err := json.Unmarshal(data, found); err != nil {
		return nil, fmt.Errorf("read answer of the garden: %w", err)
	}
	return found, nil
}

func (o *seedRevokedOptions) run(ctx context.Context) error {
	found, err := revocations(ctx, o.connection, o.env)
	if err != nil {
		return err
	}
	return o.output.write(o.env.Out, found, func(w io.Writer) error {
		if len(found.Items) == 0 {
			o.env.tell("No seed is shut out.\n")
			return nil
		}
		rows := [][]string{{"SEED", "SINCE", "BY", "REASON"}}
		for _, i := range found.Items {
			since := "<unknown>"
			if i.At != nil {
				since = i.At.Format(time.RFC3339)
			}
			rows = append(rows, []string{i.Seed, since, orNone(i.By), orNone(i.Reason)})
		}
		return writeTable(w, rows)
	})
}
