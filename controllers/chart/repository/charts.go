// SPDX-License-Identifier: Apache-2.0

package repository

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/name"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
)

const (
	// MaxChart is the size of the largest packed chart that is pulled.
	MaxChart = 10 << 20
	// maxKept is the size of all packed charts that are kept.
	maxKept = 4 * MaxChart
	// timeout is the time for a pull, with all its requests.
	timeout = time.Minute
)

// Source is a chart in an OCI repository, and what is needed to get it.
type Source struct {
	// Repository names the chart. The Secrets that it refers to are not read.
	Repository gardencorev1.OCIRepository
	// Credentials are a .dockerconfigjson; nil if the registry needs none.
	Credentials []byte
	// Authorities are the certificates that the registry is trusted by, in PEM. They replace those of the system, if there are any.
	Authorities []byte
}

// Charts pulls charts, and keeps the packed ones in memory. A chart with a digest is pulled only once as long as it is kept. For a tag,
// the registry is asked each time which digest it has now. The zero value can be used, by many at once.
type Charts struct {
	mu   sync.Mutex
	kept map[string]*list.Element
	// order has the chart that was used last in front.
	order list.List
	size  int
}

// packed is a chart that is kept.
type packed struct {
	key  string
	data []byte
}

// Pull returns a packed chart. The caller must not change it. An error says what is wrong and what to do about it, without any
// credentials; ErrInvalid marks those that last until the source is changed.
func (c *Charts) Pull(ctx context.Context, from Source) ([]byte, error) {
	ref, err := referenceTo(from.Repository)
	if err != nil {
		return nil, err
	}
	if digest, ok := ref.(name.Digest); ok {
		if data, ok := c.find(digest); ok {
			return data, nil
		}
	}
	p, err := newPull(ref, from)
	if err != nil {
		return nil, fmt.Errorf("chart %q cannot be pulled: %w", ref.Name(), err)
	}
	defer p.close()
	bound, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	data, err := c.pull(bound, p)
	switch {
	case err == nil:
		return data, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("pull chart %q: %w", ref.Name(), ctx.Err())
	default:
		return nil, fmt.Errorf("chart %q cannot be pulled: %w", ref.Name(), p.explain(err))
	}
}

func (c *Charts) pull(ctx context.Context, p *pull) ([]byte, error) {
	if data, ok := c.find(p.resolve(ctx)); ok {
		return data, nil
	}
	digest, data, err := p.chart(ctx)
	if err != nil {
		return nil, err
	}
	c.keep(digest, data)
	return data, nil
}

// find returns a chart that is kept. Charts of different repositories are kept apart: what somebody may pull from one does not show what
// is in another.
func (c *Charts) find(digest name.Digest) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.kept[digest.Name()]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(element)
	return element.Value.(packed).data, true //nolint:forcetypeassert // only keep adds elements
}

func (c *Charts) keep(digest name.Digest, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.kept[digest.Name()]; ok {
		return
	}
	if c.kept == nil {
		c.kept = map[string]*list.Element{}
	}
	c.kept[digest.Name()] = c.order.PushFront(packed{key: digest.Name(), data: data})
	c.size += len(data)
	for c.size > maxKept {
		oldest := c.order.Remove(c.order.Back()).(packed) //nolint:forcetypeassert // only keep adds elements
		delete(c.kept, oldest.key)
		c.size -= len(oldest.data)
	}
}
