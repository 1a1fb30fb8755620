// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/jointoken"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/join"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

const (
	printCommand = "command"
	printToken   = "token"

	// createAttempts limits how many random ids are tried if ids exist already.
	createAttempts = 3
)

type tokenCreateOptions struct {
	env         Environment
	connection  options.Connection
	lifetime    time.Duration
	description string
	seed        string
	shoot       string
	renew       bool
	server      string
	domain      string
	provider    string
	region      string
	print       string
	file        string
	output      outputFlag
}

func newTokenCreateCommand(env Environment) *cobra.Command {
	o := &tokenCreateOptions{env: env}
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Create a token and print the command for joining a seed",
		Long: `Creates a join token and prints the command that joins a seed with it. Run that command on any machine that has a
kubeconfig of the seed and reaches the garden. It is complete with --seed, --provider and --internal-domain; what it lacks is said
below it.

With --seed, the token is valid only for the certificate of this seed. Without it, the token is valid for any seed that does
not exist yet. If the gardenlet of the seed has a valid certificate, it gets another one only with --renew.

With --shoot, the token is valid only for the certificate of the gardenlet of this self-hosted shoot, and the token itself is
printed. Create the shoot first.`,
		Example: `  terrarium token create --seed eu-1 --provider openstack --region eu --internal-domain internal.example.org
  terrarium token create --seed eu-1 --description "seed in the basement"
  terrarium token create --seed eu-1 --renew
  terrarium token create --shoot garden/root
  terrarium token create --ttl 24h --print token --file token
  terrarium token create --server https://garden.example.org:6443 -o json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.validate(cmd)...); err != nil {
				return err
			}
			if o.file != "" {
				return o.runIntoFile(cmd.Context())
			}
			return o.run(cmd.Context())
		},
	}
	fs := cmd.Flags()
	o.connection.AddFlags(fs)
	fs.DurationVar(&o.lifetime, "ttl", 0, "lifetime of the token, from 10m to 24h (default: tokens.defaultLifetime of the server's configuration)")
	fs.StringVar(&o.seed, "seed", "", "name of the seed that may join with the token (default: any seed that does not exist yet)")
	fs.StringVar(&o.shoot, "shoot", "", "namespace/name of the self-hosted shoot whose gardenlet may join with the token, instead of a seed")
	fs.BoolVar(&o.renew, "renew", false, "allow a new certificate for a seed that has a valid one, for example because it was lost")
	fs.StringVar(&o.description, "description", "", "description of the token")
	fs.StringVar(&o.server, "server", "", "URL of the garden for the seed (default: the URL in the kubeconfig, or the one that the server publishes)")
	fs.StringVar(&o.domain, "internal-domain", "", "domain for the internal DNS names of the API servers of shoots, added to the printed command")
	fs.StringVar(&o.provider, "provider", "", "infrastructure provider of the seed, added to the printed command")
	fs.StringVar(&o.region, "region", "", "region of the seed, added to the printed command (default: detected when the seed joins)")
	fs.StringVar(&o.print, "print", printCommand, "what to print: the whole command or only the token")
	fs.StringVar(&o.file, "file", "", "file for what is printed otherwise, with mode 0600; it must not exist (default: the standard output)")
	o.output.addTo(fs, "", formatJSON, formatYAML)
	return cmd
}

func (o *tokenCreateOptions) validate(cmd *cobra.Command) []error {
	var errs []error
	if cmd.Flags().Changed("ttl") {
		if err := options.ValidateTokenLifetime(o.lifetime); err != nil {
			errs = append(errs, fmt.Errorf("--ttl: %w", err))
		}
	}
	if wrong := validation.IsDNS1123Subdomain(o.domain); o.domain != "" && len(wrong) > 0 {
		errs = append(errs, fmt.Errorf("--internal-domain: %q is not a valid domain: %s", o.domain, strings.Join(wrong, "; ")))
	}
	if wrong := validation.IsDNS1123Label(o.seed); o.seed != "" && len(wrong) > 0 {
		errs = append(errs, fmt.Errorf("--seed: %q is not a valid name of a seed: %s", o.seed, strings.Join(wrong, "; ")))
	}
	if _, ok := jointoken.ParseShoot(o.shoot); o.shoot != "" && !ok {
		errs = append(errs, fmt.Errorf("--shoot: %q is not the namespace of a project and the name of a shoot, such as garden/root", o.shoot))
	}
	if o.shoot != "" && o.seed+o.provider+o.region+o.domain != "" {
		errs = append(errs, errors.New("--shoot: cannot be used with --seed, --provider, --region and --internal-domain, which are for seeds"))
	}
	for flag, value := range map[string]string{"provider": o.provider, "region": o.region} {
		if wrong := validation.IsValidLabelValue(value); len(wrong) > 0 {
			errs = append(errs, fmt.Errorf("--%s: %q is not valid: %s", flag, value, strings.Join(wrong, "; ")))
		}
	}
	if o.renew && o.seed == "" {
		errs = append(errs, errors.New("--renew: requires --seed"))
	}
	if o.server != "" {
		if err := validateServerURL(o.server); err != nil {
			errs = append(errs, fmt.Errorf("--server: %w", err))
		}
	}
	if o.print != printCommand && o.print != printToken {
		errs = append(errs, fmt.Errorf("--print: %q is not one of %s, %s", o.print, printCommand, printToken))
	}
	if err := o.output.validate(); err != nil {
		errs = append(errs, err)
	}
	if cmd.Flags().Changed("print") && o.output.format != "" {
		errs = append(errs, errors.New("--print and --output cannot be used together"))
	}
	return errs
}

// validateServerURL returns an error if a client cannot use the URL.
func validateServerURL(server string) error {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%q is not of the form https://host:port", server)
	}
	return nil
}

// newToken is a new token with its secret, which is printed only once.
type newToken struct {
	ID          string    `json:"id"`
	Token       string    `json:"token"`
	Command     string    `json:"command,omitempty"`
	Seed        string    `json:"seed,omitempty"`
	Shoot       string    `json:"shoot,omitempty"`
	Server      string    `json:"server"`
	CAHash      string    `json:"caHash"`
	Description string    `json:"description,omitempty"`
	Expires     time.Time `json:"expires"`
}

// runIntoFile writes into a file what is printed otherwise. The file is made first: no token is made that nobody gets.
func (o *tokenCreateOptions) runIntoFile(ctx context.Context) error {
	err := writeNew(o.file, func(w io.Writer) error {
		o.env.Out = w
		return o.run(ctx)
	})
	if err == nil {
		o.env.tell("Wrote it to %s.\n", o.file)
	}
	return err
}

func (o *tokenCreateOptions) run(ctx context.Context) error {
	g, err := connect(o.connection, o.env.Getenv)
	if err != nil {
		return err
	}
	// The checks run before the token is created.
	if err := o.checkShoot(ctx, g); err != nil {
		return err
	}
	hash, err := g.caHash(ctx)
	if err != nil {
		return err
	}
	server := o.server
	if server == "" {
		if server, err = g.address(ctx); err != nil {
			return err
		}
	}
	lifetime := o.lifetime
	if lifetime == 0 {
		if lifetime, err = g.tokenLifetime(ctx); err != nil {
			return err
		}
	}
	expires := o.env.Clock.Now().Add(lifetime).UTC().Truncate(time.Second)
	token, err := g.createToken(ctx, hash, tokenPlan{description: o.about(), seed: o.seed, renew: o.renew, expires: expires})
	if err != nil {
		return err
	}
	return o.tell(newToken{
		ID: token.ID, Token: token.String(), Seed: o.seed, Shoot: o.shoot, Server: server, CAHash: hash, Description: o.about(), Expires: expires,
		Command: o.command(server, token),
	})
}

// command is the command that joins a seed. There is none for the gardenlet of a shoot.
func (o *tokenCreateOptions) command(server string, token identity.JoinToken) string {
	if o.shoot != "" {
		return ""
	}
	words := []string{"terrarium gardenlet join", server, "--token", token.String()}
	for _, flag := range []struct{ name, value string }{
		{"name", o.seed}, {"provider", o.provider}, {"region", o.region}, {"internal-domain", o.domain},
	} {
		if flag.value != "" {
			words = append(words, "--"+flag.name, flag.value)
		}
	}
	return strings.Join(words, " ")
}

// lacks returns the flags that the command requires in addition.
func (o *tokenCreateOptions) lacks() []string {
	var flags []string
	if o.seed == "" {
		flags = append(flags, "--name NAME")
	}
	if o.provider == "" {
		flags = append(flags, "--provider TYPE")
	}
	if o.domain == "" && !join.HasDomain(o.provider) {
		flags = append(flags, "--internal-domain DOMAIN")
	}
	return flags
}

// tokenLifetime returns the default lifetime of tokens that the garden publishes. Older gardens, and gardens of other
// implementations, do not publish one.
func (g *garden) tokenLifetime(ctx context.Context) (time.Duration, error) {
	info, err := g.client.CoreV1().ConfigMaps(gardencorev1beta1.NamespacePublic).Get(ctx, gardencorev1beta1.ConfigMapGardenerInfo, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) {
		return 0, fmt.Errorf("get the lifetime of tokens from the garden: %w", err)
	}
	text := ""
	if err == nil {
		text = info.Data[jointoken.InfoKeyLifetime]
	}
	if text == "" {
		return options.DefaultTokenLifetime, nil
	}
	lifetime, err := time.ParseDuration(text)
	if err == nil {
		err = options.ValidateTokenLifetime(lifetime)
	}
	if err != nil {
		return 0, fmt.Errorf("the garden publishes an invalid lifetime of tokens (set --ttl): %w", err)
	}
	return lifetime, nil
}

func (g *garden) createToken(ctx context.Context, hash string, plan tokenPlan) (identity.JoinToken, error) {
	var err error
	for range createAttempts {
		token := identity.NewJoinToken(hash)
		secret := tokenSecret(token, plan)
		_, err = g.client.CoreV1().Secrets(secret.Namespace).Create(ctx, secret, metav1.CreateOptions{})
		if err == nil {
			return token, nil
		}
		if !apierrors.IsAlreadyExists(err) {
			break
		}
	}
	return identity.JoinToken{}, fmt.Errorf("create token: %w", err)
}

func (o *tokenCreateOptions) tell(t newToken) error {
	return o.output.write(o.env.Out, t, func(w io.Writer) error {
		if o.print == printToken {
			_, err := fmt.Fprintln(w, t.Token)
			return err
		}
		if t.Shoot != "" {
			o.env.tell("Token %s for the gardenlet of shoot %q is valid until %s:\n\n", t.ID, t.Shoot, t.Expires.Format(time.RFC3339))
			_, err := fmt.Fprintln(w, t.Token)
			return err
		}
		about := "any seed that does not exist yet"
		if t.Seed != "" {
			about = fmt.Sprintf("seed %q", t.Seed)
		}
		o.env.tell("Token %s for %s is valid until %s. Run this command on a machine with a kubeconfig of the seed:\n\n",
			t.ID, about, t.Expires.Format(time.RFC3339))
		if u, err := url.Parse(t.Server); err == nil && isLoopback(u.Hostname()) {
			defer o.env.tell("\nWarning: %s is reachable from this machine only; set another address with --server\n", t.Server)
		}
		if lacks := o.lacks(); len(lacks) > 0 {
			defer o.env.tell("\nThe command requires more: add %s, unless a configuration file (--config) has it.\n", strings.Join(lacks, ", "))
		}
		_, err := fmt.Fprintln(w, t.Command)
		return err
	})
}
