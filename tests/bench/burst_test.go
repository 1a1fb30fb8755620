// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

var (
	// burst is how many shoots TestBurst orders at once.
	burst = flag.Int("burst", 0, "how many shoots to order at once; 0 for none")
	// present is how many shoots there are when it orders them once more.
	present = flag.Int("present", 0, "how many shoots there are before they are ordered again; 0 to leave this out")
)

// TestBurst orders shoots as fast as 8 writers can, with the scheduler and all other controllers at work, in a garden that has
// few shoots and in one that has many.
func TestBurst(t *testing.T) {
	t.Parallel()
	if *burst == 0 {
		t.Skip("asked for by -burst")
	}
	g := start(t)
	g.order(t, "warm", 50) // So that the first burst does not pay for what is only done once.
	g.settle(t)
	for _, try := range []string{"a", "b", "c"} {
		t.Logf("%d shoots, few others: %s", *burst, g.order(t, "few-"+try, *burst))
		g.settle(t)
	}
	if *present == 0 {
		return
	}
	t.Logf("%d more shoots: %s", *present, g.order(t, "many", *present))
	g.settle(t)
	for _, try := range []string{"a", "b", "c"} {
		t.Logf("%d shoots, %d others: %s", *burst, *present, g.order(t, "late-"+try, *burst))
		g.settle(t)
	}
}

// placements are the times at which shoots were seen with a seed.
type placements struct {
	mu   sync.Mutex
	seen map[string]placement
	want int
	// watches counts the watches; each but the first follows one that the server has ended.
	watches atomic.Int32
	all     chan struct{}
}

type placement struct {
	at   time.Time
	seed string
}

// follow watches until n shoots with this prefix have a seed. When the server ends the watch because the client is too slow, it
// goes on where it was, at once, as informers do.
func (g *garden) follow(ctx context.Context, t *testing.T, prefix string, n int) *placements {
	t.Helper()
	p := &placements{seen: map[string]placement{}, want: n, all: make(chan struct{})}
	options := func(o metav1.ListOptions) *client.ListOptions {
		return &client.ListOptions{Namespace: namespace, Raw: &o}
	}
	informer := cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list := &gardencorev1beta1.ShootList{}

			return list, g.client.List(ctx, list, options(o))
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			p.watches.Add(1)

			return g.client.Watch(ctx, &gardencorev1beta1.ShootList{}, options(o))
		},
	}, &gardencorev1beta1.Shoot{}, 0, nil)
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { p.note(object, prefix) },
		UpdateFunc: func(_, object any) { p.note(object, prefix) },
	})
	if err != nil {
		t.Fatalf("watch shoots: %v", err)
	}
	ctx, end := context.WithCancel(ctx)
	go func() {
		defer end()
		select {
		case <-p.all:
		case <-ctx.Done():
		}
	}()
	go informer.RunWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		t.Fatal("the shoots that there are were not listed")
	}

	return p
}

// note notes what a watch shows until that is all.
func (p *placements) note(object any, prefix string) {
	shoot, ok := object.(*gardencorev1beta1.Shoot)
	if !ok || shoot.Spec.SeedName == nil || !strings.HasPrefix(shoot.Name, prefix) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, seen := p.seen[shoot.Name]; seen {
		return
	}
	p.seen[shoot.Name] = placement{at: time.Now(), seed: *shoot.Spec.SeedName}
	if len(p.seen) == p.want {
		close(p.all)
	}
}

// order orders n shoots and waits until all of them have a seed.
func (g *garden) order(t *testing.T, prefix string, n int) string {
	t.Helper()
	const patience = 10 * time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	body := shoots(t)
	placed := g.follow(ctx, t, prefix+"-", n)
	before, writes, began := g.spent(t), g.writes(t), time.Now()
	created := make([]time.Time, n)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range n {
		group.Go(func() error {
			_, err := g.send(ctx, http.MethodPost, collection, body(fmt.Sprintf("%s-%d", prefix, i)))
			created[i] = time.Now()

			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("order shoots: %v", err)
	}
	ordering := time.Since(began)
	select {
	case <-placed.all:
	case <-t.Context().Done():
		t.Fatal("the test ends")
	case <-time.After(patience):
		t.Fatal("not all shoots have a seed")
	}
	placing, cost := time.Since(began), g.spent(t)-before
	g.settle(t)
	all := g.spent(t) - before

	took := make([]time.Duration, 0, n)
	on := map[string]int{}
	for i := range n {
		one := placed.seen[fmt.Sprintf("%s-%d", prefix, i)]
		took = append(took, max(0, one.at.Sub(created[i])))
		on[one.seed]++
	}
	slices.Sort(took)
	spread := slices.Sorted(maps.Values(on))
	made := difference(writes, g.writes(t))

	return fmt.Sprintf("%.0f created/s, %.0f placed/s, placed p50 %s, p99 %s, %.1f ms of processor time each until placed, %.1f ms with all that follows, "+
		"%d to %d on each of %d seeds, %d conflicts, the watch was cut %d times\n%s",
		float64(n)/ordering.Seconds(), float64(n)/placing.Seconds(), took[n/2].Round(time.Millisecond), took[n*99/100].Round(time.Millisecond),
		each(cost, n), each(all, n), spread[0], spread[len(spread)-1], len(spread), conflicts(made), placed.watches.Load()-1, table(made, n))
}

func each(d time.Duration, n int) float64 { return float64(d.Microseconds()) / 1000 / float64(n) }

// sample is a line of the server's metrics with its labels and its number.
var sample = regexp.MustCompile(`^apiserver_request_total\{(.*)\} (\S+)$`)

// writes are the writing requests that the server has answered, by verb, resource and status code.
func (g *garden) writes(t *testing.T) map[string]int {
	t.Helper()
	raw, err := g.send(t.Context(), http.MethodGet, "/metrics", nil)
	if err != nil {
		t.Fatalf("read metrics: %v", err)
	}
	counts := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		found := sample.FindStringSubmatch(lines.Text())
		if found == nil {
			continue
		}
		labels := map[string]string{}
		for label := range strings.SplitSeq(found[1], ",") {
			name, value, _ := strings.Cut(label, "=")
			labels[name] = strings.Trim(value, `"`)
		}
		number, err := strconv.ParseFloat(found[2], 64)
		if err != nil {
			t.Fatalf("read metrics: %v", err)
		}
		switch labels["verb"] {
		case "GET", "LIST", "WATCH", "CONNECT":
			if labels["code"] != "409" {
				continue
			}
		}
		resource := labels["resource"]
		if labels["subresource"] != "" {
			resource += "/" + labels["subresource"]
		}
		counts[fmt.Sprintf("%s %s %s", labels["verb"], resource, labels["code"])] += int(number)
	}

	return counts
}

func difference(before, after map[string]int) map[string]int {
	more := map[string]int{}
	for what, n := range after {
		if n > before[what] {
			more[what] = n - before[what]
		}
	}

	return more
}

func conflicts(made map[string]int) (n int) {
	for what, count := range made {
		if strings.HasSuffix(what, " 409") {
			n += count
		}
	}

	return n
}

// table says how many requests there were of each sort.
func table(made map[string]int, n int) string {
	text := strings.Builder{}
	for _, what := range slices.Sorted(maps.Keys(made)) {
		fmt.Fprintf(&text, "\t%-60s %6d, %.2f a shoot\n", what, made[what], float64(made[what])/float64(n))
	}

	return text.String()
}
