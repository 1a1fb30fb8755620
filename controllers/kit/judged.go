// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/terrarium-garden/terrarium/apis/bounds"
)

// ErrTooLarge is an answer that takes too much memory, or too much time, to be read.
var ErrTooLarge = errors.New("the answer is too large")

// Bounds are those of what a server that is not trusted answers.
type Bounds struct {
	// Answer is the greatest number of bytes of an answer, Event that of an event of a watch.
	Answer, Event int64
	// Limits are what an answer or an event may cost when it is decoded: an entry of a list that is two bytes long can take a kilobyte.
	Limits bounds.Limits
}

// Judge has the body of a response fail before it is decoded if that would cost too much. A body or an event is held in memory until
// it is judged. A response in an encoding that nobody asks for is an error, and its body is closed then.
func (b Bounds) Judge(response *http.Response, watches bool) error {
	j := &judged{from: bufio.NewReader(response.Body), Closer: response.Body, bounds: b, contentType: response.Header.Get("Content-Type")}
	media, encoded := MediaType(j.contentType)
	// An error ends a watch before it begins, and is one answer.
	switch watches = watches && response.StatusCode < http.StatusBadRequest; {
	case watches && encoded && media == runtime.ContentTypeProtobuf:
		j.next = j.frame
	case watches && encoded:
		j.next = j.event
	case !watches && (encoded || undecoded(j.contentType)):
		j.next = j.all
	default:
		_ = response.Body.Close()
		return fmt.Errorf("the server answers %d in the encoding %.100q, which nobody asked for", response.StatusCode, j.contentType)
	}
	response.Body = j
	return nil
}

// MediaType returns the media type of a content type as clients understand it, and whether it is one of the encodings in which answers are
// requested: JSON, or the protobuf of Kubernetes. Clients know more, such as YAML, and would decode whatever a server names. They ignore
// the case, and parameters.
func MediaType(contentType string) (media string, encoded bool) {
	media, _, err := mime.ParseMediaType(contentType)
	return media, err == nil && (media == runtime.ContentTypeJSON || media == runtime.ContentTypeProtobuf)
}

// undecoded reports whether an answer is a text, such as that of a health check or of a proxy on the way, or does not say what it is. Clients
// read no object from a text, and take the other for an answer in the encoding that they prefer.
func undecoded(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return contentType == "" || err == nil && strings.HasPrefix(media, "text/")
}

// judged passes on parts of an answer after they were judged.
type judged struct {
	io.Closer

	from        *bufio.Reader
	bounds      Bounds
	contentType string
	// next reads the next part. What it returns beside an error is passed on before that.
	next  func() ([]byte, error)
	ready []byte
	err   error
}

// Read passes on what was judged.
func (j *judged) Read(p []byte) (int, error) {
	for len(j.ready) == 0 {
		if j.err != nil {
			return 0, j.err
		}
		j.ready, j.err = j.next()
	}
	n := copy(p, j.ready)
	j.ready = j.ready[n:]

	return n, nil
}

// all reads the whole answer.
func (j *judged) all() ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(j.from, j.bounds.Answer+1))
	switch {
	case err != nil:
		return nil, err //nolint:wrapcheck // The client says what it wanted.
	case int64(len(body)) > j.bounds.Answer:
		return nil, tooLong(j.bounds.Answer)
	}
	if err := j.judge(body, j.contentType); err != nil {
		return nil, err
	}

	return body, io.EOF
}

// event reads one JSON object.
func (j *judged) event() ([]byte, error) {
	var text []byte
	depth, quoted, escaped := 0, false, false
	for {
		c, err := j.from.ReadByte()
		if err != nil {
			return j.last(text, err)
		}
		if text = append(text, c); int64(len(text)) > j.bounds.Event {
			return nil, tooLong(j.bounds.Event)
		}
		switch {
		case escaped:
			escaped = false
		case quoted:
			quoted, escaped = c != '"', c == '\\'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth <= 0 {
				if err := j.judge(text, j.contentType); err != nil {
					return nil, err
				}

				return text, nil
			}
		}
	}
}

// last judges what is left before the end of the answer.
func (j *judged) last(text []byte, end error) ([]byte, error) {
	if err := j.judge(text, j.contentType); err != nil {
		return nil, err
	}

	return text, end
}

// frame reads one message of protobuf, before which its length is written.
func (j *judged) frame() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(j.from, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("read the length of an event: %w", err)
		}

		return nil, err //nolint:wrapcheck // The end has to stay io.EOF.
	}
	length := int64(binary.BigEndian.Uint32(head[:]))
	if length > j.bounds.Event {
		return nil, tooLong(j.bounds.Event)
	}
	var frame bytes.Buffer
	frame.Write(head[:])
	if _, err := io.CopyN(&frame, j.from, length); err != nil {
		return nil, fmt.Errorf("read an event: %w", err)
	}

	if err := j.judge(append([]byte(bounds.Magic), frame.Bytes()[len(head):]...), j.contentType); err != nil {
		return nil, err
	}

	return frame.Bytes(), nil
}

func (j *judged) judge(part []byte, contentType string) error {
	if err := bounds.Check(part, contentType, j.bounds.Limits); err != nil {
		return fmt.Errorf("%w: the server answers with what takes too much to read: %w", ErrTooLarge, err)
	}

	return nil
}

func tooLong(most int64) error {
	return fmt.Errorf("%w: the server answers with more than %d KiB", ErrTooLarge, most>>10)
}
