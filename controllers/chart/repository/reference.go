// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"k8s.io/utils/ptr"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
)

// ErrInvalid marks a name of a chart that is none. Trying again does not help.
var ErrInvalid = errors.New("the name of the chart is not valid")

// referenceTo returns the reference to a chart: ref if it is set, otherwise the repository with the digest, or else with the tag
// (EXT-REG-7).
func referenceTo(o gardencorev1.OCIRepository) (name.Reference, error) {
	text := ptr.Deref(o.Ref, "")
	if text == "" {
		text = ptr.Deref(o.Repository, "")
		switch digest, tag := ptr.Deref(o.Digest, ""), ptr.Deref(o.Tag, ""); {
		case digest != "":
			text += "@" + digest
		case tag != "":
			text += ":" + tag
		}
	}
	ref, err := name.ParseReference(strings.TrimPrefix(text, "oci://"))
	if err != nil {
		return nil, fmt.Errorf("%w: ociRepository %q: %w", ErrInvalid, text, err)
	}
	return ref, nil
}
