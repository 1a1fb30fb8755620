// SPDX-License-Identifier: Apache-2.0

// Package volumeagent serves the volumes of shoots with local machines. It runs on the machines, all of which have the same folder: each
// claim of its class gets a folder in there, which is removed with the volume. Several agents do no harm to each other, as whatever they do
// can be done twice.
//
// No path comes from a user. The name of a folder follows from the UID of a claim, and a volume is only of the agents if its path follows
// from its name. What is inside of a folder may be anything, such as links to elsewhere: it is removed without following them.
package volumeagent
