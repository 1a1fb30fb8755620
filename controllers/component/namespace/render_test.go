// SPDX-License-Identifier: Apache-2.0

package namespace_test

import (
	"slices"
	"testing"

	"github.com/terrarium-garden/terrarium/controllers/component/golden"
	"github.com/terrarium-garden/terrarium/controllers/component/namespace"
)

func TestRender(t *testing.T) {
	t.Parallel()
	objs := namespace.Render(namespace.Values{
		Name: "shoot--dev--a", UID: "4d3a0b0e-6a5c-4f0e-9a1e-0d8f6d0c5b1a", Provider: "local", Network: "local", SeedProvider: "local", Purpose: "evaluation",
	})
	golden.Objects(t, "namespace.yaml", slices.Concat(namespace.PriorityClasses(), objs))
}
