// SPDX-License-Identifier: Apache-2.0

package shootstate

import (
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// Storage builds the store of shoot states.
func Storage(o kind.Options) (map[string]rest.Storage, error) {
	main, _, err := kind.NewStore(o, rules())
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"shootstates": main}, nil
}
