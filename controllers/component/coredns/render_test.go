// SPDX-License-Identifier: Apache-2.0

package coredns_test

import (
	"errors"
	"testing"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/coredns"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

func TestRender(t *testing.T) {
	t.Parallel()
	f := facts.Shoot{Shoot: &gardencorev1beta1.Shoot{Spec: gardencorev1beta1.ShootSpec{
		Networking: &gardencorev1beta1.Networking{Services: new("10.101.0.0/16")},
		SystemComponents: &gardencorev1beta1.SystemComponents{CoreDNS: &gardencorev1beta1.CoreDNS{
			Rewriting: &gardencorev1beta1.CoreDNSRewriting{CommonSuffixes: []string{".example.org", "example.com"}},
		}},
	}}}
	in := &component.Inputs{Replicas: 2, Images: map[string]string{"coredns": "registry.k8s.io/coredns/coredns:v1.14.2"}}
	objs, err := coredns.Component().Render(f, in)
	if err := errors.Join(err, in.Missing()); err != nil {
		t.Fatal(err)
	}
	golden.Objects(t, "default.yaml", objs)
}
