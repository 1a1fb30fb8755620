// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/terrarium-garden/terrarium/storage/kine"
	"github.com/terrarium-garden/terrarium/storage/log"
	"github.com/terrarium-garden/terrarium/tests/faults/disk"
)

const (
	// childDir is set for the process that is the store, and childSynced for the folder of what it has synced.
	childDir    = "TERRARIUM_CONSISTENCY_DIR"
	childSynced = "TERRARIUM_CONSISTENCY_SYNCED"
	killShort   = 8
)

// serve runs a store, whose address it writes once it is ready, until it is killed. It compacts all the time, moves its
// write-ahead log often, and lets moments last, so that it is killed in them.
func serve(dir string) int {
	c := kine.NewConfig(dir)
	disturb(&c)
	slow := c.Tune
	c.Tune = func(l *log.Config) {
		slow(l)
		l.MinRevisions, l.MaxRevisions, l.WALBytes = keptRevisions, keptRevisions, 256<<10
	}
	_, err := disk.New(dir, os.Getenv(childSynced))
	fmt.Println("starting")
	var stores *kine.Stores
	if err == nil {
		stores, err = kine.Start(context.Background(), c)
	}
	if err == nil {
		err = proxy(stores.Objects)
	}
	fmt.Fprintln(os.Stderr, err)

	return 1
}

// keptRevisions is how much of the past a store in the kill loop keeps: what is written between two kills, and little more.
const keptRevisions = 1500

// proxy lets other processes reach a store.
func proxy(endpoint kine.Endpoint) error {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	for {
		outside, err := listener.Accept()
		if err != nil {
			return err
		}
		inside, err := endpoint.Dial(context.Background(), "", "")
		if err != nil {
			return err
		}
		go pipe(outside, inside)
		go pipe(inside, outside)
	}
}

func pipe(from, to net.Conn) {
	part := make([]byte, 64<<10)
	for {
		n, err := from.Read(part)
		if n > 0 {
			if _, err := to.Write(part[:n]); err != nil {
				return
			}
		}
		if err != nil {
			_ = to.Close()

			return
		}
	}
}

// killed is a store in a process of its own, as it is found again and again.
type killed struct {
	*recorder

	dir, synced string
	// rows are the records that were in the file after any of the kills.
	rows map[int64]change
	// watched goes on over all kills.
	watched *watched
}

// TestKilledStore kills a store while clients write to it, many times, a few of them before it is ready, and cuts the power
// half of the times: what was not synced is lost then, wholly or here and there. Answers before and after a kill must have one
// order; a write without an answer may have been made, or not. Meanwhile, nobody else gets at the files.
func TestKilledStore(t *testing.T) {
	t.Parallel()

	k := &killed{
		recorder: newRecorder(), dir: filepath.Join(t.TempDir(), "db"), synced: t.TempDir(), rows: map[int64]change{},
		watched: &watched{what: "watch over all kills", after: 1, match: isThing},
	}
	began := time.Now()
	for round := 0; round < killShort || time.Since(began) < time.Duration(killShare*float64(*long)); round++ {
		if round%4 == 0 {
			k.killStarting(t)
			k.cut(t)
		}
		k.live(t, round)
		k.cut(t)
		k.gather(t)
		if t.Failed() {
			return
		}
	}
	k.judge(t)
}

// launch starts the process.
func (k *killed) launch(t *testing.T) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	command := k.command()
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(output)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatalf("the store ended before it began: %v", err)
	}

	return command, lines
}

func (k *killed) command() *exec.Cmd {
	command := exec.Command(os.Args[0]) //nolint:noctx // It is ended by signals.
	command.Env = append(os.Environ(), childDir+"="+k.dir, childSynced+"="+k.synced)

	return command
}

// cut cuts the power every other time, after a kill.
func (k *killed) cut(t *testing.T) {
	t.Helper()
	if rand.IntN(2) == 0 {
		return
	}
	if err := disk.PowerCut(k.dir, k.synced, []float64{0, 0.5, 0.95}[rand.IntN(3)]); err != nil {
		t.Error(err)
	}
}

// intrude starts a second store on the same folder.
func (k *killed) intrude(t *testing.T) {
	t.Helper()
	said, err := k.command().CombinedOutput()
	if err == nil || !strings.Contains(string(said), log.ErrInUse.Error()) {
		t.Errorf("Two processes would give out the same revisions.\na second store: got %v and %q, want that it is %v", err, said, log.ErrInUse)
	}
}

