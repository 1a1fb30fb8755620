// SPDX-License-Identifier: Apache-2.0

package defragment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-logr/logr"
)

// worthwhile is how much a member has to return. For less it is not worth that it answers nobody meanwhile.
const worthwhile = 16 << 20

// cluster are the members of one etcd.
type cluster interface {
	// observe returns all members, or an error if one of them is not healthy.
	observe(ctx context.Context) ([]member, error)
	// compact forgets the history of all members.
	compact(ctx context.Context) error
	// defragment defragments the member at an endpoint.
	defragment(ctx context.Context, endpoint string) error
	// disarm takes away the alarm of a member that its database is full.
	disarm(ctx context.Context, full member) error
}

// errFailed says that a defragmentation was begun and has failed. The next one would most likely fail as well, and the member answers nobody
// meanwhile.
var errFailed = errors.New("the defragmentation has failed")

// errStillFull says that an etcd refuses writes after its defragmentation as well. A member that forgets the history later than the one that was
// asked has more to return then.
var errStillFull = errors.New("there is not enough space to take away the alarm of a full database")

// defragment defragments the members of an etcd one after the other, the leader as the last one, each only while all of them are healthy. A
// member whose database and its copy need more than room, which is not bound by 0, is left out. If one of them is full, the history is forgotten
// before: the API server cannot have that done any more (BAK-DEFRAG-4).
func defragment(ctx context.Context, log logr.Logger, etcd cluster, room int64) error {
	compacted := false
	for done := map[string]bool{}; ; {
		members, err := etcd.observe(ctx)
		if err != nil {
			return err
		}
		if !compacted && slices.ContainsFunc(members, func(m member) bool { return m.full }) {
			// Nothing is written any more, so who watches has seen everything, or lists anew.
			log.Info("Compacting etcd with a full database", "members", len(members))
			if err := etcd.compact(ctx); err != nil {
				return err
			}
			compacted = true
			continue
		}
		next, found := choose(members, done)
		if !found {
			log.Info("Etcd needs no further defragmentation", "members", len(members), "tried", len(done))
			return disarm(ctx, log, etcd, members)
		}
		done[next.endpoint] = true
		if room > 0 && next.size+next.used > room {
			log.Info("The volume has no room for the copy that a defragmentation makes", "member", next.endpoint, "size", next.size, "used", next.used, "room", room)
			continue
		}
		log.Info("Defragmenting member of etcd", "member", next.endpoint, "leader", next.leader, "size", next.size, "used", next.used)
		if err := etcd.defragment(ctx, next.endpoint); err != nil {
			return fmt.Errorf("%w: %s: %w", errFailed, next.endpoint, err)
		}
	}
}

// disarm lets an etcd whose database was full write again, if each member has at least a tenth of what it may have. One that has less, or does
// not tell how much that is, would soon be full again, which is errStillFull. Who has used the space too soon gets the alarm anew, from the etcd itself.
func disarm(ctx context.Context, log logr.Logger, etcd cluster, members []member) error {
	const part = 10
	if !slices.ContainsFunc(members, func(m member) bool { return m.full }) {
		return nil
	}
	for _, m := range members {
		if m.quota <= 0 || m.size > m.quota-m.quota/part {
			return fmt.Errorf("%w: %s has %d of %d bytes", errStillFull, m.endpoint, m.size, m.quota)
		}
	}
	for _, m := range members {
		if !m.full {
			continue
		}
		log.Info("Taking away the alarm of a database that was full", "member", m.endpoint, "size", m.size, "quota", m.quota)
		if err := etcd.disarm(ctx, m); err != nil {
			return err
		}
	}
	return nil
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
