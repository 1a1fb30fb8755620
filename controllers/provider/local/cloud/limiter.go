// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/apis/bounds"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	// requestTimeout bounds one request: a cluster that does not answer must not hold up the machines of others.
	requestTimeout = 10 * time.Second
	// pause is how long a server is left alone that did not answer, or not soon. A long answer may take longer.
	pause          = 5 * time.Second
	soon           = 2 * time.Second
	bytesPerSecond = 512 << 10

	// atOnce is how many requests may be under way, and patience how long another one waits for its turn: those who act on the machines of
	// all shoots must not be held up by those of one.
	atOnce   = 2
	patience = 500 * time.Millisecond

	// answerLimit is more than the machines of a shoot need, errorLimit more than a server has to say about what went wrong. That text gets
	// into the status of the shoot.
	answerLimit = 16 << 20
	errorLimit  = 8 << 10
)

// answersOf bounds what the answers cost when they are decoded.
func answersOf() kit.Bounds {
	return kit.Bounds{Answer: answerLimit, Event: 4 << 20, Limits: bounds.Limits{Entries: 5000, Total: 200_000, InText: 20_000}}
}

var (
	errSilent = fmt.Errorf("no answer within %s", requestTimeout)
	errLate   = fmt.Errorf("the last answer took more than %s", soon)
)

// limiter bounds what a server can do to its client by its answers, and by having none: while one that did not answer is left alone,
// nobody who waits for another one has to wait for it.
type limiter struct {
	next   http.RoundTripper
	clock  clock.PassiveClock
	failed atomic.Pointer[failure]
	// turns has an entry for each request that is under way.
	turns chan struct{}
}

type failure struct {
	at  time.Time
	err error
}

func newLimiter(next http.RoundTripper) *limiter {
	return &limiter{next: next, clock: clock.RealClock{}, turns: make(chan struct{}, atOnce)}
}

// RoundTrip sends a request. An answer that is not one of an API server is not passed on: it may be that of a program that the user does
// not reach. Nor is a redirection, which would take the credentials elsewhere.
func (l *limiter) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := l.await(request.Context()); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(request.Context())
	a := &answer{limiter: l, asked: l.clock.Now(), ctx: ctx, cancel: cancel}
	a.timer = time.AfterFunc(requestTimeout, func() { cancel(errSilent) })
	response, err := l.next.RoundTrip(request.WithContext(ctx))
	if err != nil {
		err = a.reason(err)
		if !errors.Is(request.Context().Err(), context.Canceled) {
			l.failed.Store(&failure{at: l.clock.Now(), err: err})
		}
		a.leave()
		cancel(nil)
		return nil, err
	}
	// The client would wait as long as it says.
	response.Header.Del("Retry-After")
	a.ReadCloser, a.left = response.Body, errorLimit
	response.Body = a
	switch _, encoded := kit.MediaType(response.Header.Get("Content-Type")); {
	case response.StatusCode >= http.StatusMultipleChoices && response.StatusCode < http.StatusBadRequest:
		_ = response.Body.Close()
		return nil, fmt.Errorf("the server answers %d, a redirection, which is not followed", response.StatusCode)
	case !encoded:
		_ = response.Body.Close()
		return nil, fmt.Errorf("the server answers %d, but not like an API server", response.StatusCode)
	case response.StatusCode >= http.StatusBadRequest:
	case request.URL.Query().Get("watch") != "":
		a.endless = true
		a.end()
	default:
		a.left = answerLimit
	}
	if err := answersOf().Judge(response, a.endless); err != nil {
		return nil, err
	}
	return response, nil
}

// await waits for a turn, unless the server is left alone.
func (l *limiter) await(ctx context.Context) error {
	if err := l.resting(); err != nil {
		return err
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case l.turns <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // The client says what it wanted.
	case <-timer.C:
		return kit.Wait(time.Second, "Waiting until the cluster of the machines has answered other requests")
	}
	err := l.resting()
	if err != nil {
		<-l.turns
	}
	return err
}

func (l *limiter) resting() error {
	if last := l.failed.Load(); last != nil && l.clock.Since(last.at) < pause {
		return fmt.Errorf("no answer a moment ago: %w", last.err)
	}
	return nil
}

// answer is the body of an answer. It fails when more is read than allowed, and its request is under way until it is closed.
type answer struct {
	io.ReadCloser

	limiter *limiter
	asked   time.Time
	ctx     context.Context //nolint:containedctx // It is that of the request.
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	once    sync.Once
	// endless is a watch.
	endless bool
	left    int64
	read    int64
}

// Read reads until the limit.
func (a *answer) Read(p []byte) (int, error) {
	if a.endless {
		return a.ReadCloser.Read(p) //nolint:wrapcheck // The end has to stay io.EOF.
	}
	if a.left <= 0 {
		return 0, errors.New("the server answers with too much")
	}
	if int64(len(p)) > a.left {
		p = p[:a.left]
	}
	n, err := a.ReadCloser.Read(p)
	a.left, a.read = a.left-int64(n), a.read+int64(n)
	return n, a.reason(err)
}

// Close ends the request.
func (a *answer) Close() error {
	a.end()
	err := a.ReadCloser.Close()
	a.cancel(nil)
	return err //nolint:wrapcheck // The client says what it wanted.
}

// reason is that of an error, if it is the end of the time.
func (a *answer) reason(err error) error {
	if err != nil && errors.Is(context.Cause(a.ctx), errSilent) {
		return errSilent
	}
	return err
}

// end judges the server by the time that the answer took, and lets the next request have its turn.
func (a *answer) end() {
	a.once.Do(func() {
		switch late := a.limiter.clock.Since(a.asked) > soon+time.Duration(a.read/bytesPerSecond)*time.Second; {
		case a.endless || !late:
			a.limiter.failed.Store(nil)
		case !errors.Is(context.Cause(a.ctx), context.Canceled):
			a.limiter.failed.Store(&failure{at: a.limiter.clock.Now(), err: errLate})
		}
		a.leave()
	})
}

func (a *answer) leave() {
	a.timer.Stop()
	<-a.limiter.turns
}
