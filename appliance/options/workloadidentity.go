// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
)

const (
	// The API does not issue tokens for less than ten minutes. A token for more than a month has no advantage over a secret.
	minWorkloadToken = 10 * time.Minute
	maxWorkloadToken = 30 * 24 * time.Hour
)

func checkWorkloadIdentity(
	c *gardenconfigv1alpha1.WorkloadIdentityConfiguration, check func(flag, path string, err error),
) {
	check("", "workloadIdentity.issuer", validateIssuer(c.Issuer))
	check("", "workloadIdentity.minTokenLifetime", within(c.MinTokenLifetime, minWorkloadToken, maxWorkloadToken))
	check("", "workloadIdentity.maxTokenLifetime", within(c.MaxTokenLifetime, minWorkloadToken, maxWorkloadToken))
	if c.MinTokenLifetime != nil && c.MaxTokenLifetime != nil && c.MaxTokenLifetime.Duration < c.MinTokenLifetime.Duration {
		check("", "workloadIdentity.maxTokenLifetime", fmt.Errorf("%s is below minTokenLifetime", c.MaxTokenLifetime.Duration))
	}
}

// validateIssuer accepts the URLs that verifiers of tokens accept.
func validateIssuer(issuer string) error {
	if issuer == "" {
		return nil
	}
	u, err := url.Parse(issuer)
	switch {
	case err != nil:
		return fmt.Errorf("%q is not a URL", issuer)
	case u.Scheme != "https" || u.Host == "":
		return fmt.Errorf("%q must begin with https:// and a host", issuer)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.HasSuffix(issuer, "/"):
		return errors.New("must not have a user, query, fragment or trailing slash")
	default:
		return nil
	}
}
