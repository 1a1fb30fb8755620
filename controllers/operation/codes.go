// SPDX-License-Identifier: Apache-2.0

package operation

import (
	"slices"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

type codedError struct {
	err   error
	codes []gardencorev1beta1.ErrorCode
}

func (e *codedError) Error() string { return e.err.Error() }

func (e *codedError) Unwrap() error { return e.err }

// WithCodes attaches codes to an error. They travel through wrapping and end up in the last errors.
func WithCodes(err error, codes ...gardencorev1beta1.ErrorCode) error {
	if err == nil || len(codes) == 0 {
		return err
	}
	return &codedError{err: err, codes: codes}
}

// Codes collects the codes of an error and of everything that it wraps, sorted, each once.
func Codes(err error) []gardencorev1beta1.ErrorCode {
	var codes []gardencorev1beta1.ErrorCode
	collect(err, &codes)
	slices.Sort(codes)
	return slices.Compact(codes)
}

func collect(err error, into *[]gardencorev1beta1.ErrorCode) {
	if coded, ok := err.(*codedError); ok { //nolint:errorlint // the walk below unwraps
		*into = append(*into, coded.codes...)
	}
	switch wrapped := err.(type) { //nolint:errorlint // this is the walk
	case interface{ Unwrap() error }:
		collect(wrapped.Unwrap(), into)
	case interface{ Unwrap() []error }:
		for _, inner := range wrapped.Unwrap() {
			collect(inner, into)
		}
	}
}
