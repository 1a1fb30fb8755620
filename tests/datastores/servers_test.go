// SPDX-License-Identifier: Apache-2.0

package datastores_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/appliance/cli"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/storage/leader"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// oneVersion is the version of servers that say nothing else, and nextVersion the one after it.
const oneVersion, nextVersion = "v0.0.0-test", "v0.1.0"

// takeOver is how long a garden may be without a server that leads, and its controllers without work.
const takeOver = 20 * time.Second

// member is a server process of a garden with several.
type member struct {
	dir, address string
	command      *exec.Cmd
	says         chan string
	log          lines
	// clockBy is how far its clock is ahead.
	clockBy time.Duration
	version string
}

// lines is a log.
type lines struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()

	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()

	return l.text.String()
}

// run starts a process on a data directory.
func (m *member) run(t *testing.T, endpoint string) {
	t.Helper()
	m.command = exec.Command(os.Args[0]) //nolint:noctx // It is ended by signals.
	m.command.Env = append(os.Environ(), childDataDir+"="+m.dir, childEndpoint+"="+endpoint, childListen+"="+m.address, childClock+"="+m.clockBy.String(),
		childVersion+"="+m.version)
	m.command.Stderr = &m.log
	output, err := m.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.command.Start(); err != nil {
		t.Fatal(err)
	}
	m.says = make(chan string, 100)
	go func(says chan<- string) {
		defer close(says)
		for scanner := bufio.NewScanner(output); scanner.Scan(); {
			says <- scanner.Text()
		}
	}(m.says)
}

func newMember(t *testing.T, dir string) *member {
	t.Helper()
	m := &member{dir: dir, address: freeAddress(t), version: oneVersion}
	t.Cleanup(func() {
		m.end(t, syscall.SIGKILL)
		if t.Failed() {
			t.Logf("log of %s:\n%s", m.address, m.log.String())
		}
	})

	return m
}

// end sends a signal and waits for the end.
func (m *member) end(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if m.command == nil || m.command.ProcessState != nil {
		return
	}
	_ = m.command.Process.Signal(signal)
	_ = m.command.Wait()
}

// await waits until the server says something.
func (m *member) await(t *testing.T, what string, limit time.Duration) {
	t.Helper()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case said, open := <-m.says:
			if said == what {
				return
			}
			if !open {
				t.Fatalf("server %s has ended and has not said %q", m.address, what)
			}
		case <-timer.C:
			t.Fatalf("server %s has not said %q within %s", m.address, what, limit)
		}
	}
}

// client reaches the garden at the address of this server.
func (m *member) client(t *testing.T) client.Client {
	t.Helper()
	c, err := clientOf(m.config(t))
	if err != nil {
		t.Fatal(err)
	}

	return c
}

func (m *member) config(t *testing.T) *rest.Config {
	t.Helper()
	config, err := m.access()
	if err != nil {
		t.Fatal(err)
	}

	return config
}

// access is that of the administrator, with the certificate of now.
func (m *member) access() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("https://"+m.address, identity.AdminKubeconfigPath(m.dir))
	if err != nil {
		return nil, err
	}
	config.QPS, config.Timeout = -1, 10*time.Second
	config.Dial = new(net.Dialer).DialContext // It keeps client-go from sharing connections.

	return config, nil
}

func clientOf(config *rest.Config) (client.Client, error) {
	kinds, err := scheme.New()
	if err != nil {
		return nil, err
	}

	return client.New(rest.CopyConfig(config), client.Options{Scheme: kinds})
}

// two starts two servers on a datastore, the second one from a bundle of the first, which leads.
func two(t *testing.T, endpoint string) (first, second *member) {
	t.Helper()

	return twoAt(t, endpoint, 0)
}

