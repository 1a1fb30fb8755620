// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GardenletGroupVersion is the group and version of the gardenlet's configuration file.
var GardenletGroupVersion = schema.GroupVersion{Group: "gardenlet.config.gardener.cloud", Version: "v1alpha1"}

// ServerGroupVersion is the group and version of the server's configuration file.
var ServerGroupVersion = schema.GroupVersion{Group: "server.config.terrarium.garden", Version: "v1alpha1"}
