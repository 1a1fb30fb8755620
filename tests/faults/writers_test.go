// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

func dialer() func(ctx context.Context, network, address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: time.Minute}).DialContext
}

// TestThousandWriters writes without a fault.
//
//nolint:paralleltest // A thousand writers at a time are enough.
func TestThousandWriters(t *testing.T) {
	g := start(t, t.TempDir())
	t.Run("DifferentObjects", g.differentObjects)
	t.Run("SameObject", g.sameObject)
	t.Run("ReadAfterWrite", g.readAfterWrite)
}

// differentObjects creates, changes and deletes; nobody is in anybody's way.
func (g *garden) differentObjects(t *testing.T) {
	began := time.Now()
	group, ctx := errgroup.WithContext(t.Context())
	for w := range writers {
		group.Go(func() error {
			c, kept, gone := g.of(w), note(fmt.Sprintf("kept-%d", w), "1"), note(fmt.Sprintf("gone-%d", w), "1")
			if err := c.Create(ctx, kept); err != nil {
				return fmt.Errorf("create: %w", err)
			}
			if err := c.Create(ctx, gone); err != nil {
				return fmt.Errorf("create: %w", err)
			}
			kept.Data["number"] = []byte("2")
			if err := c.Update(ctx, kept); err != nil {
				return fmt.Errorf("update: %w", err)
			}
			if err := c.Delete(ctx, gone); err != nil {
				return fmt.Errorf("delete: %w", err)
			}

			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("No writer sees an error.\n%v", err)
	}
	t.Logf("%d writes in %s", 4*writers, time.Since(began))
	found := g.notes(t.Context(), t)
	want := map[string]string{}
	for w := range writers {
		want[fmt.Sprintf("kept-%d", w)] = "2"
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("What was written is read, and what was deleted is gone (-want +got):\n%s", diff)
	}
}

// sameObject counts in one object: each writer adds one to what it has read, a few times, and counts what was accepted.
func (g *garden) sameObject(t *testing.T) {
	const attempts = 3
	shared := note("shared", "0")
	if err := g.clients[0].Create(t.Context(), shared); err != nil {
		t.Fatal(err)
	}
	var accepted, conflicts atomic.Int64
	group, ctx := errgroup.WithContext(t.Context())
	for w := range writers {
		group.Go(func() error {
			for range attempts {
				mine := &gardencorev1beta1.InternalSecret{}
				if err := g.of(w).Get(ctx, client.ObjectKeyFromObject(shared), mine); err != nil {
					return fmt.Errorf("get: %w", err)
				}
				number, err := strconv.Atoi(string(mine.Data["number"]))
				if err != nil {
					return err
				}
				mine.Data["number"] = []byte(strconv.Itoa(number + 1))
				switch err := g.of(w).Update(ctx, mine); {
				case err == nil:
					accepted.Add(1)
				case apierrors.IsConflict(err):
					conflicts.Add(1)
				default:
					return fmt.Errorf("update: %w", err)
				}
			}

			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("A writer sees conflicts, and no other error.\n%v", err)
	}
	t.Logf("%d accepted, %d conflicts", accepted.Load(), conflicts.Load())
	if got := g.notes(t.Context(), t)["shared"]; got != strconv.FormatInt(accepted.Load(), 10) || accepted.Load() == 0 {
		t.Errorf("Each accepted write counts once: got %s, want %d", got, accepted.Load())
	}
}

// readAfterWrite reads what another client has just written: alone, in a list, and after its deletion.
func (g *garden) readAfterWrite(t *testing.T) {
	group, ctx := errgroup.WithContext(t.Context())
	for w := range writers / 10 {
		group.Go(func() error {
			name := fmt.Sprintf("seen-%d", w)
			mine := note(name, "0")
			if err := g.of(w).Create(ctx, mine); err != nil {
				return fmt.Errorf("create: %w", err)
			}
			for n := range 10 {
				mine.Data["number"] = []byte(strconv.Itoa(n))
				if err := g.of(w).Update(ctx, mine); err != nil {
					return fmt.Errorf("update: %w", err)
				}
				theirs := &gardencorev1beta1.InternalSecret{}
				if err := g.of(w+1).Get(ctx, client.ObjectKeyFromObject(mine), theirs); err != nil {
					return fmt.Errorf("get: %w", err)
				}
				if got := string(theirs.Data["number"]); got != strconv.Itoa(n) || theirs.ResourceVersion != mine.ResourceVersion {
					return fmt.Errorf("object %q reads %q at version %s after %d was written at %s", name, got, theirs.ResourceVersion, n, mine.ResourceVersion)
				}
			}
			if err := g.of(w).Delete(ctx, mine); err != nil {
				return fmt.Errorf("delete: %w", err)
			}
			list := &gardencorev1beta1.InternalSecretList{}
			if err := g.of(w+2).List(ctx, list, client.InNamespace(namespace), client.Limit(10000)); err != nil {
				return fmt.Errorf("list: %w", err)
			}
			for i := range list.Items {
				if list.Items[i].Name == name {
					return fmt.Errorf("object %q is listed after its deletion", name)
				}
			}
			if err := g.of(w+3).Get(ctx, client.ObjectKeyFromObject(mine), mine); !apierrors.IsNotFound(err) {
				return fmt.Errorf("object %q after its deletion: %w", name, errors.Join(err, errFound))
			}

			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Errorf("A read holds every write that was answered before.\n%v", err)
	}
}

var errFound = errors.New("found, or not readable")

// rounds is how often TestKilledServer kills the server.
var rounds = flag.Int("rounds", 3, "how often the server is killed under a thousand writers")

// acknowledged is what a writer knows to be stored: the number in its object, and whether it deleted another.
type acknowledged struct {
	mutex   sync.Mutex
	numbers map[string]int
	deleted map[string]bool
	// version is the newest resource version that anybody was told, total how many answers there were in earlier rounds.
	version uint64
	total   int
}

// TestKilledServer kills the server while a thousand clients write, again and again, and looks for what it had said yes to.
//
//nolint:paralleltest // A thousand writers at a time are enough.
func TestKilledServer(t *testing.T) {
	// So many rounds later the garden is emptied, or most of the time would go into lists.
	const emptied = 20
	dir := t.TempDir()
	known := &acknowledged{numbers: map[string]int{}, deleted: map[string]bool{}}
	for round := range *rounds {
		g := start(t, dir)
		known.check(t, g)
		if round%emptied == emptied-1 {
			known.empty(t, g)
		}
		g.writeUntilKilled(t, known, round)
	}
	g := start(t, dir)
	known.check(t, g)
	g.verify(t)
	t.Logf("%d rounds, %d acknowledged changes and deletions; %d objects, %d deletions since the garden was emptied", *rounds, known.total, len(known.numbers), len(known.deleted))
}

// verify has the server check its databases completely.
func (g *garden) verify(t *testing.T) {
	t.Helper()
	c, err := rest.HTTPClientFor(g.config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.config.Host+"/appliance/store/check", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // Nothing is lost.
	var result struct {
		Items []struct {
			Name     string   `json:"name"`
			Problems []string `json:"problems"`
		} `json:"items"`
	}
	if err := json.NewDecoder(response.Body).Decode(&result); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("check the databases: status %d, %v", response.StatusCode, err)
	}
	if len(result.Items) == 0 {
		t.Error("no database was checked")
	}
	for _, store := range result.Items {
		if len(store.Problems) > 0 {
			t.Errorf("database %q is whole: got %q", store.Name, store.Problems)
		}
	}
}

// empty deletes all objects.
func (a *acknowledged) empty(t *testing.T, g *garden) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(100)
	n := 0
	for name := range g.notes(ctx, t) {
		c := g.of(n)
		n++
		group.Go(func() error { return c.Delete(ctx, note(name, "")) })
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("delete all objects: %v", err)
	}
	clear(a.numbers)
	clear(a.deleted)
}

// writeUntilKilled ends when no writer gets an answer any more.
func (g *garden) writeUntilKilled(t *testing.T, known *acknowledged, round int) {
	t.Helper()
	enough := int64(1500 + rand.IntN(1500))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var answers atomic.Int64
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			name := fmt.Sprintf("r%d-w%d", round, w)
			mine := note(name, "0")
			if g.of(w).Create(ctx, mine) != nil {
				return
			}
			for n := 0; ; n++ {
				known.keep(name, n)
				known.see(mine.ResourceVersion)
				if answers.Add(1) == enough {
					g.kill()
					cancel()
				}
				mine.Data["number"] = []byte(strconv.Itoa(n + 1))
				if g.of(w).Update(ctx, mine) != nil {
					return
				}
				passing := note(fmt.Sprintf("%s-%d", name, n), "0")
				if g.of(w).Create(ctx, passing) != nil {
					continue
				}
				known.keep(passing.Name, 0)
				if known.drop(passing.Name); g.of(w).Delete(ctx, passing) == nil {
					known.delete(passing.Name)
				}
			}
		})
	}
	group.Wait()
	known.total += int(answers.Load())
	if answers.Load() < enough {
		t.Fatalf("%d writes were answered before the server was killed, want %d", answers.Load(), enough)
	}
}

// see remembers the newest resource version.
func (a *acknowledged) see(version string) {
	number, err := strconv.ParseUint(version, 10, 64)
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if err == nil {
		a.version = max(a.version, number)
	}
}

func (a *acknowledged) keep(name string, number int) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.numbers[name] = number
}

// drop forgets an object whose deletion is on its way: it may be there or not.
func (a *acknowledged) drop(name string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	delete(a.numbers, name)
}

func (a *acknowledged) delete(name string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.deleted[name] = true
}

// check looks for all that was acknowledged. An object may be one write ahead: that of which the answer was lost.
func (a *acknowledged) check(t *testing.T, g *garden) {
	t.Helper()
	found := g.notes(t.Context(), t)
	first := note("first-after-start", "0")
	if err := errors.Join(g.clients[0].Create(t.Context(), first), g.clients[0].Delete(t.Context(), first)); err != nil {
		t.Fatal(err)
	}
	before := a.version
	if a.see(first.ResourceVersion); a.version == before {
		t.Errorf("Resource versions never go back: got %s after %d", first.ResourceVersion, before)
	}
	for name, number := range a.numbers {
		got, err := strconv.Atoi(found[name])
		if err != nil || got < number || got > number+1 {
			t.Errorf("An acknowledged write outlives the server: %q has %q, want %d", name, found[name], number)
		}
	}
	for name := range a.deleted {
		if _, there := found[name]; there {
			t.Errorf("An acknowledged deletion outlives the server: %q is back", name)
		}
	}
}
