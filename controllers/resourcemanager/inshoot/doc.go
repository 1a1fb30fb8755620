// SPDX-License-Identifier: Apache-2.0

// Package inshoot follows objects inside of all shoots of a seed that are awake: it lists the objects of a kind, watches them, and has
// a function act on each that is there or changes. Nothing is cached, so a shoot costs one idle watch for each kind. When a watch ends,
// or a function wants to look at an object again, everything is listed once more. A shoot that cannot be reached is tried again, and
// does not hold up the others.
package inshoot
