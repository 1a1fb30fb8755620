// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/spf13/cobra"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/options"
	"github.com/terrarium-garden/terrarium/appliance/sshaccess"
)

// sshFarewell is how long an SSH client may take to end when the command is interrupted.
const sshFarewell = 3 * time.Second

type sshOptions struct {
	env        Environment
	connection options.Connection
	request    sshaccess.Request

	command []string
}

func newSSHCommand(env Environment) *cobra.Command {
	o := &sshOptions{env: env}
	cmd := &cobra.Command{
		Use:   "ssh SHOOT [NODE] [-- COMMAND...]",
		Short: "Log in to a node of a shoot through a bastion",
		Long: `Logs in to a node of a shoot, or runs a command on it: makes a bastion for a new key, waits until it is ready, and runs the ssh
program of this machine. NODE is the name or the internal address of a node; without it, the first node that is ready is taken.
The bastion is open for the networks in --from only, is kept as long as the program runs, and is deleted at the end, also when the
command is interrupted or its terminal is closed.

The user on the node is "gardener", who becomes root with sudo.`,
		Example: `  terrarium ssh sprout -n garden-meadow
  terrarium ssh sprout machine-a -n garden-meadow --from 203.0.113.7 -- sudo journalctl -u kubelet`,
		Args: func(cmd *cobra.Command, args []string) error { return o.arguments(args, cmd.ArgsLenAtDash()) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.validate()...); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return o.complete(cmd.Context(), args), cobra.ShellCompDirectiveNoFileComp
		},
	}
	o.connection.AddFlags(cmd.Flags())
	fs := cmd.Flags()
	fs.StringVarP(&o.request.Namespace, "namespace", "n", "", "namespace of the shoot")
	fs.StringSliceVar(&o.request.Networks, "from", nil, "addresses or networks from which the bastion is reached, such as 203.0.113.7 or 203.0.113.0/24 (default: the address of this machine, if that is the one that others see)")
	fs.DurationVar(&o.request.Timeout, "timeout", 5*time.Minute, "how long to wait for the bastion")
	return cmd
}

// complete returns the names of shoots, or of the nodes of one.
func (o *sshOptions) complete(ctx context.Context, args []string) []string {
	switch len(args) {
	case 0:
		return namesOf(ctx, o.connection, o.env, gardencorev1beta1.GroupVersion.WithResource("shoots"), o.request.Namespace)
	case 1:
		return briefly(ctx, func(ctx context.Context) ([]string, error) {
			config, err := o.connection.RESTConfig(o.env.Getenv)
			if err != nil {
				return nil, err
			}
			garden, err := sshaccess.Connect(config)
			if err != nil {
				return nil, err
			}
			return (&sshaccess.Guide{Garden: garden}).NodeNames(ctx, o.request.Namespace, args[0])
		})
	default:
		return nil
	}
}

// arguments are a shoot, maybe a node, and after a dash a command.
func (o *sshOptions) arguments(args []string, dash int) error {
	if dash >= 0 {
		args, o.command = args[:dash], args[dash:]
	}
	switch {
	case len(args) == 0:
		return errors.New("missing argument SHOOT")
	case len(args) > 2:
		return fmt.Errorf("unexpected argument %q: put a command after --", args[2])
	case len(args) == 2:
		o.request.Node = args[1]
	}
	o.request.Shoot = args[0]
	return nil
}

func (o *sshOptions) validate() []error {
	var errs []error
	if o.request.Namespace == "" {
		errs = append(errs, errors.New("--namespace: required"))
	}
	for i, network := range o.request.Networks {
		if address, err := netip.ParseAddr(network); err == nil && address.Zone() == "" {
			o.request.Networks[i] = netip.PrefixFrom(address, address.BitLen()).String()
			continue
		}
		if p, err := netip.ParsePrefix(network); err != nil || p != p.Masked() {
			errs = append(errs, fmt.Errorf("--from: %q is neither an address nor a network such as 203.0.113.0/24", network))
		}
	}
	if o.request.Timeout <= 0 {
		errs = append(errs, errors.New("--timeout: must be positive"))
	}
	return errs
}

func (o *sshOptions) run(ctx context.Context) error {
	program, err := exec.LookPath("ssh")
	if err != nil {
		return withHint(fmt.Errorf("find the program ssh: %w", err), "install an SSH client, such as the package openssh-client")
	}
	guide, err := o.guide(ctx)
	if err != nil {
		return err
	}
	way, err := guide.Open(ctx, o.request)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var heartbeats sync.WaitGroup
	defer func() {
		stop()
		heartbeats.Wait()
		if closing := way.Close(ctx); closing != nil {
			o.env.tell("Warning: %v\n", closing)
		}
	}()
	heartbeats.Go(func() { way.Keep(ctx) })
	return o.exec(ctx, program, append([]string{"-F", way.Config, sshaccess.Target}, o.command...))
}

// guide completes the request, and returns what carries it out.
func (o *sshOptions) guide(ctx context.Context) (*sshaccess.Guide, error) {
	g, err := connect(o.connection, o.env.Getenv)
	if err != nil {
		return nil, err
	}
	if len(o.request.Networks) == 0 {
		if o.request.Networks, err = sshaccess.OwnNetworks(ctx, g.config.Host); err != nil {
			return nil, withHint(err, "say with --from from which network you come, such as --from 203.0.113.7")
		}
	}
	garden, err := sshaccess.Connect(g.config)
	if err != nil {
		return nil, err
	}
	return &sshaccess.Guide{Garden: garden, Clock: o.env.Clock, Tell: o.env.tell}, nil
}

// exec runs the SSH client on the terminal of the user. What it ends with is what the command ends with.
func (o *sshOptions) exec(ctx context.Context, program string, args []string) error {
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // the program is ssh
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.env.In, o.env.Out, o.env.Err
	// The client ends the one that leads to the bastion, which it has started, if it is not killed.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = sshFarewell
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		return &statusError{code: exit.ExitCode()}
	}
	return err
}
