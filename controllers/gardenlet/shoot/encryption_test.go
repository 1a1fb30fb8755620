// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

// encrypts sets what the owner of a shoot wants encrypted.
func encrypts(provider gardencorev1beta1.EncryptionProviderType, resources ...string) func(*gardencorev1beta1.Shoot) {
	return func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{EncryptionConfig: &gardencorev1beta1.EncryptionConfig{
			Provider: gardencorev1beta1.EncryptionProvider{Type: &provider}, Resources: resources,
		}}
	}
}

// reports sets what the status reports of it.
func reports(e gardencorev1beta1.EncryptionAtRest) func(*gardencorev1beta1.Shoot) {
	return func(s *gardencorev1beta1.Shoot) {
		s.Status.Credentials = &gardencorev1beta1.ShootCredentials{EncryptionAtRest: &e}
	}
}

func encrypted(provider gardencorev1beta1.EncryptionProviderType, resources ...string) gardencorev1beta1.EncryptionAtRest {
	return gardencorev1beta1.EncryptionAtRest{Provider: gardencorev1beta1.EncryptionProviderStatus{Type: provider}, Resources: resources}
}

// encryptionSecret is the Secret of an API server that encrypts so.
func encryptionSecret(t *testing.T, provider gardencorev1beta1.EncryptionProviderType, resources ...string) *corev1.Secret {
	t.Helper()
	config, err := json.Marshal(map[string]any{"resources": []any{map[string]any{
		"resources": append(resources, "secrets"),
		"providers": []any{map[string]any{string(provider): map[string]any{"keys": []any{}}}, map[string]any{"identity": map[string]any{}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: apiserver.EncryptionSecret},
		Data:       map[string][]byte{"encryption-configuration.yaml": config},
	}
}

func TestEncryptionStaysAsItIs(t *testing.T) {
	t.Parallel()
	const aescbc, secretbox = gardencorev1beta1.EncryptionProviderTypeAescbc, gardencorev1beta1.EncryptionProviderTypeSecretbox
	rotated := &gardencorev1beta1.ShootCredentialsRotation{SSHKeypair: &gardencorev1beta1.ShootSSHKeypairRotation{}}
	for name, tc := range map[string]struct {
		reason string
		shoot  *gardencorev1beta1.Shoot
		live   *corev1.Secret
		want   gardencorev1beta1.EncryptionAtRest
		learns []string
	}{
		"New":   {reason: "a new API server encrypts what its owner wants", shoot: fresh(encrypts(secretbox, "events", "configmaps.")), want: encrypted(secretbox, "configmaps", "events")},
		"Plain": {reason: "with the default if nothing is said", shoot: fresh(), want: encrypted(aescbc)},
		"Stored": {
			reason: "one without a report keeps what it has", shoot: resting(encrypts(aescbc)),
			live: encryptionSecret(t, secretbox, "events", "configmaps."), want: encrypted(secretbox, "configmaps", "events"),
		},
		"Rotated": {
			reason: "other fields of the status stay", live: encryptionSecret(t, aescbc, "events"), want: encrypted(aescbc, "events"),
			shoot: resting(encrypts(aescbc), func(s *gardencorev1beta1.Shoot) {
				s.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: rotated}
			}),
		},
		"Reported": {
			reason: "what is reported stays, and is learned first where the API server does not know it", want: encrypted(secretbox, "events"), learns: []string{"events"},
			shoot: resting(encrypts(aescbc), reports(encrypted(secretbox, "events"))), live: encryptionSecret(t, aescbc),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLandscape(t, tc.shoot)
			if tc.live != nil {
				l.give(t, l.SeedClient, tc.live)
			}
			deployed, err := apiserver.EncryptionInUse(l.shoot(t), tc.live)
			known := tc.want
			if tc.learns != nil {
				known.Resources = nil
			}
			if diff := cmp.Diff(known, deployed.AtRest()); diff != "" || err != nil || !slices.Equal(deployed.Readable, tc.learns) {
				t.Errorf("%s\nthe API server encrypts (-want +got), error %v:\n%s", tc.reason, err, diff)
			}
			if err := shoot.RunTasks(t.Context(), l.Reconciler, l.shoot(t), "shoot--dev--a", "encryption-status"); err != nil {
				t.Fatal(err)
			}
			c := l.shoot(t).Status.Credentials
			if diff := cmp.Diff(&tc.want, c.EncryptionAtRest); diff != "" {
				t.Errorf("%s\nreported (-want +got):\n%s", tc.reason, diff)
			}
			if name == "Rotated" && c.Rotation == nil {
				t.Errorf("%s\ncredentials = %+v", tc.reason, c)
			}
		})
	}
}

func TestEncryptionThatCannotBeRead(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, resting(encrypts("aescbc")))
	live := encryptionSecret(t, "aescbc", "events")
	clear(live.Data)
	l.give(t, l.SeedClient, live)
	if got, err := apiserver.EncryptionInUse(l.shoot(t), live); err == nil {
		t.Errorf("%v is taken for what the API server encrypts, which nobody knows", got)
	}
	if err := shoot.RunTasks(t.Context(), l.Reconciler, l.shoot(t), "shoot--dev--a", "encryption-status"); err == nil {
		t.Error("something is reported as what the API server encrypts, which nobody knows")
	}
}
