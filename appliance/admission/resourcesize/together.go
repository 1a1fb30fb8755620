// SPDX-License-Identifier: Apache-2.0

package resourcesize

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/admission"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

const (
	// small is the size of a Secret that is always allowed: a quota limits how many there are.
	small = 16 << 10
	// keep is how long a Secret counts as large as it was requested to be: longer than any request takes, and than it takes until what was
	// written is seen in the cache.
	keep = 65 * time.Second
)

// tooMuch adds up the data of the Secrets of a namespace. All of it is in memory several times, so what is a lot for the disk is too much for
// the server. It claims what it allows.
func (r *rule) tooMuch(
	ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces, limit *gardenconfigv1alpha1.ResourceLimit,
) (complaint, err error) {
	if limit.Together == nil || a.GetNamespace() == "" {
		return nil, nil
	}
	secret, old, err := world.Objects[corev1.Secret](a, o)
	if err != nil || secret == nil {
		return nil, err
	}
	size := dataOf(secret)
	if size <= small || old != nil && size <= dataOf(old) {
		return nil, nil
	}
	there, err := r.sizes(ctx, a.GetNamespace())
	if err != nil {
		return nil, fmt.Errorf("list secrets: %w", err)
	}
	most := limit.Together.Value()
	total := r.asked.total(there, request{namespace: a.GetNamespace(), name: secret.Name, size: size, most: most, now: r.world.Clock.Now(), dryRun: a.IsDryRun()})
	if total <= most {
		return nil, nil
	}
	return fmt.Errorf("the Secrets of namespace %q would have %d bytes of data together, with those requested in the last minute, and at most %d are allowed; "+
		"those of up to %d bytes are always allowed", a.GetNamespace(), total, most, small), nil
}

// sizes are those of the Secrets of a namespace, by name, as the cache has them.
func (r *rule) sizes(ctx context.Context, namespace string) (map[string]int64, error) {
	all, err := r.world.Cached().Secrets(ctx, namespace, labels.Everything())
	if err != nil {
		return nil, err
	}
	sizes := make(map[string]int64, len(all))
	for i := range all {
		sizes[all[i].Name] = dataOf(&all[i])
	}
	return sizes, nil
}

// dataOf is the size of the data of a Secret.
func dataOf(s *corev1.Secret) int64 {
	var size int64
	for key, value := range s.Data {
		size += int64(len(key) + len(value))
	}
	for key, value := range s.StringData {
		size += int64(len(key) + len(value))
	}
	return size
}

// asked has the Secrets that requests were allowed to write a short time ago, by namespace and name. Several requests at once would
// otherwise all find the same room, and the cache may not have what was written a moment ago.
type asked struct {
	mu sync.Mutex
	of map[string]map[string]claim
}

// claim is how large a Secret becomes.
type claim struct {
	size  int64
	until time.Time
}

// request is one for a Secret of some size in a namespace, where all together may have most.
type request struct {
	namespace, name string
	size, most      int64
	now             time.Time
	dryRun          bool
}

// total returns the size of all Secrets of a namespace with a new one, beside those that are there, and claims that unless it is too much.
func (c *asked) total(there map[string]int64, r request) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	claims := c.of[r.namespace]
	maps.DeleteFunc(claims, func(_ string, of claim) bool { return !of.until.After(r.now) })
	for name, of := range claims {
		there[name] = max(there[name], of.size)
	}
	there[r.name] = max(r.size, claims[r.name].size)
	var total int64
	for size := range maps.Values(there) {
		total += size
	}
	if total > r.most || r.dryRun {
		return total
	}
	if claims == nil {
		claims = map[string]claim{}
		if c.of == nil {
			c.of = map[string]map[string]claim{}
		}
		c.of[r.namespace] = claims
	}
	claims[r.name] = claim{size: there[r.name], until: r.now.Add(keep)}
	return total
}
