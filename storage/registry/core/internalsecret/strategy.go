// SPDX-License-Identifier: Apache-2.0

package internalsecret

import (
	"context"
	"maps"
	"strconv"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func rules() kind.Rules[*gardencorev1beta1.InternalSecret] {
	return kind.Rules[*gardencorev1beta1.InternalSecret]{
		Names: kind.Names{
			GroupVersion: gardencorev1beta1.GroupVersion,
			Plural:       "internalsecrets",
			Singular:     "internalsecret",
			ShortNames:   []string{"ins"},
		},
		New:            func() *gardencorev1beta1.InternalSecret { return &gardencorev1beta1.InternalSecret{} },
		NewList:        func() runtime.Object { return &gardencorev1beta1.InternalSecretList{} },
		Namespaced:     true,
		Unconditional:  true,
		PrepareCreate:  func(_ context.Context, obj *gardencorev1beta1.InternalSecret) { merge(obj) },
		PrepareUpdate:  prepareUpdate,
		Validate:       validation.ValidateInternalSecret,
		ValidateUpdate: validation.ValidateInternalSecretUpdate,
		Fields: func(o *gardencorev1beta1.InternalSecret) fields.Set {
			return fields.Set{gardencorev1beta1.FieldType: string(o.Type)}
		},
		Indexes: []string{gardencorev1beta1.FieldType},
		Columns: columns(),
	}
}

// prepareUpdate keeps the type when an update leaves it empty.
func prepareUpdate(_ context.Context, obj, old *gardencorev1beta1.InternalSecret) {
	if obj.Type == "" {
		obj.Type = old.Type
	}
	merge(obj)
}

// merge moves the write-only stringData into data.
func merge(obj *gardencorev1beta1.InternalSecret) {
	if len(obj.StringData) == 0 {
		return
	}
	data := maps.Clone(obj.Data)
	if data == nil {
		data = map[string][]byte{}
	}
	for key, value := range obj.StringData {
		data[key] = []byte(value)
	}
	obj.Data, obj.StringData = data, nil
}

func columns() []kind.Column[*gardencorev1beta1.InternalSecret] {
	return []kind.Column[*gardencorev1beta1.InternalSecret]{
		{Name: "Type", Cell: func(o *gardencorev1beta1.InternalSecret) string { return string(o.Type) }},
		{Name: "Data", Cell: func(o *gardencorev1beta1.InternalSecret) string { return strconv.Itoa(len(o.Data)) }},
	}
}
