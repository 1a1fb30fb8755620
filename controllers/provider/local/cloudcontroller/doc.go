// SPDX-License-Identifier: Apache-2.0

// Package cloudcontroller looks after the Nodes of one local shoot, seen from the machines in the seed: it gives each Node its provider ID,
// region, zone and what its pool says, tells the machine how its Node is, and deletes Nodes whose machine is gone. It never deletes a Node before the seed itself
// said that there is no such machine.
package cloudcontroller
