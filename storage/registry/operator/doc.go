// SPDX-License-Identifier: Apache-2.0

// Package operator keeps the kinds of operator.gardener.cloud: what an operator says about the garden itself.
package operator
