// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// authoritySteps makes the steps of a rotation of the authorities in a directory. After each, what another authority has to sign is
// issued again.
type authoritySteps struct {
	authorities  *Authorities
	certificates *Certificates
	next         nextAuthorities
}

// begin records that a rotation goes on, and introduces the next authorities.
func (s authoritySteps) begin(now time.Time) error {
	r, err := s.authorities.Rotation()
	if err != nil {
		return err
	}
	if r != nil {
		return ErrRotating
	}
	r = &AuthorityRotation{Started: now.UTC()}
	if err := s.authorities.writeRotation(r); err != nil {
		return err
	}

	return s.introduce(r, now)
}

// noteSaved records that the garden was saved with the next authorities.
func (s authoritySteps) noteSaved(now time.Time) error {
	r, err := s.authorities.Rotation()
	if r == nil || err != nil {
		return err
	}
	r.Saved = new(now.UTC())

	return s.authorities.writeRotation(r)
}

// goOn introduces the next authorities if that was interrupted.
func (s authoritySteps) goOn(now time.Time) error {
	r, err := s.authorities.Rotation()
	if r == nil || err != nil || r.Completing != nil {
		return err
	}

	return s.introduce(r, now)
}

// completeSwitch records that the rotation is being completed, and has the next authorities sign.
func (s authoritySteps) completeSwitch(now time.Time) error {
	r, err := s.authorities.Rotation()
	if err != nil {
		return err
	}
	if r == nil {
		return ErrNotRotating
	}
	if r.Completing == nil {
		r.Completing = new(now.UTC())
		if err := s.authorities.writeRotation(r); err != nil {
			return err
		}
	}

	return s.signWithAll(now)
}

// completeForget forgets the former authorities if the rotation is being completed.
func (s authoritySteps) completeForget(now time.Time) error {
	r, err := s.authorities.Rotation()
	if err != nil {
		return err
	}
	if r == nil || r.Completing == nil {
		return ErrNotRotating
	}

	return s.forget(now)
}

// end removes the record of the rotation.
func (s authoritySteps) end() error {
	pki := s.authorities.pki
	if err := os.Remove(filepath.Join(pki, authorityRotationFile)); err != nil {
		return fmt.Errorf("complete rotation of authorities: %w", err)
	}

	return syncDir(pki)
}

// resume does what an interrupted process has left to do in a data directory. Nobody uses the garden yet.
func (s authoritySteps) resume(dir string, now time.Time) error {
	r, err := s.authorities.Rotation()
	if err != nil {
		return err
	}
	place, err := DatastorePlace(dir)
	if err != nil {
		return err
	}
	switch {
	case r == nil:
	case place != "":
		// Other servers have to know each step before it is made: this is left to the one that leads.
	case r.Completing == nil:
		return s.introduce(r, now)
	default:
		if err := s.signWithAll(now); err != nil {
			return err
		}
		if err := s.forget(now); err != nil {
			return err
		}

		return s.end()
	}

	return s.authorities.writeClientSigner()
}

// introduce makes the next authorities unless they exist, and trusts them. The certificate of each comes into its file
// before its key is used: the key says which of the certificates signs.
func (s authoritySteps) introduce(r *AuthorityRotation, now time.Time) error {
	for _, name := range authorities() {
		next, err := s.next.read(name)
		if errors.Is(err, fs.ErrNotExist) {
			next, err = s.next.make(name, r.Started, now)
		}
		if err != nil {
			return err
		}
		file := filepath.Join(s.authorities.pki, name+".crt")
		trusted, err := os.ReadFile(file) //nolint:gosec // The path is the operator's own.
		if err != nil {
			return &CorruptError{File: file, Err: withoutPath(err), Remedy: remedyRestore}
		}
		if bytes.Contains(trusted, next.CertPEM) {
			continue
		}
		if err := writeFile(file, append(append(bytes.TrimSpace(trusted), '\n'), next.CertPEM...)); err != nil {
			return err
		}
	}
	if err := s.next.sign(clientAuthority); err != nil {
		return err
	}

	return s.take(now)
}

// signWithAll makes all next authorities those that sign. Those that are not there have been forgotten as next ones already,
// because they are the current ones.
func (s authoritySteps) signWithAll(now time.Time) error {
	for _, name := range authorities() {
		if err := s.next.sign(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}

	return s.take(now)
}

// forget trusts only the next authorities, which are no longer the next ones then.
func (s authoritySteps) forget(now time.Time) error {
	pki := s.authorities.pki
	for _, name := range authorities() {
		next, err := s.next.read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(pki, name+".crt"), next.CertPEM); err != nil {
			return err
		}
		if err := os.Remove(s.next.path(name)); err != nil {
			return fmt.Errorf("complete rotation of authorities: %w", err)
		}
	}
	if err := syncDir(pki); err != nil {
		return err
	}

	return s.take(now)
}

// take reads the authorities again, and issues what another one has signed so far.
func (s authoritySteps) take(now time.Time) error {
	if err := s.authorities.take(now); err != nil {
		return err
	}
	_, err := s.certificates.issue(now, false)

	return err
}
