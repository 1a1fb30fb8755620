// SPDX-License-Identifier: Apache-2.0

// Package gateway serves other content than the API on the TLS port of a garden. Each content is a Mount: a path, a rule who may
// request it, a handler, and limits.
package gateway
