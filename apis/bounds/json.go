// SPDX-License-Identifier: Apache-2.0

package bounds

import (
	"bytes"
	"encoding/json"
)

// opaque reports whether a field has texts that are never parsed as quantities. A commit such as 12e4567 is a common label,
// and looks like a quantity.
func opaque(field string) bool {
	switch field {
	case "labels", "matchLabels", "annotations", "data", "stringData", "binaryData":
		return true
	default:
		return false
	}
}

// scanner scans JSON. Its results for invalid JSON are arbitrary, which does not matter because decoding fails.
type scanner struct {
	text   []byte
	budget *budget
	// free says for each object and array around the current position whether texts in it are not checked.
	free []bool
	// commas counts the commas of each object and array around the current position.
	commas []int
	// entries is the maximum number of entries.
	entries int
	// trusted says whether keys determine the field of a value, which is not the case in a JSON patch.
	trusted bool
	// last is the last text, which is a key if a value follows.
	last []byte
}

// checkJSON checks nesting, entries, numbers and texts of JSON.
func checkJSON(text []byte, b *budget, entries int) error {
	start := bytes.TrimLeft(text, " \t\r\n")
	s := &scanner{text: text, budget: b, entries: entries, trusted: len(start) > 0 && start[0] == '{'}
	for at := 0; at < len(text); {
		next, err := s.token(at)
		if err != nil {
			return err
		}
		at = next
	}

	return nil
}

// token checks the token at a position and returns the position after it.
func (s *scanner) token(at int) (int, error) {
	switch c := s.text[at]; c {
	case '{', '[':
		if len(s.free) == MaxDepth {
			return 0, tooDeep()
		}
		if err := s.budget.count(1, s.budget.limits.Total); err != nil {
			return 0, err
		}
		s.commas = append(s.commas, 0)
		s.free = append(s.free, c == '{' && s.trusted && opaque(string(s.last)))
		s.last = nil
	case '}', ']':
		s.free = s.free[:max(0, len(s.free)-1)]
		s.commas = s.commas[:len(s.free)]
		s.last = nil
	case ',':
		s.last = nil
		if err := s.budget.count(1, s.budget.limits.Total); err != nil {
			return 0, err
		}
		if around := len(s.commas) - 1; around >= 0 {
			if s.commas[around]++; s.commas[around] >= s.entries {
				return 0, tooMany(s.entries)
			}
		}
	case '"':
		return s.quoted(at)
	case '-', '+', '.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		end := at + 1
		for end < len(s.text) && isNumeric(s.text[end]) {
			end++
		}

		return end, s.budget.spend(s.text[at:end])
	}

	return at + 1, nil
}

// quoted checks a text in quotes.
func (s *scanner) quoted(at int) (int, error) {
	end := closing(s.text, at+1)
	if end < 0 {
		return len(s.text), nil
	}
	inner := s.text[at+1 : end]
	if len(inner) > 0 && !startsWord(inner[0]) && bytes.IndexByte(inner, '\\') >= 0 {
		var plain string
		if err := json.Unmarshal(s.text[at:end+1], &plain); err == nil {
			inner = []byte(plain)
		}
	}
	s.last = inner
	if len(s.free) > 0 && s.free[len(s.free)-1] {
		return end + 1, nil
	}

	return end + 1, s.budget.spend(inner)
}

// closing returns the position of the closing quote of a text, or -1. Most texts have no escapes.
func closing(text []byte, from int) int {
	for at := from; ; {
		next := bytes.IndexByte(text[at:], '"')
		if next < 0 {
			return -1
		}
		end := at + next
		escapes := 0
		for end-escapes > from && text[end-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end
		}
		at = end + 1
	}
}

func isNumeric(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == '+' || c == '-' || c == 'e' || c == 'E'
}