func end(command *exec.Cmd) {
	_ = command.Process.Signal(syscall.SIGKILL)
	_ = command.Wait()
}

// killStarting kills the process at some moment of its start.
func (k *killed) killStarting(t *testing.T) {
	t.Helper()
	command, _ := k.launch(t)
	time.Sleep(time.Duration(rand.IntN(30)) * time.Millisecond)
	end(command)
}

// live lets clients use the store for a while, kills it, and waits until they have noticed.
func (k *killed) live(t *testing.T, round int) {
	t.Helper()
	command, lines := k.launch(t)
	defer end(command)
	address, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("the store did not start: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var group sync.WaitGroup
	for n := range 8 {
		etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + strings.TrimSpace(address)}, Logger: zap.NewNop(), DialTimeout: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = etcd.Close() }()
		if n == 0 {
			group.Go(func() { k.watch(ctx, t, etcd) })

			continue
		}
		u := &user{recorder: newRecorder(), etcd: etcd, number: 1000*round + n, believed: map[string]int64{}}
		u.began = k.began
		group.Go(func() {
			var err error
			for err == nil {
				err = k.step(ctx, u)
			}
			k.take(u)
		})
	}
	if round%4 == 1 {
		k.intrude(t)
	}
	time.Sleep(time.Duration(300+rand.IntN(700)) * time.Millisecond)
	end(command)
	cancel()
	group.Wait()
}

func (k *killed) step(ctx context.Context, u *user) error {
	asks := []func(context.Context, string) error{u.create, u.update, u.update, u.update, u.delete, u.get, u.list}

	return asks[rand.IntN(len(asks))](ctx, thing(rand.IntN(storeKeys)))
}

// take adds what a client was told. It has a recorder of its own, so that only answers from before the kill are noted.
func (k *killed) take(u *user) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.answers = append(k.answers, u.answers...)
	for token := range u.issued {
		k.issued[token] = true
	}
}

// watch goes on from where the watch before the kill was, until this store is killed as well.
func (k *killed) watch(ctx context.Context, t *testing.T, etcd *clientv3.Client) {
	t.Helper()
	after := k.watched.after
	if n := len(k.watched.events); n > 0 {
		after = k.watched.events[n-1].revision
	}
	for got := range etcd.Watch(ctx, storePrefix, clientv3.WithPrefix(), clientv3.WithRev(after+1), clientv3.WithProgressNotify()) {
		if got.CompactRevision > 0 {
			t.Errorf("A watch goes on after a restart: %d is compacted, want it to go on after %d", got.CompactRevision, after)
		}
		if got.Err() != nil {
			return
		}
		now := k.now()
		for _, e := range got.Events {
			c := change{revision: e.Kv.ModRevision, key: string(e.Kv.Key), token: string(e.Kv.Value), deleted: e.Type == clientv3.EventTypeDelete}
			k.watched.events = append(k.watched.events, event{change: c, before: -1})
		}
		if len(got.Events) == 0 {
			k.watched.said = append(k.watched.said, progress{events: len(k.watched.events), revision: got.Header.Revision})
		}
		k.note(answer{what: "watch", asked: now, had: now, kind: told, revision: got.Header.Revision})
	}
}

// gather reads a copy of the file as the kill has left it. Compaction takes away what earlier rounds have left.
func (k *killed) gather(t *testing.T) {
	t.Helper()
	to := t.TempDir()
	for _, name := range []string{"objects.db", "objects.db-wal"} {
		content, err := os.ReadFile(filepath.Join(k.dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range readTruth(t, filepath.Join(to, "objects.db"), storeKey).changes {
		if before, ok := k.rows[c.revision]; ok && before != c {
			t.Errorf("A revision is given out once.\nrevision %d (-before +after the kill):\n%s", c.revision, cmp.Diff(before, c, cmp.AllowUnexported(change{})))
		}
		k.rows[c.revision] = c
	}
}

// judge compares everything with all records there were.
func (k *killed) judge(t *testing.T) {
	t.Helper()
	k.hand(k.watched)
	k.check(t, newTruth(slices.SortedFunc(maps.Values(k.rows), func(a, b change) int { return byRevision(a, b.revision) })))
}
