// SPDX-License-Identifier: Apache-2.0

package benchstore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const valueSize = 2 << 10

// BenchmarkCreate lets many clients create keys at the same time.
func BenchmarkCreate(b *testing.B) {
	for _, writers := range []int{1, 16, 1000} {
		b.Run(fmt.Sprintf("Writers=%d", writers), func(b *testing.B) {
			compare(b, func(b *testing.B, clients []*clientv3.Client) {
				value := random(valueSize)
				work(b, writers, func(n int) error {
					return create(b.Context(), clients[n%len(clients)], fmt.Sprintf("/registry/things/%08d", n), value)
				})
			})
		})
	}
}

// BenchmarkUpdateHot lets clients count in one object, each with the revision that it has read.
func BenchmarkUpdateHot(b *testing.B) {
	compare(b, func(b *testing.B, clients []*clientv3.Client) {
		value := random(valueSize)
		if err := create(b.Context(), clients[0], "/registry/hot", value); err != nil {
			b.Fatal(err)
		}
		work(b, 16, func(n int) error { return update(b.Context(), clients[n%len(clients)], "/registry/hot", value) })
	})
}

func compare(b *testing.B, run func(b *testing.B, clients []*clientv3.Client)) {
	b.Helper()
	for _, backend := range backends {
		b.Run(backend.name, func(b *testing.B) {
			run(b, connect(b, backend.start(b, b.TempDir()), 8))
		})
	}
}

// work spreads b.N operations over workers and reports how long they took.
func work(b *testing.B, workers int, do func(n int) error) {
	b.Helper()
	took := make([]time.Duration, b.N)
	var next atomic.Int64
	var group sync.WaitGroup
	b.ResetTimer()
	for range workers {
		group.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= b.N {
					return
				}
				began := time.Now()
				if err := do(n); err != nil {
					b.Error(err)

					return
				}
				took[n] = time.Since(began)
			}
		})
	}
	group.Wait()
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

func create(ctx context.Context, c *clientv3.Client, key, value string) error {
	answer, err := c.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", 0)).Then(clientv3.OpPut(key, value)).Commit()
	if err == nil && !answer.Succeeded {
		err = errors.New("exists")
	}

	return err
}

func update(ctx context.Context, c *clientv3.Client, key, value string) error {
	revision := int64(-1)
	for {
		if revision < 0 {
			now, err := c.Get(ctx, key)
			if err != nil {
				return err
			}
			revision = now.Kvs[0].ModRevision
		}
		answer, err := c.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", revision)).
			Then(clientv3.OpPut(key, value)).Else(clientv3.OpGet(key)).Commit()
		if err != nil || answer.Succeeded {
			return err
		}
		revision = answer.Responses[0].GetResponseRange().Kvs[0].ModRevision
	}
}

func random(size int) string {
	value := make([]byte, size)
	for i := range value {
		value[i] = byte('a' + rand.IntN(26))
	}

	return string(value)
}
