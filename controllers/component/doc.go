// SPDX-License-Identifier: Apache-2.0

// Package component describes what every component of a shoot has in common: names of folders in containers, labels of the
// control plane, hardening of pods. Each component lives in a folder of its own, with a pure function Render that turns
// values into objects and golden files beside it; package deploy brings the objects into a cluster.
package component
