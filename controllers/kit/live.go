// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Live reads an object around the cache and tells whether it exists. A garden shows a seed what belongs to it and refuses
// everything else, also what has just been deleted: so what is refused and is not in the cache either is gone.
func Live(ctx context.Context, live, cached client.Reader, key client.ObjectKey, object client.Object) (bool, error) {
	err := live.Get(ctx, key, object)
	if apierrors.IsForbidden(err) {
		if there := cached.Get(ctx, key, object); apierrors.IsNotFound(there) {
			return false, nil
		}
	}
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}
