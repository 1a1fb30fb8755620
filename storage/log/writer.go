// SPDX-License-Identifier: Apache-2.0

package log

import (
	"context"
	"errors"
	"time"
)

// pace is how often the writer looks for old records while nobody writes.
const pace = time.Second

// write is the writer. It takes all changes that wait, makes them in one transaction, and publishes what it has made.
func (l *Log) write(ctx context.Context) {
	tick := l.cfg.Clock.NewTicker(pace)
	defer tick.Stop()
	l.swept = max(l.swept, 0)
	behind := false
	for {
		var first *write
		if behind {
			// Old records are left to remove: look for changes, but do not wait for them.
			select {
			case first = <-l.writes:
			case <-l.stopping:
				l.drain(ctx)

				return
			default:
			}
		} else {
			select {
			case first = <-l.writes:
			case <-tick.C():
			case <-l.stopping:
				l.drain(ctx)

				return
			}
		}
		if first == nil {
			behind = l.rest(ctx)

			continue
		}
		behind = l.commit(ctx, l.gather(first))
	}
}

// gather adds to a change those that wait beside it, up to the size of one transaction.
func (l *Log) gather(first *write) []*write {
	batch := []*write{first}
	bytes := int64(len(first.Value))
	var late <-chan time.Time
	for len(batch) < l.cfg.BatchWrites && bytes < l.cfg.BatchBytes {
		select {
		case next := <-l.writes:
			batch = append(batch, next)
			bytes += int64(len(next.Value))

			continue
		default:
		}
		if l.cfg.GroupDelay == 0 || len(batch) >= l.grouped {
			break
		}
		if late == nil {
			timer := l.cfg.Clock.NewTimer(l.cfg.GroupDelay)
			defer timer.Stop()
			late = timer.C()
		}
		select {
		case next := <-l.writes:
			batch = append(batch, next)
			bytes += int64(len(next.Value))
		case <-late:
			l.grouped = len(batch)

			return batch
		}
	}
	l.grouped = len(batch)

	return batch
}

// drain makes the changes that were handed over before the log was closed.
func (l *Log) drain(ctx context.Context) {
	for {
		select {
		case first := <-l.writes:
			l.commit(ctx, l.gather(first))
		default:
			return
		}
	}
}

// commit makes a batch of changes and answers them. It reports whether old records are left to remove.
func (l *Log) commit(ctx context.Context, batch []*write) (behind bool) {
	if err := l.catchUp(ctx); err != nil {
		b := newBatch(l)
		b.writes = batch
		b.fail(err)

		return false
	}
	b := newBatch(l)
	for _, w := range batch {
		b.judge(w)
	}
	step := l.nextStep(len(b.records))
	l.announce(step)
	if err := b.store(ctx, step); err != nil {
		l.unsure = l.unsure || len(b.records) > 0
		b.fail(err)

		return false
	}
	l.cfg.pause(Committed)
	l.publish(b.records, step)
	l.cfg.pause(Published)
	b.answer(l.published)
	l.bound(ctx)

	return step.more
}

// rest is what the writer does while nobody writes.
func (l *Log) rest(ctx context.Context) (behind bool) {
	if err := l.catchUp(ctx); err != nil {
		l.cfg.Log.Error(err, "What became of the last writes is not known; this is tried again", "file", l.cfg.File)

		return false
	}
	l.relieve(ctx)
	step := l.nextStep(0)
	if step.idle() {
		l.shrink(ctx)

		return false
	}
	l.announce(step)
	if err := withRemedy(newBatch(l).store(ctx, step), l.cfg.File); err != nil {
		if !errors.Is(err, ErrNoSpace) || !l.full.Swap(true) {
			l.cfg.Log.Error(err, "Old records were not removed; this is tried again", "file", l.cfg.File)
		}

		return false
	}
	l.publish(nil, step)

	return step.more
}

// announce says which past states are no longer kept, before the step removes any of them: a reader
// that has a part of such a state then knows that it may be incomplete.
func (l *Log) announce(s step) {
	if !s.raised {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.compacted, l.compactedAt = s.compacted, l.cfg.Clock.Now()
}

// publish makes records the newest state, all of them in one step.
func (l *Log) publish(records []*Record, s step) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range records {
		l.written.Add(r.size())
		l.stored.Add(r.stored())
		if r.Deleted {
			l.heads.Delete(head{key: r.Key})
			l.ends.set(head{key: r.Key})
		} else {
			l.heads.ReplaceOrInsert(r.head())
			l.ends.set(r.head())
		}
	}
	if len(records) > 0 {
		l.published = records[len(records)-1].Revision
		l.recent.append(records)
		l.track(records)
		l.feed.publish(records)
	}
	l.swept = s.swept
}
