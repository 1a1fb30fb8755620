// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// fieldsHeader is the header in which a page says which fields of objects it needs, as a tree in JSON: {"spec":{"region":true}}. The answer to
// a list or watch has no others, apart from those that identify an object. A list of thousands of objects is mostly fields that no table shows.
const fieldsHeader = "X-Terrarium-Fields"

const (
	maxFields     = 4 << 10
	maxFieldDepth = 8
)

var errFields = errors.New("the fields must be a tree of objects and true")

// fields are the fields to keep, by name. Without names it keeps the whole value. In a list they are those of each element.
type fields map[string]fields

// UnmarshalJSON implements json.Unmarshaler.
func (f *fields) UnmarshalJSON(data []byte) error {
	if string(data) == "true" {
		*f = nil

		return nil
	}
	var names map[string]json.RawMessage
	if err := json.Unmarshal(data, &names); err != nil || len(names) == 0 {
		return errFields
	}
	*f = fields{}
	for name, below := range names {
		var inner fields
		if err := json.Unmarshal(below, &inner); err != nil {
			return errFields
		}
		(*f)[name] = inner
	}

	return nil
}

// wanted is what a page needs of an answer.
type wanted struct {
	// object are the fields of each object; nil for everything.
	object fields
	// watch says that the answer is a watch, and not a list.
	watch bool
}

// requestedFields returns what to keep of the answer to a request to the API. Whether that is a list or a watch is not for this package to
// say, but for the API: verb returns what that takes the request for.
func requestedFields(header string, in *http.Request, verb func(*http.Request) string) (wanted, error) {
	if header == "" || in.Method != http.MethodGet {
		return wanted{}, nil
	}
	// Each level of a tree has a brace.
	if len(header) > maxFields || strings.Count(header, "{") > maxFields/maxFieldDepth {
		return wanted{}, errFields
	}
	var object fields
	if err := json.Unmarshal([]byte(header), &object); err != nil || object == nil {
		return wanted{}, errFields
	}
	object.keepIdentity()
	switch verb(in) {
	case "list":
		return wanted{object: object}, nil
	case "watch":
		return wanted{object: object, watch: true}, nil
	default:
		return wanted{}, nil
	}
}

// keepIdentity adds the fields without which no client can tell objects and their versions apart.
func (f fields) keepIdentity() {
	metadata, given := f["metadata"]
	if given && metadata == nil {
		return
	}
	if metadata == nil {
		metadata = fields{}
	}
	for _, name := range []string{"name", "namespace", "uid", "resourceVersion"} {
		metadata[name] = nil
	}
	f["metadata"] = metadata
}

// prune appends the value at the beginning of data to out, without the fields that are not to be kept, and returns the rest of data. The data
// is valid JSON without spaces, as the API writes it; if it is not, ok is false.
func (f fields) prune(out, data []byte) (pruned, rest []byte, ok bool) {
	switch {
	case len(data) == 0:
		return out, data, false
	case len(f) > 0 && data[0] == '{':
		return f.pruneObject(out, data)
	case len(f) > 0 && data[0] == '[':
		return f.pruneList(out, data)
	default:
		n := valueLength(data)

		return append(out, data[:n]...), data[n:], n > 0
	}
}

func (f fields) pruneObject(out, data []byte) (pruned, rest []byte, ok bool) {
	out = append(out, '{')
	kept := 0
	for rest = data[1:]; len(rest) > 0 && rest[0] == '"'; {
		n := valueLength(rest)
		if n < 2 || n >= len(rest) || rest[n] != ':' {
			return out, rest, false
		}
		name := rest[:n]
		rest = rest[n+1:]
		if inner, keep := f[string(name[1:n-1])]; keep {
			if kept++; kept > 1 {
				out = append(out, ',')
			}
			out = append(append(out, name...), ':')
			if out, rest, ok = inner.prune(out, rest); !ok {
				return out, rest, false
			}
		} else if n = valueLength(rest); n > 0 {
			rest = rest[n:]
		} else {
			return out, rest, false
		}
		rest = bytes.TrimPrefix(rest, []byte{','})
	}
	if len(rest) == 0 || rest[0] != '}' {
		return out, rest, false
	}

	return append(out, '}'), rest[1:], true
}

func (f fields) pruneList(out, data []byte) (pruned, rest []byte, ok bool) {
	out = append(out, '[')
	for rest = data[1:]; len(rest) > 0 && rest[0] != ']'; {
		if out, rest, ok = f.prune(out, rest); !ok {
			return out, rest, false
		}
		if len(rest) > 0 && rest[0] == ',' {
			out, rest = append(out, ','), rest[1:]
		}
	}
	if len(rest) == 0 {
		return out, rest, false
	}

	return append(out, ']'), rest[1:], true
}

// valueLength returns the length of the JSON value at the beginning of data, or 0 if it does not end.
func valueLength(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			length := stringLength(data[i:])
			if length == 0 {
				return 0
			}
			i += length - 1
		case '{', '[':
			depth++

			continue
		case '}', ']':
			depth--
		default:
			if depth == 0 {
				return scalarLength(data[i:]) + i
			}

			continue
		}
		if depth == 0 {
			return i + 1
		}
		if depth < 0 {
			return 0
		}
	}

	return 0
}

// stringLength returns the length of the string at the beginning of data with its quotes, or 0 if it does not end.
func stringLength(data []byte) int {
	for at := 1; at < len(data); {
		quote := bytes.IndexByte(data[at:], '"')
		if quote < 0 {
			return 0
		}
		at += quote + 1
		escapes := 0
		for i := at - 2; i > 0 && data[i] == '\\'; i-- {
			escapes++
		}
		if escapes%2 == 0 {
			return at
		}
	}

	return 0
}

// scalarLength returns the length of a number, true, false or null.
func scalarLength(data []byte) int {
	if end := bytes.IndexAny(data, ",]} \n"); end >= 0 {
		return end
	}

	return len(data)
}
