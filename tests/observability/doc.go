// SPDX-License-Identifier: Apache-2.0

// Package observability has the tests of the alerts and the dashboard with Prometheus' own promtool.
package observability
