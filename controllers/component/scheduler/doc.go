// SPDX-License-Identifier: Apache-2.0

// Package scheduler renders the kube-scheduler of a shoot.
package scheduler
