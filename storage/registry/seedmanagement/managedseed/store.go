// SPDX-License-Identifier: Apache-2.0

package managedseed

import (
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// Storage returns a function that builds the stores of managedseeds and of their status. Only who has the turn writes managedseeds.
func Storage(turn kind.Turn) func(o kind.Options) (map[string]rest.Storage, error) {
	return func(o kind.Options) (map[string]rest.Storage, error) {
		main, status, err := kind.NewStore(o, rules(turn))
		if err != nil {
			return nil, err
		}
		return map[string]rest.Storage{"managedseeds": main, "managedseeds/status": status}, nil
	}
}
