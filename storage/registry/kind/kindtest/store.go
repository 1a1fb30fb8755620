// SPDX-License-Identifier: Apache-2.0

package kindtest

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// Resource is a resource, or a subresource, that is served.
type Resource[T kind.Object] struct {
	tb      testing.TB
	storage rest.Storage
}

// Of finds a resource among those of a kind.
func Of[T kind.Object](tb testing.TB, all map[string]rest.Storage, name string) Resource[T] {
	tb.Helper()
	s, found := all[name]
	if !found {
		tb.Fatalf("resource %q is not served", name)
	}
	return Resource[T]{tb: tb, storage: s}
}

// Create creates an object and returns it as it was stored.
func (r Resource[T]) Create(ctx context.Context, obj T) (T, error) {
	r.tb.Helper()
	var none T
	maker, ok := r.storage.(rest.Creater) //nolint:misspell // the name is the library's
	if !ok {
		r.tb.Fatalf("%T can not be created", obj)
	}
	got, err := maker.Create(ctx, obj, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	if err != nil {
		return none, err
	}
	return r.cast(got), nil
}

// Update writes an object and returns it as it was stored.
func (r Resource[T]) Update(ctx context.Context, obj T) (T, error) {
	r.tb.Helper()
	var none T
	updater, ok := r.storage.(rest.Updater)
	if !ok {
		r.tb.Fatalf("%T can not be updated", obj)
	}
	got, _, err := updater.Update(ctx, obj.GetName(), rest.DefaultUpdatedObjectInfo(obj), rest.ValidateAllObjectFunc,
		rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{})
	if err != nil {
		return none, err
	}
	return r.cast(got), nil
}

// MustCreate is Create where nothing can go wrong.
func (r Resource[T]) MustCreate(ctx context.Context, obj T) T {
	r.tb.Helper()
	got, err := r.Create(ctx, obj)
	if err != nil {
		r.tb.Fatalf("create %T %q: %v", obj, obj.GetName(), err)
	}
	return got
}

// MustUpdate is Update where nothing can go wrong.
func (r Resource[T]) MustUpdate(ctx context.Context, obj T) T {
	r.tb.Helper()
	got, err := r.Update(ctx, obj)
	if err != nil {
		r.tb.Fatalf("update %T %q: %v", obj, obj.GetName(), err)
	}
	return got
}

// Row prints an object and returns its cells by the heads of their columns, without name and age.
func (r Resource[T]) Row(ctx context.Context, obj T) map[string]string {
	r.tb.Helper()
	printer, ok := r.storage.(rest.TableConvertor)
	if !ok {
		r.tb.Fatalf("%T can not be printed", obj)
	}
	table, err := printer.ConvertToTable(ctx, obj, &metav1.TableOptions{})
	if err != nil {
		r.tb.Fatalf("print %T: %v", obj, err)
	}
	row := map[string]string{}
	for i, c := range table.ColumnDefinitions {
		text, ok := table.Rows[0].Cells[i].(string)
		if !ok {
			r.tb.Fatalf("cell %q of %T is %T, want a string", c.Name, obj, table.Rows[0].Cells[i])
		}
		row[c.Name] = text
	}
	delete(row, "Name")
	delete(row, "Age")
	return row
}

func (r Resource[T]) cast(obj any) T {
	r.tb.Helper()
	got, ok := obj.(T)
	if !ok {
		r.tb.Fatalf("answer is %T", obj)
	}
	return got
}
