// SPDX-License-Identifier: Apache-2.0

package ui

// listing keeps the wanted fields of a list that comes in parts: each of its own fields is a part, and each of its objects.
type listing struct {
	keep fields

	at place
	// kept counts the fields of the list itself that are kept.
	kept int
}

// place is where in a list the next part is.
type place int

const (
	beforeList place = iota
	inFields
	inItems
	afterList
)

// next appends what is kept of the next part, and returns how much of data that is; nothing if the part is not complete. ok is false for
// what is not the beginning of such a list: the API writes no spaces, unless it is asked to.
func (l *listing) next(out, data []byte) (kept []byte, n int, ok bool) {
	first := data[0]
	switch {
	case l.at == beforeList && first == '{':
		l.at = inFields

		return append(out, '{'), 1, true
	case l.at == inFields && first == '"':
		return l.field(out, data)
	case l.at == inFields && first == ',', l.at == afterList && first == '\n':
		return out, 1, true
	case l.at == inFields && first == '}':
		l.at = afterList

		return append(out, '}', '\n'), 1, true
	case l.at == inItems && first == ',':
		return append(out, ','), 1, true
	case l.at == inItems && first == ']':
		l.at = inFields

		return append(out, ']'), 1, true
	case l.at == inItems:
		n = wholeValue(data)

		return l.keep["items"].reduce(out, data[:n]), n, true
	default:
		return out, 0, false
	}
}

// field is a field of the list itself. Of its objects, only the bracket before them is a part of it.
func (l *listing) field(out, data []byte) (kept []byte, n int, ok bool) {
	n = stringLength(data)
	if n == 0 || n+1 >= len(data) {
		return out, 0, true
	}
	if data[n] != ':' {
		return out, 0, false
	}
	name, value := data[:n], data[n+1:]
	opens := string(name) == `"items"` && value[0] == '['
	length := 1
	if !opens {
		length = wholeValue(value)
	}
	if length == 0 {
		return out, 0, true
	}
	n += 1 + length
	inner, wanted := l.keep[string(name[1:len(name)-1])]
	if !wanted {
		return out, n, true
	}
	if l.kept++; l.kept > 1 {
		out = append(out, ',')
	}
	out = append(append(out, name...), ':')
	if opens {
		l.at = inItems

		return append(out, '['), n, true
	}

	return inner.reduce(out, value[:length]), n, true
}

// reduce appends the wanted fields of a value, or all of what is not as expected.
func (f fields) reduce(out, value []byte) []byte {
	if pruned, rest, ok := f.prune(out, value); ok && len(rest) == 0 {
		return pruned
	}

	return append(out, value...)
}

// wholeValue returns the length of the value at the beginning of data, or 0 if it is not complete: a number may have more digits until
// something follows.
func wholeValue(data []byte) int {
	n := valueLength(data)
	if n == len(data) && data[0] != '{' && data[0] != '[' && data[0] != '"' {
		return 0
	}

	return n
}
