// SPDX-License-Identifier: Apache-2.0

package v1beta1

// Gardener has its documentation written later.
type Gardener struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	ID      string `json:"id"`
}
