// SPDX-License-Identifier: Apache-2.0

// Package query answers questions about objects of the group appliance.gardener.cloud.
package query
