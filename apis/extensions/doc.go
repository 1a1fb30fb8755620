// SPDX-License-Identifier: Apache-2.0

// Package extensions has the table of the kinds of the extension contract, and decides which of them an object of the garden
// needs. It is the only place that lists the kinds. Its functions are pure, like those of package query.
package extensions
