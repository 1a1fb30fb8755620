// SPDX-License-Identifier: Apache-2.0

// Package migrate copies a garden from one datastore to another: from the databases of a data directory to PostgreSQL, MySQL or etcd,
// back, or from one to the other.
//
// The newest state of each key is copied, as it is stored: what is encrypted stays so. Resource versions begin anew above the newest of
// the source, so that no client that has seen the garden before can mistake an old version for a new one; its watches end, and it
// lists again. Nothing is written to the source. The target has to be empty, and belongs to the garden only once all of it was read
// again and is the same: a server does not start on a copy that is not complete.
package migrate
