// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/terrarium-garden/terrarium/apis/scheme"
)

// PreferProtobuf lets the typed clients that are made in this process from now on write and read garden kinds in
// protobuf, as they do the kinds of Kubernetes. Kinds that have none, and patches, stay JSON.
func PreferProtobuf() error {
	if err := apiutil.AddToProtobufScheme(scheme.AddProtobuf); err != nil {
		return fmt.Errorf("let clients speak protobuf: %w", err)
	}
	return nil
}
