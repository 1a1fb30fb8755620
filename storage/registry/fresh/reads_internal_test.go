// SPDX-License-Identifier: Apache-2.0

package fresh

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
)

// slowStore is a store whose lists end one by one: each sees the version when it began, and waits for a word.
type slowStore struct {
	storage.Interface

	version uint64
	goOn    chan error
	// began and ended are the numbers of lists.
	began, ended atomic.Int64
}

func (s *slowStore) Versioner() storage.Versioner { return storage.APIObjectVersioner{} }

func (s *slowStore) GetList(ctx context.Context, _ string, _ storage.ListOptions, out runtime.Object) error {
	s.began.Add(1)
	defer func() { s.ended.Add(1) }()
	list := out.(*corev1.ConfigMapList) //nolint:forcetypeassert // It is a test.
	list.ResourceVersion = strconv.FormatUint(s.version, 10)
	for n := range s.version {
		name := strconv.FormatUint(n+1, 10)
		list.Items = append(list.Items, corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{name: "yes"}}})
	}
	select {
	case err := <-s.goOn:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *slowStore) reads() *reads {
	return &reads{
		store: s, newList: func() runtime.Object { return &corev1.ConfigMapList{} }, published: func() uint64 { return s.version },
		attributes: func(o runtime.Object) (labels.Set, fields.Set, error) {
			return o.(*corev1.ConfigMap).Labels, nil, nil //nolint:forcetypeassert // It is a test.
		},
		of: map[string]*queue{},
	}
}

// listed is what lists of a test have got, the names by the number of the list.
type listed struct {
	group errgroup.Group
	mutex sync.Mutex
	names map[int][]string
}

func (l *listed) list(ctx context.Context, r *reads, number int, since uint64, selector string) {
	l.group.Go(func() error {
		label, err := labels.Parse(selector)
		if err != nil {
			return err
		}
		out := &corev1.ConfigMapList{}
		p := storage.SelectionPredicate{Label: label, Field: fields.Everything()}
		if err := r.list(ctx, "/things", since, &p, out); err != nil {
			return err
		}
		l.mutex.Lock()
		defer l.mutex.Unlock()
		for _, one := range out.Items {
			l.names[number] = append(l.names[number], out.ResourceVersion+":"+one.Name)
		}

		return nil
	})
	synctest.Wait()
}

// TestReadsAreShared: lists that begin while a read runs share the next one, and none gets an older state than it asks for.
func TestReadsAreShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &slowStore{version: 2, goOn: make(chan error)}
		r, l := s.reads(), &listed{names: map[int][]string{}}
		l.list(t.Context(), r, 1, 2, "")
		s.version = 3
		l.list(t.Context(), r, 2, 2, "2") // The first read is new enough.
		l.list(t.Context(), r, 3, 3, "3")
		s.version = 4
		l.list(t.Context(), r, 4, 4, "!1,!2")
		if s.began.Load() != 1 {
			t.Errorf("%d reads run at once; want 1", s.began.Load())
		}
		s.goOn <- nil
		synctest.Wait()
		if s.began.Load() != 2 {
			t.Errorf("%d reads have begun; want 2", s.began.Load())
		}
		s.goOn <- nil
		if err := l.group.Wait(); err != nil {
			t.Error(err)
		}
		want := map[int][]string{1: {"2:1", "2:2"}, 2: {"2:2"}, 3: {"4:3"}, 4: {"4:3", "4:4"}}
		if diff := cmp.Diff(want, l.names); diff != "" {
			t.Errorf("-want, +got:\n%s", diff)
		}
		synctest.Wait()
		if len(r.of) != 0 || s.began.Load() != 2 {
			t.Errorf("%d queues are left after %d reads; want 0 after 2", len(r.of), s.began.Load())
		}
	})
}

// TestReadsOutliveTheirFirstList: a read goes on while a list needs it, and is stopped when none does.
func TestReadsOutliveTheirFirstList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &slowStore{version: 1, goOn: make(chan error)}
		r, given, l := s.reads(), &listed{names: map[int][]string{}}, &listed{names: map[int][]string{}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		given.list(ctx, r, 1, 1, "")
		given.list(ctx, r, 2, 9, "") // It waits for the next read, which is not needed then.
		l.list(t.Context(), r, 3, 1, "")
		if err := given.group.Wait(); !storage.IsRequestTimeout(err) {
			t.Errorf("got error %v; want that the time is over", err)
		}
		s.goOn <- nil
		if err := l.group.Wait(); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(map[int][]string{3: {"1:1"}}, l.names); diff != "" {
			t.Errorf("-want, +got:\n%s", diff)
		}
		synctest.Wait()
		if s.began.Load() != 1 {
			t.Errorf("%d reads have begun; want 1", s.began.Load())
		}

		alone, leave := context.WithCancel(t.Context())
		l.list(alone, r, 4, 1, "")
		leave()
		l.group.Wait() //nolint:errcheck // It has left.
		synctest.Wait()
		if s.ended.Load() != 2 || len(r.of) != 0 {
			t.Errorf("%d reads have ended, %d queues are left; want 2 and 0", s.ended.Load(), len(r.of))
		}
	})
}

// TestReadsTellErrors: what the store says reaches all lists, and the next one reads again.
func TestReadsTellErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &slowStore{version: 1, goOn: make(chan error)}
		r, broken := s.reads(), errors.New("broken")
		for range 2 {
			one, other := &listed{names: map[int][]string{}}, &listed{names: map[int][]string{}}
			one.list(t.Context(), r, 1, 1, "")
			other.list(t.Context(), r, 2, 1, "")
			s.goOn <- broken
			if err := errors.Join(one.group.Wait(), other.group.Wait()); !errors.Is(err, broken) {
				t.Errorf("got %v; want %v", err, broken)
			}
			synctest.Wait()
		}
	})
}

// TestTurns: few lists read a store at once, and one whose request ends does not wait any longer.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &slowStore{version: 1, goOn: make(chan error)}
		store := inTurns(s)
		page := storage.ListOptions{Recursive: true, Predicate: storage.SelectionPredicate{Limit: 1}}
		var lists errgroup.Group
		for range 5 {
			lists.Go(func() error { return store.GetList(t.Context(), "/things", page, &corev1.ConfigMapList{}) })
		}
		synctest.Wait()
		if s.began.Load() != 2 {
			t.Errorf("%d lists read at once; want 2", s.began.Load())
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := store.GetList(ctx, "/things", page, &corev1.ConfigMapList{}); !storage.IsRequestTimeout(err) {
			t.Errorf("got error %v; want that the time is over", err)
		}
		one := storage.ListOptions{Predicate: storage.Everything}
		lists.Go(func() error { return store.GetList(t.Context(), "/things/1", one, &corev1.ConfigMapList{}) })
		synctest.Wait()
		if s.began.Load() != 3 {
			t.Errorf("%d lists read at once; want a third one for a single object", s.began.Load())
		}
		for range 6 {
			s.goOn <- nil
		}
		if err := lists.Wait(); err != nil {
			t.Error(err)
		}
	})
}
