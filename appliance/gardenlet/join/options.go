// SPDX-License-Identifier: Apache-2.0

package join

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// Mode is how a gardenlet runs.
type Mode string

const (
	// ModeDeployment runs it in the seed.
	ModeDeployment Mode = "deployment"
	// ModeProcess runs it in the process that joins.
	ModeProcess Mode = "process"
)

// DefaultTimeout is how long a join may take unless it is told otherwise.
const DefaultTimeout = 5 * time.Minute

// Options say which cluster joins which garden, and how. What is left out is taken from the configuration file, or found
// out from the cluster.
type Options struct {
	// Server is the URL of the garden. The gardenlet has to reach it as well.
	Server string
	// Token is the join token.
	Token string
	// GardenCA is the CA of the garden, in PEM. It takes the place of the hash in the token, and of what a garden of
	// this product publishes: gardens of other makes publish none.
	GardenCA []byte
	// InsecureSkipCAVerification accepts a token that pins no CA, and with it any server that answers.
	InsecureSkipCAVerification bool

	// SeedKubeconfig is the path of a kubeconfig of the cluster; empty means the usual places.
	SeedKubeconfig string
	// SeedContext is a context of that kubeconfig; empty means its current one.
	SeedContext string

	// Name is the name of the seed.
	Name string
	// Provider, Region and Zones say where the seed is.
	Provider, Region string
	Zones            []string
	// Pods, Services and Nodes are the networks of the cluster in CIDR notation.
	Pods, Services, Nodes string
	// InternalDomain is the domain below which API servers of shoots get their internal names.
	InternalDomain string
	// InternalDomainProvider is the type of its DNS provider; the provider of the seed if empty.
	InternalDomainProvider string
	// InternalDomainSecret names the Secret of the garden with its credentials, as namespace/name.
	InternalDomainSecret string

	// Config is the content of a GardenletConfiguration that the other options are laid over.
	Config []byte
	// Image has the terrarium binary.
	Image string
	// ImageVector is the content of a file that replaces images of the image vector.
	ImageVector string
	// Mode is how the gardenlet runs; ModeDeployment if empty.
	Mode Mode
	// Timeout bounds the join.
	Timeout time.Duration
}

// Surroundings are what a join works with.
type Surroundings struct {
	// Tell is given a line for people whenever something has happened.
	Tell func(line string)
	// Clock gives the time and the pauses.
	Clock clock.Clock
	// UserAgent tells both clusters who is calling.
	UserAgent string
	// RunGardenlet runs a gardenlet with the configuration until ctx ends; only ModeProcess needs it.
	RunGardenlet func(ctx context.Context, config []byte) error
}

// Validate returns everything that can be known to be wrong from the options alone.
func (o Options) Validate() []error {
	var errs []error
	report := func(flag string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", flag, err))
		}
	}
	if err := validServer(o.Server); err != nil {
		errs = append(errs, fmt.Errorf("SERVER_URL: %w", err))
	}
	if _, err := o.token(); err != nil {
		report("token", err)
	}
	if len(o.GardenCA) > 0 && !x509.NewCertPool().AppendCertsFromPEM(o.GardenCA) {
		report("garden-ca-file", errors.New("it holds no certificate in PEM"))
	}
	if len(o.GardenCA) > 0 && o.InsecureSkipCAVerification {
		report("insecure-skip-ca-verification", errors.New("contradicts --garden-ca-file"))
	}
	if o.Name == "" && len(o.Config) == 0 {
		report("name", errors.New("required: how the garden shall call the seed"))
	}
	if o.Name != "" {
		report("name", joined(validation.IsDNS1123Label(o.Name)))
	}
	if o.Provider == "" && len(o.Config) == 0 {
		report("provider", errors.New("required: the type of infrastructure the cluster runs on, for which the garden has an extension"))
	}
	for flag, network := range map[string]string{"pods": o.Pods, "services": o.Services, "nodes": o.Nodes} {
		if network != "" {
			_, err := netip.ParsePrefix(network)
			report(flag, err)
		}
	}
	if o.InternalDomain != "" {
		report("internal-domain", joined(validation.IsDNS1123Subdomain(o.InternalDomain)))
	}
	if o.InternalDomainSecret != "" && strings.Count(o.InternalDomainSecret, "/") != 1 {
		report("internal-domain-secret", errors.New("must have the form NAMESPACE/NAME"))
	}
	if o.Mode != "" && o.Mode != ModeDeployment && o.Mode != ModeProcess {
		report("mode", fmt.Errorf("must be %s or %s", ModeDeployment, ModeProcess))
	}
	if o.Mode == ModeProcess && o.SeedContext != "" {
		report("seed-context", errors.New("a process takes the current context of its kubeconfig: give it one of its own"))
	}
	if o.Timeout < 0 {
		report("timeout", errors.New("must not be negative"))
	}
	return errs
}

// token reads the token. One without the hash of a CA needs the CA itself, or has to be allowed explicitly.
func (o Options) token() (identity.JoinToken, error) {
	if o.Token == "" {
		return identity.JoinToken{}, errors.New(`required: "terrarium token create" makes one in the garden`)
	}
	token, err := identity.ParseJoinToken(o.Token)
	if !errors.Is(err, identity.ErrUnpinned) {
		return token, err
	}
	if o.InsecureSkipCAVerification || len(o.GardenCA) > 0 {
		return identity.ParseUnpinnedToken(o.Token)
	}
	return identity.JoinToken{}, fmt.Errorf("without the hash of the garden's CA nobody can tell the garden from somebody in between "+
		"(give the CA with --garden-ca-file; --insecure-skip-ca-verification joins all the same): %w", err)
}

func validServer(server string) error {
	address, err := url.Parse(server)
	if err != nil {
		return err
	}
	if address.Scheme != "https" || address.Host == "" || (address.Path != "" && address.Path != "/") || address.User != nil || address.RawQuery != "" {
		return fmt.Errorf("%q is not of the form https://HOST[:PORT]", server)
	}
	return nil
}

func joined(problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	return errors.New(strings.Join(problems, "; "))
}
