// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	writers  = 8
	readers  = 16
	listed   = 500
	watchers = 50

	collection = "/apis/core.gardener.cloud/v1beta1/namespaces/" + namespace + "/shoots"
)

// serial makes names that no other run of a benchmark has used: the framework runs each several times.
var serial atomic.Int64

// load makes n requests from some clients at once and reports how many a second there were, how long one took, and
// what it cost the server.
func (g *garden) load(b *testing.B, clients int, what string, request func(ctx context.Context, n int) error) {
	b.Helper()
	var next atomic.Int64
	took := make([][]time.Duration, clients)
	group, ctx := errgroup.WithContext(b.Context())
	before, began := g.spent(b), time.Now()
	b.ResetTimer()
	for c := range clients {
		group.Go(func() error {
			for {
				n := int(next.Add(1)) - 1
				if n >= b.N {
					return nil
				}
				start := time.Now()
				if err := request(ctx, n); err != nil {
					return err
				}
				took[c] = append(took[c], time.Since(start))
			}
		})
	}
	err := group.Wait()
	b.StopTimer()
	if err != nil {
		b.Fatalf("%s: %v", what, err)
	}
	elapsed, cost := time.Since(began), g.spent(b)-before
	all := slices.Concat(took...)
	slices.Sort(all)
	b.ReportMetric(float64(b.N)/elapsed.Seconds(), what+"/s")
	b.ReportMetric(float64(cost.Microseconds())/float64(b.N), "server-µs/op")
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
}

// shoots makes manifests of shoots; a body is cheap to make, so that clients cost little.
func shoots(tb testing.TB, change ...func(*gardencorev1beta1.Shoot)) func(name string) []byte {
	tb.Helper()
	shoot, err := order()
	if err != nil {
		tb.Fatal(err)
	}
	for _, c := range change {
		c(shoot)
	}

	return func(name string) []byte {
		one := *shoot
		one.Name = name
		raw, err := json.Marshal(&one)
		if err != nil {
			tb.Error(err)
		}

		return raw
	}
}

// unscheduled shoots stay as they were created.
func unscheduled(shoot *gardencorev1beta1.Shoot) { shoot.Spec.SchedulerName = new("nobody") }

// population makes shoots to read and change, once.
var population sync.Once

func (g *garden) populate(b *testing.B) {
	b.Helper()
	population.Do(func() {
		body := shoots(b, unscheduled, func(s *gardencorev1beta1.Shoot) {
			s.Labels["population"] = "listed"
		})
		group, ctx := errgroup.WithContext(b.Context())
		group.SetLimit(writers)
		for n := range listed {
			group.Go(func() error {
				_, err := g.send(ctx, http.MethodPost, collection, body(inhabitant(n)))

				return err
			})
		}
		if err := group.Wait(); err != nil {
			b.Fatalf("populate: %v", err)
		}
	})
}

func inhabitant(n int) string { return fmt.Sprintf("p-%d", n%listed) }

// BenchmarkCreate makes shoots that the scheduler places on seeds meanwhile.
func BenchmarkCreate(b *testing.B) {
	g := start(b)
	body := shoots(b)
	g.load(b, writers, "creates", func(ctx context.Context, _ int) error {
		_, err := g.send(ctx, http.MethodPost, collection, body(fmt.Sprintf("c-%d", serial.Add(1))))

		return err
	})
}

// BenchmarkCreateUnscheduled makes shoots that nobody places, which leaves the cost of the API alone.
func BenchmarkCreateUnscheduled(b *testing.B) {
	g := start(b)
	body := shoots(b, unscheduled)
	g.load(b, writers, "creates", func(ctx context.Context, _ int) error {
		_, err := g.send(ctx, http.MethodPost, collection, body(fmt.Sprintf("u-%d", serial.Add(1))))

		return err
	})
}

// BenchmarkCreateSmall makes shoots as small as they can be, which is what comparisons are usually made with.
func BenchmarkCreateSmall(b *testing.B) {
	g := start(b)
	body := shoots(b, unscheduled, func(s *gardencorev1beta1.Shoot) {
		small := gardencorev1beta1.ShootSpec{
			CloudProfile: s.Spec.CloudProfile, CredentialsBindingName: s.Spec.CredentialsBindingName, Region: s.Spec.Region,
			SchedulerName: s.Spec.SchedulerName, Networking: &gardencorev1beta1.Networking{Type: s.Spec.Networking.Type},
		}
		small.Kubernetes.Version = s.Spec.Kubernetes.Version
		small.Provider.Type = s.Spec.Provider.Type
		machine := s.Spec.Provider.Workers[0].Machine
		small.Provider.Workers = []gardencorev1beta1.Worker{{
			Name: "one", Minimum: 1, Maximum: 1, Machine: machine, Volume: s.Spec.Provider.Workers[0].Volume,
		}}
		s.Spec, s.Labels, s.Annotations = small, nil, nil
	})
	g.load(b, writers, "creates", func(ctx context.Context, _ int) error {
		_, err := g.send(ctx, http.MethodPost, collection, body(fmt.Sprintf("s-%d", serial.Add(1))))

		return err
	})
}

