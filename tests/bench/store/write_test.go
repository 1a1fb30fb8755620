// SPDX-License-Identifier: Apache-2.0

package store_test

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

	"github.com/terrarium-garden/terrarium/storage/log"
)

const valueSize = 2 << 10

// BenchmarkCreate lets many clients create keys at the same time.
func BenchmarkCreate(b *testing.B) {
	for _, writers := range []int{1, 16, 1000} {
		b.Run(fmt.Sprintf("Writers=%d", writers), func(b *testing.B) {
			compare(b, func(b *testing.B, clients []*clientv3.Client) {
				b.Helper()
				value := random(valueSize)
				work(b, writers, func(n int) error {
					return create(b.Context(), clients[n%len(clients)], fmt.Sprintf("/registry/things/%08d", n), value)
				})
			})
		})
	}
}

// BenchmarkUpdateHot lets one client change one object as fast as it can while others watch it.
func BenchmarkUpdateHot(b *testing.B) {
	compare(b, func(b *testing.B, clients []*clientv3.Client) {
		b.Helper()
		value := random(valueSize)
		if err := create(b.Context(), clients[0], "/registry/hot", value); err != nil {
			b.Fatal(err)
		}
		var watching sync.WaitGroup
		for n := range 50 {
			watching.Go(func() { follow(b, clients[n%len(clients)], "/registry/hot", b.N) })
		}
		revision := int64(0)
		work(b, 1, func(int) (err error) {
			revision, err = update(b.Context(), clients[0], "/registry/hot", value, revision)

			return err
		})
		watching.Wait()
	})
}

// BenchmarkHeartbeats renews the leases of a thousand nodes, again and again.
func BenchmarkHeartbeats(b *testing.B) {
	const nodes = 1000
	compare(b, func(b *testing.B, clients []*clientv3.Client) {
		b.Helper()
		value := random(300)
		revisions := make([]int64, nodes)
		key := func(n int) string { return fmt.Sprintf("/registry/leases/kube-node-lease/node-%04d", n) }
		for n := range nodes {
			if err := create(b.Context(), clients[0], key(n), value); err != nil {
				b.Fatal(err)
			}
		}
		locks := make([]sync.Mutex, nodes)
		work(b, 100, func(i int) (err error) {
			n := i % nodes
			locks[n].Lock()
			defer locks[n].Unlock()
			revisions[n], err = update(b.Context(), clients[n%len(clients)], key(n), value, revisions[n])

			return err
		})
		b.ReportMetric(size(b, clients[0])/(1<<20), "MiB-in-file")
	})
}

// BenchmarkWithoutTransport creates keys and reads them in the log itself, and through the etcd API, by one client: the
// difference is what the API costs, gRPC on both sides included.
func BenchmarkWithoutTransport(b *testing.B) {
	endpoint := startLog(b, b.TempDir())
	etcd := connect(b, endpoint, 1)[0]
	value := random(valueSize)
	ways := []struct {
		name   string
		create func(key string) error
		get    func(key string) error
	}{
		{"Log", func(key string) error {
			_, err := endpoint.Log.Write(b.Context(), log.Change{Key: key, Value: []byte(value)})

			return err
		}, func(key string) error {
			_, err := endpoint.Log.List(b.Context(), log.Read{Range: log.Range{Key: key}})

			return err
		}},
		{"API", func(key string) error { return create(b.Context(), etcd, key, value) }, func(key string) error {
			_, err := etcd.Get(b.Context(), key)

			return err
		}},
	}
	made := 0
	for _, way := range ways {
		b.Run("Create/"+way.name, func(b *testing.B) {
			work(b, 1, func(int) error {
				made++

				return way.create(fmt.Sprintf("/registry/things/%08d", made))
			})
		})
	}
	for _, way := range ways {
		b.Run("Get/"+way.name, func(b *testing.B) {
			work(b, 1, func(n int) error { return way.get(fmt.Sprintf("/registry/things/%08d", n%made+1)) })
		})
	}
}

// BenchmarkFanOut changes an object that ten thousand watches are told of: one operation is a change that all of them have
// seen.
func BenchmarkFanOut(b *testing.B) {
	const watches = 10_000
	compare(b, func(b *testing.B, clients []*clientv3.Client) {
		b.Helper()
		value := random(valueSize)
		revision, err := int64(0), create(b.Context(), clients[0], "/registry/hot", value)
		if err != nil {
			b.Fatal(err)
		}
		var seen atomic.Int64
		told := make(chan struct{}, 1)
		ctx, stop := context.WithCancel(b.Context())
		var watching sync.WaitGroup
		for n := range watches {
			watching.Go(func() {
				for answer := range clients[n%len(clients)].Watch(ctx, "/registry/hot", clientv3.WithRev(2)) {
					if seen.Add(int64(len(answer.Events)))%watches == 0 {
						told <- struct{}{}
					}
				}
			})
		}
		// All of them know the creation.
		<-told
		work(b, 1, func(int) error {
			if revision, err = update(b.Context(), clients[0], "/registry/hot", value, revision); err != nil {
				return err
			}
			<-told

			return nil
		})
		b.ReportMetric(float64(b.N*watches)/b.Elapsed().Seconds(), "events/s")
		stop()
		watching.Wait()
	})
}

// BenchmarkListBesideWrites lists 500 keys while two clients write.
func BenchmarkListBesideWrites(b *testing.B) {
	compare(b, func(b *testing.B, clients []*clientv3.Client) {
		b.Helper()
		value := random(valueSize)
		for n := range 500 {
			if err := create(b.Context(), clients[0], fmt.Sprintf("/registry/things/%04d", n), value); err != nil {
				b.Fatal(err)
			}
		}
		ctx, stop := context.WithCancel(b.Context())
		var writing sync.WaitGroup
		for w := range 2 {
			writing.Go(func() {
				revision := int64(0)
				for ctx.Err() == nil {
					revision, _ = update(ctx, clients[w+1], fmt.Sprintf("/registry/things/%04d", w), value, revision)
				}
			})
		}
		work(b, 1, func(int) error {
			_, err := clients[0].Get(b.Context(), "/registry/things/", clientv3.WithPrefix())

			return err
		})
		stop()
		writing.Wait()
	})
}

// follow watches a key until it was changed so many times.
func follow(b *testing.B, c *clientv3.Client, key string, changes int) {
	b.Helper()
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	seen := 0
	for answer := range c.Watch(ctx, key, clientv3.WithRev(2), clientv3.WithPrevKV()) {
		for _, e := range answer.Events {
			if !e.IsCreate() {
				seen++
			}
		}
		if seen >= changes || answer.Err() != nil {
			return
		}
	}
}

// size returns what a store says about its size.
func size(b *testing.B, c *clientv3.Client) float64 {
	b.Helper()
	status, err := c.Status(b.Context(), c.Endpoints()[0])
	if err != nil {
		b.Fatal(err)
	}

	return float64(status.DbSize)
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

// update changes a key that has a revision, or whatever it has where the revision is 0 or outdated. It returns the new one.
func update(ctx context.Context, c *clientv3.Client, key, value string, revision int64) (int64, error) {
	for {
		answer, err := c.Txn(ctx).If(clientv3.Compare(clientv3.ModRevision(key), "=", max(revision, 1))).
			Then(clientv3.OpPut(key, value)).Else(clientv3.OpGet(key)).Commit()
		if err != nil {
			return 0, err
		}
		if answer.Succeeded {
			return answer.Header.Revision, nil
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
