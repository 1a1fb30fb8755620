// SPDX-License-Identifier: Apache-2.0

// Package shootstatus takes pools out of the status of a Shoot when their machines have been updated in place, which for pools whose owner
// selects the machines may be long after the operation. If a rotation of credentials has waited for that, it has the shoot reconciled once more
// (GLET-STAT-1). It never adds a pool: only an operation does.
package shootstatus
