// SPDX-License-Identifier: Apache-2.0

// Package revocation reads and writes the record that a seed is shut out of the garden. The record is a ConfigMap in kube-system, which
// only administrators can write: a seed cannot, and it is not in the Seed, which its gardenlet writes.
package revocation

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	// Namespace is the namespace of the records.
	Namespace = "kube-system"
	// Label is the label of all records. Its value is the name of the seed.
	Label = "revocation.terrarium.garden/seed"

	namePrefix = "revoked-seed-"
)

// The keys of a record.
const (
	keyReason  = "reason"
	keyBy      = "by"
	keyAt      = "at"
	keyRevoked = "revoked"
	keyFrom    = "credentialsFrom"

	no = "false"
)

// Record says whether a seed is shut out.
type Record struct {
	// Seed is the name of the seed.
	Seed string
	// Revoked says that it is shut out. It is false in a record that is kept for CredentialsFrom.
	Revoked bool
	// Reason is why, By who has decided so, and At when.
	Reason, By string
	At         time.Time
	// CredentialsFrom is set if credentials that were issued before are refused, although the seed is not shut out any more.
	CredentialsFrom time.Time
}

// Name is the name of the record of a seed.
func Name(seed string) string { return namePrefix + seed }

// SeedOf returns the seed that a record is about, by its name.
func SeedOf(name string) (seed string, ok bool) {
	seed, ok = strings.CutPrefix(name, namePrefix)

	return seed, ok && seed != ""
}

// Decode reads a record. A seed is shut out unless its record says clearly that it is not.
func Decode(from *corev1.ConfigMap) (Record, bool) {
	seed, ok := SeedOf(from.Name)
	if !ok || from.Namespace != Namespace {
		return Record{}, false
	}
	r := Record{
		Seed: seed, Revoked: from.Data[keyRevoked] != no,
		Reason: from.Data[keyReason], By: from.Data[keyBy],
	}
	r.At, _ = time.Parse(time.RFC3339, from.Data[keyAt])
	if text := from.Data[keyFrom]; text != "" {
		var err error
		if r.CredentialsFrom, err = time.Parse(time.RFC3339, text); err != nil {
			r.Revoked = true
		}
	}

	return r, true
}

// Encode writes a record.
func (r Record) Encode(into *corev1.ConfigMap) {
	into.Namespace, into.Name = Namespace, Name(r.Seed)
	if into.Labels == nil {
		into.Labels = map[string]string{}
	}
	into.Labels[Label] = r.Seed
	into.Data = map[string]string{keyReason: r.Reason, keyBy: r.By, keyAt: r.At.UTC().Format(time.RFC3339), keyRevoked: "true"}
	if !r.Revoked {
		into.Data[keyRevoked] = no
	}
	if !r.CredentialsFrom.IsZero() {
		into.Data[keyFrom] = r.CredentialsFrom.UTC().Format(time.RFC3339)
	}
}
