// SPDX-License-Identifier: Apache-2.0

package shootclient_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/terrarium-garden/terrarium/appliance/authorization/shootclient"
)

func TestOf(t *testing.T) {
	t.Parallel()
	shoots := []string{"system:authenticated", "gardener.cloud:system:shoots"}
	tree := shootclient.Client{Namespace: "garden-wood", Name: "tree"}
	for name, tc := range map[string]struct {
		reason string
		who    user.Info
		want   shootclient.Client
		ok     bool
	}{
		"gardenlet":  {"name and group make a gardenlet", &user.DefaultInfo{Name: "gardener.cloud:system:shoot:garden-wood:tree", Groups: shoots}, tree, true},
		"no group":   {"a name alone is nothing", &user.DefaultInfo{Name: "gardener.cloud:system:shoot:garden-wood:tree"}, shootclient.Client{}, false},
		"seed":       {"a gardenlet of a seed is none of a shoot", &user.DefaultInfo{Name: "gardener.cloud:system:seed:a", Groups: []string{"gardener.cloud:system:seeds"}}, shootclient.Client{}, false},
		"other name": {"the group is for clients of shoots; another name is that of no shoot", &user.DefaultInfo{Name: "rose", Groups: shoots}, shootclient.Client{}, true},
		"no shoot":   {"a shoot has a name", &user.DefaultInfo{Name: "gardener.cloud:system:shoot:garden-wood:", Groups: shoots}, shootclient.Client{}, true},
		"no project": {"and a namespace", &user.DefaultInfo{Name: "gardener.cloud:system:shoot:tree", Groups: shoots}, shootclient.Client{}, true},
		"two names":  {"and one of each", &user.DefaultInfo{Name: "gardener.cloud:system:shoot:garden-wood:tree:b", Groups: shoots}, shootclient.Client{}, true},
		"nobody":     {"who is not known is nobody's client", nil, shootclient.Client{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := shootclient.Of(tc.who)
			if diff := cmp.Diff(tc.want, got); diff != "" || ok != tc.ok {
				t.Errorf("GAC-SHOOTR-1: %s\nOf(%v) is a client of a shoot: %t, want %t; (-want +got):\n%s", tc.reason, tc.who, ok, tc.ok, diff)
			}
		})
	}
	if (shootclient.Client{}).Is("", "") {
		t.Error("GAC-SHOOTR-1: a client of no shoot has none")
	}
}
