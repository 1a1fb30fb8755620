// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// attempts is how often a part of a file is requested before a read fails.
const attempts = 3

// remoteFile reads a file of a bucket. Reads that follow each other, as nearly all do, are of one response.
type remoteFile struct {
	size int64
	// open requests the file from an offset to its end.
	open func(from int64) (io.ReadCloser, error)

	mu   sync.Mutex
	body io.ReadCloser
	// at is the offset of what the body returns next.
	at int64
}

// Size implements File.
func (f *remoteFile) Size() int64 { return f.size }

// ReadAt implements io.ReaderAt. A response that ends too early is requested again from there.
func (f *remoteFile) ReadAt(p []byte, from int64) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if from < 0 || from >= f.size {
		return 0, io.EOF
	}
	var end error
	if left := f.size - from; int64(len(p)) > left {
		p, end = p[:left], io.EOF
	}
	for range attempts {
		var some int
		some, err = f.read(p[n:], from+int64(n))
		if n += some; n == len(p) {
			return n, end
		}
	}

	return n, fmt.Errorf("read snapshot: %w", err)
}

// read reads until the buffer is full or the response ends.
func (f *remoteFile) read(p []byte, from int64) (n int, err error) {
	if f.body == nil || f.at != from {
		if err := f.drop(); err != nil {
			return 0, err
		}
		if f.body, err = f.open(from); err != nil {
			f.body = nil

			return 0, err
		}
		f.at = from
	}
	n, err = io.ReadFull(f.body, p)
	f.at += int64(n)
	if err != nil {
		return n, errors.Join(err, f.drop())
	}

	return n, nil
}

func (f *remoteFile) drop() error {
	if f.body == nil {
		return nil
	}
	body := f.body
	f.body = nil

	return body.Close()
}

// Close implements File.
func (f *remoteFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.drop()
}
