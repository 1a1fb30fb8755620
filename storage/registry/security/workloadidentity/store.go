// SPDX-License-Identifier: Apache-2.0

package workloadidentity

import (
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// Storage builds the stores of workloadidentities and of their tokens. A token may name the object of the core group on
// behalf of which it is used; these objects, and the bindings that they name, are read from the others, whose keys are resources.
func Storage(o kind.Options, signer TokenSigner, others map[string]rest.Storage) (map[string]rest.Storage, error) {
	main, _, err := kind.NewStore(o, rules())
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{
		"workloadidentities":       main,
		"workloadidentities/token": &tokens{identities: main, signer: signer, clock: o.Clock, core: reader{others}},
	}, nil
}
