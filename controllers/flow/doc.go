// SPDX-License-Identifier: Apache-2.0

// Package flow runs graphs of tasks: a task starts as soon as everything it waits for is done, independent tasks run at
// the same time, and one failure stops only what depends on it.
//
// A graph is data. Compile checks it once, so a wrong edge fails a unit test and not a cluster; DOT draws it for golden
// pictures. Tasks pass results on as Values, which imply the edges. Until is the loop of all waits. Task ids are a public
// contract: they are kept with errors and counted by metrics, and do not change. Users see the titles.
//
// The package knows nothing of Kubernetes.
package flow
