// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"filippo.io/age"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// sink takes the contents of a file. Functions that are nil take nothing.
type sink struct {
	object, event func(*log.Record) error
	file          func(path string, content io.Reader) error
	timeline      func(content io.Reader) error
}

// Verify reads a file to its end: each checksum, each record, and their numbers.
func Verify(f File, identities []age.Identity) (Manifest, error) { return scan(f, identities, sink{}) }

// scan reads a file into a sink, and checks it. As for open, nothing may be used before it has returned without an error.
func scan(f File, identities []age.Identity, to sink) (Manifest, error) {
	counts := map[string]int64{}
	is, err := open(f, identities, func(is Manifest, name string, content io.Reader) error {
		path, isFile := strings.CutPrefix(name, partFile)
		switch {
		case name == partObjects:
			return scanRecords(content, is.Objects, to.object, counts, name)
		case name == partEvents:
			return scanRecords(content, is.Events, to.event, counts, name)
		case name == partTimeline && to.timeline != nil:
			return to.timeline(content)
		case isFile && to.file != nil:
			return to.file(path, content)
		default:
			return nil
		}
	})
	if err != nil {
		return Manifest{}, err
	}
	for name, want := range map[string]int64{partObjects: is.Objects.Records, partEvents: is.Events.Records} {
		if counts[name] != want {
			return Manifest{}, fmt.Errorf("%w: %d records in %s instead of %d", ErrDamaged, counts[name], name, want)
		}
	}

	return is, nil
}

func scanRecords(content io.Reader, span Span, to func(*log.Record) error, counts map[string]int64, name string) error {
	return readRecords(content, func(r *log.Record) error {
		counts[name]++
		if r.Revision <= span.From || r.Revision > span.To {
			return fmt.Errorf("%w: record %d is not between %d and %d", ErrDamaged, r.Revision, span.From, span.To)
		}
		if err := checkRecord(r); err != nil {
			return err
		}
		if to == nil {
			return nil
		}

		return to(r)
	})
}

// protobuf and encrypted are how values of the API server begin that are not JSON.
const (
	protobuf  = "k8s\x00"
	encrypted = "k8s:enc:"
)

// checkRecord finds out whether an API server could read a record.
func checkRecord(r *log.Record) error {
	if !strings.HasPrefix(r.Key, "/") || !utf8.ValidString(r.Key) {
		return fmt.Errorf("%w: record %d has the key %q", ErrDamaged, r.Revision, r.Key)
	}
	ok := r.Deleted
	switch {
	case ok:
	case bytes.HasPrefix(r.Value, []byte(protobuf)):
		ok = new(runtime.Unknown).Unmarshal(r.Value[len(protobuf):]) == nil
	case bytes.HasPrefix(r.Value, []byte(encrypted)):
		// Provider, version and key come before what is encrypted.
		fields := bytes.SplitN(r.Value[len(encrypted):], []byte(":"), 4)
		ok = len(fields) == 4 && len(fields[3]) > 0
	default:
		ok = json.Valid(r.Value)
	}
	if !ok {
		return fmt.Errorf("%w: the value of %q, record %d, cannot be read", ErrDamaged, r.Key, r.Revision)
	}

	return nil
}
