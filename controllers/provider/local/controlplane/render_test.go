// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"testing"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/controlplane"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func TestRender(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "objects.yaml", controlplane.Render(controlplane.Values{
		Namespace: "shoot--dev--sprout", Image: "terrarium.garden/terrarium:v1", Replicas: 1, KubeconfigChecksum: "0123456789abcdef",
	}))
}
