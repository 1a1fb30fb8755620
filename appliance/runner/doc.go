// SPDX-License-Identifier: Apache-2.0

// Package runner starts and stops the parts of a process in order.
//
// Units start one after the other: the next one starts when the one before it has called ready. They stop in
// reverse order, each one only after every unit that was started later has returned, all of them within one
// grace period. The first unit that fails stops all others, and its error is what Run returns.
//
//	           ready()               context cancelled
//	Starting ──────────► Running ───────────────────────► Stopping ──► Returned
//	   │                    │
//	   │ returns            │ returns an error, panics
//	   ▼                    ▼
//	 failure: every other unit is stopped
package runner
