// SPDX-License-Identifier: Apache-2.0

// Package process manages programs that keep running after the command that started them. Each has a log file and
// a record of its process id and its start time, so that another process that later gets the same id is never
// signaled.
package process
