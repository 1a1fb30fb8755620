// SPDX-License-Identifier: Apache-2.0

package cloudcontroller

// SamePlace makes sure that a cluster is the one in which machines were made.
var SamePlace = samePlace

// Limited limits the requests to the cluster of the machines.
var Limited = limited
