// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
)

// leastCompressed is the size from which answers are compressed, as of the API.
const leastCompressed = 16 << 10

// pruned is an answer of which the browser gets the wanted fields. A list is passed on at the end, each event of a watch at once.
type pruned struct {
	http.ResponseWriter

	keep  fields
	watch bool
	// compress says that the browser accepts compressed answers. The API does not compress what is pruned.
	compress bool

	status int
	// as is how the API answers, if not with objects.
	as     bool
	body   bytes.Buffer
	output []byte
}

// prune returns a response that keeps the fields, and the request for the API.
func prune(w http.ResponseWriter, in *http.Request, keep fields, watch bool) *pruned {
	p := &pruned{ResponseWriter: w, keep: keep, watch: watch, compress: !watch && strings.Contains(in.Header.Get("Accept-Encoding"), "gzip")}
	in.Header.Del("Accept-Encoding")

	return p
}

// WriteHeader implements http.ResponseWriter.
func (p *pruned) WriteHeader(status int) {
	if p.status != 0 {
		return
	}
	p.status = status
	kind := p.Header().Get("Content-Type")
	p.as = status != http.StatusOK || !strings.HasPrefix(kind, "application/json") || p.Header().Get("Content-Encoding") != ""
	if !p.as {
		p.Header().Del("Content-Length")
	}
	if p.as || p.watch {
		p.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (p *pruned) Write(data []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	if p.as {
		return p.ResponseWriter.Write(data)
	}
	p.body.Write(data)
	if !p.watch {
		return len(data), nil
	}

	return len(data), p.writeLines()
}

// writeLines passes on the events that are complete.
func (p *pruned) writeLines() error {
	for {
		end := bytes.IndexByte(p.body.Bytes(), '\n')
		if end < 0 {
			return nil
		}
		if _, err := p.ResponseWriter.Write(p.kept(p.body.Next(end + 1))); err != nil { //nolint:gosec // JSON, as its header says.
			return err
		}
	}
}

// kept returns the wanted fields of a value. Errors, and what is not as expected, are kept as they are.
func (p *pruned) kept(data []byte) []byte {
	if bytes.HasPrefix(data, []byte(`{"type":"ERROR"`)) {
		return data
	}
	out, _, ok := p.keep.prune(p.output[:0], data)
	if !ok {
		return data
	}
	p.output = append(out, '\n')

	return p.output
}

// finish passes on a list.
func (p *pruned) finish() {
	if p.as || p.watch || p.status == 0 {
		return
	}
	data := p.kept(p.body.Bytes())
	header := p.Header()
	header.Add("Vary", "Accept-Encoding, "+fieldsHeader)
	if !p.compress || len(data) < leastCompressed {
		p.ResponseWriter.WriteHeader(p.status)
		p.ResponseWriter.Write(data) //nolint:errcheck,gosec // The client has gone; there is nobody to tell.

		return
	}
	header.Set("Content-Encoding", "gzip")
	p.ResponseWriter.WriteHeader(p.status)
	packed := gzip.NewWriter(p.ResponseWriter)
	packed.Write(data) //nolint:errcheck,gosec // As above.
	packed.Close()     //nolint:errcheck,gosec // As above.
}

// Flush implements http.Flusher.
func (p *pruned) Flush() {
	if flusher, ok := p.ResponseWriter.(http.Flusher); ok && (p.as || p.watch) {
		flusher.Flush()
	}
}

// CloseNotify is what the API server recognizes a response by that streams.
func (p *pruned) CloseNotify() <-chan bool {
	if notifier, ok := p.ResponseWriter.(interface{ CloseNotify() <-chan bool }); ok {
		return notifier.CloseNotify()
	}

	return nil
}

// Unwrap returns the response below, for http.ResponseController.
func (p *pruned) Unwrap() http.ResponseWriter { return p.ResponseWriter }
