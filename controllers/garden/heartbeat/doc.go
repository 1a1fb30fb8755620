// SPDX-License-Identifier: Apache-2.0

// Package heartbeat judges whether a gardenlet still sends heartbeats, and says what is known of a cluster when it does not. It is no
// controller: those of the lifecycle of seeds and of self-hosted shoots use it (GCM-SEEDLIFE-2, GCM-SEEDLIFE-3, GCM-SEEDLIFE-5,
// GCM-SEEDLIFE-6).
package heartbeat
