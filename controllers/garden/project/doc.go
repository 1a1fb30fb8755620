// SPDX-License-Identifier: Apache-2.0

// Package project creates the namespace, the roles of the members and the resource quota of every Project, and deletes them
// with it (GCM-PROJECT-1 to GCM-PROJECT-13). Manual changes of what it created are reverted. A Project in deletion waits for
// its Shoots and then for its namespace.
package project
