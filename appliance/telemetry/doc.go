// SPDX-License-Identifier: Apache-2.0

// Package telemetry says what the process does: one structured log on one stream, as text or as JSON.
//
// NewLogger makes the logger that is handed down as a value. Redirect gives it to the libraries that log through a
// global: klog, slog and the standard log package. controller-runtime is given the same logger by the rooms that may
// import it, where they make their managers.
//
// Whatever reaches the log goes through one filter: values of keys that name a credential, join tokens, bearer tokens
// and private keys inside of text are masked, and API objects are written as namespace/name.
package telemetry
