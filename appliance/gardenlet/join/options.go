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
	// ModeProcess runs it in the process of the join.
	ModeProcess Mode = "process"
)

// DefaultTimeout is the default limit for the duration of a join.
const DefaultTimeout = 5 * time.Minute

// Options say which cluster joins which garden, and how. Empty options are taken from the configuration file or detected in the
// cluster.
type Options struct {
	// Server is the URL of the garden. It must be reachable from the gardenlet too.
	Server string
	// Token is the join token.
	Token string
	// GardenCA is the CA of the garden, in PEM. It is used for a token without a hash, and for gardens of other
	// implementations, which do not publish their CA.
	GardenCA []byte
	// InsecureSkipCAVerification accepts a token without the hash of a CA, and with it any server that answers.
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

	// Config is the content of a GardenletConfiguration, which the other options override.
	Config []byte
	// Image is a container image with the terrarium binary.
	Image string
	// ImageVector is the content of a file that replaces images of the image vector.
	ImageVector string
	// Mode is how the gardenlet runs; ModeDeployment if empty.
	Mode Mode
	// Timeout limits the duration of the join.
	Timeout time.Duration
}

// Surroundings are the dependencies of a join.
type Surroundings struct {
	// Tell is called with a line of output for each step.
	Tell func(line string)
	// Clock gives the time and makes the pauses.
	Clock clock.Clock
	// UserAgent is the user agent of requests to both clusters.
	UserAgent string
	// CheckConfig is called with the configuration for RunGardenlet before anything is changed. Its error ends the join; nil if there is
	// nothing to check.
	CheckConfig func(config []byte) error
	// RunGardenlet runs a gardenlet with the configuration until ctx ends; only ModeProcess needs it.
	RunGardenlet func(ctx context.Context, config []byte) error
}

// Validate returns all errors that can be found without a request.
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
		report("garden-ca-file", errors.New("must contain a certificate in PEM"))
	}
	if len(o.GardenCA) > 0 && o.InsecureSkipCAVerification {
		report("insecure-skip-ca-verification", errors.New("cannot be used together with --garden-ca-file"))
	}
	if o.Name == "" && len(o.Config) == 0 {
		report("name", errors.New("required: the name of the seed in the garden"))
	}
	if o.Name != "" {
		report("name", joined(validation.IsDNS1123Label(o.Name)))
	}
	if o.Provider == "" && len(o.Config) == 0 {
		report("provider", errors.New("required: the type of infrastructure of the cluster, for which the garden needs an extension"))
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
		report("seed-context", errors.New("cannot be used with --mode process, which uses the current context: specify a kubeconfig with that context"))
	}
	if o.Timeout < 0 {
		report("timeout", errors.New("must not be negative"))
	}
	return errs
}

// token parses the token. A token without the hash of a CA is accepted only with the CA itself, or with the insecure option.
func (o Options) token() (identity.JoinToken, error) {
	if o.Token == "" {
		return identity.JoinToken{}, errors.New(`required: create a token with "terrarium token create" in the garden`)
	}
	token, err := identity.ParseJoinToken(o.Token)
	if !errors.Is(err, identity.ErrUnpinned) {
		return token, err
	}
	if o.InsecureSkipCAVerification || len(o.GardenCA) > 0 {
		return identity.ParseUnpinnedToken(o.Token)
	}
	return identity.JoinToken{}, fmt.Errorf("without the hash of the garden's CA the certificate of the garden cannot be verified "+
		"(specify the CA with --garden-ca-file, or use --insecure-skip-ca-verification): %w", err)
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
