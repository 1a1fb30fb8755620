// SPDX-License-Identifier: Apache-2.0

package layers_test

import (
	"slices"
	"testing"
)

// TestTimeZonesAreInTheBinary_GCM_HIBER_2 looks for the time zones that hibernation schedules name. Images of machines and containers often have
// none: a schedule in Europe/Berlin would be refused there, and one that is stored would not be carried out.
func TestTimeZonesAreInTheBinary_GCM_HIBER_2(t *testing.T) {
	t.Parallel()
	reached := list(t, `{{.ImportPath}}{{range .Deps}} {{.}}{{end}}`)
	if !slices.Contains(reached[module+"/appliance"], "time/tzdata") {
		t.Error("the binary has no time/tzdata")
	}
}
