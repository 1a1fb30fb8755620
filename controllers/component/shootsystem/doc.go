// SPDX-License-Identifier: Apache-2.0

// Package shootsystem renders what every shoot has inside of it before it gets nodes: who may join as a node, who may
// administer and read it, priority classes, and facts about the shoot for those who run in it.
package shootsystem
