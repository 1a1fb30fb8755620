// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/options"
)

// bundlePath is the path of the support bundle.
const bundlePath = "/appliance/support-bundle"

type supportBundleOptions struct {
	env        Environment
	connection options.Connection
	file       string
}

func newSupportBundleCommand(env Environment) *cobra.Command {
	o := &supportBundleOptions{env: env}
	cmd := &cobra.Command{
		Use:   "support-bundle",
		Short: "Write a file that helps others to find out what is wrong, without secrets",
		Long: `Writes a compressed archive with versions, the configuration, the status, the findings of the doctor, metrics, the newest lines of
the log, events, lists of objects with their conditions and last errors, and what the server is doing at the moment.

It contains no Secrets, InternalSecrets, tokens, kubeconfigs and private keys, and nothing of the spec of objects but which seed they
belong to. It does contain names of projects, shoots and users.`,
		Example: `  terrarium support-bundle
  terrarium support-bundle --file bundle.tar.gz`,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.connection.AddFlags(cmd.Flags())
	cmd.Flags().StringVar(&o.file, "file", "", "file to write, which must not exist; - is the standard output (default terrarium-support-<time>.tar.gz)")
	return cmd
}

func (o *supportBundleOptions) run(ctx context.Context) error {
	g, err := connect(o.connection, o.env.Getenv)
	if err != nil {
		return err
	}
	if o.file == "-" {
		_, err := o.fetch(ctx, g, o.env.Out)
		return err
	}
	if o.file == "" {
		o.file = "terrarium-support-" + o.env.Clock.Now().UTC().Format("20060102-150405") + ".tar.gz"
	}
	// The file is made first: what cannot be written is not worth the work of the server.
	length := 0
	err = writeNew(o.file, func(w io.Writer) error {
		length, err = o.fetch(ctx, g, w)
		return err
	})
	if err != nil {
		return fmt.Errorf("write support bundle: %w", err)
	}
	o.env.tell("Wrote %s (%s). Look through it before you give it away.\n", o.file, size(int64(length)))
	return nil
}

// fetch has the server make the bundle, and writes it.
func (o *supportBundleOptions) fetch(ctx context.Context, g *garden, w io.Writer) (int, error) {
	data, err := g.get(ctx, bundlePath)
	if err != nil {
		return 0, withHint(err, "if the server does not run, \"terrarium doctor --offline\" examines its data directory")
	}
	return w.Write(data)
}
