// SPDX-License-Identifier: Apache-2.0

// Package coredns renders the DNS server inside a shoot: pods resolve Services, and outside names as their nodes do. The
// shoot's owner adds to its configuration by a ConfigMap.
package coredns
