// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/jumphost"
)

type bastionOptions struct {
	env     Environment
	address string
	hostKey string
	rules   string
	logging telemetry.Options
}

func newProviderLocalBastionCommand(env Environment) *cobra.Command {
	o := &bastionOptions{env: env}
	cmd := &cobra.Command{
		Use:   "bastion",
		Short: "Run the SSH server of a bastion, which leads to machines of a shoot",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.validate()...); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.address, "address", ":22", "address on which to listen")
	cmd.Flags().StringVar(&o.hostKey, "host-key", "", "file with the private key of the server")
	cmd.Flags().StringVar(&o.rules, "rules", "", "who may connect and where to, as JSON with keys, ingress and nodes")
	options.AddLoggingFlags(&o.logging, cmd.Flags())
	return cmd
}

func (o *bastionOptions) validate() []error {
	errs := o.logging.Validate()
	if o.hostKey == "" {
		errs = append(errs, errors.New("--host-key: required: the file with the private key of the server"))
	}
	if o.rules == "" {
		errs = append(errs, errors.New("--rules: required: who may connect and where to"))
	}
	return errs
}

func (o *bastionOptions) run(ctx context.Context) error {
	log, err := processLog(o.env, o.logging)
	if err != nil {
		return err
	}
	rules := jumphost.Rules{}
	if err := json.Unmarshal([]byte(o.rules), &rules); err != nil {
		return fmt.Errorf("read --rules: %w", err)
	}
	key, err := os.ReadFile(o.hostKey)
	if err != nil {
		return fmt.Errorf("read --host-key: %w", err)
	}
	config, err := jumphost.NewConfig(key, rules)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.address)
	if err != nil {
		return fmt.Errorf("listen on %q: %w", o.address, err)
	}
	log.Info("Bastion runs", "address", listener.Addr().String())
	return (&jumphost.Server{Config: config, Log: log}).Serve(ctx, listener)
}
