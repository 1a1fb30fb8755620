// SPDX-License-Identifier: Apache-2.0

package coredns_test

import (
	"testing"

	"github.com/terrarium-garden/terrarium/controllers/component/coredns"
	"github.com/terrarium-garden/terrarium/controllers/component/golden"
)

func TestRender(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "default.yaml", coredns.Render(coredns.Values{
		Image: "registry.k8s.io/coredns/coredns:v1.14.2", Replicas: 2, Address: "10.101.0.10", CommonSuffixes: []string{".example.org", "example.com"},
	}))
}