// twoAt is two, with the clock of the first one ahead by a time.
func twoAt(t *testing.T, endpoint string, by time.Duration) (first, second *member) {
	t.Helper()
	first = newMember(t, t.TempDir())
	first.clockBy = by
	first.run(t, endpoint)
	first.await(t, saysReady, harness.Patience)
	second = newMember(t, filepath.Join(t.TempDir(), "second"))
	join(t, first, second)
	second.run(t, endpoint)
	second.await(t, saysStandby, harness.Patience)

	return first, second
}

// join gives the keys of a server to another one.
func join(t *testing.T, first, second *member, args ...string) {
	t.Helper()
	file, secret := filepath.Join(t.TempDir(), "bundle"), filepath.Join(t.TempDir(), "passphrase")
	write(t, secret, []byte("a passphrase for the test\n"))
	command(t, 0, "bundle", "export", file, "--data-dir", first.dir, "--passphrase-file", secret)
	command(t, 0, append([]string{"bundle", "import", file, "--data-dir", second.dir, "--passphrase-file", secret}, args...)...)
}

// command runs a command of the product and returns what it says.
func command(t *testing.T, want int, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	status := cli.Main(t.Context(), cli.Environment{
		In: strings.NewReader(""), Out: &out, Err: &out, Getenv: func(string) string { return "" }, Clock: clock.RealClock{},
	}, args)
	if status != want {
		t.Fatalf("terrarium %s: got status %d, want %d\n%s", strings.Join(args, " "), status, want, out.String())
	}

	return out.String()
}

func TestLoseServerOnPostgres(t *testing.T) {
	t.Parallel()
	loseServer(t, newPostgres(t, nil).endpoint("several"))
}

func TestLoseServerOnEtcd(t *testing.T) {
	t.Parallel()
	loseServer(t, newEtcd(t, nil).endpoint())
}

// loseServer kills the server that leads while clients write at both addresses.
func loseServer(t *testing.T, endpoint string) {
	t.Helper()
	first, second := two(t, endpoint)
	w := startWriters(t, first, second)
	w.await(t, second, 50)

	first.end(t, syscall.SIGKILL)
	lost := time.Now()
	second.await(t, saysReady, takeOver)
	works(t, second, "taken", lost)
	w.await(t, second, w.count(second)+50)
	w.check(t, second)

	// The lost server comes back, and stands by.
	first.run(t, endpoint)
	first.await(t, saysStandby, harness.Patience)
	w.await(t, first, w.count(first)+50)

	// The one that leads now stops: the other one need not wait for the end of the lease.
	stopped := time.Now()
	second.end(t, syscall.SIGTERM)
	first.await(t, saysReady, takeOver)
	works(t, first, "given", stopped)
	w.stop()
	w.check(t, first)
}

// TestFreezeServer freezes the server that leads, so that another one takes the lead, and lets it go on: it must not write anything more.
func TestFreezeServer(t *testing.T) {
	t.Parallel()

	endpoint := newPostgres(t, nil).endpoint("frozen")
	first, second := two(t, endpoint)
	w := startWriters(t, first)
	w.await(t, first, 50)
	if err := first.command.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	frozen := time.Now()
	second.await(t, saysReady, takeOver)
	works(t, second, "thawed", frozen)
	if err := first.command.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- first.command.Wait() }()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(first.log.String(), "another server has taken the lead") {
			t.Errorf("A server that has lost the lead ends.\nWait(): got %v", err)
		}
	case <-time.After(harness.Patience):
		t.Error("A server that has lost the lead ends, and it has not.")
	}
	w.stop()
	w.check(t, second)
}

