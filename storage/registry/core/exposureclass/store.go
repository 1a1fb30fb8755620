// SPDX-License-Identifier: Apache-2.0

package exposureclass

import (
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// Storage builds the store of exposure classes.
func Storage(o kind.Options) (map[string]rest.Storage, error) {
	main, _, err := kind.NewStore(o, rules())
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"exposureclasses": main}, nil
}
