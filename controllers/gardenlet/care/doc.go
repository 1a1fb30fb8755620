// SPDX-License-Identifier: Apache-2.0

// Package care keeps an eye on the shoots of one seed and reports as conditions of each Shoot whether its API server answers,
// whether its control plane works, and whether every node is ready. It only looks; it changes nothing in seed or shoot.
package care
