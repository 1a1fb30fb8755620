// SPDX-License-Identifier: Apache-2.0

// Package server tries the server as its clients and its operator see it: through its port, its data directory and its
// life.
package server
