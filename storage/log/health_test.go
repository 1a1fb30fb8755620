// SPDX-License-Identifier: Apache-2.0

package log_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

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
	got, err := l.List(t.Context(), log.Read{Range: log.Range{Key: "/meanwhile", End: "/meanwhilf"}})
	if err != nil || len(got.Records) != 200 {
		t.Errorf("got %d records, %v", len(got.Records), err)
	}
	if problems, err := l.Check(t.Context(), true); err != nil || len(problems) > 0 {
		t.Errorf("the file is whole: got %q, %v", problems, err)
	}
	if err := l.Probe(t.Context()); err != nil || l.Full() {
		t.Errorf("Probe() = %v, full %t", err, l.Full())
	}
}
