// SPDX-License-Identifier: Apache-2.0

// Package seed keeps Seeds: clusters that run the control planes of shoots.
package seed
