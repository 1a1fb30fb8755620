// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/terrarium-garden/terrarium/storage/log"
)

// maxRecord bounds a record when it is read; the API server takes requests of 3 MiB.
const maxRecord = 64 << 20

// recordWriter writes records, each with its length before it.
type recordWriter struct {
	to    io.Writer
	count int64
	head  []byte
}

func (w *recordWriter) write(r *log.Record) error {
	w.head = w.head[:0]
	deleted := int64(0)
	if r.Deleted {
		deleted = 1
	}
	for _, n := range []int64{r.Revision, deleted, r.Created, r.Previous, r.Lease, r.Expires, int64(len(r.Key))} {
		w.head = binary.AppendVarint(w.head, n)
	}
	w.head = append(w.head, r.Key...)
	size := binary.AppendUvarint(nil, uint64(len(w.head)+len(r.Value)))
	for _, p := range [][]byte{size, w.head, r.Value} {
		if _, err := w.to.Write(p); err != nil {
			return err
		}
	}
	w.count++

	return nil
}

// readRecords calls a function for each record.
func readRecords(from io.Reader, each func(*log.Record) error) error {
	buffered := bufio.NewReaderSize(from, chunkBytes)
	for {
		size, err := binary.ReadUvarint(buffered)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return cut(err)
		}
		if size > maxRecord {
			return fmt.Errorf("%w: a record has %d bytes", ErrDamaged, size)
		}
		text := make([]byte, size)
		if _, err := io.ReadFull(buffered, text); err != nil {
			return cut(err)
		}
		record, err := parseRecord(text)
		if err != nil {
			return err
		}
		if err := each(record); err != nil {
			return err
		}
	}
}

func parseRecord(text []byte) (*log.Record, error) {
	r := &log.Record{}
	var deleted, key int64
	for _, into := range []*int64{&r.Revision, &deleted, &r.Created, &r.Previous, &r.Lease, &r.Expires, &key} {
		n, size := binary.Varint(text)
		if size <= 0 {
			return nil, fmt.Errorf("%w: a record is too short", ErrDamaged)
		}
		*into, text = n, text[size:]
	}
	if key < 0 || key > int64(len(text)) {
		return nil, fmt.Errorf("%w: a record is too short for its key", ErrDamaged)
	}
	r.Deleted, r.Key = deleted != 0, string(text[:key])
	if !r.Deleted {
		r.Value = text[key:]
	}

	return r, nil
}
