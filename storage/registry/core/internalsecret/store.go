// SPDX-License-Identifier: Apache-2.0

package internalsecret

import (
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// Storage builds the store of internalsecrets; other stores may read through it.
func Storage(o kind.Options) (*kind.Store, error) {
	main, _, err := kind.NewStore(o, rules())
	return main, err
}
