// SPDX-License-Identifier: Apache-2.0

package command

import (
	"io"

	"github.com/terrarium-garden/terrarium/appliance/seedling/cluster"
)

// PrintTable is printTable for tests.
func PrintTable(out io.Writer, status cluster.Status) error { return printTable(out, status) }
