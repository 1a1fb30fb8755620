// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Rotation is the progress of the rotation of some credentials. The zero value is for those that were never rotated.
//
// The time at which a rotation began is the generation of what it makes. New data is made in a phase that prepares, once for
// each generation. In every other phase the newest data stays in use, so that a lost status never replaces a credential.
// The data of the previous generation is kept until the rotation completes.
type Rotation struct {
	Phase gardencorev1beta1.CredentialsRotationPhase
	// Initiated is when the last rotation began.
	Initiated time.Time
}

// Rotations are those of the credentials of a shoot.
type Rotations struct {
	Authorities, ServiceAccountKey, EncryptionKey, SSHKey Rotation
}

// RotationsOf reads the rotations from the status of a shoot.
func RotationsOf(status gardencorev1beta1.ShootStatus) Rotations {
	var all Rotations
	if status.Credentials == nil || status.Credentials.Rotation == nil {
		return all
	}
	r := status.Credentials.Rotation
	if c := r.CertificateAuthorities; c != nil {
		all.Authorities = Rotation{Phase: c.Phase, Initiated: timeOf(c.LastInitiationTime)}
	}
	if c := r.ServiceAccountKey; c != nil {
		all.ServiceAccountKey = Rotation{Phase: c.Phase, Initiated: timeOf(c.LastInitiationTime)}
	}
	if c := r.ETCDEncryptionKey; c != nil {
		all.EncryptionKey = Rotation{Phase: c.Phase, Initiated: timeOf(c.LastInitiationTime)}
	}
	if c := r.SSHKeypair; c != nil {
		// This rotation has no phases: the previous key stays until the next rotation (GLET-CRED-14).
		all.SSHKey = Rotation{Phase: gardencorev1beta1.CredentialsRotationPhasePreparing, Initiated: timeOf(c.LastInitiationTime)}
	}
	return all
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

// generation is zero before the first rotation.
func (r Rotation) generation() int64 {
	if r.Initiated.IsZero() {
		return 0
	}
	return r.Initiated.Unix()
}

// prepares reports whether new data has to be made, unless there is some of this generation.
func (r Rotation) prepares() bool {
	return r.Phase == gardencorev1beta1.CredentialsRotationPhasePreparing ||
		r.Phase == gardencorev1beta1.CredentialsRotationPhasePreparingWithoutWorkersRollout
}

// keepsOld reports whether the data of the previous generation is still in use.
func (r Rotation) keepsOld() bool {
	return r.prepares() || r.Phase == gardencorev1beta1.CredentialsRotationPhaseWaitingForWorkersRollout ||
		r.Phase == gardencorev1beta1.CredentialsRotationPhasePrepared
}

// keeps reports whether the data before the current one is still in use. A status that says nothing about the current data was lost,
// or is older: then nobody knows whether something still needs the data before, such as objects that it has encrypted.
func (r Rotation) keeps(current *corev1.Secret) bool {
	return r.keepsOld() || generationOf(current) != r.generation()
}

// rotated is the data in use, and that of the previous generation if it is kept.
type rotated struct {
	current, old *corev1.Secret
}

// obtainRotated finds the secrets of a wish that only a rotation replaces, or makes what is missing.
func (m *Manager) obtainRotated(ctx context.Context, w wish, rotation Rotation) (rotated, error) {
	w.rotated = true
	m.mu.Lock()
	defer m.mu.Unlock()
	found := m.generations(w.name)
	if len(found) == 0 || rotation.prepares() && generationOf(found[0]) < rotation.generation() {
		salt := ""
		if n := rotation.generation(); n > 0 {
			salt = strconv.FormatInt(n, 10)
		}
		made, err := m.make(ctx, w, salt)
		if err != nil {
			return rotated{}, err
		}
		found = append([]*corev1.Secret{made}, found...)
	}
	r := rotated{current: found[0]}
	m.used[r.current.Name] = struct{}{}
	if err := m.release(ctx, w.name, r.current); err != nil {
		return rotated{}, err
	}
	if rotation.keeps(r.current) && len(found) > 1 && !expired(found[1], m.config.Clock.Now()) {
		r.old = found[1]
		m.used[r.old.Name] = struct{}{}
	}
	return r, nil
}

// generations returns the existing secrets of a name, the newest generation first.
func (m *Manager) generations(name string) []*corev1.Secret {
	var found []*corev1.Secret
	for i := range m.existing {
		if m.existing[i].Labels[gardencorev1beta1.LabelSecretName] == name {
			found = append(found, &m.existing[i])
		}
	}
	slices.SortFunc(found, func(a, b *corev1.Secret) int {
		return cmp.Or(-cmp.Compare(generationOf(a), generationOf(b)), byAge(a, b))
	})
	return found
}

// FindCA returns the authority in use with that namespace and logical name, which the manager of that identity has made, or nil if there
// is none. That is the newest one, unless the accepted Secret has another. It makes nothing.
func FindCA(ctx context.Context, seed client.Reader, key client.ObjectKey, identity, accepted string) (*Certificate, error) {
	m := &Manager{config: Config{Namespace: key.Namespace, Identity: identity}}
	labels := m.labels()
	labels[gardencorev1beta1.LabelSecretName] = key.Name
	list := &corev1.SecretList{}
	if err := seed.List(ctx, list, client.InNamespace(key.Namespace), client.MatchingLabels(labels)); err != nil {
		return nil, fmt.Errorf("find authority %q: %w", key, err)
	}
	m.existing = list.Items
	found := m.generations(key.Name)
	if len(found) == 0 {
		return nil, nil //nolint:nilnil // nil says that there is none
	}

	if at := slices.IndexFunc(found, func(s *corev1.Secret) bool { return s.Name == accepted }); at >= 0 {
		return authorityOf(found[at])
	}

	return authorityOf(found[0])
}

func generationOf(s *corev1.Secret) int64 {
	return unix(s, gardencorev1beta1.LabelSecretLastRotationInitiationTime)
}

func expired(s *corev1.Secret, now time.Time) bool {
	until := unix(s, gardencorev1beta1.LabelSecretValidUntilTime)
	return until != 0 && now.Unix() >= until
}

// Bundle is what is trusted: the data in use and, during a rotation, that of the previous generation.
type Bundle struct {
	// SecretName is the name of the Secret with the bundle. Another bundle has another name.
	SecretName string
	// PEM holds one block for each generation, the newest first.
	PEM []byte
}

// bundle keeps the blocks in a Secret of their own, under the key.
func (m *Manager) bundle(ctx context.Context, name, key string, blocks ...[]byte) (Bundle, error) {
	data := slices.Concat(blocks...)
	secret, err := m.obtain(ctx, wish{
		name: name + "-bundle", bundleFor: name, config: map[string][]byte{key: data},
		generate: func(time.Time) (map[string][]byte, time.Time, error) {
			return map[string][]byte{key: data}, time.Time{}, nil
		},
	})
	if err != nil {
		return Bundle{}, fmt.Errorf("bundle of %q: %w", name, err)
	}
	return Bundle{SecretName: secret.Name, PEM: data}, nil
}
