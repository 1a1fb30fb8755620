// SPDX-License-Identifier: Apache-2.0

package generations_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/terrarium-garden/terrarium/storage/generations"
	"github.com/terrarium-garden/terrarium/storage/kine"
)

func open(t *testing.T) generations.Datastore {
	t.Helper()
	stores, err := kine.Start(t.Context(), kine.NewConfig(filepath.Join(t.TempDir(), "db")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stores.Close(); err != nil {
			t.Error(err)
		}
	})
	client, err := stores.Connection()
	if err != nil {
		t.Fatal(err)
	}

	return generations.Datastore{Client: client}
}

func read(t *testing.T, d generations.Datastore) *generations.Record {
	t.Helper()
	is, err := d.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	return is
}

func record(generation int64, by string) generations.Record {
	return generations.Record{Generation: generation, Digest: by, By: by, Sealed: []byte("sealed by " + by)}
}

// TestReplace has two servers that both believe to lead: only who has seen the last value can replace it.
func TestReplace(t *testing.T) {
	t.Parallel()
	d := open(t)
	if is := read(t, d); is != nil {
		t.Fatalf("At first there is nothing: got %+v", is)
	}
	if err := d.Replace(t.Context(), nil, record(1, "one")); err != nil {
		t.Fatal(err)
	}
	if err := d.Replace(t.Context(), nil, record(1, "two")); !errors.Is(err, generations.ErrChanged) {
		t.Errorf("A second server does not begin anew.\nReplace(): got %v, want %v", err, generations.ErrChanged)
	}
	seen := read(t, d)
	if err := d.Replace(t.Context(), seen, record(2, "two")); err != nil {
		t.Fatal(err)
	}
	if err := d.Replace(t.Context(), seen, record(2, "one")); !errors.Is(err, generations.ErrChanged) {
		t.Errorf("Who has not seen the last value does not replace it.\nReplace(): got %v, want %v", err, generations.ErrChanged)
	}
	if err := d.Replace(t.Context(), seen, record(2, "two")); err != nil {
		t.Errorf("A write whose answer was lost is found: got %v", err)
	}
	if is := read(t, d); is.By != "two" || is.Generation != 2 || string(is.Sealed) != "sealed by two" {
		t.Errorf("Read(): got %+v", is)
	}
}

// TestDamaged has a value that no server of this version has written.
func TestDamaged(t *testing.T) {
	t.Parallel()
	d := open(t)
	if _, err := d.Client.Put(t.Context(), "/terrarium/keys", `{"format":2,"generation":1}`); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Read(t.Context()); !errors.Is(err, generations.ErrDamaged) {
		t.Errorf("Read(): got %v, want %v", err, generations.ErrDamaged)
	}
}

// TestServers tells servers that run from those that do not, by their notes alone: what they say about the time does not count.
func TestServers(t *testing.T) {
	t.Parallel()
	d := open(t)
	clk := clocktesting.NewFakePassiveClock(time.Now())
	o := &generations.Observer{Datastore: d, Clock: clk}
	note := func(address string, generation int64) {
		t.Helper()
		s := generations.Server{Address: address, ID: address, Generation: generation, Noted: time.Unix(0, 0)}
		if err := d.Note(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	late := func(reason string, want ...string) {
		t.Helper()
		all, err := o.Servers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range generations.Behind(all, 2) {
			got = append(got, s.Address)
		}
		if len(got) != len(want) || len(got) > 0 && got[0] != want[0] {
			t.Errorf("%s\nBehind(): got %v, want %v", reason, got, want)
		}
	}
	note("a:1", 1)
	note("b:1", 2)
	late("Who was just seen may run.", "a:1")
	clk.SetTime(clk.Now().Add(generations.Patience - time.Second))
	late("It still may.", "a:1")
	note("a:1", 1)
	clk.SetTime(clk.Now().Add(generations.Patience - time.Second))
	late("A note that changes keeps it alive.", "a:1")
	clk.SetTime(clk.Now().Add(generations.Patience))
	late("Who is silent keeps nobody waiting.")
	note("a:1", 2)
	late("Who is back with the last generation is not behind.")
	if err := d.Forget(t.Context(), "a:1"); err != nil {
		t.Fatal(err)
	}
	if all, err := o.Servers(t.Context()); err != nil || len(all) != 1 || all[0].Address != "b:1" {
		t.Errorf("Who is forgotten is gone: got %+v, %v", all, err)
	}
}

// TestVersion has two servers that both believe to lead: only who has seen the last version can replace it.
func TestVersion(t *testing.T) {
	t.Parallel()
	d := open(t)
	if is, err := d.ReadVersion(t.Context()); is != nil || err != nil {
		t.Fatalf("At first there is none: got %+v, %v", is, err)
	}
	if err := d.ReplaceVersion(t.Context(), nil, 1, "v0.1.0"); err != nil {
		t.Fatal(err)
	}
	if err := d.ReplaceVersion(t.Context(), nil, 2, "v0.2.0"); !errors.Is(err, generations.ErrChanged) {
		t.Errorf("Who has not seen the last version does not replace it.\nReplaceVersion(): got %v, want %v", err, generations.ErrChanged)
	}
	is, err := d.ReadVersion(t.Context())
	if err != nil || is == nil || is.Schema != 1 || is.Version != "v0.1.0" {
		t.Fatalf("ReadVersion(): got %+v, %v", is, err)
	}
	if err := d.ReplaceVersion(t.Context(), is, 2, "v0.2.0"); err != nil {
		t.Fatal(err)
	}
	if err := d.ReplaceVersion(t.Context(), is, 1, "v0.1.1"); !errors.Is(err, generations.ErrChanged) {
		t.Errorf("Nor does who has seen one before it.\nReplaceVersion(): got %v, want %v", err, generations.ErrChanged)
	}
	for _, text := range []string{"", "{}", `{"format":2,"schema":1,"version":"v0.1.0"}`, `{"format":1,"schema":0}`} {
		put(t, d, "/terrarium/version", text)
		if _, err := d.ReadVersion(t.Context()); !errors.Is(err, generations.ErrVersionDamaged) {
			t.Errorf("ReadVersion() of %q: got %v, want %v", text, err, generations.ErrVersionDamaged)
		}
	}
}

// put replaces a value as no server does it.
func put(t *testing.T, d generations.Datastore, key, text string) {
	t.Helper()
	is, err := d.Client.Get(t.Context(), key)
	if err != nil || len(is.Kvs) != 1 {
		t.Fatalf("Get(%q): got %d, %v", key, len(is.Kvs), err)
	}
	answer, err := d.Client.Txn(t.Context()).If(clientv3.Compare(clientv3.ModRevision(key), "=", is.Kvs[0].ModRevision)).
		Then(clientv3.OpPut(key, text)).Else(clientv3.OpGet(key)).Commit()
	if err != nil || !answer.Succeeded {
		t.Fatalf("Put(%q): got %v", key, err)
	}
}
