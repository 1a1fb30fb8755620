// SPDX-License-Identifier: Apache-2.0

// Package plant looks at the clusters of Plants, which the garden does not manage, through the kubeconfigs that their owners
// give it, and reports their health and what they are (GCM-PLANT-1 to GCM-PLANT-4).
//
// A kubeconfig is the word of somebody who may want the garden to connect to something else, to read or run something, or to be
// busy. So a look is bounded: only credentials in the kubeconfig itself count, no address of this machine is dialed (see guard),
// no proxy is used, no redirect followed, answers have a greatest size and every call a time limit, and the Plants of one
// namespace cannot occupy all workers. What is reported is short, and never holds credentials or what a server said.
package plant
