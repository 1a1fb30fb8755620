// SPDX-License-Identifier: Apache-2.0

// Package lease is the heartbeat of a gardenlet: as long as the API server of the seed answers, it renews the seed's
// lease in the garden and keeps the condition GardenletReady True.
//
// When either fails, it only stops: the garden draws its own conclusions from a lease that goes stale, and Health tells
// those who look after the process.
package lease
