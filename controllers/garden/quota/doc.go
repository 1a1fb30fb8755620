// SPDX-License-Identifier: Apache-2.0

// Package quota keeps a Quota alive for as long as a binding of any namespace names it (GCM-QUOTA-1).
package quota
