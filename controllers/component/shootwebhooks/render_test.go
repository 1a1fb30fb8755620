// SPDX-License-Identifier: Apache-2.0

package shootwebhooks_test

import (
	"errors"
	"testing"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/shootwebhooks"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

// TestRender shows what the API server of a shoot asks, and about what: nothing of the owner's (GRM-WH-SYS-1).
func TestRender(t *testing.T) {
	t.Parallel()
	f := facts.Shoot{Shoot: &gardencorev1beta1.Shoot{}, Namespace: "shoot--dev--a"}
	in := &component.Inputs{Secrets: map[string]component.Secret{"ca": {Trusted: []byte("authority of the shoot\n")}, "gardener-resource-manager-webhooks-key": {Token: "0123abcd"}}}
	address, err := shootwebhooks.Address().Render(f, in)
	if err != nil {
		t.Fatal(err)
	}
	configuration, err := shootwebhooks.Component().Render(f, in)
	if err := errors.Join(err, in.Missing()); err != nil {
		t.Fatal(err)
	}
	golden.Objects(t, "default.yaml", append(address, configuration...))
}
