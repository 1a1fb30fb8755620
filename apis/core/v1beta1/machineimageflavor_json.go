// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"encoding/json"
)

// MarshalJSON writes the flavor as the map of its capabilities.
func (f MachineImageFlavor) MarshalJSON() ([]byte, error) {
	if f.Capabilities == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(f.Capabilities)
}

// UnmarshalJSON reads the flavor from the map of its capabilities.
func (f *MachineImageFlavor) UnmarshalJSON(data []byte) error {
	f.Capabilities = nil
	return json.Unmarshal(data, &f.Capabilities)
}
