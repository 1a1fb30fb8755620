// SPDX-License-Identifier: Apache-2.0

// Package shootconfig checks the configuration that a Shoot takes from a ConfigMap of its project for its API server: the
// audit policy, the authenticators and the authorizers (GAC-AUDIT-1, 2, GAC-AUTHN-1, GAC-AUTHZ-1). The configuration is
// validated when the Shoot starts to refer to it and when it changes, because an API server with an invalid configuration
// does not start.
package shootconfig
