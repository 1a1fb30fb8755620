// SPDX-License-Identifier: Apache-2.0

// Package datastores runs gardens on datastores outside of the server: a real PostgreSQL, MariaDB and etcd, which each test
// starts for itself and stops, with passwords and certificates as operators use them.
package datastores
