// SPDX-License-Identifier: Apache-2.0

// Package operation keeps what the status of an object says about the operation on it: the last operation, the errors, the
// retry cycle. It is the only place that writes them, for every kind that has them, and it tells the journal.
//
// A controller makes one Machine for the kind and one Operation for each run:
//
//	run := machine.On(shoot)
//	run.Begin(ctx, operation.Start[*Shoot]{Type: kind})  // Processing
//	err := run.Run(ctx, graph, period)                   // progress
//	run.Wait(ctx, reason)                                // still Processing, with the reason
//	run.Succeed(ctx)                                     // Succeeded
//	run.Fail(ctx, err)                                   // Error, Failed or Aborted
//
// What an operation said is told again only if it is something else: the time of the last operation moves, and an event is
// recorded, with what it says.
package operation
