// SPDX-License-Identifier: Apache-2.0

// Package shoot makes, keeps and removes the shoots of one seed. A pass decides purely whether there is something to do; if
// so it runs one of two task graphs, to reconcile or to delete, and keeps the Shoot's last operation and last errors up to
// date while it runs.
//
// Every task re-reads the world and may be repeated, so a pass that was cut off by a crash is simply run again. Whatever a
// run changes is first announced to the seed's extensions in the Cluster object, and once more when the run has ended.
package shoot
