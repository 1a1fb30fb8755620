// SPDX-License-Identifier: Apache-2.0

package priorityclass_test

import (
	"testing"

	"github.com/terrarium-garden/terrarium/controllers/component/golden"
	"github.com/terrarium-garden/terrarium/controllers/component/priorityclass"
)

func TestRender(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "default.yaml", priorityclass.Render())
}
