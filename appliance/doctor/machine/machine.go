// SPDX-License-Identifier: Apache-2.0

// Package machine gathers the facts about the machine of a server and about its data directory, for package doctor. Nothing is
// changed.
package machine

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/terrarium-garden/terrarium/appliance/doctor"
	"github.com/terrarium-garden/terrarium/storage/backup"
)

// Host returns the facts about the data directory. Those about a running process are for the process to add.
func Host(dir string) *doctor.Host {
	h := &doctor.Host{DataDir: dir}
	if info, err := os.Stat(dir); err == nil {
		h.DataDirMode = uint32(info.Mode().Perm())
	}
	if full, err := filepath.Abs(dir); err == nil {
		// What cannot be looked for is not found.
		h.Leftovers, _ = backup.Leftovers(full)
	}

	return h
}

// OpenFilesLimit is how many files this process may open, 0 if that is not known.
func OpenFilesLimit() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}

	return limit.Cur
}

// Clock returns the facts about the clock. Newest is the latest modification of a file that a server writes at each start.
func Clock(dir string) *doctor.Clock {
	c := &doctor.Clock{}
	c.Known, c.Synchronized = synchronized()
	for _, path := range []string{"layout", "pki", "db", "db/objects.db", "db/events.db"} {
		if info, err := os.Stat(filepath.Join(dir, path)); err == nil && info.ModTime().After(c.Newest) {
			c.Newest = info.ModTime()
		}
	}

	return c
}

// Port tries whether a server could listen on an address.
func Port(address string) *doctor.Port {
	p := &doctor.Port{Address: address}
	l, err := net.Listen("tcp", address) //nolint:noctx // It does not wait for anybody.
	if err != nil {
		p.Problem = err.Error()

		return p
	}
	l.Close() //nolint:errcheck,gosec // Nothing was accepted.

	return p
}

// Certificates reads those in the data directory of a server that does not run.
func Certificates(dir string) ([]doctor.Certificate, error) {
	var all []doctor.Certificate
	var errs []error
	for _, pattern := range []string{"*.crt", "*.pem"} {
		files, err := filepath.Glob(filepath.Join(dir, "pki", pattern))
		errs = append(errs, err)
		for _, file := range files {
			c, ok, err := certificate(file)
			errs = append(errs, err)
			if ok {
				all = append(all, c)
			}
		}
	}

	return all, errors.Join(errs...)
}

// certificate returns the first certificate in a file. The keys in it are skipped.
func certificate(file string) (doctor.Certificate, bool, error) {
	content, err := os.ReadFile(file) //nolint:gosec // The path is the operator's own.
	if errors.Is(err, fs.ErrNotExist) {
		return doctor.Certificate{}, false, nil
	}
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		found, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return doctor.Certificate{}, false, err
		}
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))

		return doctor.Certificate{Name: name, NotBefore: found.NotBefore, NotAfter: found.NotAfter, Authority: found.IsCA}, true, nil
	}

	return doctor.Certificate{}, false, err
}

// Stores returns the sizes of the databases in a data directory.
func Stores(dir string) []doctor.Store {
	var all []doctor.Store
	for _, name := range []string{"objects", "events"} {
		path := StorePath(dir, name)
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		s := doctor.Store{Name: name, SizeBytes: info.Size()}
		if wal, err := os.Stat(path + "-wal"); err == nil {
			s.WALBytes = wal.Size()
		}
		all = append(all, s)
	}

	return all
}

// StorePath is the path of a database in a data directory.
func StorePath(dir, name string) string { return filepath.Join(dir, "db", name+".db") }

// InUse reports whether a process uses a data directory.
func InUse(dir string) (bool, error) {
	f, err := os.Open(filepath.Join(dir, "lock")) //nolint:gosec // The path is the operator's own.
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close() //nolint:errcheck // Nothing was written.
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}

	return false, err
}
