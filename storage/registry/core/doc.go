// SPDX-License-Identifier: Apache-2.0

// Package core is the storage of the API group core.gardener.cloud.
package core
