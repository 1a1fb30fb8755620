// SPDX-License-Identifier: Apache-2.0

// Package gardenlet holds the Helm chart of the gardenlet.
package gardenlet

import "embed"

//go:embed Chart.yaml values.yaml templates templates/_bootstrap.tpl
var files embed.FS

// Files returns the chart; its root is the folder of the chart.
func Files() embed.FS { return files }
