// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/terrarium-garden/terrarium/storage/kine"
)

const (
	storePrefix = "/registry/things/"
	storeKeys   = 12
	storeTime   = 2500 * time.Millisecond
)

func thing(n int) string { return fmt.Sprintf("%s%02d", storePrefix, n) }

func isThing(c change) bool { return strings.HasPrefix(c.key, storePrefix) }

// TestStore lets clients of the etcd API write and read, without an API server.
//
//nolint:paralleltest // It changes the number of processors.
func TestStore(t *testing.T) { rounds(t, storeShare, []int{1, 2, 3, 4}, testStore) }

func testStore(t *testing.T) {
	t.Helper()
	const clients, watchers = 8, 6
	cfg := kine.NewConfig(filepath.Join(t.TempDir(), "db"))
	disturb(&cfg)
	cfg.NotifyInterval = 50 * time.Millisecond
	stores, err := kine.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := newRecorder()
	s := &storeLoad{recorder: r, endpoint: stores.Objects, end: time.Now().Add(storeTime)}
	var writing, watching sync.WaitGroup
	for n := range clients {
		writing.Go(func() { s.use(t, n) })
	}
	for n := range watchers {
		watching.Go(func() { s.watch(t, n) })
	}
	writing.Wait()
	s.finish(t)
	watching.Wait()
	if err := stores.Close(); err != nil {
		t.Fatal(err)
	}
	r.check(t, readTruth(t, filepath.Join(cfg.Dir, "objects.db"), storeKey))
}

// storeKey makes the key of a record.
func storeKey(key string) string {
	if strings.HasPrefix(key, storePrefix) {
		return key
	}

	return ""
}

// storeLoad is what clients do to a store.
type storeLoad struct {
	*recorder

	endpoint kine.Endpoint
	end      time.Time
	// last is the revision of the last write, 0 before.
	last atomic.Int64
}

func (s *storeLoad) connect(t *testing.T) *clientv3.Client {
	t.Helper()
	c, err := s.endpoint.Client()
	if err != nil {
		t.Error(err)
	}

	return c
}

// user is one client, with what it believes of the keys.
type user struct {
	*recorder

	etcd     *clientv3.Client
	number   int
	writes   int
	believed map[string]int64
	newest   int64
}

// use asks for this and that until it is time.
func (s *storeLoad) use(t *testing.T, number int) {
	t.Helper()
	etcd := s.connect(t)
	defer func() { _ = etcd.Close() }()
	u := &user{recorder: s.recorder, etcd: etcd, number: number, believed: map[string]int64{}}
	asks := []func(context.Context, string) error{
		u.create, u.update, u.update, u.update, u.delete, u.get, u.get, u.list, u.list, u.pages, u.past,
	}
	for time.Now().Before(s.end) {
		key := thing(rand.IntN(storeKeys))
		if rand.IntN(4) == 0 {
			key = thing(0)
		}
		if err := asks[rand.IntN(len(asks))](t.Context(), key); err != nil {
			t.Errorf("client %d: %v", number, err)

			return
		}
	}
}

func (u *user) begin(what string) answer {
	return answer{client: u.number, what: what, asked: u.now()}
}

// token is a new value; the part after the slash is its group.
func (u *user) token() string {
	u.writes++
	token := fmt.Sprintf("%d-%d/%d", u.number, u.writes, rand.IntN(2))
	u.issue(token, false)

	return token
}

func (u *user) create(ctx context.Context, key string) error { return u.put(ctx, "create", key, 0) }

func (u *user) update(ctx context.Context, key string) error {
	expected := u.believed[key]
	if expected == 0 {
		return u.get(ctx, key)
	}

	return u.put(ctx, "update", key, expected)
}

func (u *user) put(ctx context.Context, what, key string, expected int64) error {
	a := u.begin(what)
	a.key, a.token, a.expected = key, u.token(), expected
	got, err := u.etcd.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(key), "=", expected)).
		Then(clientv3.OpPut(key, a.token)).
		Else(clientv3.OpGet(key)).
		Commit()
	if err != nil {
		return err
	}
	if !got.Succeeded {
		u.refused(a, got, expected)

		return nil
	}
	a.kind, a.revision = made, got.Header.Revision
	u.believed[key] = a.revision
	u.note(a)

	return nil
}

