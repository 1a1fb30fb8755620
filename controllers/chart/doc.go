// SPDX-License-Identifier: Apache-2.0

// Package chart turns a Helm chart into plain objects.
//
// It renders and nothing else: no release is stored, no cluster is asked (the template function
// lookup finds nothing), no hook is run. What to do with the objects is the caller's business,
// usually an inventory of package deploy. Two callers use it: the installation of extensions in a
// seed, and the join of a gardenlet.
package chart
