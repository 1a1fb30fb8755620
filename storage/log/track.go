// SPDX-License-Identifier: Apache-2.0

package log

import "slices"

// Head returns the revision of the newest record of a key, 0 if the key does not exist. It costs no access to the file.
func (l *Log) Head(key string) (revision int64) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	h, _ := l.heads.Get(head{key: key})

	return h.revision
}

// Track returns what knows the newest revision of a range of keys, deletions included.
func (l *Log) Track(r Range) *Tracked {
	l.mu.Lock()
	defer l.mu.Unlock()
	t, ok := l.tracked[r]
	if !ok {
		t = &Tracked{log: l, last: l.published}
		l.tracked[r] = t
	}

	return t
}

// Tracked knows the newest revision of a range of keys.
type Tracked struct {
	log  *Log
	last int64
}

// Last returns the revision of the newest record in the range. Of what was written before the tracking began, it knows
// only that it was before: it then returns the revision at which it began.
func (t *Tracked) Last() int64 {
	t.log.mu.RLock()
	defer t.log.mu.RUnlock()

	return t.last
}

// track notes published records, with the lock held.
func (l *Log) track(records []*Record) {
	for r, t := range l.tracked {
		for _, newest := range slices.Backward(records) {
			if r.Contains(newest.Key) {
				t.last = newest.Revision

				break
			}
		}
	}
}