// refused records two answers: that the write was refused, and what is there instead.
func (u *user) refused(a answer, got *clientv3.TxnResponse, expected int64) {
	a.token = ""
	a.had = u.now()
	refusal := a
	refusal.kind, refusal.revision = differs, expected
	if expected == 0 {
		refusal.kind = exists
	}
	u.note(refusal)
	u.one(a, got.Responses[0].GetResponseRange().Kvs, got.Header.Revision)
}

// one records what was read of a key, as a list of this key at the revision of the store.
func (u *user) one(a answer, kvs []*mvccpb.KeyValue, revision int64) {
	single := a
	single.kind, single.revision = absent, 0
	u.believed[a.key] = 0
	if len(kvs) == 1 {
		single.kind, single.revision, single.token = found, kvs[0].ModRevision, string(kvs[0].Value)
		u.believed[a.key] = single.revision
	}
	u.note(single)
	a.single = true
	u.state(a, func(c change) bool { return c.key == single.key }, kvs, revision)
}

// state records what was listed.
func (u *user) state(a answer, match func(change) bool, kvs []*mvccpb.KeyValue, revision int64) {
	a.kind, a.key, a.revision, a.match, a.seen = listed, "", revision, match, map[string]int64{}
	for _, kv := range kvs {
		a.seen[string(kv.Key)] = kv.ModRevision
		if !a.stale {
			u.believed[string(kv.Key)] = kv.ModRevision
		}
	}
	u.newest = max(u.newest, revision)
	u.note(a)
}

func (u *user) delete(ctx context.Context, key string) error {
	expected := u.believed[key]
	if expected == 0 {
		return u.create(ctx, key)
	}
	a := u.begin("delete")
	a.key, a.expected, a.deletes = key, expected, true
	got, err := u.etcd.Txn(ctx).
		If(clientv3.Compare(clientv3.ModRevision(key), "=", expected)).
		Then(clientv3.OpDelete(key)).
		Else(clientv3.OpGet(key)).
		Commit()
	if err != nil {
		return err
	}
	if !got.Succeeded {
		u.refused(a, got, expected)

		return nil
	}
	a.kind, a.revision = made, got.Header.Revision
	u.believed[key] = 0
	u.note(a)

	return nil
}

func (u *user) get(ctx context.Context, key string) error {
	a := u.begin("get")
	a.key = key
	got, err := u.etcd.Get(ctx, key)
	if err == nil {
		u.one(a, got.Kvs, got.Header.Revision)
	}

	return err
}

func (u *user) list(ctx context.Context, _ string) error {
	a := u.begin("list")
	got, err := u.etcd.Get(ctx, storePrefix, clientv3.WithPrefix())
	if err == nil {
		u.state(a, isThing, got.Kvs, got.Header.Revision)
	}

	return err
}

// pages lists in the way of the API server: the first page says at which revision the others are asked for.
func (u *user) pages(ctx context.Context, _ string) error {
	a := u.begin("pages")
	end := clientv3.GetPrefixRangeEnd(storePrefix)
	got, err := u.etcd.Get(ctx, storePrefix, clientv3.WithRange(end), clientv3.WithLimit(3))
	if err != nil {
		return err
	}
	a.had = u.now()
	all, revision, count := got.Kvs, got.Header.Revision, got.Count
	for got.More {
		from := string(got.Kvs[len(got.Kvs)-1].Key) + "\x00"
		if got, err = u.etcd.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(3), clientv3.WithRev(revision)); err != nil {
			return err
		}
		all = append(all, got.Kvs...)
	}
	if int64(len(all)) != count {
		return fmt.Errorf("a list of %d has %d", count, len(all))
	}
	u.state(a, isThing, all, revision)

	return nil
}

// past lists at a revision that the client was told.
func (u *user) past(ctx context.Context, _ string) error {
	if u.newest == 0 {
		return nil
	}
	a := u.begin("list of the past")
	a.stale = true
	revision := u.newest - min(u.newest-1, rand.Int64N(20))
	got, err := u.etcd.Get(ctx, storePrefix, clientv3.WithPrefix(), clientv3.WithRev(revision))
	if err == nil {
		u.state(a, isThing, got.Kvs, revision)
	}

	return err
}

