// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"math"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"golang.org/x/sync/errgroup"
)

// register is what Porcupine knows of a key: its revision, 0 if it does not exist, and the last one that it had.
type register struct{ now, last int64 }

// patience bounds Porcupine's search for one key. The search takes exponentially longer with the number of answers that
// overlap, and one that was given up proves nothing.
const patience = 5 * time.Second

// checkRegisters asks Porcupine whether the answers about each key have an order. Lists count as a read of each key.
// A change whose writer got no answer may have come at any time.
func (r *recorder) checkRegisters(t *testing.T, truth *truth) {
	t.Helper()
	answered := map[int64]bool{}
	for _, a := range r.answers {
		answered[a.revision] = answered[a.revision] || a.kind == made
	}
	keys := map[string][]porcupine.Operation{}
	for _, a := range r.answers {
		if a.kind != told && a.kind != listed && !a.stale {
			keys[a.key] = append(keys[a.key], operation(a))
		}
	}
	for _, c := range truth.changes {
		if !answered[c.revision] {
			keys[c.key] = append(keys[c.key], operation(answer{
				kind: made, key: c.key, revision: c.revision, token: c.token, deletes: c.deleted, expected: unconditional, had: never,
			}))
		}
	}
	for _, a := range r.answers {
		if a.kind != listed || a.stale || a.single {
			continue
		}
		for key := range keys {
			one := a
			one.key, one.token, one.kind, one.revision = key, "", found, a.seen[key]
			if one.revision == 0 {
				one.kind = absent
				// What a selector leaves out may exist.
				if !a.match(change{key: key}) {
					continue
				}
			}
			keys[key] = append(keys[key], operation(one))
		}
	}
	model := porcupine.Model{Init: func() any { return register{} }, Step: step}
	var group errgroup.Group
	group.SetLimit(2)
	for key, history := range keys {
		group.Go(func() error {
			switch porcupine.CheckOperationsTimeout(model, history, patience) {
			case porcupine.Illegal:
				t.Errorf("Porcupine finds no order of the %d answers about %s", len(history), key)
			case porcupine.Unknown:
				t.Logf("Porcupine gave up on the %d answers about %s", len(history), key)
			case porcupine.Ok:
			}

			return nil
		})
	}
	_ = group.Wait()
}

func operation(a answer) porcupine.Operation {
	if a.had == never {
		a.had = math.MaxInt64
	}

	return porcupine.Operation{ClientId: a.client, Input: a, Call: int64(a.asked), Return: int64(a.had)}
}

// never is when an answer came that did not come.
const never = time.Duration(math.MaxInt64)

// step says whether an answer is true of a register, and what it has made of it.
func step(state, input, _ any) (bool, any) {
	s, a := state.(register), input.(answer)
	switch a.kind {
	case made:
		next := register{now: a.revision, last: a.revision}
		if a.deletes {
			next.now = 0
		}

		return a.revision > s.last && (a.expected == unconditional || a.expected == s.now), next
	case found:
		return s.now == a.revision, s
	case absent:
		return s.now == 0, s
	case exists:
		return s.now != 0, s
	case differs:
		return s.now != a.revision, s
	default:
		return true, s
	}
}
