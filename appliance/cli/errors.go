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

// usageError says that a command line cannot be right, whatever the state of the world.
type usageError struct {
	err     error
	command string
}

// Error is the problem alone; Hint says where to read on.
func (e *usageError) Error() string { return e.err.Error() }

// Unwrap returns the error without the hint.
func (e *usageError) Unwrap() error { return e.err }

// Hint says where to read on.
func (e *usageError) Hint() string { return fmt.Sprintf("see %q", e.command+" --help") }

// usage makes a usage error of all that is wrong with the command line of cmd, and nil of nothing.
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

// Error is the problem.
func (e *hinted) Error() string { return e.err.Error() }

// Unwrap returns the error without the hint.
func (e *hinted) Unwrap() error { return e.err }

// Hint is the advice.
func (e *hinted) Hint() string { return e.hint }

// withHint adds advice to an error that needs advice of its own here.
func withHint(err error, hint string) error {
	return &hinted{err: err, hint: hint}
}

// hintFor says what to do about err. An error of any package may bring its own advice with a method Hint.
func hintFor(err error) string {
	if h, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		return h.Hint()
	}
	switch {
	case errors.Is(err, identity.ErrInUse):
		return "stop that process, or give this one a directory of its own with --data-dir"
	case errors.Is(err, identity.ErrNotWritable):
		return "run as the owner of the directory, or choose another one with --data-dir"
	case errors.Is(err, identity.ErrUnpinned), errors.Is(err, identity.ErrMalformedToken):
		return `create a new token with "terrarium token create" and run the command that it prints`
	case errors.Is(err, identity.ErrServerCertificate):
		return "if the address is right, start the server with --external-address for it"
	case errors.Is(err, options.ErrNoGarden):
		return `run on the machine of the server, or name a kubeconfig with --kubeconfig; "terrarium server" starts a garden`
	case errors.Is(err, syscall.EADDRINUSE):
		return "another process listens there: stop it, or choose another port with --listen"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "is the server running, and is the address right?"
	case errors.Is(err, syscall.EACCES):
		return "run as a user who may read it"
	case apierrors.IsUnauthorized(err):
		return "the credentials are not those of this garden, or have expired: use a fresh kubeconfig"
	case apierrors.IsForbidden(err):
		return "use a kubeconfig of an administrator of the garden"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "the kubeconfig was made for another garden: use a fresh one"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "is the name of the server right?"
	}
	return ""
}

// checkArguments makes every command below and including cmd refuse arguments that it does not take, as usage errors.
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
		given = func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unexpected argument %q", args[0])
			}
			return nil
		}
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := given(cmd, args); err != nil {
			return usage(cmd, err)
		}
		return nil
	}
}

// runGroup answers for a command that only groups others.
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
	return usage(cmd, fmt.Errorf("%q needs one of %s", cmd.CommandPath(), quotedList(names, ", ")))
}

func quotedList(values []string, separator string) string {
	quoted := slices.Clone(values)
	for i, v := range quoted {
		quoted[i] = fmt.Sprintf("%q", v)
	}
	return strings.Join(quoted, separator)
}

// exactly accepts as many arguments as it has names for.
func exactly(names ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return fmt.Errorf("missing argument %s", names[len(args)])
		}
		if len(args) > len(names) {
			return fmt.Errorf("unexpected argument %q", args[len(names)])
		}
		return nil
	}
}

// choice accepts one argument, which is one of values.
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
