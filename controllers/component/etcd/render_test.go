// SPDX-License-Identifier: Apache-2.0

package etcd_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/terrarium-garden/terrarium/controllers/component/etcd"
	"github.com/terrarium-garden/terrarium/controllers/component/golden"
)

func TestRender(t *testing.T) {
	t.Parallel()
	golden.Objects(t, "main.yaml", etcd.Render(etcd.Values{
		Namespace: "shoot--dev--a", Role: "main", Image: "registry.k8s.io/etcd:3.6.8-0",
		ServerSecret: "etcd-main-server-11111111", PeerSecret: "etcd-main-peer-22222222",
		CABundle: "ca-etcd-bundle-33333333", PeerCABundle: "ca-etcd-peer-bundle-44444444", Storage: resource.MustParse("10Gi"),
	}))
}
