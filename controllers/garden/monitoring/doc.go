// SPDX-License-Identifier: Apache-2.0

// Package monitoring keeps the credentials with which people look at the monitoring of seeds: one Secret in the
// namespace garden with the label gardener.cloud/role=global-monitoring, from where it is copied to every seed. A garden
// makes one itself unless an operator has (OPER-FLOW-19). The annotation gardener.cloud/operation=
// rotate-observability-credentials gives it another password in place, and once all seeds have that, tells them to use it
// (OPER-ROT-8).
package monitoring
