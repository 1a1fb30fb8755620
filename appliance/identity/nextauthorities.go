// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"time"
)

// nextSuffix ends the names of the files with the certificates and keys of the next authorities.
const nextSuffix = "-next.pem"

// nextAuthorities are the authorities in a directory of keys that a rotation has made, until they are the only ones.
type nextAuthorities struct {
	pki string
}

func (n nextAuthorities) path(name string) string { return filepath.Join(n.pki, name+nextSuffix) }

// make makes an authority and keeps it aside. Its name tells it from the current one.
func (n nextAuthorities) make(name string, started, now time.Time) (KeyPair, error) {
	certPEM, keyPEM, err := newAuthority(authorityNamePrefix+name+"-"+started.UTC().Format("20060102150405"), now)
	if err != nil {
		return KeyPair{}, err
	}
	if err := writeFile(n.path(name), append(certPEM, keyPEM...)); err != nil {
		return KeyPair{}, err
	}

	return n.read(name)
}

// read returns the next authority; the error wraps fs.ErrNotExist if there is none.
func (n nextAuthorities) read(name string) (KeyPair, error) {
	path := n.path(name)
	data, err := readPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		return KeyPair{}, err
	}
	var pair KeyPair
	if err == nil {
		pair, err = parseKeyPair(path, data)
	}
	if err != nil {
		return KeyPair{}, &CorruptError{File: path, Err: withoutPath(err), Remedy: remedyRestore}
	}

	return pair, nil
}

// sign makes the next authority the one that signs.
func (n nextAuthorities) sign(name string) error {
	next, err := n.read(name)
	if err != nil {
		return err
	}

	path := filepath.Join(n.pki, name+".key")
	if is, err := readPrivate(path); err == nil && bytes.Equal(is, next.KeyPEM) {
		return nil
	}

	return writeFile(path, next.KeyPEM)
}
