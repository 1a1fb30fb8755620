// SPDX-License-Identifier: Apache-2.0

// Package scheme knows every kind that this product speaks: one scheme for clients and controllers, another for the API
// server.
package scheme
