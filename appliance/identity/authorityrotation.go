// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	// authorityRotationFile says that the authorities are being changed. It is written before the first step and removed after the
	// last one.
	authorityRotationFile = "authority-rotation.json"

	authorityNamePrefix = "terrarium-"
)

// ErrCompleting says that a rotation is being completed already.
var ErrCompleting = errors.New("the rotation is being completed")

// AuthorityRotation is a change of the authorities of the garden. First the next ones are trusted beside the current ones, and the
// next client CA signs. When it is completed, the next ones sign everything, and then the former ones are forgotten.
type AuthorityRotation struct {
	// Started is when the next authorities were made.
	Started time.Time `json:"started"`
	// Saved is when the garden was saved with the next authorities; nil before it. Until then nobody is asked to rely on them.
	Saved *time.Time `json:"saved,omitempty"`
	// Completing is when the completion began; nil before it.
	Completing *time.Time `json:"completing,omitempty"`
}

// Rotation returns the change of the authorities that goes on, or nil.
func (a *Authorities) Rotation() (*AuthorityRotation, error) {
	path := filepath.Join(a.pki, authorityRotationFile)
	data, err := os.ReadFile(path) //nolint:gosec // The path is the operator's own.
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // There is none.
	}
	r := &AuthorityRotation{}
	if err == nil {
		err = json.Unmarshal(data, r)
	}
	if err == nil && r.Started.IsZero() {
		err = errors.New("it does not say when the rotation was started")
	}
	if err != nil {
		return nil, &CorruptError{File: path, Err: withoutPath(err), Remedy: remedyRestore}
	}

	return r, nil
}

func (a *Authorities) writeRotation(r *AuthorityRotation) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode rotation: %w", err)
	}

	return writeFile(filepath.Join(a.pki, authorityRotationFile), append(data, '\n'))
}
