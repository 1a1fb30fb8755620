// SPDX-License-Identifier: Apache-2.0

// Package component describes what the components of a shoot have in common: labels of the control plane, hardened pods and
// their Deployments, mounted files, flags. Each component lives in a folder of its own, with a pure function that renders its
// objects from the facts of the shoot, and golden files. Package deploy brings the objects into a cluster.
package component
