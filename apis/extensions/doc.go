// SPDX-License-Identifier: Apache-2.0

// Package extensions says what the kinds of the extension contract are like, and which of them an object of the garden
// needs. It is the only place that lists the kinds. It is pure, like package query: everything is handed in.
package extensions
