// SPDX-License-Identifier: Apache-2.0

// Package telemetry provides the structured log of a process, as text or JSON.
//
// NewLogger returns the logger, which is passed as a value. Redirect sets it for libraries that log through a global: klog, slog
// and the standard log package. Packages that import controller-runtime set it there.
//
// All lines pass a filter: it masks the values of keys that name a credential, and join tokens, bearer tokens and private keys in
// text. It writes API objects as namespace/name.
package telemetry