// TestBundleRefuses tries bundles and directories that do not fit.
func TestBundleRefuses(t *testing.T) {
	t.Parallel()

	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "bundle")
	right, wrong := filepath.Join(t.TempDir(), "right"), filepath.Join(t.TempDir(), "wrong")
	write(t, right, []byte("a passphrase for the test\n"))
	write(t, wrong, []byte("another passphrase\n"))
	command(t, 1, "bundle", "export", file, "--data-dir", dir)
	g := harness.Start(t, harness.WithDataDir(dir))
	g.Stop(t)
	command(t, 0, "bundle", "export", file, "--data-dir", dir, "--passphrase-file", right)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("Only its owner reads a bundle: got %v, %v", info, err)
	}
	data, err := os.ReadFile(file)
	if err != nil || bytes.Contains(data, []byte("PRIVATE KEY")) {
		t.Errorf("A bundle is encrypted: %v", err)
	}
	for _, c := range []struct {
		reason, want string
		args         []string
	}{
		{"A bundle is not written over.", "exists", []string{"export", file, "--data-dir", dir}},
		{"Only the passphrase opens it.", "passphrase is wrong", []string{"import", file, "--data-dir", t.TempDir(), "--passphrase-file", wrong}},
		{"A garden with objects is not made another one.", "has the objects of a garden", []string{"import", file, "--data-dir", dir, "--passphrase-file", right}},
	} {
		if got := command(t, 1, append([]string{"bundle"}, c.args...)...); !strings.Contains(got, c.want) {
			t.Errorf("%s\nbundle %v: got %s, want %q", c.reason, c.args, got, c.want)
		}
	}
	other := filepath.Join(t.TempDir(), "other")
	command(t, 0, "bundle", "import", file, "--data-dir", other, "--passphrase-file", right)
	if got := command(t, 1, "bundle", "import", file, "--data-dir", other, "--passphrase-file", right); !strings.Contains(got, "--force") {
		t.Errorf("Keys are not replaced unless that is wanted: got %s", got)
	}
	command(t, 0, "bundle", "import", file, "--data-dir", other, "--passphrase-file", right, "--force")
}

// works checks that controllers act in time: one of them makes a namespace for a project.
func works(t *testing.T, m *member, name string, since time.Time) {
	t.Helper()
	c := m.client(t)
	p := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: name}}
	harness.Eventually(t, "create project", func(ctx context.Context) error { return client.IgnoreAlreadyExists(c.Create(ctx, p)) })
	harness.Await(t, c, p, "project is ready", func(p *gardencorev1beta1.Project) error {
		if p.Status.Phase != gardencorev1beta1.ProjectPhaseReady {
			return errors.New("it is not")
		}

		return nil
	})
	took := time.Since(since)
	t.Logf("controllers act after %s", took.Round(100*time.Millisecond))
	if took > takeOver {
		t.Errorf("The garden goes on soon.\ncontrollers act: got after %s, want within %s", took, takeOver)
	}
}

// writers write at the addresses of several servers, and know what was acknowledged.
type writers struct {
	cancel context.CancelFunc
	pace   time.Duration
	all    sync.WaitGroup
	counts map[*member]*atomic.Int64

	mutex        sync.Mutex
	acknowledged map[string]string
}

const writersEach = 4

func startWriters(t *testing.T, at ...*member) *writers {
	t.Helper()

	return startPacedWriters(t, 0, at...)
}

// startPacedWriters starts writers that rest between two writes.
func startPacedWriters(t *testing.T, pace time.Duration, at ...*member) *writers {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	w := &writers{cancel: cancel, pace: pace, counts: map[*member]*atomic.Int64{}, acknowledged: map[string]string{}}
	for i, m := range at {
		w.counts[m] = &atomic.Int64{}
		for n := range writersEach {
			c := m.client(t)
			w.all.Go(func() { w.write(ctx, c, m, fmt.Sprintf("w%d-%d", i, n)) })
		}
	}
	t.Cleanup(w.stop)

	return w
}

func (w *writers) write(ctx context.Context, c client.Client, m *member, prefix string) {
	for n := 0; ctx.Err() == nil; n++ {
		name := fmt.Sprintf("%s-%d", prefix, n)
		object := &gardencorev1beta1.InternalSecret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Data: map[string][]byte{"text": []byte(name)},
		}
		if err := c.Create(ctx, object); err != nil {
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
			}
			// The authorities may have changed.
			if config, err := m.access(); err == nil {
				if fresh, err := clientOf(config); err == nil {
					c = fresh
				}
			}

			continue
		}
		w.mutex.Lock()
		w.acknowledged[name] = string(object.UID)
		w.mutex.Unlock()
		w.counts[m].Add(1)
		select {
		case <-time.After(w.pace):
		case <-ctx.Done():
		}
	}
}

