// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Extension is that of all files.
const Extension = ".tsnap"

// Entry is a file in a destination, as its name describes it.
type Entry struct {
	// Name is that of the file, without its extension.
	Name string
	// Kind, Time, Objects and Events are those of the manifest; the numbers of records are not known.
	Kind            Kind
	Time            time.Time
	Objects, Events Span
	// Bytes is the size of the file.
	Bytes int64
}

const timeForm = "20060102-150405"

// nameOf is the name of a file. It says enough to choose the files of a restore without reading them.
func nameOf(m Manifest) string {
	at := m.Time.UTC().Format(timeForm)
	if m.Kind == Full {
		return fmt.Sprintf("%s-%s-%d-%d", Full, at, m.Objects.To, m.Events.To)
	}

	return fmt.Sprintf("%s-%s-%d-%d-%d-%d", Increment, at, m.Objects.From, m.Objects.To, m.Events.From, m.Events.To)
}

// CheckName returns an error that wraps ErrDamaged if the file was renamed.
func (m Manifest) CheckName(name string) error {
	if is := nameOf(m); is != name {
		return fmt.Errorf("%w: it is %q under the name %q", ErrDamaged, is, name)
	}

	return nil
}

// parseName reads a name, and reports whether it is one.
func parseName(file string) (Entry, bool) {
	name, ok := strings.CutSuffix(file, Extension)
	if !ok {
		return Entry{}, false
	}
	pattern := regexp.MustCompile(`^(snapshot|increment)-(\d{8}-\d{6})-(\d+)-(\d+)(?:-(\d+)-(\d+))?$`)
	found := pattern.FindStringSubmatch(name)
	if found == nil || (found[1] == string(Full)) != (found[5] == "") {
		return Entry{}, false
	}
	at, err := time.Parse(timeForm, found[2])
	if err != nil {
		return Entry{}, false
	}
	var numbers [4]int64
	for i, text := range found[3:] {
		if text == "" {
			continue
		}
		if numbers[i], err = strconv.ParseInt(text, 10, 64); err != nil {
			return Entry{}, false
		}
	}
	e := Entry{Name: name, Kind: Kind(found[1]), Time: at.UTC()}
	if e.Kind == Full {
		e.Objects.To, e.Events.To = numbers[0], numbers[1]
	} else {
		e.Objects, e.Events = Span{From: numbers[0], To: numbers[1]}, Span{From: numbers[2], To: numbers[3]}
	}

	return e, true
}

// TimeOf returns the time in the name of a snapshot, and whether it is one.
func TimeOf(name string) (time.Time, bool) {
	e, ok := parseName(name + Extension)

	return e.Time, ok
}

// snapshots are the snapshots among files, the newest first.
func snapshots(all []Entry) []Entry {
	found := slices.DeleteFunc(slices.Clone(all), func(e Entry) bool { return e.Kind != Full })
	slices.SortFunc(found, func(a, b Entry) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.Objects.To, a.Objects.To), cmp.Compare(b.Events.To, a.Events.To))
	})

	return found
}

// increments are the increments among files, in the order of their revisions.
func increments(all []Entry) []Entry {
	found := slices.DeleteFunc(slices.Clone(all), func(e Entry) bool { return e.Kind != Increment })
	slices.SortFunc(found, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Objects.To, b.Objects.To), cmp.Compare(a.Events.To, b.Events.To),
			cmp.Compare(a.Objects.From, b.Objects.From), cmp.Compare(a.Events.From, b.Events.From))
	})

	return found
}

// chain returns the increments that go on from a snapshot without a gap, and the first one that does not, if there is one.
// Increments that add nothing, because they are there twice or are older than the snapshot, are left out.
func chain(all []Entry, from Entry) (found []Entry, beyond *Entry) {
	found, beyond, _ = chainOf(all, from, nil) // Nothing of it fails.

	return found, beyond
}

// chainOf is chain of the files of one history. An increment adds something to the file before it though it was made earlier if a clock was
// set back, or if the machine went back to an earlier state: then it is of another history, and left out. Which of them it was, same says;
// without it, all files are of one history.
func chainOf(all []Entry, from Entry, same func(last, next Entry) (bool, error)) (found []Entry, beyond *Entry, err error) {
	last, objects, events := from, from.Objects.To, from.Events.To
	for _, next := range increments(all) {
		if next.Objects.To <= objects && next.Events.To <= events {
			continue
		}
		earlier := same != nil && next.Time.Before(last.Time)
		if next.Objects.From > objects || next.Events.From > events {
			if earlier {
				continue
			}

			return found, &next, nil
		}
		if earlier {
			is, err := same(last, next)
			if err != nil {
				return found, nil, fmt.Errorf("increment %q: %w", next.Name, err)
			}
			if !is {
				continue
			}
		}
		last, objects, events = next, max(objects, next.Objects.To), max(events, next.Events.To)
		found = append(found, next)
	}

	return found, nil, nil
}

// Tail is what increments add to a snapshot, up to the next one.
type Tail struct {
	// Files are the increments, each of which goes on from the one before.
	Files []Entry
	// Gap says that there are later ones that do not go on from the last.
	Gap bool
}

// Bytes is the size of all files.
func (t Tail) Bytes() (sum int64) {
	for _, e := range t.Files {
		sum += e.Bytes
	}

	return sum
}

// tails are those of the snapshots among files, the newest first.
func tails(all []Entry) []Tail {
	full := snapshots(all)
	found := make([]Tail, len(full))
	for i, from := range full {
		// Increments of a later time are those of the next snapshot.
		later := func(e Entry) bool { return i > 0 && !e.Time.Before(full[i-1].Time) }
		files, beyond := chain(all, from)
		found[i] = Tail{Files: slices.DeleteFunc(files, later), Gap: beyond != nil && !later(*beyond)}
	}

	return found
}
