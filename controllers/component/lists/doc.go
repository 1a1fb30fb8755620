// SPDX-License-Identifier: Apache-2.0

// Package lists says which components there are: one list for each place. A component is in one list only; whatever acts on
// components (flows, health checks) goes through the lists. It is apart from package component because components import that.
package lists
