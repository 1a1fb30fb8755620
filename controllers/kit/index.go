// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Index lets lists from the cache select the objects of a kind by values of a field, with client.MatchingFields. It must be
// called before the manager starts. A field may have one index for each kind, so a field that only one controller looks for
// begins with the name of that controller.
func Index[O client.Object](mgr manager.Manager, object O, field string, values func(O) []string) error {
	//nolint:forbidigo // nothing waits for this context: informers start together with the manager
	err := mgr.GetFieldIndexer().IndexField(context.TODO(), object, field, func(found client.Object) []string {
		if typed, ok := found.(O); ok {
			return values(typed)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("index %T by %s: %w", object, field, err)
	}
	return nil
}
