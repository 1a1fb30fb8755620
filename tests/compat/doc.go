// SPDX-License-Identifier: Apache-2.0

// Package compat compares what a garden publishes about its kinds with the API that it is compatible with: definition by
// definition and field by field, and resource by resource. What differs on purpose stands in testdata/differences.txt, each
// with its reason.
//
// The other files in testdata hold the names and types of that API, one fact a line. They were written by
//
//	go test ./tests/compat -run TestFacts -reference <folder with openapi and openapi-seed>
package compat
