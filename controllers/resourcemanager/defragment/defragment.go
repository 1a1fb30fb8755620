// SPDX-License-Identifier: Apache-2.0

package defragment

import (
	"context"

	"github.com/go-logr/logr"
)

// worthwhile is how much a member has to return. For less it is not worth that it answers nobody meanwhile.
const worthwhile = 16 << 20

// cluster are the members of one etcd.
type cluster interface {
	// observe returns all members, or an error if one of them is not healthy.
	observe(ctx context.Context) ([]member, error)
	// defragment defragments the member at an endpoint.
	defragment(ctx context.Context, endpoint string) error
}

// defragment defragments the members of an etcd one after the other, the leader as the last one, each only while all of them are healthy. A
// member whose database and its copy need more than room, which is not bound by 0, is left out (BAK-DEFRAG-4).
func defragment(ctx context.Context, log logr.Logger, etcd cluster, room int64) error {
	for done := map[string]bool{}; ; {
		members, err := etcd.observe(ctx)
		if err != nil {
			return err
		}
		next, found := choose(members, done)
		if !found {
			log.Info("Etcd needs no further defragmentation", "members", len(members), "tried", len(done))
			return nil
		}
		done[next.endpoint] = true
		if room > 0 && next.size+next.used > room {
			log.Info("The volume has no room for the copy that a defragmentation makes", "member", next.endpoint, "size", next.size, "used", next.used, "room", room)
			continue
		}
		log.Info("Defragmenting member of etcd", "member", next.endpoint, "leader", next.leader, "size", next.size, "used", next.used)
		if err := etcd.defragment(ctx, next.endpoint); err != nil {
			return err
		}
	}
}

// choose returns the next member that has something to return and was not chosen before: a follower if there is one.
func choose(members []member, done map[string]bool) (chosen member, found bool) {
	for _, m := range members {
		if done[m.endpoint] || m.size-m.used < worthwhile {
			continue
		}
		if !m.leader {
			return m, true
		}
		chosen, found = m, true
	}
	return chosen, found
}
