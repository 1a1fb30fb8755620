// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/utils/clock"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/storage/local/timeline"
)

const (
	// maxChanges is the number of changes that may wait for the recorder, and maxWaiting about how much memory they may take. Further ones
	// are left out, which the log of the server says, because a request never waits for the timeline.
	maxChanges = 10_000
	maxWaiting = 32 << 20
	// remembered is the number of objects of which the recorder knows who last asked for something, and of those removed
	// lately of which it knows the seed.
	remembered    = 4_096
	rememberedFor = 24 * time.Hour
	// removedFor is how long tasks of a removed object are accepted.
	removedFor = 10 * time.Minute
)

// Recorder derives entries from changes of objects.
type Recorder struct {
	store   *timeline.Store
	clock   clock.Clock
	changes chan change
	// waiting is the weight of the changes, missed the number of entries that were left out.
	waiting, missed atomic.Int64
	// requesters have the user who last asked for something, by the UID of the object.
	requesters *cache.LRUExpireCache
	// removed have the seeds of removed objects, by their subjects.
	removed *cache.LRUExpireCache
}

// change are the entries of a change of an object.
type change struct {
	user    string
	subject gardenappliancev1alpha1.TimelineSubject
	entries []*timeline.Entry
	weight  int64
}

// NewRecorder returns a recorder. Run has to be called.
func NewRecorder(store *timeline.Store, clk clock.Clock) *Recorder {
	return &Recorder{
		store: store, clock: clk, changes: make(chan change, maxChanges),
		requesters: cache.NewLRUExpireCache(remembered), removed: cache.NewLRUExpireCache(remembered),
	}
}

// Changed takes a change. It never waits, and keeps nothing of the objects.
func (r *Recorder) Changed(ctx context.Context, before, after runtime.Object) {
	was, is := pictureOf(before), pictureOf(after)
	about := is
	if about == nil {
		about = was
	}
	if about == nil {
		return
	}
	if is == nil {
		// The last tasks of a deletion are reported a moment later.
		r.removed.Add(was.subject, was.seeds, removedFor)
	}
	c := change{subject: about.subject, entries: difference(was, is)}
	if len(c.entries) == 0 {
		return
	}
	if who, ok := genericapirequest.UserFrom(ctx); ok {
		c.user = who.GetName()
	}
	now := r.clock.Now()
	for _, entry := range c.entries {
		complete(entry, about.subject, now)
		entry.User = c.user
	}
	r.take(c)
}

// take has a change recorded soon, or leaves it out if too much waits already.
func (r *Recorder) take(c change) {
	c.weight = timeline.WeightOf(c.entries)
	if r.waiting.Add(c.weight) <= maxWaiting {
		select {
		case r.changes <- c:
			return
		default:
		}
	}
	r.waiting.Add(-c.weight)
	r.missed.Add(int64(len(c.entries)))
}

// Run records until ctx is done, and then what is left.
func (r *Recorder) Run(ctx context.Context) {
	for {
		select {
		case c := <-r.changes:
			r.record(ctx, c)
		case <-ctx.Done():
			for {
				select {
				case c := <-r.changes:
					r.record(ctx, c)
				default:
					return
				}
			}
		}
	}
}

func (r *Recorder) record(ctx context.Context, c change) {
	r.store.Lost(r.missed.Swap(0))
	for _, entry := range c.entries {
		switch entry.Type {
		case gardenappliancev1alpha1.TimelineEntryRequest:
			if asks(entry) {
				r.requesters.Add(c.subject.UID, c.user, rememberedFor)
			}
		case gardenappliancev1alpha1.TimelineEntryOperation:
			entry.RequestedBy = r.requester(ctx, c.subject)
		default:
		}
	}
	r.store.Offer(c.entries...)
	r.waiting.Add(-c.weight)
}

// complete sets what all entries have.
func complete(entry *timeline.Entry, subject gardenappliancev1alpha1.TimelineSubject, at time.Time) {
	entry.Namespace, entry.UID, entry.Subject = namespaceOf(subject), uuid.NewUUID(), subject
	entry.Time = metav1.NewMicroTime(at)
	entry.CreationTimestamp = metav1.NewTime(at)
}

// asks reports whether a request is the reason of the operations that follow: those of people and programs are, those of gardenlets are not.
// The garden itself asks when it hibernates, maintains or retries a shoot, but not when it chooses the seed for what somebody else has created.
func asks(e *timeline.Entry) bool {
	switch {
	case e.User == "" || strings.HasPrefix(e.User, gardencorev1beta1.UserPrefixSeed):
		return false
	case e.User == user.APIServerUser:
		return e.Request != nil && e.Request.Verb == gardenappliancev1alpha1.TimelineUpdate && !slices.Contains(e.Request.Fields, "spec.seedName")
	default:
		return true
	}
}

// requester returns who last asked for something, from memory or else, after a restart, from the timeline.
func (r *Recorder) requester(ctx context.Context, subject gardenappliancev1alpha1.TimelineSubject) string {
	if known, ok := r.requesters.Get(subject.UID); ok {
		return known.(string) //nolint:forcetypeassert // only strings are added
	}
	last, err := r.store.Last(context.WithoutCancel(ctx), timeline.Query{
		Namespace: namespaceOf(subject), Kind: subject.Kind, Name: subject.Name,
		Keep: func(e *timeline.Entry) bool {
			return e.Type == gardenappliancev1alpha1.TimelineEntryRequest && e.Subject.UID == subject.UID && asks(e)
		},
	})
	if err != nil {
		return ""
	}
	name := ""
	if last != nil {
		name = last.User
	}
	// That nobody asks is worth to be remembered as well: to find it out, all entries of the object are read.
	r.requesters.Add(subject.UID, name, rememberedFor)

	return name
}

// seedsOfRemoved returns the seeds of an object that was removed lately.
func (r *Recorder) seedsOfRemoved(subject gardenappliancev1alpha1.TimelineSubject) ([]string, types.UID, bool) {
	found, ok := r.removed.Get(subject)
	if !ok {
		return nil, "", false
	}

	return found.([]string), subject.UID, true //nolint:forcetypeassert // only lists of names are added
}
