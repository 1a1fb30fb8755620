// SPDX-License-Identifier: Apache-2.0

// Package doctor finds what is wrong with a garden, or will be soon. Each check is a pure function from facts to findings, so
// that the server, the command line without a server, and tests use the same checks. Facts that are not known are nil; the checks
// that need them are skipped, and the report says so.
package doctor
