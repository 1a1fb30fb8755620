// SPDX-License-Identifier: Apache-2.0

package shootstate

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// problem is why a state cannot be written that trying again at once would not solve. Its text names objects and no content.
type problem struct {
	reason, text string
}

// Error implements error.
func (p *problem) Error() string { return p.text }

// incomplete says that a part of the state cannot be read.
func incomplete(format string, args ...any) error {
	return &problem{reason: gardencorev1beta1.EventShootStateIncomplete, text: fmt.Sprintf(format, args...)}
}

// tooLarge says that the garden could not store the state.
func tooLarge(format string, args ...any) error {
	return &problem{reason: gardencorev1beta1.EventShootStateTooLarge, text: fmt.Sprintf(format, args...)}
}

// fieldsOf names the fields that the garden refuses, without their values.
func fieldsOf(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return "it is not valid"
	}
	var fields []string
	for _, cause := range status.Status().Details.Causes {
		fields = append(fields, fmt.Sprintf("%s (%s)", cause.Field, cause.Type))
	}
	return strings.Join(fields, ", ")
}
