// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

const (
	// leastCompressed is the size from which answers are compressed, as of the API.
	leastCompressed = 16 << 10
	// maxHeld bounds what is held of an object or event that is not complete. It is more than the API takes for an object.
	maxHeld = 4 << 20
	// maxIdle is the memory that is kept between two parts of an answer.
	maxIdle = 64 << 10
)

// pruned is an answer of which the browser gets the wanted fields: each object of a list and each event of a watch is passed on when it
// is complete, so nothing is held but the one that is not. What is not as expected, or too large, is passed on as it is, with all that follows.
type pruned struct {
	http.ResponseWriter

	// next appends what is kept of the next part of the answer, and says how much of data that part is: nothing if it is not complete.
	// ok is false for what is not as expected.
	next func(out, data []byte) (kept []byte, n int, ok bool)
	// flows says that each part is for the browser at once, which is so for events. The beginning of a list waits for what follows,
	// because short lists are not compressed.
	flows bool
	// compress says that the browser accepts compressed answers. The API does not compress what is pruned.
	compress bool

	status int
	// as is how the API answers, if not with objects, and raw that what follows is not pruned.
	as, raw bool
	// to is where the answer goes, nil before it begins. packed compresses it.
	to     io.Writer
	packed *gzip.Writer
	// head is the beginning of a list, held what is not complete, and output what is kept of the part before.
	head, held, output []byte
}

// prune returns a response that keeps the wanted fields, and changes the request for the API.
func prune(w http.ResponseWriter, in *http.Request, want wanted) *pruned {
	p := &pruned{ResponseWriter: w, flows: want.watch}
	if want.watch {
		p.next = fields{"type": nil, "object": want.object}.event
	} else {
		p.next = (&listing{keep: fields{"kind": nil, "apiVersion": nil, "metadata": nil, "items": want.object}}).next
		p.compress = strings.Contains(in.Header.Get("Accept-Encoding"), "gzip")
	}
	in.Header.Del("Accept-Encoding")

	return p
}

// WriteHeader implements http.ResponseWriter.
func (p *pruned) WriteHeader(status int) {
	if p.status != 0 {
		return
	}
	p.status = status
	header := p.Header()
	p.as = status != http.StatusOK || !strings.HasPrefix(header.Get("Content-Type"), "application/json") || header.Get("Content-Encoding") != ""
	if p.as {
		p.ResponseWriter.WriteHeader(status)

		return
	}
	header.Del("Content-Length")
	if p.flows {
		p.begin(false) //nolint:errcheck,gosec // There is no beginning yet that could fail to be written.
	}
}

// Write implements http.ResponseWriter.
func (p *pruned) Write(data []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	if p.as {
		return p.ResponseWriter.Write(data)
	}
	defer p.release()
	length := len(data)
	for len(data) > 0 {
		from, piece := data, len(data)
		if len(p.held) > 0 {
			// As much again as is held, so that a long value is not looked at too often, until it is too long.
			piece = min(piece, max(len(p.held), maxIdle), maxHeld+1-len(p.held))
			p.held = append(p.held, data[:piece]...)
			from = p.held
		}
		data = data[piece:]
		rest, err := p.take(from)
		if err != nil {
			return 0, err
		}
		p.held = append(p.held[:0], rest...)
	}

	return length, nil
}

// take passes on the parts that are complete, and returns the rest.
func (p *pruned) take(data []byte) (rest []byte, err error) {
	for len(data) > 0 && !p.raw {
		out, n, ok := p.next(p.output[:0], data)
		p.raw = !ok || (n == 0 && len(data) > maxHeld)
		if n == 0 {
			break
		}
		p.output, data = out, data[n:]
		if err := p.emit(out); err != nil {
			return nil, err
		}
	}
	if p.raw {
		return nil, p.emit(data)
	}

	return data, nil
}

// emit gives data to the browser, or keeps it if it is not known yet whether the answer is worth compressing.
func (p *pruned) emit(data []byte) error {
	if p.to == nil {
		if len(p.head)+len(data) < leastCompressed {
			p.head = append(p.head, data...)

			return nil
		}
		if err := p.begin(p.compress); err != nil {
			return err
		}
	}
	_, err := p.to.Write(data)

	return err
}

// begin begins the answer.
func (p *pruned) begin(compressed bool) error {
	p.to = p.ResponseWriter
	if !p.flows {
		p.Header().Add("Vary", "Accept-Encoding, "+fieldsHeader)
	}
	if compressed {
		p.Header().Set("Content-Encoding", "gzip")
		p.packed = gzip.NewWriter(p.ResponseWriter)
		p.to = p.packed
	}
	p.ResponseWriter.WriteHeader(p.status)
	head := p.head
	p.head = nil
	if len(head) == 0 {
		return nil
	}
	_, err := p.to.Write(head)

	return err
}

// release gives large buffers back: a watch may last for hours after a large event.
func (p *pruned) release() {
	if len(p.held) == 0 && cap(p.held) > maxIdle {
		p.held = nil
	}
	if cap(p.output) > maxIdle {
		p.output = nil
	}
}

// finish passes on what is left. If that fails, the client has gone, and there is nobody to tell.
func (p *pruned) finish() {
	if p.as || p.status == 0 {
		return
	}
	if err := p.emit(p.held); err != nil {
		return
	}
	if p.to == nil && p.begin(false) != nil {
		return
	}
	if p.packed != nil {
		p.packed.Close() //nolint:errcheck,gosec // As above.
	}
}

// Flush implements http.Flusher. Lists have no parts that somebody waits for.
func (p *pruned) Flush() {
	if flusher, ok := p.ResponseWriter.(http.Flusher); ok && (p.as || p.flows) {
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

// event keeps the wanted fields of an event of a watch, which is a line. Errors, and what is no event, are kept as they are.
func (f fields) event(out, data []byte) (kept []byte, n int, ok bool) {
	end := bytes.IndexByte(data, '\n')
	if end < 0 {
		return out, 0, true
	}
	line := data[:end+1]
	if bytes.HasPrefix(line, []byte(`{"type":"ERROR"`)) {
		return append(out, line...), len(line), true
	}

	return append(f.reduce(out, line[:end]), '\n'), len(line), true
}
