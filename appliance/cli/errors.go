// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

// usageError is an error of the command line.
type usageError struct {
	err     error
	command string
}

// Error returns the message without the hint.
func (e *usageError) Error() string { return e.err.Error() }

// Unwrap returns the error without the hint.
func (e *usageError) Unwrap() error { return e.err }

// Hint returns the command that prints the help.
func (e *usageError) Hint() string { return fmt.Sprintf("see %q", e.command+" --help") }

// usage joins the errors of the command line of cmd to a usage error. It returns nil if there are none.
func usage(cmd *cobra.Command, errs ...error) error {
	err := errors.Join(errs...)
	if err == nil {
		return nil
	}
	return &usageError{err: err, command: cmd.CommandPath()}
}

// hinted is an error with advice.
type hinted struct {
	err  error
	hint string
}

// Error implements error.
func (e *hinted) Error() string { return e.err.Error() }

// Unwrap returns the error without the hint.
func (e *hinted) Unwrap() error { return e.err }

// Hint returns the advice.
func (e *hinted) Hint() string { return e.hint }

// withHint adds advice to an error.
func withHint(err error, hint string) error {
	return &hinted{err: err, hint: hint}
}

// hintFor returns advice for an error. Errors of any package can have their own advice: they implement a method Hint.
func hintFor(err error) string {
	if h, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		return h.Hint()
	}
	switch {
	case errors.Is(err, identity.ErrInUse):
		return "stop that process, or use another directory with --data-dir"
	case errors.Is(err, identity.ErrNotWritable):
		return "run the command as the owner of the directory, or use another directory with --data-dir"
	case errors.Is(err, identity.ErrUnpinned), errors.Is(err, identity.ErrMalformedToken):
		return `create a new token with "terrarium token create" and run the command that it prints`
	case errors.Is(err, identity.ErrServerCertificate):
		return "if the address is correct, start the server with this --external-address"
	case errors.Is(err, options.ErrNoGarden):
		return `run the command on the machine of the server, with --data-dir if its data is elsewhere, or specify a kubeconfig with --kubeconfig; ` +
			`start a garden with "terrarium server"`
	case errors.Is(err, syscall.EADDRINUSE):
		return "another process uses the port: stop it, or choose another port with --listen"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "check that the server is running and that the address is correct"
	case errors.Is(err, syscall.EACCES):
		return "run the command as a user with read permission"
	case apierrors.IsUnauthorized(err):
		return "the credentials are for another garden or have expired: use a new kubeconfig"
	case apierrors.IsForbidden(err):
		return "use the kubeconfig of an administrator of the garden"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "the kubeconfig is for another garden: use a new one"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "check the host name of the server"
	}
	return ""
}

// checkArguments sets up cmd and all commands below it to return usage errors for unexpected arguments.
func checkArguments(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		checkArguments(c)
	}
	given := cmd.Args
	switch {
	case cmd.HasSubCommands():
		run := cmd.RunE
		cmd.Args = cobra.ArbitraryArgs
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			if run != nil && len(args) == 0 {
				return run(cmd, args)
			}
			return runGroup(cmd, args)
		}
		return
	case given == nil:
		given = atMost(0)
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := given(cmd, args); err != nil {
			return usage(cmd, err)
		}
		return nil
	}
}

// runGroup runs a command that only groups others.
func runGroup(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		problem := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
		cmd.SuggestionsMinimumDistance = 2
		if suggestions := cmd.SuggestionsFor(args[0]); len(suggestions) > 0 {
			problem += fmt.Sprintf(", did you mean %s?", quotedList(suggestions, " or "))
		}
		return usage(cmd, errors.New(problem))
	}
	if !cmd.HasParent() {
		return cmd.Help()
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return usage(cmd, fmt.Errorf("%q requires a command: %s", cmd.CommandPath(), quotedList(names, ", ")))
}

func quotedList(values []string, separator string) string {
	quoted := slices.Clone(values)
	for i, v := range quoted {
		quoted[i] = fmt.Sprintf("%q", v)
	}
	return strings.Join(quoted, separator)
}

// exactly accepts one argument for each name.
func exactly(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return fmt.Errorf("missing argument %s", names[len(args)])
		}
		return atMost(len(names))(nil, args)
	}
}

// atMost accepts so many arguments, and fewer.
func atMost(most int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > most {
			return fmt.Errorf("unexpected argument %q", args[most])
		}
		return nil
	}
}

// choice accepts one argument, which must be one of the values.
func choice(name string, values ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return fmt.Errorf("missing argument: the %s, one of %s", name, quotedList(values, ", "))
		case len(args) > 1:
			return fmt.Errorf("unexpected argument %q", args[1])
		case !slices.Contains(values, args[0]):
			return fmt.Errorf("%s %q is not one of %s", name, args[0], quotedList(values, ", "))
		}
		return nil
	}
}
