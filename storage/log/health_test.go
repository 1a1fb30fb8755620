// SPDX-License-Identifier: Apache-2.0

package log_test

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// TestVacuum gives space back while others write, and loses nothing.
func TestVacuum(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.MinRevisions, cfg.MaxRevisions, cfg.Retain = 1, 1, 0
	l := open(t, cfg)
	big := bytes.Repeat([]byte("x"), 64<<10)
	for n := range 100 {
		r := apply(t, l, log.Change{Key: fmt.Sprint("/big", n), Value: big})
		apply(t, l, log.Change{Key: fmt.Sprint("/big", n), Delete: true, Revision: r.Revision})
	}
	var group sync.WaitGroup
	group.Go(func() {
		for n := range 200 {
			apply(t, l, log.Change{Key: fmt.Sprint("/meanwhile", n), Value: []byte("x")})
		}
	})
	if err := l.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	if err := l.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
	if unused, err := l.Unused(t.Context()); err != nil || unused > 512<<10 {
		t.Errorf("%d bytes are still unused, %v", unused, err)
	}
	list, err := l.List(t.Context(), log.Read{Range: log.Range{Key: "/meanwhile", End: "/meanwhilf"}})
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for n := range 200 {
		want = append(want, fmt.Sprint("/meanwhile", n))
	}
	slices.Sort(want)
	for _, r := range list.Records {
		got = append(got, r.Key)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys that were written meanwhile (-want +got):\n%s", diff)
	}
	if problems, err := l.Check(t.Context(), true); err != nil || len(problems) > 0 {
		t.Errorf("the file is whole: got %q, %v", problems, err)
	}
	if err := l.Probe(t.Context()); err != nil || l.Full() {
		t.Errorf("Probe() = %v, full %t", err, l.Full())
	}
}
