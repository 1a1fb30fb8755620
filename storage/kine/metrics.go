// SPDX-License-Identifier: Apache-2.0

package kine

import (
	"github.com/k3s-io/kine/pkg/metrics"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// Collectors returns the metrics that all stores of the process share: statements, their durations, compactions and failed
// inserts. The server of metrics registers them once.
func Collectors() []prometheus.Collector {
	return append(
		log.Collectors(), metrics.SQLTotal, metrics.SQLTime, metrics.CompactTotal, metrics.InsertErrorsTotal,
	)
}
