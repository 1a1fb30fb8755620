// SPDX-License-Identifier: Apache-2.0

package backupentry

import (
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// Storage builds the stores of backup entries and of their status.
func Storage(o kind.Options) (map[string]rest.Storage, error) {
	main, status, err := kind.NewStore(o, rules())
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"backupentries": main, "backupentries/status": status}, nil
}
