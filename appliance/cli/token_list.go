// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/terrarium-garden/terrarium/appliance/options"
)

type tokenListOptions struct {
	env        Environment
	connection options.Connection
	output     outputFlag
}

func newTokenListCommand(env Environment) *cobra.Command {
	o := &tokenListOptions{env: env}
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List join tokens, without their secrets",
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

type tokenList struct {
	Items []tokenInfo `json:"items"`
}

func (o *tokenListOptions) run(ctx context.Context) error {
	g, err := connect(o.connection, o.env.Getenv)
	if err != nil {
		return err
	}
	tokens, err := g.tokens(ctx)
	if err != nil {
		return err
	}
	return o.output.write(o.env.Out, tokenList{Items: tokens}, func(w io.Writer) error {
		if len(tokens) == 0 {
			o.env.tell("No tokens found.\n")
			return nil
		}
		rows := [][]string{{"ID", "SEED", "DESCRIPTION", "EXPIRES", "USED", "USAGES"}}
		for _, t := range tokens {
			rows = append(rows, []string{
				t.ID, t.seed(), orNone(t.Description), expiry(t.Expires, o.env.Clock.Now()), t.used(), orNone(strings.Join(t.Usages, ",")),
			})
		}
		return writeTable(w, rows)
	})
}

// seed returns which seed, or self-hosted shoot, may join with a token.
func (t tokenInfo) seed() string {
	switch {
	case t.Shoot != "":
		return "shoot " + t.Shoot
	case t.Seed == "":
		return "<new>"
	case t.Renew:
		return t.Seed + " (renew)"
	default:
		return t.Seed
	}
}

// used returns which seed has joined with a token, and when.
func (t tokenInfo) used() string {
	if t.Used == nil {
		return "no"
	}
	return fmt.Sprintf("by %s at %s", t.Used.Seed, t.Used.At.UTC().Format(time.RFC3339))
}

// expiry returns the remaining lifetime of a token.
func expiry(expires *time.Time, now time.Time) string {
	switch {
	case expires == nil:
		return "never"
	case !expires.After(now):
		return "expired"
	default:
		return "in " + duration.HumanDuration(expires.Sub(now))
	}
}

func orNone(s string) string {
	if s == "" {
		return "<none>"
	}
	return s
}
