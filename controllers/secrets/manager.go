// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	// labelRotationStrategy says what happens to the old data when a secret is rotated.
	labelRotationStrategy = "rotation-strategy"
	strategyKeepOld       = "keepold"
	strategyInPlace       = "inplace"
)

// Config says where a manager works.
type Config struct {
	// Client reaches the seed without a cache.
	Client client.Client
	// Namespace is the shoot's namespace in the seed.
	Namespace string
	// Identity distinguishes the secrets of this manager from those of others in the same namespace.
	Identity string
	// Clock gives the time at which something is issued.
	Clock clock.PassiveClock
	// Rotations are the phases of the rotations of what is not renewed by age.
	Rotations Rotations
}

// Manager provides the secrets of one namespace during one run. Several tasks may use it at once.
type Manager struct {
	config Config

	mu       sync.Mutex
	existing []corev1.Secret
	donors   []corev1.Secret
	used     map[string]struct{}
}

// Load reads what earlier runs have made and returns a manager for this run.
func Load(ctx context.Context, c Config) (*Manager, error) {
	m := &Manager{config: c, used: map[string]struct{}{}}
	list := &corev1.SecretList{}
	if err := c.Client.List(ctx, list, client.InNamespace(c.Namespace), client.MatchingLabels(m.labels())); err != nil {
		return nil, fmt.Errorf("list generated secrets of namespace %q: %w", c.Namespace, err)
	}
	m.existing = list.Items
	return m, m.loadDonors(ctx)
}

// Cleanup deletes every secret of this manager that was not asked for since Load, but the given ones. A run calls it last, if it succeeded.
func (m *Manager) Cleanup(ctx context.Context, keep ...string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var errs []error
	for i := range m.existing {
		s := &m.existing[i]
		if _, used := m.used[s.Name]; used || slices.Contains(keep, s.Name) {
			continue
		}
		if err := m.config.Client.Delete(ctx, s); client.IgnoreNotFound(err) != nil {
			errs = append(errs, fmt.Errorf("delete secret %q: %w", s.Name, err))
		}
	}
	return errors.Join(errs...)
}

func (m *Manager) labels() map[string]string {
	return map[string]string{
		gardencorev1beta1.LabelSecretManagedBy:       gardencorev1beta1.LabelSecretManagedByValue,
		gardencorev1beta1.LabelSecretManagerIdentity: m.config.Identity,
	}
}

// wish describes a secret without its content.
type wish struct {
	// name is the logical name.
	name string
	// config is everything that determines the content except randomness and time. It must marshal to JSON.
	config any
	// signer is the checksum of the authority that signs, if one does.
	signer string
	// plain wishes have their bare name until their first rotation.
	plain bool
	// rotated marks secrets that only a rotation replaces. Their predecessors stay for a while, and they have to survive a move
	// of the control plane.
	rotated bool
	// bundleFor names the authority or key that the content is a bundle of, if it is one.
	bundleFor string
	// generate makes the content. until is the end of validity, zero if there is none.
	generate func(now time.Time) (data map[string][]byte, until time.Time, err error)
	// adopt takes the content from data that somebody offers, unless that is not fit; nil if nobody can offer any.
	adopt func(offered map[string][]byte) (data map[string][]byte, until time.Time, err error)
}

