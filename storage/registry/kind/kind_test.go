// SPDX-License-Identifier: Apache-2.0

package kind_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/storage/registry/core/internalsecret"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
)

const namespace = "garden-meadow"

type secret = gardencorev1beta1.InternalSecret

var errBoom = errors.New("boom")

func store(t *testing.T) (*kind.Store, kindtest.Resource[*secret]) {
	t.Helper()
	s, err := internalsecret.Storage(kindtest.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	return s, kindtest.Of[*secret](t, map[string]rest.Storage{"internalsecrets": s}, "internalsecrets")
}

func names(t *testing.T, s *kind.Store, ctx context.Context) []string { //nolint:revive // the test comes first in tests
	t.Helper()
	list, err := s.List(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{}
	if err := meta.EachListItem(list, func(o runtime.Object) error {
		accessor, err := meta.Accessor(o)
		all = append(all, accessor.GetName())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestDeleteCollection(t *testing.T) {
	t.Parallel()
	forbid := func(name string) error {
		return apierrors.NewForbidden(gardencorev1beta1.Resource("internalsecrets"), "", errors.New(name+" is in use"))
	}
	for name, tc := range map[string]struct {
		reason   string
		selector string
		judge    func(name string) error
		left     []string
		is       func(error) bool
		words    []string
	}{
		"API-ADM-5 all":      {reason: "what may go goes", judge: func(string) error { return nil }, left: []string{}},
		"API-ADM-5 selected": {reason: "only what is selected goes", selector: "sort=even", judge: func(string) error { return nil }, left: []string{"a", "c"}},
		"API-ADM-5 refused": {
			reason: "one refusal keeps all, and every one is told",
			judge: func(name string) error {
				if name == "b" {
					return nil
				}
				return forbid(name)
			},
			left: []string{"a", "b", "c"}, is: apierrors.IsForbidden, words: []string{"a is in use", "c is in use"},
		},
		"API-DELCONF-2 in scope": {
			reason: "what is not selected is not asked about", selector: "sort=even",
			judge: func(name string) error {
				if name == "b" {
					return nil
				}
				return forbid(name)
			},
			left: []string{"a", "c"},
		},
		"failed": {reason: "an error is no refusal", judge: func(string) error { return errBoom }, left: []string{"a", "b", "c"}, is: func(err error) bool { return errors.Is(err, errBoom) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := kindtest.Context(t, namespace, "rose")
			s, secrets := store(t)
			for name, sort := range map[string]string{"a": "odd", "b": "even", "c": "odd"} {
				secrets.MustCreate(ctx, &secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"sort": sort}}, Type: "Opaque"})
			}
			selector, err := labels.Parse(tc.selector)
			if err != nil {
				t.Fatal(err)
			}
			validate := func(_ context.Context, obj runtime.Object) error {
				accessor, err := meta.Accessor(obj)
				if err != nil {
					return err
				}
				return tc.judge(accessor.GetName())
			}
			_, err = s.DeleteCollection(ctx, validate, &metav1.DeleteOptions{}, &metainternalversion.ListOptions{LabelSelector: selector})
			if tc.is == nil && err != nil || tc.is != nil && (err == nil || !tc.is(err)) {
				t.Errorf("%s\nDeleteCollection: %v", tc.reason, err)
			}
			for _, w := range tc.words {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("%s: the message lacks %q: %v", tc.reason, w, err)
				}
			}
			if diff := cmp.Diff(tc.left, names(t, s, ctx)); diff != "" {
				t.Errorf("%s\nleft (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	ctx := kindtest.Context(t, namespace, "rose")
	s, secrets := store(t)
	secrets.MustCreate(ctx, &secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a"}, Type: "Opaque"})
	list, err := s.List(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	table, err := s.ConvertToTable(ctx, list, &metav1.TableOptions{NoHeaders: true})
	if err != nil {
		t.Fatal(err)
	}
	if table.ResourceVersion == "" || len(table.ColumnDefinitions) != 0 || len(table.Rows) != 1 || table.Rows[0].Cells[0] != "a" {
		t.Errorf("a list is printed with its version, and without heads on request: %+v", table)
	}
	if _, err := s.ConvertToTable(ctx, &gardencorev1beta1.Seed{}, &metav1.TableOptions{}); err == nil {
		t.Error("another kind can not be printed")
	}
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	ctx := kindtest.Context(t, namespace, "rose")
	_, secrets := store(t)
	if _, err := secrets.Update(ctx, &secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "ghost"}}); !apierrors.IsNotFound(err) {
		t.Errorf("API-STRAT-8: an update never creates, got %v", err)
	}
}

// TestFewErrors has an object with very many mistakes. To join their messages would take minutes, so only some of them are told.
func TestFewErrors(t *testing.T) {
	t.Parallel()
	_, secrets := store(t)
	s := &secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "many", Labels: map[string]string{}}, Data: map[string][]byte{}}
	for n := range 3000 {
		s.Data[fmt.Sprintf("a key/%d", n)] = nil
	}
	_, err := secrets.Create(request.WithNamespace(t.Context(), namespace), s)
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) {
		t.Fatalf("Create: got %v, want Invalid", err)
	}
	if causes := status.Status().Details.Causes; len(causes) != 101 || !strings.Contains(causes[100].Message, "2900 more errors") {
		t.Errorf("Create: got %d causes, the last is %q; want 100 and how many more there are", len(causes), causes[len(causes)-1].Message)
	}
}
