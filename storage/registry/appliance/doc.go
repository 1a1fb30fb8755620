// SPDX-License-Identifier: Apache-2.0

// Package appliance serves the API group appliance.gardener.cloud, whose resources are not kept in the store of objects.
package appliance
