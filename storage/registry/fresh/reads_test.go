// SPDX-License-Identifier: Apache-2.0

package fresh_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/storage"

	"github.com/terrarium-garden/terrarium/storage/log"
	"github.com/terrarium-garden/terrarium/storage/registry/fresh"
)

// TestGetBesideAnOldCache has the cache miss each kind of change.
func TestGetBesideAnOldCache(t *testing.T) {
	t.Parallel()
	p := open(t, file(t))
	changed, gone, back := p.set(t, "changed", "a"), p.set(t, "gone", "a"), p.set(t, "back", "a")
	p.list(t, storage.Everything)
	p.line.hold()
	newer := p.set(t, "changed", "b")
	p.remove(t, "gone")
	p.remove(t, "back")
	again := p.set(t, "back", "b")
	made := p.set(t, "made", "b")
	for _, tc := range []struct{ name, want, cached string }{
		{"changed", newer.ResourceVersion, changed.ResourceVersion},
		{"gone", "", gone.ResourceVersion},
		{"back", again.ResourceVersion, back.ResourceVersion},
		{"made", made.ResourceVersion, ""},
		{"never", "", ""},
	} {
		if got := p.get(t, tc.name, "").ResourceVersion; got != tc.want {
			t.Errorf("get %q: version %q; want %q, which is stored", tc.name, got, tc.want)
		}
		if got := p.get(t, tc.name, "0").ResourceVersion; got != tc.cached {
			t.Errorf("get %q at any version: version %q; want %q: the cache has to be old for this test", tc.name, got, tc.cached)
		}
	}
	if got := p.get(t, "changed", ""); !cmp.Equal(got, newer) {
		t.Errorf("what the cache had is part of what the store had:\n%s", cmp.Diff(newer, got))
	}
	if got := p.get(t, "changed", "0"); !cmp.Equal(got, changed) {
		t.Errorf("what the store had became part of the cache:\n%s", cmp.Diff(changed, got))
	}
}

// TestListWaitsForTheCache has a list begin while the cache is old.
func TestListWaitsForTheCache(t *testing.T) {
	t.Parallel()
	p := open(t, file(t))
	p.set(t, "a", "a")
	p.list(t, storage.Everything)
	p.line.hold()
	last := p.remove(t, "a")
	listed := make(chan *corev1.ConfigMapList, 1)
	go func() {
		defer close(listed) // Nothing comes if the list fails.
		listed <- p.list(t, storage.Everything)
	}()
	select {
	case early := <-listed:
		t.Errorf("listed %v, although the deletion at version %s has not arrived", early, last.ResourceVersion)
	case <-time.After(100 * time.Millisecond):
		p.line.release()
		if got := <-listed; got != nil && len(got.Items) != 0 {
			t.Errorf("listed %v; want nothing", got.Items)
		}
	}
}

// TestListWithoutTheCache has the cache miss a change for good.
func TestListWithoutTheCache(t *testing.T) {
	t.Parallel()
	p := open(t, file(t))
	p.list(t, storage.Everything)
	p.line.hold()
	p.set(t, "a", "a")
	if got := p.list(t, storage.Everything); len(got.Items) != 1 {
		t.Errorf("listed %v; want what is stored", got.Items)
	}
}

// TestListIsDated has other kinds change.
func TestListIsDated(t *testing.T) {
	t.Parallel()
	p := open(t, file(t))
	for _, name := range []string{"a", "b", "c"} {
		p.set(t, name, name)
	}
	p.list(t, storage.Everything)
	p.line.hold()
	other, err := p.log.Write(t.Context(), log.Change{Key: "/registry/configmapsandmore/a", Value: []byte("a")})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if got, want := p.list(t, storage.Everything).ResourceVersion, strconv.FormatInt(other.Revision, 10); got != want {
		t.Errorf("listed at version %s; want %s, the version of the store", got, want)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("a list took %s: it has waited for a change of another kind", took)
	}
	page := storage.Everything
	page.Limit = 2
	first := p.list(t, page)
	page.Continue = first.Continue
	second := p.list(t, page)
	if len(first.Items) != 2 || len(second.Items) != 1 || second.Continue != "" {
		t.Errorf("pages of %d and %d; want 2 and 1", len(first.Items), len(second.Items))
	}
	selected := storage.Everything
	selected.Label = labels.SelectorFromSet(labels.Set{"b": "yes"})
	selected.GetAttrs = attributes
	if got := p.list(t, selected); len(got.Items) != 1 || got.Items[0].Name != "b" {
		t.Errorf("selected %v; want b", got.Items)
	}
}

func TestGetIsACopy(t *testing.T) {
	t.Parallel()
	p := open(t, file(t))
	p.set(t, "a", "a")
	p.list(t, storage.Everything)
	p.get(t, "a", "").Data["a"] = "changed"
	if got := p.get(t, "a", "").Data["a"]; got != "a" {
		t.Errorf("got %q; want %q: what one reader has changed reached another", got, "a")
	}
	one, other := &thing{}, &thing{}
	for _, into := range []*thing{one, other} {
		if err := p.Get(fresh.Shared(t.Context()), prefix+"/a", storage.GetOptions{}, into); err != nil {
			t.Fatal(err)
		}
	}
	if one.Data["new"] = "b"; other.Data["new"] != "b" {
		t.Error("who has promised to change nothing gets a copy for nothing")
	}
}

// life is that of one key: created, changed twice, deleted, and again. Its one writer numbers these steps.
type life struct {
	name string
	// begun and ended are the last steps that were begun, and answered. told is the latest one of which a reader knows.
	begun, ended, told atomic.Int64
}

