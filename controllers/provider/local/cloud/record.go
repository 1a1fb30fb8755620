// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

const (
	recordAPIVersion = "local.provider.extensions.gardener.cloud/v1alpha1"
	recordKind       = "InfrastructureStatus"
)

// record is the provider status of an Infrastructure.
type record struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Cloud is the UID of the cluster of the machines; empty for the seed.
	Cloud string `json:"cloud,omitempty"`
}

// Record writes down where the machines are, before any is made.
func Record(object *gardenextensionsv1alpha1.Infrastructure, in Cloud) error {
	data, err := json.Marshal(record{APIVersion: recordAPIVersion, Kind: recordKind, Cloud: in.Place})
	if err != nil {
		return fmt.Errorf("encode provider status: %w", err)
	}
	object.Status.ProviderStatus = &runtime.RawExtension{Raw: data}
	return nil
}

// Recorded is what Record has written, and whether it has. Before there were other clusters, all machines were in the seed.
func Recorded(object *gardenextensionsv1alpha1.Infrastructure) (place string, known bool, err error) {
	raw := object.Status.ProviderStatus
	if raw == nil || len(raw.Raw) == 0 {
		return "", object.Status.Networking != nil, nil
	}
	r := record{}
	if err := json.Unmarshal(raw.Raw, &r); err != nil {
		return "", false, fmt.Errorf("read provider status of infrastructure %q: %w", object.Name, err)
	}
	return r.Cloud, true, nil
}
