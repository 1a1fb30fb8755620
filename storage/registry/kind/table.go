// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metatable "k8s.io/apimachinery/pkg/api/meta/table"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/terrarium-garden/terrarium/storage/registry/bytecache"
)

// table prints objects of a kind: Name first, then its columns.
type table[T Object] struct{ columns []Column[T] }

// NewTable returns the table form of a kind that is not kept in the store of objects.
func NewTable[T Object](columns ...Column[T]) rest.TableConvertor { return newTable(columns) }

// newTable adds the age at the end where the kind does not say where it goes.
func newTable[T Object](columns []Column[T]) table[T] {
	if !slices.ContainsFunc(columns, isAge) {
		columns = append(slices.Clone(columns), Column[T]{})
	}
	return table[T]{columns: columns}
}

func isAge[T Object](c Column[T]) bool { return c.Cell == nil }

// ConvertToTable answers a request for the table form of an object or a list.
func (t table[T]) ConvertToTable(_ context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	obj = bytecache.Unwrap(obj)
	out := &metav1.Table{}
	if o, ok := options.(*metav1.TableOptions); !ok || !o.NoHeaders {
		out.ColumnDefinitions = t.heads()
	}
	if list, err := meta.ListAccessor(obj); err == nil {
		out.ResourceVersion = list.GetResourceVersion()
		out.Continue = list.GetContinue()
		out.RemainingItemCount = list.GetRemainingItemCount()
	} else if one, err := meta.CommonAccessor(obj); err == nil {
		out.ResourceVersion = one.GetResourceVersion()
	}
	rows, err := metatable.MetaToTableRow(obj, t.row)
	if err != nil {
		return nil, fmt.Errorf("print table: %w", err)
	}
	out.Rows = rows
	return out, nil
}

func (t table[T]) heads() []metav1.TableColumnDefinition {
	heads := []metav1.TableColumnDefinition{{
		Name: "Name", Type: "string", Format: "name", Description: "Name of the object, unique among its kind and namespace.",
	}}
	for _, c := range t.columns {
		if isAge(c) {
			heads = append(heads, metav1.TableColumnDefinition{
				Name: "Age", Type: "date", Description: "Time since the object was created.",
			})
			continue
		}
		head := metav1.TableColumnDefinition{Name: c.Name, Type: "string", Description: c.Name + " of the object."}
		if c.Wide {
			head.Priority = 1
		}
		heads = append(heads, head)
	}
	return heads
}

func (t table[T]) row(obj runtime.Object, _ metav1.Object, name, age string) ([]any, error) {
	o, ok := obj.(T)
	if !ok {
		return nil, fmt.Errorf("%T is another kind", obj)
	}
	cells := []any{name}
	for _, c := range t.columns {
		if isAge(c) {
			cells = append(cells, age)
			continue
		}
		cells = append(cells, c.Cell(o))
	}
	return cells, nil
}