func (w *writers) stop() {
	w.cancel()
	w.all.Wait()
}

func (w *writers) count(m *member) int64 { return w.counts[m].Load() }

// await waits until so many writes at an address were acknowledged.
func (w *writers) await(t *testing.T, m *member, want int64) {
	t.Helper()
	harness.Eventually(t, "writes are acknowledged at "+m.address, func(context.Context) error {
		if n := w.count(m); n < want {
			return fmt.Errorf("%d of %d", n, want)
		}

		return nil
	})
}

// check looks for all that was acknowledged before.
func (w *writers) check(t *testing.T, m *member) {
	t.Helper()
	w.mutex.Lock()
	want := len(w.acknowledged)
	known := maps.Clone(w.acknowledged)
	w.mutex.Unlock()
	list := &gardencorev1beta1.InternalSecretList{}
	if err := m.client(t).List(t.Context(), list, client.InNamespace("default")); err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		if known[list.Items[i].Name] == string(list.Items[i].UID) {
			delete(known, list.Items[i].Name)
		}
	}
	if diff := cmp.Diff(map[string]string{}, known); diff != "" {
		t.Errorf("No acknowledged write is lost.\ngot %d of %d that are lost, with their UIDs (-want +got):\n%s", len(known), want, diff)
	}
	t.Logf("%d acknowledged writes are there", want)
}

// TestUpgradeServers upgrades one of two servers, which takes the lead: the other one does not lead anymore until it is upgraded too, even
// when no other server is there, and forwards connections until then.
func TestUpgradeServers(t *testing.T) {
	t.Parallel()
	endpoint := newPostgres(t, nil).endpoint("upgraded")
	first, second := two(t, endpoint)
	second.end(t, syscall.SIGTERM)
	second.version = nextVersion
	second.run(t, endpoint)
	second.await(t, saysStandby, harness.Patience)
	first.end(t, syscall.SIGTERM)
	second.await(t, saysReady, harness.Patience)

	first.run(t, endpoint)
	first.await(t, saysStandby, harness.Patience)
	if err := first.client(t).List(t.Context(), &corev1.NamespaceList{}); err != nil {
		t.Errorf("A server of the version before forwards connections: got %v", err)
	}
	awaitCertificates(t, second, "the server that leads is told why the other one could not", func(is *certificatesNow) error {
		for _, s := range is.Servers {
			if strings.Contains(s.Failure, "upgrade this server") {
				return nil
			}
		}

		return fmt.Errorf("%+v", is)
	})
	leads := connect(t, endpoint)
	changes := leads.Watch(t.Context(), "/terrarium/leader")
	second.end(t, syscall.SIGTERM)
	awaitTurn(t, changes, first.address)
	select {
	case said := <-first.says:
		t.Errorf("A server of the version before does not lead: it said %q", said)
	default:
	}

	first.end(t, syscall.SIGTERM)
	first.version = nextVersion
	first.run(t, endpoint)
	first.await(t, saysReady, harness.Patience)
}

// awaitTurn waits until a server has taken the lead and has given it back.
func awaitTurn(t *testing.T, changes clientv3.WatchChan, address string) {
	t.Helper()
	limit := time.NewTimer(harness.Patience)
	defer limit.Stop()
	for took := ""; ; {
		select {
		case answer := <-changes:
			for _, e := range answer.Events {
				var is leader.Holder
				if err := json.Unmarshal(e.Kv.Value, &is); err != nil {
					t.Fatal(err)
				}
				if is.Address == address {
					took = is.ID
				}
				if is.ID == took && is.Address == "" {
					return
				}
			}
		case <-limit.C:
			t.Fatal("the server has not tried to take the lead")
		}
	}
}
