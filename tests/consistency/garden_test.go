// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

// subject is a kind of object that clients write and read.
type subject struct {
	resource  schema.GroupVersionResource
	kind      string
	namespace string
}

const (
	gardenKeys = 5
	gardenTime = 5 * time.Second
	// gardenLong is for the long form, in which the start of a garden should not take most of the time.
	gardenLong = 25 * time.Second
	namePrefix = "consistency-"
	// tokenKey and groupKey are an annotation and a label.
	tokenKey = "consistency/token"
	groupKey = "consistency-group"
)

var (
	configMaps = subject{
		resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, kind: "ConfigMap", namespace: "default",
	}
	// Nothing but clients writes to InternalSecrets, nor to these ConfigMaps.
	internalSecrets = subject{
		resource: schema.GroupVersionResource{Group: "core.gardener.cloud", Version: "v1beta1", Resource: "internalsecrets"},
		kind:     "InternalSecret", namespace: "default",
	}
)

// key names an object among those of all kinds.
func (s subject) key(name string) string { return s.resource.Resource + "/" + name }

// of reports whether a change is one of an object of the kind.
func (s subject) of(c change) bool {
	return strings.HasPrefix(c.key, s.resource.Resource+"/"+namePrefix)
}

// stored makes the key of a record of the store.
func stored(path string) string {
	name := path[strings.LastIndex(path, "/")+1:]
	if !strings.HasPrefix(name, namePrefix) {
		return ""
	}
	for _, s := range []subject{configMaps, internalSecrets} {
		if strings.Contains(path, "/"+s.resource.Resource+"/") {
			return s.key(name)
		}
	}

	return ""
}

// TestGarden lets clients of the API write and read objects of Kubernetes and of the garden.
//
//nolint:paralleltest // It changes the number of processors.
func TestGarden(t *testing.T) { rounds(t, gardenShare, []int{2, 4}, testGarden) }

func testGarden(t *testing.T) {
	t.Helper()
	const clients = 32
	length := gardenTime
	if *long > 0 {
		length = gardenLong
	}
	g := harness.Start(t, harness.WithDatastore(disturb))
	l := &gardenLoad{recorder: newRecorder(), config: g.Config, end: time.Now().Add(length), contents: map[int64]change{}}
	var writing, watching sync.WaitGroup
	stop := make(chan struct{})
	for _, s := range []subject{configMaps, internalSecrets} {
		l.audit(t, s, &watching, stop)
		for n := range clients / 2 {
			writing.Go(func() { l.use(t, s, n) })
		}
		for n := range 3 {
			watching.Go(func() { l.watch(t, s, n) })
		}
	}
	writing.Wait()
	l.finish(t)
	watching.Wait()
	close(stop)
	g.Stop(t)
	l.check(t, l.fill(t, readTruth(t, filepath.Join(g.DataDir, "db", "objects.db"), stored)))
}

// gardenLoad is what clients do to a garden.
type gardenLoad struct {
	*recorder

	config *rest.Config
	end    time.Time

	// mutex guards what objects hold at each revision, and the revision of the last write of each kind.
	mutex    sync.Mutex
	contents map[int64]change
	last     map[string]int64
}

// connect returns a client with a connection of its own.
func (l *gardenLoad) connect(t *testing.T, s subject) dynamic.ResourceInterface {
	t.Helper()
	c := rest.CopyConfig(l.config)
	c.QPS = -1
	c.Dial = dialer()
	d, err := dynamic.NewForConfig(c)
	if err != nil {
		t.Error(err)

		return nil
	}
	return d.Resource(s.resource).Namespace(s.namespace)
}

// learn notes what an object holds at its revision. Every read of the same revision must see the same.
func (l *gardenLoad) learn(s subject, o *unstructured.Unstructured) (change, error) {
	c := change{key: s.key(o.GetName()), token: o.GetAnnotations()[tokenKey], group: o.GetLabels()[groupKey]}
	if _, err := fmt.Sscan(o.GetResourceVersion(), &c.revision); err != nil {
		return c, fmt.Errorf("version %q of %s: %w", o.GetResourceVersion(), c.key, err)
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if other, ok := l.contents[c.revision]; ok && other != c {
		return c, fmt.Errorf("revision %d has two contents (-first +second):\n%s", c.revision, cmp.Diff(other, c, cmp.AllowUnexported(change{})))
	}
	l.contents[c.revision] = c

	return c, nil
}

// fill adds to the truth what objects hold, which is encoded in the store.
func (l *gardenLoad) fill(t *testing.T, found *truth) *truth {
	t.Helper()
	for i, c := range found.changes {
		if c.deleted {
			continue
		}
		content, ok := l.contents[c.revision]
		if !ok || content.key != c.key {
			t.Errorf("Somebody has seen every change: revision %d of %s is known as %+v", c.revision, c.key, content)
		}
		found.changes[i].token, found.changes[i].group = content.token, content.group
	}
	// A deletion has no revision in its answer; the record tells by what it has replaced.
	whole := newTruth(found.changes)
	for i, a := range l.answers {
		if a.kind != made || !a.deletes {
			continue
		}
		next, ok := whole.next(a.key, a.expected)
		if !ok || !next.deleted {
			t.Errorf("%s: what it has deleted is followed by %+v", a, next)
		}
		l.answers[i].revision = next.revision
	}

	return whole
}

// finish writes once more to each kind, so that watches know where to end.
func (l *gardenLoad) finish(t *testing.T) {
	t.Helper()
	for _, s := range []subject{configMaps, internalSecrets} {
		u := &gardener{gardenLoad: l, subject: s, client: l.connect(t, s), number: -1}
		if err := u.create(t.Context(), namePrefix+"last"); err != nil {
			t.Error(err)
		}
		l.mutex.Lock()
		if l.last == nil {
			l.last = map[string]int64{}
		}
		l.last[s.kind] = u.newest
		l.mutex.Unlock()
	}
}

func (l *gardenLoad) lastOf(s subject) int64 {
	l.mutex.Lock()
	defer l.mutex.Unlock()

	return l.last[s.kind]
}