// finish writes once more, so that watches know where to end.
func (s *storeLoad) finish(t *testing.T) {
	t.Helper()
	etcd := s.connect(t)
	defer func() { _ = etcd.Close() }()
	key := storePrefix + "last"
	s.issue("last", false)
	got, err := etcd.Txn(t.Context()).If(clientv3.Compare(clientv3.ModRevision(key), "=", 0)).Then(clientv3.OpPut(key, "last")).Commit()
	if err != nil {
		t.Error(err)

		return
	}
	s.last.Store(got.Header.Revision)
}

// watch watches from somewhere on, again and again, the last time until nothing is written any more.
func (s *storeLoad) watch(t *testing.T, number int) {
	t.Helper()
	etcd := s.connect(t)
	defer func() { _ = etcd.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var told int64
	for more := true; more; {
		w := &watched{what: fmt.Sprintf("watch %d", number), after: told - min(told, rand.Int64N(30)), match: isThing}
		key, options := storePrefix, []clientv3.OpOption{clientv3.WithPrefix(), clientv3.WithProgressNotify()}
		if number%3 == 1 {
			key = thing(rand.IntN(storeKeys))
			options = options[1:]
			w.match = func(c change) bool { return c.key == key }
		}
		previous := number%2 == 0
		if previous {
			options = append(options, clientv3.WithPrevKV())
		}
		if told > 0 {
			options = append(options, clientv3.WithRev(w.after+1))
		} else {
			w.after = -1
		}
		length := time.Duration(100+rand.IntN(900)) * time.Millisecond
		if number < 3 {
			length = time.Hour
		}
		var err error
		if told, more, err = s.follow(ctx, etcd.Watch(ctx, key, options...), w, following{etcd: etcd, until: time.Now().Add(length), previous: previous}); err != nil {
			t.Errorf("%s: %v", w.what, err)

			return
		}
		s.hand(w)
	}
}

type following struct {
	etcd     *clientv3.Client
	until    time.Time
	previous bool
}

// follow takes what a watch brings until a time has come, or the watch has.
func (s *storeLoad) follow(ctx context.Context, from clientv3.WatchChan, w *watched, f following) (told int64, more bool, err error) {
	tick := time.NewTicker(7 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return told, false, fmt.Errorf("it never got to the end, only to %d of %d", told, s.last.Load())
		case <-tick.C:
			if rand.IntN(3) == 0 {
				if err := f.etcd.RequestProgress(ctx); err != nil {
					return told, false, err
				}
			}
		case got, open := <-from:
			if !open || got.Err() != nil {
				return told, false, errors.Join(errors.New("it ended"), got.Err())
			}
			if w.after < 0 {
				// A watch from now on starts somewhere before its first message.
				w.after = got.Header.Revision
				if len(got.Events) > 0 {
					w.after = got.Events[0].Kv.ModRevision - 1
				}
			}
			s.take(got, w, f.previous)
			told = max(told, got.Header.Revision)
			if rand.IntN(50) == 0 {
				time.Sleep(20 * time.Millisecond)
			}
			if last := s.last.Load(); last > 0 && told >= last {
				w.whole = true

				return told, false, nil
			}
			if time.Now().After(f.until) {
				return told, true, nil
			}
		}
	}
}

func (s *storeLoad) take(got clientv3.WatchResponse, w *watched, previous bool) {
	for _, e := range got.Events {
		c := event{change: change{
			revision: e.Kv.ModRevision, key: string(e.Kv.Key), deleted: e.Type == mvccpb.DELETE, token: string(e.Kv.Value),
		}, before: -1}
		if previous {
			c.before = 0
			if e.PrevKv != nil {
				c.before = e.PrevKv.ModRevision
			}
		}
		w.events = append(w.events, c)
	}
	if len(got.Events) == 0 {
		w.said = append(w.said, progress{events: len(w.events), revision: got.Header.Revision})
	}
	now := s.now()
	s.note(answer{what: w.what, asked: now, had: now, kind: told, revision: got.Header.Revision})
}
