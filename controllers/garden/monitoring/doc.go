// SPDX-License-Identifier: Apache-2.0

// Package monitoring keeps the credentials with which people access the monitoring of seeds: one Secret in the namespace
// garden with the label gardener.cloud/role=global-monitoring, which is copied to every seed. The garden creates one itself
// unless an operator has (OPER-FLOW-19). The annotation gardener.cloud/operation=rotate-observability-credentials has a new
// password written to it. Once all seeds have the password, they are reconciled to use it (OPER-ROT-8).
package monitoring
