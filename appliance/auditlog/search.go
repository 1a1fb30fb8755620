// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Filter selects events. Empty fields select all.
type Filter struct {
	User, Verb, Resource, Namespace, Name string
	Since, Until                          time.Time
	// Outcome selects events by what came of the request; empty for all.
	Outcome Outcome
	// Limit is the number of events, the newest of those that match.
	Limit int
}

// Outcome is what came of a request.
type Outcome string

// The outcomes of requests.
const (
	Succeeded Outcome = "succeeded"
	// Failed are all requests that did not succeed, those that were denied among them.
	Failed Outcome = "failed"
	// Denied are those without valid credentials or without permission.
	Denied Outcome = "denied"
)

// Valid reports whether it is an outcome; to leave it out is valid as well.
func (o Outcome) Valid() bool { return o == "" || o == Succeeded || o == Failed || o == Denied }

// matches reports whether a request with that status had the outcome.
func (o Outcome) matches(code int32) bool {
	switch o {
	case Succeeded:
		return code < http.StatusBadRequest
	case Failed:
		return code >= http.StatusBadRequest
	case Denied:
		return code == http.StatusUnauthorized || code == http.StatusForbidden
	default:
		return true
	}
}

// Event has the fields of an event that are searched and shown.
type Event struct {
	AuditID    string `json:"auditID"` //nolint:tagliatelle // The name in the API.
	Stage      string `json:"stage"`
	RequestURI string `json:"requestURI"` //nolint:tagliatelle // The name in the API.
	Verb       string `json:"verb"`
	User       struct {
		Username string   `json:"username"`
		Groups   []string `json:"groups,omitempty"`
	} `json:"user"`
	Impersonated *struct {
		Username string `json:"username"`
	} `json:"impersonatedUser,omitempty"`
	SourceIPs []string `json:"sourceIPs,omitempty"`
	UserAgent string   `json:"userAgent,omitempty"`
	Object    *struct {
		Resource    string `json:"resource,omitempty"`
		Subresource string `json:"subresource,omitempty"`
		Namespace   string `json:"namespace,omitempty"`
		Name        string `json:"name,omitempty"`
		APIGroup    string `json:"apiGroup,omitempty"`
	} `json:"objectRef,omitempty"`
	Status *struct {
		Code    int32  `json:"code,omitempty"`
		Message string `json:"message,omitempty"`
	} `json:"responseStatus,omitempty"`
	Received time.Time         `json:"requestReceivedTimestamp"`
	Time     time.Time         `json:"stageTimestamp"`
	Notes    map[string]string `json:"annotations,omitempty"`
}

// matches reports whether an event is selected.
func (f *Filter) matches(e *Event) bool {
	is := func(want, got string) bool { return want == "" || want == got }
	user := is(f.User, e.User.Username) || e.Impersonated != nil && is(f.User, e.Impersonated.Username)
	if !user || !is(f.Verb, e.Verb) || !f.Since.IsZero() && e.Time.Before(f.Since) || !f.Until.IsZero() && e.Time.After(f.Until) {
		return false
	}
	code := int32(0)
	if e.Status != nil {
		code = e.Status.Code
	}
	if !f.Outcome.matches(code) {
		return false
	}
	if e.Object == nil {
		return f.Resource == "" && f.Namespace == "" && f.Name == ""
	}
	resource := e.Object.Resource
	full := resource
	if e.Object.Subresource != "" {
		full += "/" + e.Object.Subresource
	}

	return (is(f.Resource, resource) || f.Resource == full) && is(f.Namespace, e.Object.Namespace) && is(f.Name, e.Object.Name)
}

// hints are texts that each line with a matching event contains: most lines need not be decoded.
func (f *Filter) hints() [][]byte {
	var all [][]byte
	for _, text := range []string{f.User, f.Verb, f.Namespace, f.Name} {
		if quoted, err := json.Marshal(text); err == nil && text != "" && !bytes.ContainsAny(quoted, "\\") {
			all = append(all, quoted)
		}
	}

	return all
}

// Search returns the newest events that match, the oldest of them first.
func Search(ctx context.Context, dir string, filter Filter) ([]Event, error) {
	names, err := finishedFiles(dir)
	if err != nil {
		return nil, err
	}
	var found []Event
	for _, name := range slices.Backward(append(names, current)) {
		more, err := searchFile(ctx, filepath.Join(dir, name), &filter)
		if errors.Is(err, fs.ErrNotExist) {
			continue // It was just removed or renamed.
		}
		if err != nil {
			return nil, err
		}
		found = append(more, found...)
		if extra := len(found) - filter.Limit; filter.Limit > 0 && extra >= 0 {
			return found[extra:], nil
		}
	}

	return found, nil
}

// longest is the size of the longest line that is read. Longer ones are left out: no event is written that long.
const longest = 1 << 20

func searchFile(ctx context.Context, path string, filter *Filter) (found []Event, err error) {
	file, err := os.Open(path) //nolint:gosec // The path is the operator's own.
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	defer file.Close() //nolint:errcheck // Nothing was written.
	if info, err := file.Stat(); err == nil && !filter.Since.IsZero() && info.ModTime().Before(filter.Since) {
		return nil, nil
	}
	hints := filter.hints()
	lines := bufio.NewReaderSize(file, longest)
	for {
		line, err := nextLine(lines)
		if errors.Is(err, io.EOF) {
			break
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return nil, fmt.Errorf("read audit log: %w", err)
		}
		if slices.ContainsFunc(hints, func(h []byte) bool { return !bytes.Contains(line, h) }) {
			continue
		}
		var e Event
		if json.Unmarshal(line, &e) != nil || !filter.matches(&e) {
			continue
		}
		found = append(found, e)
		if extra := len(found) - filter.Limit; filter.Limit > 0 && extra >= filter.Limit {
			found = append(found[:0], found[extra:]...)
		}
	}
	if extra := len(found) - filter.Limit; filter.Limit > 0 && extra > 0 {
		found = found[extra:]
	}

	return found, nil
}

// nextLine returns the next whole line that is not too long. It is valid until the next call.
func nextLine(lines *bufio.Reader) ([]byte, error) {
	for {
		line, err := lines.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
		}
		if err != nil {
			return nil, err
		}
	}
}
