// SPDX-License-Identifier: Apache-2.0

package bastion

import (
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// Storage builds the stores of bastions and of their status.
func Storage(o kind.Options) (map[string]rest.Storage, error) {
	main, status, err := kind.NewStore(o, rules(o.Clock))
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"bastions": main, "bastions/status": status}, nil
}
