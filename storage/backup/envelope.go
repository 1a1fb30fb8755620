// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"reflect"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"
)

const (
	// magic ends a file.
	magic = "TERRSNP1"
	// tail is the length of the footer and magic.
	tail = 4 + len(magic)
	// maxFooter bounds the footer when it is read.
	maxFooter = 1 << 20
	// window is how far back the compression looks: it bounds its memory.
	window = 1 << 20
)

// seal writes a file: fill writes its parts and returns the manifest, without the parts, which is written last.
func seal(to io.Writer, recipients []age.Recipient, fill func(*partWriter) (Manifest, error)) (Manifest, error) {
	if len(recipients) == 0 {
		return Manifest{}, errors.New("no key to encrypt for")
	}
	counted := &counter{to: to, sum: sha256.New()}
	encrypted, err := age.Encrypt(counted, recipients...)
	if err != nil {
		return Manifest{}, fmt.Errorf("encrypt: %w", err)
	}
	compressed, err := zstd.NewWriter(encrypted, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return Manifest{}, fmt.Errorf("compress: %w", err)
	}
	parts := newPartWriter(compressed)
	manifest, err := fill(parts)
	if err != nil {
		return Manifest{}, errors.Join(err, compressed.Close())
	}
	manifest.Format, manifest.Parts = Format, parts.parts
	err = parts.part(partManifest, func(w io.Writer) error { return json.NewEncoder(w).Encode(manifest) })
	if err = errors.Join(err, parts.close(), compressed.Close()); err != nil {
		return Manifest{}, err
	}
	if err := encrypted.Close(); err != nil {
		return Manifest{}, err
	}
	text, err := json.Marshal(footer{
		Manifest: manifest, PayloadBytes: counted.bytes, PayloadSHA256: hex.EncodeToString(counted.sum.Sum(nil)),
	})
	if err != nil {
		return Manifest{}, fmt.Errorf("encode manifest: %w", err)
	}
	text = binary.BigEndian.AppendUint32(text, uint32(len(text))) //nolint:gosec // It is short.
	_, err = to.Write(append(text, magic...))

	return manifest, err
}

// counter counts what is written, and sums it up if it has a sum.
type counter struct {
	to    io.Writer
	sum   hash.Hash
	bytes int64
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	if c.sum != nil {
		c.sum.Write(p[:n])
	}
	c.bytes += int64(n)

	return n, err
}

// File is a file that can be read from any place.
type File interface {
	io.ReaderAt
	io.Closer

	// Size is the number of its bytes.
	Size() int64
}

// readFooter reads what a file says of itself.
func readFooter(f File) (footer, error) {
	var is footer
	if f.Size() < int64(tail) {
		return is, fmt.Errorf("%w: it ends too early", ErrDamaged)
	}
	end := make([]byte, tail)
	if _, err := f.ReadAt(end, f.Size()-int64(tail)); err != nil && !errors.Is(err, io.EOF) {
		return is, fmt.Errorf("read snapshot: %w", err)
	}
	if string(end[4:]) != magic {
		return is, fmt.Errorf("%w: it is cut off, or no snapshot of a garden", ErrDamaged)
	}
	size := int64(binary.BigEndian.Uint32(end))
	start := f.Size() - int64(tail) - size
	if size > maxFooter || start < 0 {
		return is, fmt.Errorf("%w: its footer has %d bytes", ErrDamaged, size)
	}
	text := make([]byte, size)
	if _, err := f.ReadAt(text, start); err != nil && !errors.Is(err, io.EOF) {
		return is, fmt.Errorf("read snapshot: %w", err)
	}
	if err := json.Unmarshal(text, &is); err != nil {
		return is, fmt.Errorf("%w: its footer cannot be read", ErrDamaged)
	}
	if is.Manifest.Format > Format {
		return is, fmt.Errorf("%w: format %d, this version knows up to %d", ErrNewerFormat, is.Manifest.Format, Format)
	}
	if is.PayloadBytes != start {
		return is, fmt.Errorf("%w: it has %d bytes before its footer, and says %d", ErrDamaged, start, is.PayloadBytes)
	}

	return is, nil
}

