// SPDX-License-Identifier: Apache-2.0

package seedclient_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/terrarium-garden/terrarium/appliance/authorization/seedclient"
)

func TestOf(t *testing.T) {
	t.Parallel()
	const (
		seeds    = "gardener.cloud:system:seeds"
		accounts = "system:serviceaccounts"
	)
	cases := map[string]struct {
		reason string
		name   string
		groups []string
		want   seedclient.Client
		ok     bool
	}{
		"GAC-ID-1 gardenlet": {
			reason: "name and group together make a gardenlet",
			name:   "gardener.cloud:system:seed:north", groups: []string{"system:authenticated", seeds},
			want: seedclient.Client{Seed: "north"}, ok: true,
		},
		"GAC-ID-1 no group":   {reason: "a name alone is nothing", name: "gardener.cloud:system:seed:north"},
		"GAC-ID-1 other name": {reason: "the group alone is nothing", name: "rose", groups: []string{seeds}},
		"GAC-ID-1 no seed":    {reason: "a seed has a name", name: "gardener.cloud:system:seed:", groups: []string{seeds}},
		"GAC-ID-3 extension": {
			reason: "an extension has an account in the namespace of its seed",
			name:   "system:serviceaccount:seed-north:extension-local", groups: []string{accounts, accounts + ":seed-north"},
			want: seedclient.Client{Seed: "north", Extension: true}, ok: true,
		},
		"GAC-ID-3 other account": {
			reason: "other accounts of the namespace are none of an extension",
			name:   "system:serviceaccount:seed-north:robot", groups: []string{accounts, accounts + ":seed-north"},
		},
		"GAC-ID-3 other namespace": {
			reason: "a project cannot make extensions of seeds",
			name:   "system:serviceaccount:garden-meadow:extension-local", groups: []string{accounts, accounts + ":garden-meadow"},
		},
		"GAC-ID-3 no group":    {reason: "the name of an account without its groups is a forgery", name: "system:serviceaccount:seed-north:extension-local"},
		"GAC-ID-3 other group": {reason: "groups of another namespace do not count", name: "system:serviceaccount:seed-north:extension-local", groups: []string{accounts, accounts + ":seed-south"}},
		"GAC-ID-4 person":      {reason: "people are nobody's client", name: "rose", groups: []string{"system:authenticated"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := seedclient.Of(&user.DefaultInfo{Name: tc.name, Groups: tc.groups})
			if ok != tc.ok {
				t.Fatalf("%s\nOf(%q) = %t, want %t", tc.reason, tc.name, ok, tc.ok)
			}
			if diff := cmp.Diff(tc.want, got); ok && diff != "" {
				t.Errorf("%s\nOf(%q) (-want +got):\n%s", tc.reason, tc.name, diff)
			}
		})
	}
	if _, ok := seedclient.Of(nil); ok {
		t.Error("nobody is nobody's client")
	}
}
