// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"container/heap"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// shown bounds the findings of one kind that are told.
const shown = 10

// check compares everything that was recorded with the truth.
func (r *recorder) check(t *testing.T, truth *truth) {
	t.Helper()
	began := time.Now()
	var findings []string
	findings = append(findings, r.checkTokens(truth)...)
	findings = append(findings, checkOrder(truth, r.answers)...)
	for _, w := range r.watches {
		findings = append(findings, w.check(truth)...)
	}
	for i, finding := range findings {
		if i == shown {
			t.Errorf("... and %d more", len(findings)-shown)

			break
		}
		t.Error(finding)
	}
	ordered := time.Since(began)
	r.checkRegisters(t, truth)
	counts := map[kind]int{}
	for _, a := range r.answers {
		counts[a.kind]++
	}
	t.Logf("%d changes, %d answers %v, %d watches; checked in %s and %s",
		len(truth.changes), len(r.answers), counts, len(r.watches), ordered, time.Since(began)-ordered)
}

// checkTokens looks for changes that nobody has asked for.
func (r *recorder) checkTokens(truth *truth) (findings []string) {
	for _, c := range truth.changes {
		if !c.deleted && !r.issued[c.token] {
			findings = append(findings, fmt.Sprintf("A change comes from a write: revision %d of %s has %q (dry run: %t)", c.revision, c.key, c.token, r.dry[c.token]))
		}
	}

	return findings
}

// checkOrder gives each answer the earliest revision at which it is true and that is no earlier than that of any answer
// that was there before the question. There is an order of all answers if and only if each has one.
func checkOrder(truth *truth, answers []answer) (findings []string) {
	began := map[int64]answer{}
	for _, a := range answers {
		if a.kind == made {
			if other, twice := began[a.revision]; twice {
				findings = append(findings, fmt.Sprintf("A revision is given out once:\n%s\n%s", other, a))
			}
			began[a.revision] = a
		}
	}
	order := slices.SortedFunc(slices.Values(answers), func(a, b answer) int { return int(a.asked - b.asked) })
	known := &floor{}
	for _, a := range order {
		least, from := known.at(a.asked)
		revision, problem := a.place(truth, least)
		if problem == "" {
			if w, ok := began[revision]; ok && w.asked > a.had {
				problem = fmt.Sprintf("what it says was true only from revision %d on, which was asked for later", revision)
			}
		}
		if problem != "" {
			findings = append(findings, fmt.Sprintf("%s\n  %s\n  revision %d was known before, from %s", a, problem, least, from))

			continue
		}
		heap.Push(known, bound{had: a.had, revision: revision, from: a.String()})
	}

	return findings
}

// floor knows which revision had been told to anybody by a time; it is asked for later and later times.
type floor struct {
	waiting []bound
	highest bound
}

type bound struct {
	had      time.Duration
	revision int64
	from     string
}

func (f *floor) at(asked time.Duration) (revision int64, from string) {
	for len(f.waiting) > 0 && f.waiting[0].had < asked {
		if b := heap.Pop(f).(bound); b.revision > f.highest.revision {
			f.highest = b
		}
	}

	return f.highest.revision, f.highest.from
}

func (f *floor) Len() int           { return len(f.waiting) }
func (f *floor) Less(i, j int) bool { return f.waiting[i].had < f.waiting[j].had }
func (f *floor) Swap(i, j int)      { f.waiting[i], f.waiting[j] = f.waiting[j], f.waiting[i] }
func (f *floor) Push(x any)         { f.waiting = append(f.waiting, x.(bound)) }
func (f *floor) Pop() any {
	last := f.waiting[len(f.waiting)-1]
	f.waiting = f.waiting[:len(f.waiting)-1]

	return last
}

