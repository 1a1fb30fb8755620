// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

type tokenDeleteOptions struct {
	env        Environment
	connection options.Connection
	id         string
}

func newTokenDeleteCommand(env Environment) *cobra.Command {
	o := &tokenDeleteOptions{env: env}
	cmd := &cobra.Command{
		Use:     "delete ID|TOKEN",
		Aliases: []string{"rm"},
		Short:   "Delete a join token",
		Example: "  terrarium token delete abcdef",
		Args:    exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := usage(cmd, o.complete(args[0])); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return o.tokens(cmd.Context()), cobra.ShellCompDirectiveNoFileComp
	}
	o.connection.AddFlags(cmd.Flags())
	return cmd
}

// tokens are the ids of all tokens with what they are for, for completion.
func (o *tokenDeleteOptions) tokens(ctx context.Context) []string {
	return briefly(ctx, func(ctx context.Context) ([]string, error) {
		g, err := connect(o.connection, o.env.Getenv)
		if err != nil {
			return nil, err
		}
		tokens, err := g.tokens(ctx)
		if err != nil {
			return nil, err
		}
		var ids []string
		for _, t := range tokens {
			ids = append(ids, cobra.CompletionWithDesc(t.ID, plain(strings.TrimSpace(t.seed()+" "+t.Description))))
		}
		return ids, nil
	})
}

// complete takes the id from a token of any form.
func (o *tokenDeleteOptions) complete(given string) error {
	if identity.IsTokenID(given) {
		o.id = given
		return nil
	}
	token, err := identity.ParseJoinToken(given)
	if errors.Is(err, identity.ErrUnpinned) {
		token, err = identity.ParseUnpinnedToken(given)
	}
	if err != nil {
		return fmt.Errorf("neither a token id (6 characters of a-z and 0-9) nor a token: %w", err)
	}
	o.id = token.ID
	return nil
}

func (o *tokenDeleteOptions) run(ctx context.Context) error {
	g, err := connect(o.connection, o.env.Getenv)
	if err != nil {
		return err
	}
	secrets := g.client.CoreV1().Secrets(metav1.NamespaceSystem)
	name := bootstrapapi.BootstrapTokenSecretPrefix + o.id
	err = secrets.Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return withHint(fmt.Errorf("no token with the id %q", o.id), `list the tokens with "terrarium token list"`)
	}
	if err != nil {
		return fmt.Errorf("delete token %q: %w", o.id, err)
	}
	o.env.tell("Token %s deleted.\n", o.id)
	return nil
}
