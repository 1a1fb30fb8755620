// SPDX-License-Identifier: Apache-2.0

// Package quota keeps Quotas: limits of what shoots may use.
package quota
