// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"

	"github.com/terrarium-garden/terrarium/appliance/apiserver"
	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// refusal is an error that a client can do something about. It says what.
type refusal struct{ error }

// Unwrap returns the reason.
func (r refusal) Unwrap() error { return r.error }

// mayStartTokenKeys returns why a rotation of the key for tokens of service accounts cannot be started.
func (s *server) mayStartTokenKeys(on ground) error {
	if err := s.mayRotate(); err != nil {
		return err
	}
	if is := on.keys.ServiceAccount.Keys(); is.Rotating() {
		return rotating(is)
	}

	return nil
}

func rotating(is *identity.TokenKeys) error {
	return refusal{fmt.Errorf("rotation of the service account key, begun on %s: %w", is.Since.Format(time.DateOnly), identity.ErrRotating)}
}

// startTokenKeys makes a new key for tokens of service accounts. Tokens of the key before are still accepted.
func (s *server) startTokenKeys(on ground) error {
	if err := s.mayStartTokenKeys(on); err != nil {
		return err
	}
	keys := on.keys
	err := keys.Changes.StartTokenKeyRotation(s.Clock.Now())
	if errors.Is(err, identity.ErrRotating) {
		return rotating(keys.ServiceAccount.Keys())
	}
	if err != nil {
		return fmt.Errorf("rotate service account key: %w", err)
	}
	s.api.Load().TokenKeysChanged()
	s.Log.Info("Service account key rotation started", "key", keys.ServiceAccount.Keys().ID)
	s.keysChanged()
	s.wakeAuthorities()

	return nil
}

// mayCompleteTokenKeys returns why the rotation cannot be completed: unless it is forced, it cannot while seeds have not renewed their
// tokens, nor while tokens of the key before can be valid. If it can, it returns the Secrets with such tokens.
func (s *server) mayCompleteTokenKeys(ctx context.Context, on ground, force bool) ([]corev1.Secret, error) {
	if err := s.mayRotate(); err != nil {
		return nil, err
	}
	is := on.keys.ServiceAccount.Keys()
	if !is.Rotating() {
		return nil, refusal{fmt.Errorf("complete rotation of the service account key: %w", identity.ErrNotRotating)}
	}
	if err := s.mayForgetTokens(ctx, serviceAccountTokens(on.keys), force); err != nil {
		return nil, err
	}
	if end := is.Since.Add(s.longestToken()); !force && s.Clock.Now().Before(end) {
		return nil, refusal{fmt.Errorf(
			"tokens of the former key may be valid until %s, and would be refused at once; complete the rotation after that, or force it",
			end.Format(time.RFC3339))}
	}
	old, err := storedTokens(ctx, s.api.Load(), is.ID)
	if err != nil {
		return nil, err
	}
	if len(old) > 0 && !force {
		return nil, refusal{fmt.Errorf(
			"the former key has signed the tokens of %d Secrets, the first is %q: delete and create them, so that their users get new tokens, or force it",
			len(old), old[0].Namespace+"/"+old[0].Name)}
	}

	return old, nil
}

// completeTokenKeys ends the rotation: tokens of the key before are refused from now on.
func (s *server) completeTokenKeys(ctx context.Context, on ground, force bool) error {
	keys := on.keys
	// What is judged is what is completed, whatever others begin meanwhile.
	id := keys.ServiceAccount.Keys().ID
	old, err := s.mayCompleteTokenKeys(ctx, on, force)
	if err != nil {
		return err
	}
	api := s.api.Load()
	if err := renewStoredTokens(ctx, api, old); err != nil {
		return err
	}
	err = keys.Changes.CompleteTokenKeyRotation(id, s.Clock.Now())
	if errors.Is(err, identity.ErrNotRotating) {
		return refusal{fmt.Errorf("complete rotation of the service account key: %w", err)}
	}
	if err != nil {
		return fmt.Errorf("complete rotation of the service account key: %w", err)
	}
	api.TokenKeysChanged()
	s.Log.Info("Service account key rotation completed", "key", keys.ServiceAccount.Keys().ID, "forced", force)
	s.keysChanged()

	return nil
}

// longestToken is the longest validity of a token of a service account that is requested.
func (s *server) longestToken() time.Duration {
	if longest := s.Config.Tokens.MaxServiceAccountTokenLifetime; longest != nil {
		return longest.Duration
	}

	return apiserver.NewConfig().MaxServiceAccountTokenLifetime
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
