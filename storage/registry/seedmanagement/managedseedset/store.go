// SPDX-License-Identifier: Apache-2.0

package managedseedset

import (
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// Storage builds the stores of managedseedsets, of their status and of their scale.
func Storage(o kind.Options) (map[string]rest.Storage, error) {
	main, status, err := kind.NewStore(o, rules())
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{
		"managedseedsets":        main,
		"managedseedsets/status": status,
		"managedseedsets/scale":  &scales{sets: main},
	}, nil
}
