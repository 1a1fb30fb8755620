// SPDX-License-Identifier: Apache-2.0

package generations_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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
	if diff := cmp.Diff(generations.ErrChanged, d.Replace(t.Context(), nil, record(1, "two")), cmpopts.EquateErrors()); diff != "" {
		t.Errorf("A second server does not begin anew.\nerror of Replace() (-want +got):\n%s", diff)
	}
	seen := read(t, d)
	if err := d.Replace(t.Context(), seen, record(2, "two")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(generations.ErrChanged, d.Replace(t.Context(), seen, record(2, "one")), cmpopts.EquateErrors()); diff != "" {
		t.Errorf("Who has not seen the last value does not replace it.\nerror of Replace() (-want +got):\n%s", diff)
	}
	if err := d.Replace(t.Context(), seen, record(2, "two")); err != nil {
		t.Errorf("A write whose answer was lost is found: got %v", err)
	}
	want := record(2, "two")
	if diff := cmp.Diff(&want, read(t, d), cmpopts.IgnoreUnexported(want), cmpopts.IgnoreFields(want, "Format")); diff != "" {
		t.Errorf("Read() (-want +got):\n%s", diff)
	}
}

// TestDamaged has a value that no server of this version has written.
func TestDamaged(t *testing.T) {
	t.Parallel()
	d := open(t)
	if _, err := d.Client.Put(t.Context(), "/terrarium/keys", `{"format":2,"generation":1}`); err != nil {
		t.Fatal(err)
	}
	_, err := d.Read(t.Context())
	if diff := cmp.Diff(generations.ErrDamaged, err, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("error of Read() (-want +got):\n%s", diff)
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
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s\nBehind() (-want +got):\n%s", reason, diff)
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
	all, err := o.Servers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, s := range all {
		left = append(left, s.Address)
	}
	if diff := cmp.Diff([]string{"b:1"}, left); diff != "" {
		t.Errorf("Who is forgotten is gone.\nServers() (-want +got):\n%s", diff)
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
	if diff := cmp.Diff(generations.ErrChanged, d.ReplaceVersion(t.Context(), nil, 2, "v0.2.0"), cmpopts.EquateErrors()); diff != "" {
		t.Errorf("Who has not seen the last version does not replace it.\nerror of ReplaceVersion() (-want +got):\n%s", diff)
	}
	is, err := d.ReadVersion(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := &generations.Version{Format: 1, Schema: 1, Version: "v0.1.0"}
	if diff := cmp.Diff(want, is, cmpopts.IgnoreUnexported(*want)); diff != "" {
		t.Fatalf("ReadVersion() (-want +got):\n%s", diff)
	}
	if err := d.ReplaceVersion(t.Context(), is, 2, "v0.2.0"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(generations.ErrChanged, d.ReplaceVersion(t.Context(), is, 1, "v0.1.1"), cmpopts.EquateErrors()); diff != "" {
		t.Errorf("Nor does who has seen one before it.\nerror of ReplaceVersion() (-want +got):\n%s", diff)
	}
	for _, text := range []string{"", "{}", `{"format":2,"schema":1,"version":"v0.1.0"}`, `{"format":1,"schema":0}`} {
		put(t, d, "/terrarium/version", text)
		_, err := d.ReadVersion(t.Context())
		if diff := cmp.Diff(generations.ErrVersionDamaged, err, cmpopts.EquateErrors()); diff != "" {
			t.Errorf("error of ReadVersion() of %q (-want +got):\n%s", text, diff)
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