const steps = 4

func exists(step int64) bool { return step >= 0 && step%steps != steps-1 }

// now is what a read that begins now has to be as new as.
func (l *life) now() int64 { return max(l.ended.Load(), l.told.Load()) }

// judge checks what a read has found, which is a step, or nothing (-1).
func (l *life) judge(what string, since, found int64) error {
	until := l.begun.Load()
	if found < 0 {
		found = since
		for found >= 0 && found <= until && exists(found) {
			found++
		}
	}
	if found < since || found > until {
		return fmt.Errorf("%s of %s: found step %d; want one from %d to %d", what, l.name, found, since, until)
	}
	for {
		told := l.told.Load()
		if told >= found || l.told.CompareAndSwap(told, found) {
			return nil
		}
	}
}

// TestReadsNeverGoBack reads what is being written, while changes take their time to the watch cache.
func TestReadsNeverGoBack(t *testing.T) {
	t.Parallel()
	p := open(t, file(t))
	p.line.mutex.Lock()
	p.line.delay = func(context.Context) { <-time.After(rand.N(2 * time.Millisecond)) }
	p.line.mutex.Unlock()
	p.readWhatIsWritten(t)
}

// behind is a storage whose lists do not find the watch cache recent enough.
type behind struct{ storage.Interface }

func (b behind) GetList(ctx context.Context, key string, o storage.ListOptions, out runtime.Object) error {
	return fresh.ListBehind(ctx, b.Interface, key, o.Predicate, out)
}

// TestSharedReadsNeverGoBack does the same with lists that share reads of the store.
func TestSharedReadsNeverGoBack(t *testing.T) {
	t.Parallel()
	p := open(t, file(t))
	fresh.ReadFrom(p.Interface, p.line.below)
	p.Interface = behind{p.Interface}
	p.readWhatIsWritten(t)
}

// readWhatIsWritten has reads of several kinds judge what they find.
func (p *place) readWhatIsWritten(t *testing.T) {
	t.Helper()
	var lives []*life
	for i := range 4 {
		l := &life{name: "key-" + strconv.Itoa(i)}
		l.begun.Store(-1)
		l.ended.Store(-1)
		l.told.Store(-1)
		lives = append(lives, l)
	}
	var writers, readers errgroup.Group
	for _, l := range lives {
		writers.Go(func() error { return p.live(t.Context(), l) })
	}
	done := make(chan struct{})
	reads := []func(context.Context, []*life) error{p.readGet, p.readList, p.readRefusal}
	for i := range 12 {
		readers.Go(func() error {
			for {
				select {
				case <-done:
					return nil
				default:
				}
				if err := reads[i%len(reads)](t.Context(), lives); err != nil {
					return err
				}
			}
		})
	}
	if err := writers.Wait(); err != nil {
		t.Error(err)
	}
	close(done)
	if err := readers.Wait(); err != nil {
		t.Error(err)
	}
}

func (p *place) live(ctx context.Context, l *life) error {
	key := prefix + "/" + l.name
	for step := range int64(40 * steps) {
		l.begun.Store(step)
		one := &thing{ObjectMeta: metav1.ObjectMeta{Name: l.name}, Data: map[string]string{"step": strconv.FormatInt(step, 10)}}
		var err error
		switch step % steps {
		case 0:
			err = p.Create(ctx, key, one, &thing{}, 0)
		case steps - 1:
			err = p.Delete(ctx, key, &thing{}, nil, storage.ValidateAllObjectFunc, nil, storage.DeleteOptions{})
		default:
			err = p.GuaranteedUpdate(ctx, key, &thing{}, false, nil, storage.SimpleUpdate(func(runtime.Object) (runtime.Object, error) {
				return one.DeepCopy(), nil
			}), nil)
		}
		if err != nil {
			return fmt.Errorf("step %d of %s: %w", step, l.name, err)
		}
		l.ended.Store(step)
	}

	return nil
}

func stepOf(found *thing) int64 {
	if found == nil || found.Name == "" {
		return -1
	}
	step, _ := strconv.ParseInt(found.Data["step"], 10, 64)

	return step
}

func (p *place) readGet(ctx context.Context, lives []*life) error {
	l, found := lives[rand.N(len(lives))], &thing{}
	since := l.now()
	if err := p.Get(ctx, prefix+"/"+l.name, storage.GetOptions{IgnoreNotFound: true}, found); err != nil {
		return err
	}

	return l.judge("get", since, stepOf(found))
}

func (p *place) readList(ctx context.Context, lives []*life) error {
	since := map[string]int64{}
	for _, l := range lives {
		since[l.name] = l.now()
	}
	list := &corev1.ConfigMapList{}
	if err := p.GetList(ctx, prefix, storage.ListOptions{Recursive: true, Predicate: storage.Everything}, list); err != nil {
		return err
	}
	found := map[string]*thing{}
	for _, one := range list.Items {
		found[one.Name] = &one
	}
	for _, l := range lives {
		if err := l.judge("list", since[l.name], stepOf(found[l.name])); err != nil {
			return err
		}
	}

	return nil
}

// readRefusal is a deletion of somebody else's object: it is not found, or is another one.
func (p *place) readRefusal(ctx context.Context, lives []*life) error {
	l, nobody := lives[rand.N(len(lives))], types.UID("nobody")
	since := l.now()
	err := p.Delete(ctx, prefix+"/"+l.name, &thing{}, &storage.Preconditions{UID: &nobody}, storage.ValidateAllObjectFunc, nil, storage.DeleteOptions{})
	if !storage.IsNotFound(err) {
		return nil
	}

	return l.judge("refusal", since, -1)
}
