// SPDX-License-Identifier: Apache-2.0

package bounds

import (
	"bytes"
	"math"
	"strconv"
)

// quantityDigits returns the number of digits of a quantity when it is written without an exponent, and 0 for a text that is
// not a quantity. All zeros are counted, because computations include them.
func quantityDigits(text []byte) int {
	if len(text) == 0 || startsWord(text[0]) {
		return 0
	}
	text = bytes.TrimSpace(text)
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		text = text[1:]
	}
	digits, points := 0, 0
	for digits+points < len(text) {
		switch c := text[digits+points]; {
		case c >= '0' && c <= '9':
			digits++

			continue
		case c == '.' && points == 0:
			points++

			continue
		}

		break
	}
	suffix := text[digits+points:]
	if len(suffix) > 1 && (suffix[0] == 'e' || suffix[0] == 'E') {
		return exponentDigits(digits, suffix[1:])
	}
	if len(suffix) > len("Ki") {
		return 0
	}

	return digits
}

// exponentDigits adds the digits of an exponent to those of a number. The text is not a quantity if the exponent is invalid.
func exponentDigits(digits int, exponent []byte) int {
	if exponent[0] == '+' || exponent[0] == '-' {
		exponent = exponent[1:]
	}
	if len(exponent) == 0 {
		return 0
	}
	for _, c := range exponent {
		if c < '0' || c > '9' {
			return 0
		}
	}
	more, err := strconv.Atoi(string(exponent))
	if err != nil || more > math.MaxInt32 {
		more = math.MaxInt32
	}

	return digits + more
}

// startsWord reports whether a quantity cannot start with a character, which is the case for most texts. A quantity can start
// with its exponent.
func startsWord(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' && c|0x20 != 'e' }
