// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/util/cert"
)

// Kind says what an Item is.
type Kind string

// The kinds of items.
const (
	KindCertificate Kind = "certificate"
	KindAuthority   Kind = "authority"
	KindKey         Kind = "key"
)

// State says how an Item is.
type State string

// The states of items, from the best to the worst.
const (
	// StateOK needs nothing.
	StateOK State = "ok"
	// StateRotating is a key with which nothing new is made any more, or not yet, but which is still accepted.
	StateRotating State = "rotating"
	// StateDue should have been renewed: a server that runs does so by itself.
	StateDue State = "due"
	// StateExpiring is an authority that has less than half a year left.
	StateExpiring State = "expiring"
	// StateNotYetValid is not valid yet: the clock is wrong, or was.
	StateNotYetValid State = "notYetValid"
	// StateExpired is not valid any more.
	StateExpired State = "expired"
	// StateUnreadable cannot be read.
	StateUnreadable State = "unreadable"
)

const (
	// patience is how long after its renewal was due a certificate is reported.
	patience = 24 * time.Hour
	// authorityNotice is how long before its end an authority is reported.
	authorityNotice = 180 * 24 * time.Hour
)

// Item is a certificate, an authority or a key of a garden.
type Item struct {
	// Name is the name of its file, without the suffix.
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// Subject is the subject of a certificate, or the id of a key, which is not secret.
	Subject string `json:"subject,omitempty"`
	// NotBefore and NotAfter are the ends of the validity of a certificate. Keys have none.
	NotBefore *time.Time `json:"notBefore,omitempty"`
	NotAfter  *time.Time `json:"notAfter,omitempty"`
	// DaysLeft are the days until NotAfter.
	DaysLeft *int `json:"daysLeft,omitempty"`
	// RenewalDue is when the server renews a certificate by itself. Authorities and keys are not renewed by themselves.
	RenewalDue *time.Time `json:"renewalDue,omitempty"`
	State      State      `json:"state"`
	// Message says more about the state.
	Message string `json:"message,omitempty"`
}

// Inspect describes the certificates, authorities and keys in the data directory of a garden, whether it runs or not. It changes
// nothing.
func Inspect(dir string, now time.Time) ([]Item, error) {
	version, err := readLayout(dir)
	if err != nil {
		return nil, err
	}
	if version == 0 {
		return nil, fmt.Errorf("%w: %q", ErrNoGarden, dir)
	}
	pki := filepath.Join(dir, pkiDir)
	var all []Item
	for _, file := range []string{servingFile, adminFile, frontProxyFile} {
		all = append(all, inspectCertificates(pki, file, KindCertificate, now)...)
	}
	for _, name := range authorities() {
		all = append(all, inspectCertificates(pki, name+".crt", KindAuthority, now)...)
	}

	return append(all, inspectKeys(pki)...), nil
}

// Rotations returns the rotations of the encryption key and of the authorities that go on in the data directory of a garden, whether it
// runs or not; each is nil if there is none.
func Rotations(dir string) (*EncryptionRotation, *AuthorityRotation, error) {
	m := materialIn(dir)
	key, err := m.encryption.Rotation()
	if err != nil {
		return nil, nil, err
	}
	authority, err := m.authorities.Rotation()

	return key, authority, err
}

// inspectCertificates describes the certificates in a file.
func inspectCertificates(pki, file string, kind Kind, now time.Time) []Item {
	data, err := os.ReadFile(filepath.Join(pki, file)) //nolint:gosec // The path is the operator's own.
	if err != nil {
		return []Item{unreadable(leafName(file), kind, err)}
	}
	found, err := cert.ParseCertsPEM(data)
	if err != nil {
		return []Item{unreadable(leafName(file), kind, errors.New("it does not contain a certificate"))}
	}
	all := make([]Item, 0, len(found))
	for _, c := range found {
		all = append(all, describe(leafName(file), kind, c, now))
	}
	if kind == KindAuthority && len(found) > 1 {
		markTrusted(pki, leafName(file), found, all)
	}

	return all
}

// markTrusted marks the certificates of an authority that it does not sign with.
func markTrusted(pki, name string, found []*x509.Certificate, items []Item) {
	key, err := readKey(filepath.Join(pki, name+".key"))
	if err != nil {
		return
	}
	for i, c := range found {
		if items[i].State == StateOK && !samePublicKey(c, key) {
			items[i].State, items[i].Message = StateRotating, "trusted, but signs nothing"
		}
	}
}

func unreadable(name string, kind Kind, err error) Item {
	return Item{Name: name, Kind: kind, State: StateUnreadable, Message: withoutPath(err).Error()}
}

func describe(name string, kind Kind, c *x509.Certificate, now time.Time) Item {
	left := c.NotAfter.Sub(now)
	item := Item{
		Name: name, Kind: kind, Subject: c.Subject.String(), State: StateOK,
		NotBefore: new(c.NotBefore.UTC()), NotAfter: new(c.NotAfter.UTC()), DaysLeft: new(int(left / (24 * time.Hour))),
	}
	var due time.Time
	if kind == KindCertificate {
		due = renewalDue(c).UTC().Truncate(time.Second)
		item.RenewalDue = &due
	}
	switch {
	case left <= 0:
		item.State = StateExpired
	case now.Before(c.NotBefore):
		item.State = StateNotYetValid
	case kind == KindAuthority && left < authorityNotice:
		item.State = StateExpiring
	case kind == KindCertificate && now.After(due.Add(patience)):
		item.State = StateDue
	}

	return item
}

// inspectKeys describes the keys that are not those of certificates.
func inspectKeys(pki string) []Item {
	var all []Item
	for _, inspect := range []func(string) ([]Item, error){inspectServiceAccountKeys, inspectWorkloadIdentityKeys, inspectEncryption} {
		items, err := inspect(pki)
		if err != nil {
			items[0].State, items[0].Message = StateUnreadable, withoutPath(err).Error()
		}
		all = append(all, items...)
	}

	return all
}

// inspectEncryption describes the keys with which the first encrypted resource is read; the first one writes.
func inspectEncryption(pki string) ([]Item, error) {
	item := Item{Name: leafName(encryptionFile), Kind: KindKey, State: StateOK}
	data, err := os.ReadFile(filepath.Join(pki, encryptionFile)) //nolint:gosec // The path is the operator's own.
	if err != nil {
		return []Item{item}, err
	}
	c, err := parseEncryption(data)
	if err != nil {
		return []Item{item}, err
	}
	var all []Item
	for _, name := range c.keyNames() {
		of := item
		of.Subject = name
		if len(all) > 0 {
			of.State, of.Message = StateRotating, "not used for writing"
		}
		all = append(all, of)
	}
	if len(all) == 0 {
		return []Item{item}, nil
	}

	return all, nil
}
