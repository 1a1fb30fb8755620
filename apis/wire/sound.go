// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/json"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var (
	errNoTime    = errors.New("the time is not in the years 0 to 9999")
	errNoVariant = errors.New("the value is neither a number nor a text")
)

// sound rejects values that protobuf can encode and JSON cannot: if one were stored, neither the object nor any list with it
// could be read as JSON. Managed fields are checked in parts of an object only: those of the object itself are checked by
// the code that updates them.
func sound(value Foreign, isPart bool) error {
	switch v := value.(type) {
	case *metav1.Time:
		return soundTime(v)
	case *intstr.IntOrString:
		if v.Type != intstr.Int && v.Type != intstr.String {
			return errNoVariant
		}
	case *metav1.ObjectMeta:
		if err := errors.Join(soundTime(&v.CreationTimestamp), soundTime(v.DeletionTimestamp)); err != nil {
			return err
		}
		for i := range v.ManagedFields {
			if err := soundTime(v.ManagedFields[i].Time); err != nil {
				return err
			}
			if fields := v.ManagedFields[i].FieldsV1; isPart && fields != nil && len(fields.GetRawBytes()) > 0 && !json.Valid(fields.GetRawBytes()) {
				return errNoJSON
			}
		}
	}

	return nil
}

func soundTime(t *metav1.Time) error {
	if t == nil || t.IsZero() {
		return nil
	}
	if year := t.In(time.UTC).Year(); year < 0 || year > 9999 {
		return errNoTime
	}

	return nil
}
