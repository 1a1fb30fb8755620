// SPDX-License-Identifier: Apache-2.0

// Package flow runs graphs of tasks: a task starts as soon as everything it waits for is done, independent tasks run at
// the same time, and one failure stops only what depends on it.
//
// A graph is data. Compile checks it once, so a wrong edge fails a unit test and not a cluster; DOT draws it for golden
// pictures. Task ids are a public contract: they are shown as progress and kept with errors, so they are chosen for
// readers and do not change.
//
// The package knows nothing of Kubernetes.
package flow
