// SPDX-License-Identifier: Apache-2.0

// Package durable replaces files so that a crash or a power failure leaves either the old or the new content.
package durable
