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

// errSharedDatastore says that this server must not change a key alone.
var errSharedDatastore = errors.New("the objects are in an external datastore, and other servers may use it with copies of the keys, so no key is changed")

// startTokenKeys makes a new key for tokens of service accounts. Tokens of the key before are still accepted.
func (s *server) startTokenKeys(on ground) error {
	keys := on.keys
	if s.api.Load() == nil {
		return refusal{errors.New("the server is starting; try again")}
	}
	if on.stores.Objects.Log == nil {
		return refusal{errSharedDatastore}
	}
	err := keys.StartTokenKeyRotation(s.Clock.Now())
	if errors.Is(err, identity.ErrRotating) {
		return refusal{fmt.Errorf("rotation of the service account key, begun on %s: %w", keys.TokenKeys().Since.Format(time.DateOnly), err)}
	}
	if err != nil {
		return fmt.Errorf("rotate service account key: %w", err)
	}
	s.api.Load().TokenKeysChanged()
	s.Log.Info("Service account key rotation started", "key", keys.TokenKeys().ID)
	s.keysChanged()

	return nil
}

// completeTokenKeys ends the rotation: tokens of the key before are refused from now on. Unless it is forced, it is refused while
// such tokens can be valid.
func (s *server) completeTokenKeys(ctx context.Context, keys *identity.Garden, force bool) error {
	is := keys.TokenKeys()
	api := s.api.Load()
	if api == nil {
		return refusal{errors.New("the server is starting; try again")}
	}
	if !is.Rotating() {
		return refusal{fmt.Errorf("complete rotation of the service account key: %w", identity.ErrNotRotating)}
	}
	if end := is.Since.Add(s.longestToken()); !force && s.Clock.Now().Before(end) {
		return refusal{fmt.Errorf(
			"tokens of the former key may be valid until %s, and would be refused at once; complete the rotation after that, or force it",
			end.Format(time.RFC3339))}
	}
	if err := renewStoredTokens(ctx, api, is.ID, force); err != nil {
		return err
	}
	if err := keys.CompleteTokenKeyRotation(); err != nil {
		return fmt.Errorf("complete rotation of the service account key: %w", err)
	}
	api.TokenKeysChanged()
	s.Log.Info("Service account key rotation completed", "key", keys.TokenKeys().ID, "forced", force)
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

// renewStoredTokens empties the Secrets with tokens that another key has signed. A controller then gives them tokens of the current
// key. These tokens do not expire, and only the one that is in the Secret is accepted: so they are left until somebody forces it.
func renewStoredTokens(ctx context.Context, api *apiserver.Server, key string, force bool) error {
	gardenClient, err := kubernetes.NewForConfig(api.LoopbackConfig())
	if err != nil {
		return fmt.Errorf("create client for tokens: %w", err)
	}
	secrets, err := gardenClient.CoreV1().Secrets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("type", string(corev1.SecretTypeServiceAccountToken)).String(),
	})
	if err != nil {
		return fmt.Errorf("list tokens of service accounts: %w", err)
	}
	old := slices.DeleteFunc(secrets.Items, func(s corev1.Secret) bool {
		token := s.Data[corev1.ServiceAccountTokenKey]

		return len(token) == 0 || keyOf(string(token)) == key
	})
	if len(old) > 0 && !force {
		return refusal{fmt.Errorf(
			"the former key has signed the tokens of %d Secrets, the first is %q: delete and create them, so that their users get new tokens, or force it",
			len(old), old[0].Namespace+"/"+old[0].Name)}
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
