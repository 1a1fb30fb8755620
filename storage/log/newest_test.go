// SPDX-License-Identifier: Apache-2.0

package log_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// TestNewestRevision asks for the revision that is the newest one while the next is published: what is read belongs to the
// revision that was asked for.
func TestNewestRevision(t *testing.T) {
	t.Parallel()
	l := open(t, config(t))
	const rounds = 200
	reads := map[string]func(revision int64) (int, error){
		"List": func(revision int64) (int, error) {
			list, err := l.List(t.Context(), log.Read{Range: all, Revision: revision})
			return len(list.Records), err
		},
		"Count": func(revision int64) (int, error) {
			_, count, err := l.Count(t.Context(), all, revision)
			return int(count), err
		},
	}
	exists := map[int64]int{l.Revision(): 0}
	written := make(chan struct{})
	type answer struct {
		Read     string
		Revision int64
		Count    int
	}
	var group errgroup.Group
	answers := make([][]answer, 4)
	for n := range answers {
		group.Go(func() error {
			for {
				select {
				case <-written:
					return nil
				default:
				}
				for name, read := range reads {
					revision := l.Revision()
					count, err := read(revision)
					if err != nil {
						return fmt.Errorf("%s at revision %d: %w", name, revision, err)
					}
					answers[n] = append(answers[n], answer{name, revision, count})
				}
			}
		})
	}
	for range rounds {
		created, err := l.Write(t.Context(), log.Change{Key: "/a", Value: []byte("value")})
		if err != nil {
			t.Fatal(err)
		}
		deleted, err := l.Write(t.Context(), log.Change{Key: "/a", Delete: true, Revision: created.Revision})
		if err != nil {
			t.Fatal(err)
		}
		exists[created.Revision], exists[deleted.Revision] = 1, 0
	}
	close(written)
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	for _, a := range slices.Concat(answers...) {
		if diff := cmp.Diff(answer{a.Read, a.Revision, exists[a.Revision]}, a); diff != "" {
			t.Fatalf("keys at a revision (-want +got):\n%s", diff)
		}
	}
}
