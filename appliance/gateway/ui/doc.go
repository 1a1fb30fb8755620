// SPDX-License-Identifier: Apache-2.0

// Package ui serves the web UI below /ui/: its files, sign-in, and the way of its requests to the API.
//
// A browser has a cookie, and no credential of the garden. The cookie is accepted below /ui/ only. A request to /ui/kube/PATH
// becomes a request to PATH of the API, in this process, with the credential of the session as its only one: it is authenticated,
// authorized, audited, admitted and limited as a request that comes over the network. This package decides nothing about
// permissions.
//
//	browser ──cookie──► /ui/kube/PATH ──token or certificate──► PATH: the API's chain of handlers
//
// Against requests that other sites make with the cookie of the user there are three barriers: the cookie is SameSite=Strict, the
// request must come from the same origin, and one that changes something must have the secret of the session in its header.
package ui