// place finds the first revision from least on at which an answer is true, or says why there is none.
func (a answer) place(truth *truth, least int64) (revision int64, problem string) {
	switch a.kind {
	case made:
		c, ok := truth.exact(a.revision)
		switch {
		case !ok || c.key != a.key || c.deleted != a.deletes || !c.deleted && c.token != a.token:
			return 0, fmt.Sprintf("the write is not in the log, which has %+v", c)
		case a.revision <= least:
			return 0, "its revision was known before it was asked for"
		}

		return a.revision, ""
	case found:
		c, ok := truth.exact(a.revision)
		if !ok || c.key != a.key || c.deleted || a.token != "" && c.token != a.token {
			return 0, fmt.Sprintf("the log has something else at this revision: %+v", c)
		}
		if a.stale {
			return a.revision, ""
		}
		if next, ok := truth.next(a.key, a.revision); ok && next.revision <= least {
			return 0, fmt.Sprintf("goes back: replaced at revision %d (deleted: %t)", next.revision, next.deleted)
		}

		return max(a.revision, least), ""
	case absent:
		return a.first(truth, least, func(state int64) bool { return state == 0 })
	case exists:
		return a.first(truth, least, func(state int64) bool { return state != 0 })
	case differs:
		return a.first(truth, least, func(state int64) bool { return state != a.revision })
	case listed:
		return a.placeList(truth, least)
	default:
		return a.revision, ""
	}
}

// first finds the first revision at which the state of the answer's key is as it says.
func (a answer) first(truth *truth, least int64, holds func(state int64) bool) (revision int64, problem string) {
	for revision = least; ; {
		if holds(truth.state(a.key, revision)) || a.stale {
			return revision, ""
		}
		next, ok := truth.next(a.key, revision)
		if !ok {
			return 0, fmt.Sprintf("was not so any more: the key had revision %d", truth.state(a.key, math.MaxInt64-1))
		}
		revision = next.revision
	}
}

func (a answer) placeList(truth *truth, least int64) (revision int64, problem string) {
	want := map[string]int64{}
	for key := range truth.byKey {
		if c := truth.at(key, a.revision); !c.deleted && a.match(c) {
			want[key] = c.revision
		}
	}
	if diff := cmp.Diff(want, a.seen); diff != "" {
		return 0, "is not the state at its revision (-want +got):\n" + diff
	}
	if a.stale {
		return a.revision, ""
	}
	if later := truth.visible(a.match, a.revision); len(later) > 0 && later[0].revision <= least {
		return 0, fmt.Sprintf("goes back: lacks revision %d of %s", later[0].revision, later[0].key)
	}

	return max(a.revision, least), ""
}

// check looks whether a watch has brought every change once, in order, and whether what it has said holds.
func (w *watched) check(truth *truth) (findings []string) {
	want := truth.visible(w.match, w.after)
	complain := func(format string, args ...any) {
		findings = append(findings, w.what+fmt.Sprintf(" after %d: ", w.after)+fmt.Sprintf(format, args...))
	}
	for i, got := range w.events {
		if i == len(want) {
			complain("event %d, %+v, is one too many", i, got)

			break
		}
		if got.revision != want[i].revision || got.key != want[i].key || got.deleted != (want[i].deleted || !w.match(want[i])) ||
			!got.deleted && got.token != want[i].token {
			complain("event %d is %+v, want %+v", i, got, want[i])

			break
		}
		before := truth.at(got.key, got.revision-1)
		state := truth.state(got.key, got.revision-1)
		if got.before >= 0 && got.before != state {
			complain("event %d, %+v, says revision %d was there before, want %d", i, got, got.before, state)
		}
		if got.kind != "" && got.kind != w.kindOf(want[i], before) {
			complain("event %d, %+v, is called %s, want %s", i, got, got.kind, w.kindOf(want[i], before))
		}
	}
	if w.whole && len(w.events) < len(want) {
		complain("%d of %d events; event %+v never came", len(w.events), len(want), want[len(w.events)])
	}
	for _, p := range w.said {
		if p.events < len(want) && want[p.events].revision <= p.revision {
			complain("it said that everything up to revision %d was delivered, before %+v", p.revision, want[p.events])
		}
		if p.events > 0 && p.events <= len(w.events) && w.events[p.events-1].revision > p.revision {
			complain("it said that it was at revision %d, after %+v", p.revision, w.events[p.events-1])
		}
	}

	return findings
}

// kindOf is what the API calls a change that somebody sees who looks at what matches.
func (w *watched) kindOf(now, before change) string {
	switch {
	case now.deleted || !w.match(now):
		return "DELETED"
	case before.deleted || !w.match(before):
		return "ADDED"
	default:
		return "MODIFIED"
	}
}
