// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"fmt"
	"sync"
	"time"
)

// kind is what an answer says.
type kind string

const (
	// made: a write was made at a revision.
	made kind = "made"
	// found: a key has a revision.
	found kind = "found"
	// absent: a key does not exist.
	absent kind = "absent"
	// exists: a key exists; a creation was refused.
	exists kind = "exists"
	// differs: a key does not have a revision; a change of it was refused.
	differs kind = "differs"
	// listed: at a revision, what matches is this.
	listed kind = "listed"
	// told: a watch has brought a change, or said that it has brought everything up to a revision.
	told kind = "told"
)

// unconditional is the expectation of a write that takes whatever there is.
const unconditional = -1

// answer is what a client was told, with the times at which it asked and knew.
type answer struct {
	client     int
	what       string
	asked, had time.Duration

	kind     kind
	key      string
	revision int64
	// token is what was read or written.
	token string
	// expected and deletes belong to a write that was made.
	expected int64
	deletes  bool
	// seen are the revisions of what was listed, and match what could have been.
	seen  map[string]int64
	match func(change) bool
	// stale says that the client was content with an old state.
	stale bool
	// single says that only one key was listed, about which there is another answer.
	single bool
}

func (a answer) String() string {
	text := fmt.Sprintf("client %d, %s..%s: %s: %s", a.client, a.asked, a.had, a.what, a.kind)
	if a.key != "" {
		text += " " + a.key
	}
	if a.revision != 0 {
		text += fmt.Sprintf(" revision %d", a.revision)
	}

	return text
}

// recorder takes what clients are told.
type recorder struct {
	began time.Time

	mutex   sync.Mutex
	answers []answer
	// issued are the tokens of all writes that were tried, and dry those of writes that were not meant.
	issued, dry map[string]bool
	watches     []*watched
}

func newRecorder() *recorder {
	return &recorder{began: time.Now(), issued: map[string]bool{}, dry: map[string]bool{}}
}

// now is the time since the beginning.
func (r *recorder) now() time.Duration { return time.Since(r.began) }

// note records an answer that has just come.
func (r *recorder) note(a answer) {
	if a.had == 0 {
		a.had = r.now()
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.answers = append(r.answers, a)
}

func (r *recorder) issue(token string, dry bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if dry {
		r.dry[token] = true
	} else {
		r.issued[token] = true
	}
}

// watched is what one watch has brought. It belongs to one goroutine until it is handed over.
type watched struct {
	what  string
	after int64
	match func(change) bool
	// events are what was brought, and said how far everything was, with the number of events before.
	events []event
	said   []progress
	// whole says that the watch went on until the last change.
	whole bool
}

// event is what a watch has brought: the change, and what was there before if the watch says so.
type event struct {
	change

	// before is the revision of what was replaced, 0 for nothing, -1 if the watch does not say.
	before int64
	// kind is what the watch calls it; empty if it does not.
	kind string
}

type progress struct {
	events   int
	revision int64
}

func (r *recorder) hand(w *watched) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.watches = append(r.watches, w)
}
