// SPDX-License-Identifier: Apache-2.0

// Package statuslabel keeps one word about the health of every Shoot in its label shoot.gardener.cloud/status
// (GCM-STATUSLABEL-1 to GCM-STATUSLABEL-3), so that lists can show it and selectors can find it.
package statuslabel
