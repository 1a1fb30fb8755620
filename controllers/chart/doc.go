// SPDX-License-Identifier: Apache-2.0

// Package chart turns a Helm chart into plain objects.
//
// It only renders: it stores no release, asks no cluster (the template function lookup finds
// nothing) and runs no hook. The caller decides what to do with the objects; usually they become
// an inventory of package deploy. The installation of extensions in a seed and the join of a
// gardenlet use it.
package chart
