// SPDX-License-Identifier: Apache-2.0

package defragment_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/defragment"
)

const mi = 1 << 20

// TestOrder: members are defragmented one after the other, the leader as the last one, and only while all of them are healthy.
func TestOrder_BAK_DEFRAG_4(t *testing.T) {
	t.Parallel()
	errBoom := errors.New("boom")
	// full has something to return in each of a, b and c.
	full := func(leader string) defragment.Answer {
		var answer defragment.Answer
		for _, name := range []string{"a", "b", "c"} {
			answer.Members = append(answer.Members, defragment.Member{Endpoint: name, Leader: name == leader, Size: 100 * mi, Used: 10 * mi})
		}
		return answer
	}
	one := func(size, used int64) []defragment.Answer {
		return []defragment.Answer{{Members: []defragment.Member{{Endpoint: "a", Leader: true, Size: size, Used: used}}}}
	}
	for name, tc := range map[string]struct {
		reason   string
		observed []defragment.Answer
		fails    error
		room     int64
		want     []string
		err      error
	}{
		"Alone":        {reason: "a single member leads", observed: one(100*mi, 10*mi), want: []string{"a"}},
		"LeaderLast":   {reason: "the leader comes after its followers", observed: []defragment.Answer{full("a")}, want: []string{"b", "c", "a"}},
		"LeaderMoves":  {reason: "who leads is asked before each member", observed: []defragment.Answer{full("a"), full("c")}, want: []string{"b", "a", "c"}},
		"LeaderIsDone": {reason: "nobody comes twice", observed: []defragment.Answer{full("a"), full("b")}, want: []string{"b", "a", "c"}},
		"Unhealthy":    {reason: "nothing is done while one is not healthy", observed: []defragment.Answer{{Err: errBoom}}, err: errBoom},
		"BecomesSo":    {reason: "nor is anything done after one has become so", observed: []defragment.Answer{full("c"), {Err: errBoom}}, want: []string{"a"}, err: errBoom},
		"Fails":        {reason: "the others have to wait when one fails", observed: []defragment.Answer{full("c")}, fails: errBoom, want: []string{"a"}, err: errBoom},
		"Little":       {reason: "there is little to return", observed: one(100*mi, 84*mi+1)},
		"Enough":       {reason: "there is enough", observed: one(100*mi, 84*mi), want: []string{"a"}},
		"NoRoom":       {reason: "the copy would fill the volume", observed: one(100*mi, 10*mi), room: 110*mi - 1},
		"Room":         {reason: "the copy just fits", observed: one(100*mi, 10*mi), room: 110 * mi, want: []string{"a"}},
		"RoomOfOthers": {reason: "one without room does not keep the others from it", room: 110 * mi, want: []string{"b"}, observed: []defragment.Answer{{Members: []defragment.Member{
			{Endpoint: "a", Size: 200 * mi, Used: 10 * mi}, {Endpoint: "b", Leader: true, Size: 100 * mi, Used: 10 * mi},
		}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			etcd := &defragment.Cluster{Observed: tc.observed, Fails: tc.fails}
			err := defragment.Defragment(t.Context(), etcd, tc.room)
			if diff := cmp.Diff(tc.err, err, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nerror (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, etcd.Done); diff != "" {
				t.Errorf("%s\nmembers in their order (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDisarm: who has the alarm of a full database loses it once all members have space again.
func TestDisarm_BAK_DEFRAG_4(t *testing.T) {
	t.Parallel()
	at := func(endpoint string, size, quota int64, full bool) defragment.Member {
		return defragment.Member{Endpoint: endpoint, Size: size * mi, Used: size * mi, Quota: quota * mi, Full: full}
	}
	errBoom := errors.New("boom")
	for name, tc := range map[string]struct {
		reason  string
		members []defragment.Member
		fails   error
		want    []string
		err     error
	}{
		"Space":    {reason: "both have a tenth of their quota", members: []defragment.Member{at("a", 90, 100, true), at("b", 90, 100, false)}, want: []string{"a"}},
		"All":      {reason: "each has an alarm of its own", members: []defragment.Member{at("a", 9, 100, true), at("b", 9, 100, true)}, want: []string{"a", "b"}},
		"No alarm": {reason: "nothing is to be taken away", members: []defragment.Member{at("a", 9, 100, false)}},
		"Little":   {reason: "it would soon be full again, and is looked at again", members: []defragment.Member{at("a", 91, 100, true)}, err: defragment.ErrStillFull},
		"Other":    {reason: "the other one would be", members: []defragment.Member{at("a", 9, 100, true), at("b", 91, 100, false)}, err: defragment.ErrStillFull},
		"Unknown":  {reason: "an etcd of an earlier version does not tell its quota", members: []defragment.Member{at("a", 9, 0, true)}, err: defragment.ErrStillFull},
		"Many":     {reason: "who is not full needs no space", members: []defragment.Member{at("a", 91, 100, false)}},
		"Fails":    {reason: "that is tried again", members: []defragment.Member{at("a", 9, 100, true)}, fails: errBoom, want: []string{"a"}, err: errBoom},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			etcd := &defragment.Cluster{Observed: []defragment.Answer{{Members: tc.members}}, Fails: tc.fails}
			err := defragment.Defragment(t.Context(), etcd, 0)
			if diff := cmp.Diff(tc.err, err, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nerror (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, etcd.Disarmed); diff != "" {
				t.Errorf("%s\nmembers without their alarm (-want +got):\n%s", tc.reason, diff)
			}
			full := slices.ContainsFunc(tc.members, func(m defragment.Member) bool { return m.Full })
			if want := map[bool]int{true: 1}[full]; etcd.Compacted != want {
				t.Errorf("Only an etcd that is full cannot have its history compacted by its API server.\ncompacted %d times, want %d", etcd.Compacted, want)
			}
		})
	}
}

// TestJudge is about what members say of themselves. The one that is asked has the number 1.
func TestJudge_BAK_DEFRAG_4(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		// leader is the one of this member, others that of the others.
		leader, others uint64
		learner        bool
		want           defragment.Member
		err            string
	}{
		"Follower":  {reason: "it follows", leader: 2, others: 2, want: defragment.Member{Endpoint: "a", Size: 5, Used: 3, Quota: 8}},
		"Leader":    {reason: "it leads", leader: 1, others: 1, want: defragment.Member{Endpoint: "a", Leader: true, Size: 5, Used: 3, Quota: 8}},
		"Alone":     {reason: "it is cut off", others: 2, err: "not all members are healthy: a has no leader"},
		"AllAlone":  {reason: "all are cut off", err: "not all members are healthy: a has no leader"},
		"Different": {reason: "they do not agree", leader: 2, others: 15, err: "not all members are healthy: a has the leader 2, and another one f"},
		"Learner":   {reason: "it has not got everything", leader: 2, others: 2, learner: true, err: "not all members are healthy: a still learns"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := defragment.Judge("a", &clientv3.StatusResponse{
				Header: &etcdserverpb.ResponseHeader{MemberId: 1}, Leader: tc.leader, IsLearner: tc.learner, DbSize: 5, DbSizeInUse: 3, DbSizeQuota: 8,
			}, tc.others)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if diff := cmp.Diff([]any{tc.want, tc.err}, []any{got, text}); diff != "" {
				t.Errorf("%s\njudge(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
