// SPDX-License-Identifier: Apache-2.0

// Package scheme registers all kinds: in one scheme for clients and controllers, and in another for the API server.
package scheme