// BenchmarkGet reads shoots by name, each time what is stored.
func BenchmarkGet(b *testing.B) {
	g := start(b)
	g.populate(b)
	g.load(b, readers, "gets", func(ctx context.Context, n int) error {
		_, err := g.send(ctx, http.MethodGet, collection+"/"+inhabitant(n), nil)

		return err
	})
}

// BenchmarkList reads 500 shoots at once, each time what is stored.
func BenchmarkList(b *testing.B) {
	for _, form := range []struct{ name, query string }{{"All", ""}, {"Paged", "&limit=500"}, {"Cached", "&resourceVersion=0"}} {
		b.Run(form.name, func(b *testing.B) {
			g := start(b)
			g.populate(b)
			var size atomic.Int64
			g.load(b, 1, "lists", func(ctx context.Context, _ int) error {
				answer, err := g.send(ctx, http.MethodGet, collection+"?labelSelector=population%3Dlisted"+form.query, nil)
				size.Store(int64(len(answer)))

				return err
			})
			b.ReportMetric(float64(size.Load())/1e6, "MB")
		})
	}
}

// BenchmarkListDecoded is what a typed client sees: the list is decoded as well.
func BenchmarkListDecoded(b *testing.B) {
	g := start(b)
	g.populate(b)
	g.load(b, 1, "lists", func(ctx context.Context, _ int) error {
		answer, err := g.send(ctx, http.MethodGet, collection+"?labelSelector=population%3Dlisted", nil)
		if err != nil {
			return err
		}
		list := &gardencorev1beta1.ShootList{}
		if err := json.Unmarshal(answer, list); err != nil {
			return err
		}
		if len(list.Items) != listed {
			return fmt.Errorf("%d shoots, want %d", len(list.Items), listed)
		}

		return nil
	})
}

// BenchmarkUpdate replaces shoots by ones with another label, each at the version that the writer saw last.
func BenchmarkUpdate(b *testing.B) {
	g := start(b)
	g.populate(b)
	latest := make([]sync.Mutex, listed)
	g.load(b, writers, "updates", func(ctx context.Context, n int) error {
		latest[n%listed].Lock()
		defer latest[n%listed].Unlock()

		return g.touch(ctx, n)
	})
}

// touch reads a shoot and writes it back with a change.
func (g *garden) touch(ctx context.Context, n int) error {
	path := collection + "/" + inhabitant(n)
	raw, err := g.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	shoot := map[string]any{}
	if err := json.Unmarshal(raw, &shoot); err != nil {
		return err
	}
	shoot["metadata"].(map[string]any)["labels"].(map[string]any)["touched"] = fmt.Sprint(serial.Add(1))
	if raw, err = json.Marshal(shoot); err != nil {
		return err
	}
	_, err = g.send(ctx, http.MethodPut, path, raw)

	return err
}

// BenchmarkWatch changes shoots while many clients watch them: one operation is a change that all of them have seen.
func BenchmarkWatch(b *testing.B) {
	g := start(b)
	g.populate(b)
	ctx, cancel := context.WithCancel(b.Context())
	limit, expire := context.WithTimeout(ctx, 10*time.Minute)
	defer expire()
	all, told := int64(watchers*b.N), make(chan struct{})
	var seen atomic.Int64
	group := &sync.WaitGroup{}
	for range watchers {
		stream, err := g.watch(ctx)
		if err != nil {
			b.Fatalf("watch: %v", err)
		}
		group.Go(func() {
			defer func() { _ = stream.Close() }()
			events := json.NewDecoder(stream)
			for {
				var event json.RawMessage
				if err := events.Decode(&event); err != nil {
					return
				}
				if seen.Add(1) == all {
					close(told)
				}
			}
		})
	}
	began := time.Now()
	g.load(b, writers, "changes", func(ctx context.Context, n int) error {
		raw := fmt.Appendf(nil, `{"metadata":{"labels":{"touched":"%d"}}}`, serial.Add(1))
		return g.patch(ctx, collection+"/"+inhabitant(n), raw)
	})
	select {
	case <-told:
	case <-limit.Done():
		b.Fatalf("%d of %d events have come", seen.Load(), all)
	}
	b.ReportMetric(float64(watchers*b.N)/time.Since(began).Seconds(), "events/s")
	cancel()
	group.Wait()
}

// watch opens a stream of changes from now on.
func (g *garden) watch(ctx context.Context) (io.ReadCloser, error) {
	raw, err := g.send(ctx, http.MethodGet, collection+"?limit=1", nil)
	if err != nil {
		return nil, err
	}
	list := &gardencorev1beta1.ShootList{}
	if err := json.Unmarshal(raw, list); err != nil {
		return nil, err
	}
	query := "?watch=true&labelSelector=population%3Dlisted&resourceVersion=" + list.ResourceVersion
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, g.host+collection+query, nil)
	if err != nil {
		return nil, err
	}
	response, err := g.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("status %s", response.Status), response.Body.Close())
	}

	return response.Body, nil
}
