// SPDX-License-Identifier: Apache-2.0

package imagefile

import (
	"context"
	"errors"
	"io"
	"time"

	"k8s.io/utils/clock"
)

const (
	// Timeout is how long all that is fetched at once may take.
	Timeout = 10 * time.Minute
	// firstPause is the time after a failure, which doubles up to longestPause.
	firstPause   = 10 * time.Second
	longestPause = 10 * time.Minute
)

// Source has files of images.
type Source interface {
	// Fetch writes the content of a file. The folder has what is worth keeping until the next one is fetched.
	Fetch(ctx context.Context, folder string, ref Ref, to io.Writer) error
}

// Patience does not try again at once what has failed, and gives the same answer meanwhile. It must not be used by several at once.
type Patience struct {
	// Inner is what is tried.
	Inner Source
	// Clock tells the time.
	Clock clock.PassiveClock

	failed map[Ref]failure
}

var _ Source = &Patience{}

// failure is why the last try failed.
type failure struct {
	err   error
	pause time.Duration
	next  time.Time
}

// Fetch implements Source.
func (p *Patience) Fetch(ctx context.Context, folder string, ref Ref, to io.Writer) error {
	before := p.failed[ref]
	if p.Clock.Now().Before(before.next) {
		return before.err
	}
	err := p.Inner.Fetch(ctx, folder, ref, to)
	switch {
	case err == nil:
		delete(p.failed, ref)
	case !errors.Is(ctx.Err(), context.Canceled): // What was interrupted has not failed.
		p.note(ref, before.pause, err)
	}
	return err //nolint:wrapcheck // It says what it is about.
}

func (p *Patience) note(ref Ref, pause time.Duration, err error) {
	pause = min(max(2*pause, firstPause), longestPause)
	if p.failed == nil {
		p.failed = map[Ref]failure{}
	}
	for other, f := range p.failed { // What nobody asks for any more.
		if p.Clock.Since(f.next) > longestPause {
			delete(p.failed, other)
		}
	}
	p.failed[ref] = failure{err: err, pause: pause, next: p.Clock.Now().Add(pause)}
}
