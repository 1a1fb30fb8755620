// SPDX-License-Identifier: Apache-2.0

// Package project gives every Project its namespace, the roles of its members and its resource quota, and takes them
// away with it (GCM-PROJECT-1 to GCM-PROJECT-13). What it made is held in place: a manual edit is reverted. A Project in
// deletion waits for its Shoots and then for its namespace.
package project
