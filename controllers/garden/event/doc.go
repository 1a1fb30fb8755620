// SPDX-License-Identifier: Apache-2.0

// Package event deletes Events that are not about Shoots some time after they happened last, so that a garden can keep
// those about Shoots for longer (GCM-EVENT-1 to GCM-EVENT-3).
package event
