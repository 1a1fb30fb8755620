// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"bytes"
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"time"

	"golang.org/x/crypto/ssh"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/keyutil"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

var (
	errSeveralDonors = errors.New("several Secrets offer data for it: take the label " + gardencorev1beta1.LabelSecretUseDataForName + " off all but one")
	errNoAuthority   = errors.New("its certificate is none of an authority")
	errOtherKey      = errors.New("its " + DataKeyRSAPublic + " belongs to another key")
)

// loadDonors finds the Secrets whose data an operator wants to be taken over, such as the authority of a cluster that comes from elsewhere
// (GLET-SEC-6). Only those of authorities and keys are: everything else is made of these.
func (m *Manager) loadDonors(ctx context.Context) error {
	list := &corev1.SecretList{}
	err := m.config.Client.List(ctx, list, client.InNamespace(m.config.Namespace), client.HasLabels{gardencorev1beta1.LabelSecretUseDataForName})
	if err != nil {
		return fmt.Errorf("list secrets of namespace %q whose data is to be taken over: %w", m.config.Namespace, err)
	}
	m.donors = list.Items
	return nil
}

// donor is the Secret that offers data for a name; nil if there is none.
func (m *Manager) donor(name string) (*corev1.Secret, error) {
	var found *corev1.Secret
	for i := range m.donors {
		d := &m.donors[i]
		if d.Labels[gardencorev1beta1.LabelSecretUseDataForName] != name {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("secret %q: %w", name, errSeveralDonors)
		}
		found = d
	}
	return found, nil
}

// content makes the data of a wish, or takes it from the donor that offers it.
func (m *Manager) content(w wish, now time.Time) (data map[string][]byte, until time.Time, err error) {
	donor, err := m.donor(w.name)
	if err != nil {
		return nil, time.Time{}, err
	}
	if donor == nil || w.adopt == nil {
		if data, until, err = w.generate(now); err != nil {
			return nil, time.Time{}, fmt.Errorf("generate secret %q: %w", w.name, err)
		}
		return data, until, nil
	}
	if data, until, err = w.adopt(donor.Data); err != nil {
		return nil, time.Time{}, fmt.Errorf("take over the data of secret %q for %q: %w", donor.Name, w.name, err)
	}
	if !until.IsZero() && !now.Before(until) {
		return nil, time.Time{}, fmt.Errorf("take over the data of secret %q for %q: it ended on %s", donor.Name, w.name, until.UTC().Format(time.DateOnly))
	}
	return data, until, nil
}

// release takes the label off the Secret whose data is in use, so that it is taken over once. An interrupted run may have left that.
func (m *Manager) release(ctx context.Context, name string, current *corev1.Secret) error {
	donor, err := m.donor(name)
	if err != nil || donor == nil || !given(donor, current) {
		return err
	}
	before := donor.DeepCopy()
	delete(donor.Labels, gardencorev1beta1.LabelSecretUseDataForName)
	if err := m.config.Client.Patch(ctx, donor, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		donor.Labels = before.Labels
		return fmt.Errorf("take label %s off secret %q, whose data is in use: %w", gardencorev1beta1.LabelSecretUseDataForName, donor.Name, err)
	}
	return nil
}

// given reports whether the data of a Secret is that of a donor.
func given(donor, current *corev1.Secret) bool {
	for key, value := range current.Data {
		if !bytes.Equal(value, donor.Data[key]) {
			return false
		}
	}
	return len(current.Data) > 0
}

// pick takes the parts that a Secret has to have.
func pick(data map[string][]byte, keys ...string) (map[string][]byte, error) {
	picked := map[string][]byte{}
	for _, key := range keys {
		if len(data[key]) == 0 {
			return nil, fmt.Errorf("it has no %s", key)
		}
		picked[key] = data[key]
	}
	return picked, nil
}

// adoptAuthority checks the data of an authority and returns when it ends.
func adoptAuthority(data map[string][]byte) (map[string][]byte, time.Time, error) {
	picked, err := pick(data, gardencorev1beta1.DataKeyCertificateCA, gardencorev1beta1.DataKeyPrivateKeyCA)
	if err != nil {
		return nil, time.Time{}, err
	}
	by, err := issuerOf(&Certificate{SecretName: gardencorev1beta1.DataKeyCertificateCA, Certificate: picked[gardencorev1beta1.DataKeyCertificateCA], Key: picked[gardencorev1beta1.DataKeyPrivateKeyCA]})
	if err != nil {
		return nil, time.Time{}, err
	}
	if !by.certificate.IsCA {
		return nil, time.Time{}, errNoAuthority
	}
	return picked, by.certificate.NotAfter, nil
}

// adoptRSA checks a key.
func adoptRSA(data map[string][]byte) (map[string][]byte, time.Time, error) {
	picked, err := pick(data, DataKeyRSA)
	if err != nil {
		return nil, time.Time{}, err
	}
	key, err := keyutil.ParsePrivateKeyPEM(picked[DataKeyRSA])
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("parse its %s: %w", DataKeyRSA, err)
	}
	if _, is := key.(*rsa.PrivateKey); !is {
		return nil, time.Time{}, fmt.Errorf("its %s is a %T", DataKeyRSA, key)
	}
	return picked, time.Time{}, nil
}

// adoptSSH checks both halves of a key.
func adoptSSH(data map[string][]byte) (map[string][]byte, time.Time, error) {
	picked, err := pick(data, DataKeyRSA, DataKeyRSAPublic)
	if err != nil {
		return nil, time.Time{}, err
	}
	private, err := ssh.ParsePrivateKey(picked[DataKeyRSA])
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("parse its %s: %w", DataKeyRSA, err)
	}
	public, _, _, _, err := ssh.ParseAuthorizedKey(picked[DataKeyRSAPublic])
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("parse its %s: %w", DataKeyRSAPublic, err)
	}
	if !bytes.Equal(private.PublicKey().Marshal(), public.Marshal()) {
		return nil, time.Time{}, errOtherKey
	}
	return picked, time.Time{}, nil
}

// adoptEncryptionKey checks a key for encryption at rest and its name.
func adoptEncryptionKey(data map[string][]byte) (map[string][]byte, time.Time, error) {
	picked, err := pick(data, dataKeyEncryptionKey, dataKeyEncryptionSecret)
	if err == nil && len(picked[dataKeyEncryptionSecret]) != encryptionLength {
		err = fmt.Errorf("its %s has %d bytes and not %d", dataKeyEncryptionSecret, len(picked[dataKeyEncryptionSecret]), encryptionLength)
	}
	return picked, time.Time{}, err
}
