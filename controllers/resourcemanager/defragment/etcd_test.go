// SPDX-License-Identifier: Apache-2.0

package defragment_test

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
)

// tomorrow is the time until the etcds are to be defragmented again.
const tomorrow = 24 * time.Hour

// TestMembers lets real members return their space: followers first, with the credentials that the StatefulSet names, and nobody a second time.
func TestMembers_BAK_DEFRAG_4_BAK_DEFRAG_5(t *testing.T) {
	t.Parallel()
	s := newStage(t, midnight(), 3)
	etcd := newStore(t, s, nil)
	if _, err := etcd.Put(t.Context(), "kept", "value"); err != nil {
		t.Fatal(err)
	}
	etcd.litter(t, 24)
	leader := etcd.members[etcd.leader(t)].Config().Name
	var want []string
	var before []int64
	for _, member := range etcd.members {
		before = append(before, member.Server.Backend().Size())
		if name := member.Config().Name; name != leader {
			want = append(want, name)
		}
	}
	if got := s.reconcile(t); got != tomorrow {
		t.Fatalf("it is looked at again after %s, want %s", got, tomorrow)
	}
	got := etcd.defragmented()
	if len(got) != 3 || got[2] != leader {
		t.Fatalf("defragmented: %v, want three members, and the leader %s as the last one", got, leader)
	}
	slices.Sort(got[:2]) // the followers come in the order of their addresses
	if diff := cmp.Diff(want, got[:2]); diff != "" {
		t.Errorf("followers (-want +got):\n%s", diff)
	}
	for i, member := range etcd.members {
		if size := member.Server.Backend().Size(); size > before[i]-16<<20 {
			t.Errorf("member %d has %d bytes, and %d before", i, size, before[i])
		}
	}
	if found, err := etcd.Get(t.Context(), "kept"); err != nil || found.Count != 1 {
		t.Errorf("what was written before: %v, %v", found, err)
	}
	if got := s.reconcile(t); got != tomorrow || len(etcd.defragmented()) != 3 {
		t.Errorf("a second run comes back after %s, and members were defragmented: %v", got, etcd.defragmented())
	}
}

// TestNobodyIsTouched: as long as a member has a damage, is not known or does not answer, the others stay as they are and serve.
func TestNobodyIsTouched_BAK_DEFRAG_4(t *testing.T) {
	t.Parallel()
	s := newStage(t, midnight(), 3)
	etcd := newStore(t, s, func(c *embed.Config) { c.StrictReconfigCheck = false })
	etcd.litter(t, 24)
	untouched := func(reason string) {
		t.Helper()
		if got := s.reconcile(t); got != time.Minute || len(etcd.defragmented()) > 0 {
			t.Errorf("%s: it is looked at again after %s, and members were defragmented: %v", reason, got, etcd.defragmented())
		}
	}
	alarm := &etcdserverpb.AlarmRequest{
		Action: etcdserverpb.AlarmRequest_ACTIVATE, MemberID: uint64(etcd.members[1].Server.MemberID()), Alarm: etcdserverpb.AlarmType_CORRUPT,
	}
	if _, err := etcd.members[0].Server.Alarm(t.Context(), alarm); err != nil {
		t.Fatal(err)
	}
	untouched("a damaged member")
	if _, err := etcd.AlarmDisarm(t.Context(), &clientv3.AlarmMember{}); err != nil {
		t.Fatal(err)
	}
	joining, err := etcd.MemberAddAsLearner(t.Context(), []string{"http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	untouched("a member without a pod")
	if _, err := etcd.MemberRemove(t.Context(), joining.Member.ID); err != nil {
		t.Fatal(err)
	}
	etcd.stop((etcd.leader(t) + 1) % 3)
	untouched("a member that does not answer")
}

// TestFails: a defragmentation that has failed is not tried again before the next day, because the member answers nobody meanwhile.
func TestFails_BAK_DEFRAG_4(t *testing.T) {
	t.Parallel()
	s := newStage(t, midnight(), 1)
	etcd := newStore(t, s, nil)
	etcd.litter(t, 24)
	folder := etcd.members[0].Server.Cfg.SnapDir() // where the copy would be
	if err := os.Rename(folder, folder+".away"); err != nil {
		t.Fatal(err)
	}
	if got := s.reconcile(t); got != tomorrow || len(etcd.defragmented()) > 0 {
		t.Errorf("it is looked at again after %s, and members were defragmented: %v", got, etcd.defragmented())
	}
	if _, err := etcd.Put(t.Context(), "a", "b"); err != nil {
		t.Errorf("a write after a defragmentation that has failed: %v", err)
	}
}

// TestFull is about an etcd with a full database, which writes nothing, so that its history is not compacted either: it is, the database is
// defragmented, and the etcd writes again, with all that is in it.
func TestFull_BAK_DEFRAG_4(t *testing.T) {
	t.Parallel()
	s := newStage(t, midnight(), 1)
	etcd := newStore(t, s, func(c *embed.Config) { c.QuotaBackendBytes = 32 << 20 })
	value := make([]byte, 1<<20)
	var err error
	for err == nil {
		_, err = etcd.Put(t.Context(), "changed", string(value))
	}
	if !errors.Is(err, rpctypes.ErrNoSpace) {
		t.Fatalf("fill the database: %v", err)
	}
	if got := s.reconcile(t); got != tomorrow || len(etcd.defragmented()) != 1 {
		t.Fatalf("it is looked at again after %s, and members were defragmented: %v", got, etcd.defragmented())
	}
	if _, err := etcd.Put(t.Context(), "a", "b"); err != nil {
		t.Errorf("a write to a database that has space again: %v", err)
	}
	if found, err := etcd.Get(t.Context(), "changed"); err != nil || found.Count != 1 || len(found.Kvs[0].Value) != len(value) {
		t.Errorf("what is in the database: %v, %v", found, err)
	}
}
