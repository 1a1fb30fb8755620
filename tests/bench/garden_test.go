// SPDX-License-Identifier: Apache-2.0

package bench_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// shared is the garden that all benchmarks load: a start for each would take longer than the load.
var shared garden

// garden is a server process.
type garden struct {
	once    sync.Once
	err     error
	dir     string
	command *exec.Cmd
	ended   context.CancelFunc

	// address is where it listens, also after a restart.
	address string
	host    string
	config  *rest.Config
	http    *http.Client
	client  client.WithWatch
}

// start returns the shared garden, furnished, and at rest: what the load before has left to do is not counted with this one.
func start(tb testing.TB) *garden {
	tb.Helper()
	shared.once.Do(func() { shared.err = shared.open() })
	if shared.err != nil {
		tb.Fatalf("start garden: %v", shared.err)
	}
	shared.settle(tb)

	return &shared
}

// settle waits until the server has next to nothing to do.
func (g *garden) settle(tb testing.TB) {
	tb.Helper()
	const look, rest, patience = 500 * time.Millisecond, 50 * time.Millisecond, 5 * time.Minute
	ticks := time.NewTicker(look)
	defer ticks.Stop()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for before := g.spent(tb); ; {
		select {
		case <-ticks.C:
		case <-limit.C:
			tb.Fatalf("the server has not come to rest within %s", patience)
		}
		now := g.spent(tb)
		if now-before <= rest {
			return
		}
		before = now
	}
}

func (g *garden) open() error {
	if err := kit.PreferProtobuf(); err != nil {
		return err
	}
	var err error
	if g.dir, err = os.MkdirTemp("", "terrarium-bench-"); err != nil {
		return err
	}
	if g.address, err = freeAddress(); err != nil {
		return err
	}
	config, err := g.launch()
	if err != nil {
		return err
	}
	g.config = config
	config.QPS = -1
	g.host = config.Host
	if g.http, err = rest.HTTPClientFor(config); err != nil {
		return err
	}
	kinds, err := scheme.New()
	if err != nil {
		return err
	}
	if g.client, err = client.NewWithWatch(config, client.Options{Scheme: kinds}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	g.ended = cancel

	return furnish(ctx, g.client)
}

func freeAddress() (string, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}

	return l.Addr().String(), l.Close()
}

// launch starts the server process and returns once it is ready.
func (g *garden) launch() (*rest.Config, error) {
	g.command = exec.Command(os.Args[0]) //nolint:noctx // It is told to stop, so that it can write its profile.
	g.command.Env = append(os.Environ(), childDataDir+"="+g.dir, childListen+"="+g.address)
	g.command.Stderr = os.Stderr
	output, err := g.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := g.command.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("the server ended before it was ready: %w", err)
	}

	return clientcmd.BuildConfigFromFlags("", strings.TrimSpace(line))
}

// kill ends the server in the middle of what it does, and starts it again.
func (g *garden) kill() error {
	if err := g.command.Process.Kill(); err != nil {
		return err
	}
	_ = g.command.Wait() // It was killed.
	_, err := g.launch()

	return err
}

// stop ends the server in the way of an operator and removes what it wrote.
func (g *garden) stop() error {
	if g.command == nil {
		return nil
	}
	if g.ended != nil {
		g.ended()
	}
	err := g.command.Process.Signal(syscall.SIGTERM)

	return errors.Join(err, g.command.Wait(), os.RemoveAll(g.dir))
}

// spent is the processor time of the server so far.
func (g *garden) spent(tb testing.TB) time.Duration {
	tb.Helper()
	const hertz = 100 // What Linux counts in, on every architecture that Go runs on.
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", g.command.Process.Pid))
	if err != nil {
		tb.Fatalf("read processor time of the server: %v", err)
	}
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			tb.Fatalf("read processor time of the server: %v", err)
		}
		ticks += n
	}

	return time.Duration(ticks) * time.Second / hertz
}

// send makes a request in the way of a plain HTTP client and returns the whole answer.
func (g *garden) send(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	return g.exchange(ctx, method, path, "application/json", body)
}

// patch merges a change into an object.
func (g *garden) patch(ctx context.Context, path string, body []byte) error {
	_, err := g.exchange(ctx, http.MethodPatch, path, "application/merge-patch+json", body)

	return err
}

func (g *garden) exchange(ctx context.Context, method, path, contentType string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, g.host+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Content-Type", contentType)
	response, err := g.http.Do(request)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusBadRequest {
		return nil, &refusal{code: response.StatusCode, text: string(answer)}
	}

	return answer, nil
}

// refusal is an answer that is not the one that was asked for.
type refusal struct {
	code int
	text string
}

func (r *refusal) Error() string { return fmt.Sprintf("%d %s", r.code, r.text) }
