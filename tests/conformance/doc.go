// SPDX-License-Identifier: Apache-2.0

// Package conformance sends a garden systematic variations of one complete object of each kind and keeps the answers.
//
// For each kind, testdata/base holds an object that sets as many fields as one object can. Each of its fields, and each
// field of its Go type that it does not set, is left out, emptied, given a value of the wrong type, a value out of range,
// or a value of a wrong form; in an update each field is changed or removed. All requests are dry runs. The answers are kept in
// testdata/answers: one line for each request, with the status code, the reason and the field of each complaint, and
// the warnings. A changed answer fails the test; run it with the flag -update to write the answers anew, and review
// their difference.
package conformance
