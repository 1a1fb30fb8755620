// SPDX-License-Identifier: Apache-2.0

package log_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// TestCancelledExport ends an export in the middle.
func TestCancelledExport(t *testing.T) {
	t.Parallel()
	l := open(t, config(t))
	for n := range 10 {
		apply(t, l, log.Change{Key: fmt.Sprintf("/%d", n), Value: []byte("a")})
	}
	e, err := l.Export(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, end := context.WithCancel(t.Context())
	defer end()
	read := 0
	err = e.Since(ctx, 0, func(*log.Record) error {
		if read++; read == 3 {
			end()
		}

		return nil
	})
	if !errors.Is(err, context.Canceled) || read != 3 {
		t.Errorf("Since(cancelled after 3 records): got %d records, %v; want 3, %v", read, err, context.Canceled)
	}
}

// BenchmarkExport reads records of 1 kB, with a context that can end, as those of the server can.
func BenchmarkExport(b *testing.B) {
	const records = 5000
	cfg := log.NewConfig(filepath.Join(b.TempDir(), "objects.db"))
	cfg.GroupDelay = 0
	l, err := log.Open(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := l.Close(); err != nil {
			b.Error(err)
		}
	})
	value := bytes.Repeat([]byte("v"), 1<<10)
	for n := range records {
		if _, err := l.Write(b.Context(), log.Change{Key: fmt.Sprintf("/%d", n), Value: value}); err != nil {
			b.Fatal(err)
		}
	}
	e, err := l.Export(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			b.Error(err)
		}
	}()
	ctx, end := context.WithCancel(b.Context())
	defer end()
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Since(ctx, 0, func(*log.Record) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/records, "ns/record")
}
