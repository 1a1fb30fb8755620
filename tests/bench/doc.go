// SPDX-License-Identifier: Apache-2.0

// Package bench measures a garden under load: a server process of its own, reached over TLS, with every admission rule
// on. `make bench-api` runs it; docs/performance.md tells what it found.
package bench