// ReadManifest reads what a file says of itself, without the key. Open checks whether it is true.
func ReadManifest(f File) (Manifest, error) {
	is, err := readFooter(f)

	return is.Manifest, err
}

// checkSum compares the bytes of a file with its footer, which needs no key: it finds what has changed by itself, not what
// somebody has changed.
func checkSum(f File) error {
	is, err := readFooter(f)
	if err != nil {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, is.PayloadBytes)); err != nil {
		return fmt.Errorf("read snapshot: %w", err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != is.PayloadSHA256 {
		return fmt.Errorf("%w: its checksum is wrong", ErrDamaged)
	}

	return nil
}

// open decrypts a file and hands each part but the manifest to a function. Nothing of what it was handed may be used before open
// has returned without an error: only then it is known that all parts are those that were written.
func open(f File, identities []age.Identity, each func(is Manifest, name string, content io.Reader) error) (Manifest, error) {
	is, err := readFooter(f)
	if err != nil {
		return Manifest{}, err
	}
	if len(identities) == 0 {
		return Manifest{}, fmt.Errorf("%w: no key is at hand", ErrWrongKey)
	}
	sum := sha256.New()
	payload := io.TeeReader(io.NewSectionReader(f, 0, is.PayloadBytes), sum)
	decrypted, err := age.Decrypt(payload, identities...)
	if _, none := errors.AsType[*age.NoIdentityMatchError](err); none {
		// A damaged header does not fit the key either.
		if err := checkSum(f); err != nil {
			return Manifest{}, err
		}

		return Manifest{}, ErrWrongKey
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	plain, err := zstd.NewReader(decrypted, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8*window))
	if err != nil {
		return Manifest{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	defer plain.Close()
	inside, err := readParts(newPartReader(tolerant{plain}), is.Manifest, each)
	if err != nil {
		return Manifest{}, err
	}
	for _, rest := range []io.Reader{tolerant{decrypted}, payload} {
		if _, err := io.Copy(io.Discard, rest); err != nil {
			return Manifest{}, err
		}
	}
	if !reflect.DeepEqual(inside, is.Manifest) || hex.EncodeToString(sum.Sum(nil)) != is.PayloadSHA256 {
		return Manifest{}, fmt.Errorf("%w: its footer is not that of its contents", ErrDamaged)
	}

	return inside, nil
}

// tolerant says of errors of decryption and decompression that the file is damaged.
type tolerant struct{ from io.Reader }

// Read implements io.Reader.
func (t tolerant) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}

	return n, err
}

// readParts reads all parts and returns the manifest, once it is known that it describes them.
func readParts(from *partReader, outside Manifest, each func(Manifest, string, io.Reader) error) (Manifest, error) {
	var inside *Manifest
	for {
		name, content, err := from.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Manifest{}, err
		}
		if inside != nil {
			return Manifest{}, fmt.Errorf("%w: part %q is behind the manifest", ErrDamaged, name)
		}
		if name != partManifest {
			if err := each(outside, name, content); err != nil {
				return Manifest{}, err
			}

			continue
		}
		text, err := io.ReadAll(io.LimitReader(content, maxFooter))
		if err != nil {
			return Manifest{}, err
		}
		inside = &Manifest{}
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(inside); err != nil {
			return Manifest{}, fmt.Errorf("%w: its manifest cannot be read", ErrDamaged)
		}
	}
	if inside == nil || !reflect.DeepEqual(inside.Parts, from.parts[:len(from.parts)-1]) {
		return Manifest{}, fmt.Errorf("%w: its parts are not those of its manifest", ErrDamaged)
	}

	return *inside, nil
}
