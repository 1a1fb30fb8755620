// SPDX-License-Identifier: Apache-2.0

package backupbucket

import (
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// Storage builds the stores of backup buckets and of their status.
func Storage(o kind.Options) (map[string]rest.Storage, error) {
	main, status, err := kind.NewStore(o, rules())
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"backupbuckets": main, "backupbuckets/status": status}, nil
}
