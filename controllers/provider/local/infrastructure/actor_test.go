// SPDX-License-Identifier: Apache-2.0

package infrastructure_test

import (
	"testing"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/infrastructure"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func TestRender(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "objects.yaml", infrastructure.Render("shoot--dev--sprout"))
}
