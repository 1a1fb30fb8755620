// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/apiserver"
	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// tokenKeys changes the key for tokens of service accounts.
type tokenKeys struct {
	clock   clock.PassiveClock
	log     logr.Logger
	keys    *identity.Garden
	api     serving
	tokens  *seedTokens
	signals *Signals
	// longest is the longest validity of a token of a service account that is requested.
	longest time.Duration
}

// mayStart returns why a rotation of the key for tokens of service accounts cannot be started.
func (t *tokenKeys) mayStart() error {
	if err := t.api.mayRotate(); err != nil {
		return err
	}
	if is := t.keys.ServiceAccount.Keys(); is.Rotating() {
		return rotating(is)
	}

	return nil
}

func rotating(is *identity.TokenKeys) error {
	return RefusedError{fmt.Errorf("rotation of the service account key, begun on %s: %w", is.Since.Format(time.DateOnly), identity.ErrRotating)}
}

// start makes a new key for tokens of service accounts. Tokens of the key before are still accepted.
func (t *tokenKeys) start() error {
	if err := t.mayStart(); err != nil {
		return err
	}
	err := t.keys.Changes.StartTokenKeyRotation(t.clock.Now())
	if errors.Is(err, identity.ErrRotating) {
		return rotating(t.keys.ServiceAccount.Keys())
	}
	if err != nil {
		return fmt.Errorf("rotate service account key: %w", err)
	}
	t.api().TokenKeysChanged()
	t.log.Info("Service account key rotation started", "key", t.keys.ServiceAccount.Keys().ID)
	t.signals.keysChanged()
	t.signals.wakeAuthorities()

	return nil
}

// mayComplete returns why the rotation cannot be completed: unless it is forced, it cannot while seeds have not renewed their
// tokens, nor while tokens of the key before can be valid. If it can, it returns the Secrets with such tokens.
func (t *tokenKeys) mayComplete(ctx context.Context, force bool) ([]corev1.Secret, error) {
	if err := t.api.mayRotate(); err != nil {
		return nil, err
	}
	is := t.keys.ServiceAccount.Keys()
	if !is.Rotating() {
		return nil, RefusedError{fmt.Errorf("complete rotation of the service account key: %w", identity.ErrNotRotating)}
	}
	if err := t.tokens.mayForget(ctx, serviceAccountTokens(t.keys), force); err != nil {
		return nil, err
	}
	if end := is.Since.Add(t.longest); !force && t.clock.Now().Before(end) {
		return nil, RefusedError{fmt.Errorf(
			"tokens of the former key may be valid until %s, and would be refused at once; complete the rotation after that, or force it",
			end.Format(time.RFC3339))}
	}
	old, err := storedTokens(ctx, t.api(), is.ID)
	if err != nil {
		return nil, err
	}
	if len(old) > 0 && !force {
		return nil, RefusedError{fmt.Errorf(
			"the former key has signed the tokens of %d Secrets, the first is %q: delete and create them, so that their users get new tokens, or force it",
			len(old), old[0].Namespace+"/"+old[0].Name)}
	}

	return old, nil
}

// complete ends the rotation: tokens of the key before are refused from now on.
func (t *tokenKeys) complete(ctx context.Context, force bool) error {
	// What is judged is what is completed, whatever others begin meanwhile.
	id := t.keys.ServiceAccount.Keys().ID
	old, err := t.mayComplete(ctx, force)
	if err != nil {
		return err
	}
	api := t.api()
	if err := renewStoredTokens(ctx, api, old); err != nil {
		return err
	}
	err = t.keys.Changes.CompleteTokenKeyRotation(id, t.clock.Now())
	if errors.Is(err, identity.ErrNotRotating) {
		return RefusedError{fmt.Errorf("complete rotation of the service account key: %w", err)}
	}
	if err != nil {
		return fmt.Errorf("complete rotation of the service account key: %w", err)
	}
	api.TokenKeysChanged()
	t.log.Info("Service account key rotation completed", "key", t.keys.ServiceAccount.Keys().ID, "forced", force)
	t.signals.keysChanged()

	return nil
}

// storedTokens returns the Secrets with tokens of service accounts that another key has signed. These tokens do not expire.
func storedTokens(ctx context.Context, api *apiserver.Server, key string) ([]corev1.Secret, error) {
	gardenClient, err := kubernetes.NewForConfig(api.LoopbackConfig())
	if err != nil {
		return nil, fmt.Errorf("create client for tokens: %w", err)
	}
	secrets, err := gardenClient.CoreV1().Secrets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("type", string(corev1.SecretTypeServiceAccountToken)).String(),
	})
	if err != nil {
		return nil, fmt.Errorf("list tokens of service accounts: %w", err)
	}

	return slices.DeleteFunc(secrets.Items, func(s corev1.Secret) bool {
		token := s.Data[corev1.ServiceAccountTokenKey]

		return len(token) == 0 || keyOf(string(token)) == key
	}), nil
}

// renewStoredTokens empties Secrets with tokens. A controller then gives them tokens of the current key. Only the token that is in the
// Secret is accepted: so they are left until somebody forces it.
func renewStoredTokens(ctx context.Context, api *apiserver.Server, old []corev1.Secret) error {
	gardenClient, err := kubernetes.NewForConfig(api.LoopbackConfig())
	if err != nil {
		return fmt.Errorf("create client for tokens: %w", err)
	}
	for i := range old {
		delete(old[i].Data, corev1.ServiceAccountTokenKey)
		_, err := gardenClient.CoreV1().Secrets(old[i].Namespace).Update(ctx, &old[i], metav1.UpdateOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("renew token in Secret %q: %w", old[i].Namespace+"/"+old[i].Name, err)
		}
	}

	return nil
}

// keyOf returns the id of the key that signed a token, or an empty string.
func keyOf(token string) string {
	head, _, _ := strings.Cut(token, ".")
	data, err := base64.RawURLEncoding.DecodeString(head)
	if err != nil {
		return ""
	}
	var header struct {
		KeyID string `json:"kid"`
	}
	if err := json.Unmarshal(data, &header); err != nil {
		return ""
	}

	return header.KeyID
}
