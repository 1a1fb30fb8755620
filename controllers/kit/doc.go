// SPDX-License-Identifier: Apache-2.0

// Package kit holds what every controller of this module is built from: ordered phases over one scope, errors that say what
// happens next, conditions that change only with their content, finalizers, and the one status write that ends a pass.
//
// A reconciler reads its object, guards (deleted? paused?), takes a Commit, runs its phases and hands the outcome to
// the Commit:
//
//	commit := kit.Begin(r.Client, project)
//	outcome, err := kit.Run(ctx, s, r.ensureNamespace, r.ensureRoles)
//	s.summarize(err)
//	return commit.Status(ctx, outcome, err)
//
// A reconciler that acts inside shoots takes their clients from Shoots and makes none itself.
package kit
