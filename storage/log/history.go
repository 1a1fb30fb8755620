// SPDX-License-Identifier: Apache-2.0

package log

// history is the newest part of the log, in memory. Its records have consecutive revisions.
type history struct {
	limit   int64
	bytes   int64
	records []*Record
	// start is the index of the oldest record that counts; those before it wait to be cut off together.
	start int
}

func newHistory(limit int64) *history { return &history{limit: limit} }

// append adds the next records and forgets the oldest ones beyond the limit.
func (h *history) append(records []*Record) {
	for _, r := range records {
		h.records = append(h.records, r)
		h.bytes += r.size()
	}
	for h.bytes > h.limit && len(h.records)-h.start > 1 {
		h.bytes -= h.records[h.start].size()
		h.records[h.start] = nil
		h.start++
	}
	if h.start > len(h.records)/2 {
		n := copy(h.records, h.records[h.start:])
		clear(h.records[n:])
		h.records, h.start = h.records[:n], 0
	}
}

// at returns the record of a revision, nil if it is not in memory.
func (h *history) at(revision int64) *Record {
	all := h.records[h.start:]
	if len(all) == 0 || revision < all[0].Revision || revision > all[len(all)-1].Revision {
		return nil
	}

	return all[revision-all[0].Revision]
}

// after returns all records after a revision. known is false if some of them may no longer be in memory. What is
// returned is valid under the lock of the log only.
func (h *history) after(revision int64) (records []*Record, known bool) {
	all := h.records[h.start:]
	if len(all) == 0 || revision+1 < all[0].Revision {
		return nil, false
	}
	skip := min(revision+1-all[0].Revision, int64(len(all)))

	return all[skip:], true
}
