// SPDX-License-Identifier: Apache-2.0

// Package wallclock sets the wall clock of the test's own process forward. Whatever compares times with that of the day then sees the new
// one, in libraries that take no clock as well: who verifies a certificate, who signs one, who looks whether a token has expired. The
// clock of the machine stays as it is, and so does the monotonic one: timers go on as if nothing had happened, as they do when an
// operator sets the clock of a machine.
//
// There is no way back, so a test that uses it needs a package of its own.
package wallclock
