// SPDX-License-Identifier: Apache-2.0

package kine

import (
	"github.com/k3s-io/kine/pkg/metrics"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// Collectors are the metrics that all stores of the process share: statements, their times, compactions and failed
// inserts. They are registered by whoever serves metrics, once.
func Collectors() []prometheus.Collector {
	return append(
		log.Collectors(), metrics.SQLTotal, metrics.SQLTime, metrics.CompactTotal, metrics.InsertErrorsTotal,
	)
}
