// SPDX-License-Identifier: Apache-2.0

// Package hollow stands in for the API servers of shoots where a test needs many of them: TLS, HTTP/2, discovery and one
// node, with nothing behind. Each server counts what reaches it. It also stands in for gardenlets where a test needs a thousand.
package hollow
