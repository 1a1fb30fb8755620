// SPDX-License-Identifier: Apache-2.0

// Package gateway shares the one TLS port of a garden between its API and everything else that is served there. Whoever
// serves something gives a Mount: the path, who may ask, what answers, and within which limits.
package gateway