// obtain finds the secret of a wish, or makes it if there is none or if it has to be renewed.
func (m *Manager) obtain(ctx context.Context, w wish) (*corev1.Secret, error) {
	configSum, err := checksum(w.config)
	if err != nil {
		return nil, fmt.Errorf("secret %q: %w", w.name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.config.Clock.Now()
	same := m.matching(w, configSum)
	if len(same) > 0 && !due(same[0], now) {
		m.used[same[0].Name] = struct{}{}
		return same[0], nil
	}
	salt := ""
	if len(same) > 0 {
		salt = strconv.FormatInt(now.Unix(), 10)
	}
	return m.make(ctx, w, salt)
}

// make makes the secret of a wish. The salt distinguishes it from its predecessors. The caller holds the lock.
func (m *Manager) make(ctx context.Context, w wish, salt string) (*corev1.Secret, error) {
	secret, err := m.fresh(w, salt)
	if err != nil {
		return nil, err
	}
	if err := m.create(ctx, secret); err != nil {
		return nil, err
	}
	m.existing = append(m.existing, *secret)
	m.used[secret.Name] = struct{}{}
	return secret, nil
}

// matching returns the existing secrets of a wish, the newest first.
func (m *Manager) matching(w wish, configSum string) []*corev1.Secret {
	var found []*corev1.Secret
	for i := range m.existing {
		l := m.existing[i].Labels
		if l[gardencorev1beta1.LabelSecretName] == w.name && l[gardencorev1beta1.LabelSecretChecksumSigningCA] == w.signer &&
			l[gardencorev1beta1.LabelSecretChecksumConfig] == configSum {
			found = append(found, &m.existing[i])
		}
	}
	slices.SortFunc(found, byAge)
	return found
}

// byAge puts the newest secret first.
func byAge(a, b *corev1.Secret) int {
	return cmp.Or(
		-cmp.Compare(unix(a, gardencorev1beta1.LabelSecretIssuedAtTime), unix(b, gardencorev1beta1.LabelSecretIssuedAtTime)),
		cmp.Compare(a.Name, b.Name),
	)
}

// fresh returns a new secret. The salt, if there is one, is the time of its renewal or rotation and becomes a part of its name.
func (m *Manager) fresh(w wish, salt string) (*corev1.Secret, error) {
	configSum, err := checksum(w.config)
	if err != nil {
		return nil, fmt.Errorf("secret %q: %w", w.name, err)
	}
	now := m.config.Clock.Now()
	data, until, err := m.content(w, now)
	if err != nil {
		return nil, err
	}
	labels := m.labels()
	maps.Copy(labels, map[string]string{
		gardencorev1beta1.LabelSecretName:           w.name,
		gardencorev1beta1.LabelSecretChecksumConfig: configSum,
		gardencorev1beta1.LabelSecretIssuedAtTime:   strconv.FormatInt(now.Unix(), 10),
		labelRotationStrategy:                       strategyInPlace,
	})
	if w.rotated {
		labels[labelRotationStrategy], labels[gardencorev1beta1.LabelSecretPersist] = strategyKeepOld, "true"
	}
	if w.bundleFor != "" {
		labels[gardencorev1beta1.LabelSecretBundleFor] = w.bundleFor
	}
	if w.signer != "" {
		labels[gardencorev1beta1.LabelSecretChecksumSigningCA] = w.signer
	}
	if !until.IsZero() {
		labels[gardencorev1beta1.LabelSecretValidUntilTime] = strconv.FormatInt(until.Unix(), 10)
	}
	if salt != "" {
		labels[gardencorev1beta1.LabelSecretLastRotationInitiationTime] = salt
	}
	name := w.name
	if !w.plain || salt != "" {
		name += "-" + shortHash(configSum, w.signer, salt)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.config.Namespace, Name: name, Labels: labels},
		Type:       corev1.SecretTypeOpaque,
		Immutable:  new(true),
		Data:       data,
	}, nil
}

// create writes the secret. If an interrupted run has written one of that name since Load, that one is used, because its
// content may be in use already.
func (m *Manager) create(ctx context.Context, secret *corev1.Secret) error {
	err := m.config.Client.Create(ctx, secret)
	if err == nil {
		return nil
	}
	if !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create secret %q: %w", secret.Name, err)
	}
	there := &corev1.Secret{}
	if err := m.config.Client.Get(ctx, client.ObjectKeyFromObject(secret), there); err != nil {
		return fmt.Errorf("get secret %q: %w", secret.Name, err)
	}
	for key, value := range m.labels() {
		if there.Labels[key] != value {
			return fmt.Errorf("secret %q exists and does not belong to %q: delete or rename it", secret.Name, m.config.Identity)
		}
	}
	*secret = *there
	return nil
}

// due reports whether a secret has to be renewed: at 80 % of its validity or ten days before its end, whichever comes first.
// Only the first rule counts for secrets that are valid for at most twenty days, else some would be due as soon as they are made (GLET-SEC-3).
func due(s *corev1.Secret, now time.Time) bool {
	until := unix(s, gardencorev1beta1.LabelSecretValidUntilTime)
	issued := unix(s, gardencorev1beta1.LabelSecretIssuedAtTime)
	if until == 0 {
		return false
	}
	const tenDays = 10 * 24 * 60 * 60
	validity := until - issued
	at := issued + validity*8/10
	if validity > 2*tenDays {
		at = min(at, until-tenDays)
	}
	return now.Unix() >= at
}

func unix(s *corev1.Secret, label string) int64 {
	n, err := strconv.ParseInt(s.Labels[label], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// checksum is a hash of anything that marshals to JSON.
func checksum(of any) (string, error) {
	data, err := json.Marshal(of)
	if err != nil {
		return "", fmt.Errorf("compute the checksum of its configuration: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:16], nil
}

func shortHash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))[:8]
}
