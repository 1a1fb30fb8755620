// SPDX-License-Identifier: Apache-2.0

// Package quota keeps Quotas: bounds of what shoots may use.
package quota
