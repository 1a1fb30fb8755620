// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/terrarium-garden/terrarium/apis/scheme"
)

// PreferProtobuf makes typed clients that are created in this process afterwards use protobuf for garden kinds, as they do
// for the kinds of Kubernetes. Patches, and kinds without protobuf, use JSON.
func PreferProtobuf() error {
	if err := apiutil.AddToProtobufScheme(scheme.AddProtobuf); err != nil {
		return fmt.Errorf("make clients use protobuf: %w", err)
	}
	return nil
}
