// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	// renewalTimeout is how long tokens of components may take to be renewed.
	renewalTimeout = 3 * time.Minute
	renewalPoll    = time.Second
	// writesPerSecond bounds how fast service accounts are changed.
	writesPerSecond = 100
)

// tokenRotation is the rotation of the key that signs tokens of service accounts, after the API server has it (GLET-CRED-12).
type tokenRotation struct {
	ground

	secrets     authorities
	shootClient *flow.Value[client.Client]
}

func (r tokenRotation) fragment() fragment {
	now, reads := r.rotating(), []flow.Slot{r.shootClient}

	return fragment{deploy: []flow.Task{
		{
			ID: "access-tokens", Title: "Renewing the tokens of components", After: after("resource-manager-access"), Timeout: renewalTimeout,
			Skip: !now.newAccountKey, Do: r.renewAccess,
		},
		{
			// The controller manager signs these tokens.
			ID: "account-tokens", Title: "Making new tokens for service accounts", After: after("kcm-wait"), Reads: reads,
			Skip: !now.newAccountKey, Do: r.addTokens,
		},
		{
			ID: "account-tokens-old", Title: "Deleting the old tokens of service accounts", Reads: reads,
			Skip: !now.oldAccountKey, Do: r.deleteOldTokens,
		},
	}}
}

// renewAccess asks for new tokens of all clients in the seed, and waits until they are there.
func (r tokenRotation) renewAccess(ctx context.Context) error {
	all := &corev1.SecretList{}
	err := r.seed.List(ctx, all, client.InNamespace(r.facts.Namespace),
		client.MatchingLabels{gardenresourcesv1alpha1.LabelPurpose: gardenresourcesv1alpha1.PurposeTokenRequestor})
	if err != nil {
		return fmt.Errorf("list secrets with tokens: %w", err)
	}
	var asked []string
	for i := range all.Items {
		secret := &all.Items[i]
		if class := secret.Labels[gardenresourcesv1alpha1.LabelClass]; class != "" && class != gardenresourcesv1alpha1.ClassShoot {
			continue
		}
		asked = append(asked, secret.Name)
		if secret.Annotations[gardenresourcesv1alpha1.AnnotationTokenRenewTimestamp] == "" {
			continue // An earlier run has asked, and has not waited until the end.
		}
		before := secret.DeepCopy()
		delete(secret.Annotations, gardenresourcesv1alpha1.AnnotationTokenRenewTimestamp)
		if err := r.seed.Patch(ctx, secret, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("ask for a new token in secret %q: %w", secret.Name, err)
		}
	}

	return flow.Until(ctx, r.clock, flow.Every(renewalPoll), func(ctx context.Context) error {
		var missing error
		asked, missing = r.unrenewed(ctx, asked)

		return missing
	})
}

// unrenewed returns the Secrets without a new token, and an error that names them.
func (r tokenRotation) unrenewed(ctx context.Context, asked []string) ([]string, error) {
	var left []string
	for _, name := range asked {
		secret := &corev1.Secret{}
		err := r.seed.Get(ctx, client.ObjectKey{Namespace: r.facts.Namespace, Name: name}, secret)
		if client.IgnoreNotFound(err) != nil {
			return asked, fmt.Errorf("get secret %q: %w", name, err)
		}
		if err == nil && secret.Annotations[gardenresourcesv1alpha1.AnnotationTokenRenewTimestamp] == "" {
			left = append(left, name)
		}
	}
	if len(left) > 0 {
		return left, errors.New("tokens are not renewed yet in secrets " + strings.Join(left, ", "))
	}

	return nil, nil
}

// accountChange changes a service account in memory.
type accountChange func(ctx context.Context, shoot client.Client, account *corev1.ServiceAccount) error

// eachAccount calls change with each service account that the selector matches, and writes what it has changed. Changes are made again
// if somebody else was faster.
func (r tokenRotation) eachAccount(ctx context.Context, option client.ListOption, change accountChange) error {
	shoot := r.shootClient.Get(ctx)
	limit := flowcontrol.NewTokenBucketRateLimiter(writesPerSecond, writesPerSecond)
	defer limit.Stop()
	accounts := kit.Pages[*corev1.ServiceAccountList]{
		Reader: shoot, Size: ownersPage, Options: []client.ListOption{option},
		New: func() *corev1.ServiceAccountList { return &corev1.ServiceAccountList{} },
	}
	err := accounts.Each(ctx, func(page *corev1.ServiceAccountList) error {
		for i := range page.Items {
			account := &page.Items[i]
			if err := limit.Wait(ctx); err != nil {
				return fmt.Errorf("wait for the rate limit: %w", err)
			}
			if err := changeAccount(ctx, shoot, account, change); err != nil {
				return fmt.Errorf("service account %q: %w", client.ObjectKeyFromObject(account), err)
			}
		}

		return nil
	})
	if err != nil {
		return fmt.Errorf("look into all service accounts: %w", err)
	}

	return nil
}

// changeAccount changes a service account and writes it. One that is gone by then needs nothing.
func changeAccount(ctx context.Context, shoot client.Client, account *corev1.ServiceAccount, change accountChange) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		before := account.DeepCopy()
		if err := change(ctx, shoot, account); err != nil {
			return err
		}
		// The lock keeps what others have added to the list of Secrets.
		err := shoot.Patch(ctx, account, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		if apierrors.IsConflict(err) {
			return cmp.Or(client.IgnoreNotFound(shoot.Get(ctx, client.ObjectKeyFromObject(account), account)), err)
		}

		return client.IgnoreNotFound(err)
	})
}

// addTokens makes a new token for each service account with token Secrets. A label says that an account has one.
func (r tokenRotation) addTokens(ctx context.Context) error {
	key, err := r.secrets.RSAKey(ctx, gardencorev1beta1.SecretServiceAccountKey)
	if err != nil {
		return err
	}
	selector, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: gardencorev1beta1.LabelCredentialsKeyName, Operator: metav1.LabelSelectorOpNotIn, Values: []string{key.SecretName},
	}}})
	if err != nil {
		return fmt.Errorf("select service accounts: %w", err)
	}

	return r.eachAccount(ctx, client.MatchingLabelsSelector{Selector: selector}, func(ctx context.Context, shoot client.Client, account *corev1.ServiceAccount) error {
		if len(account.Secrets) == 0 {
			return nil
		}
		token := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: account.Namespace, Name: tokenName(account, key),
				Annotations: map[string]string{corev1.ServiceAccountNameKey: account.Name},
			},
			Type: corev1.SecretTypeServiceAccountToken,
		}
		if err := shoot.Create(ctx, token); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create secret %q: %w", token.Name, err)
		}
		others := slices.DeleteFunc(slices.Clone(account.Secrets), func(ref corev1.ObjectReference) bool { return ref.Name == token.Name })
		account.Secrets = append([]corev1.ObjectReference{{Name: token.Name}}, others...)
		metav1.SetMetaDataLabel(&account.ObjectMeta, gardencorev1beta1.LabelCredentialsKeyName, key.SecretName)

		return nil
	})
}

// tokenName is the name of the Secret with the token that a key has signed for an account.
func tokenName(account *corev1.ServiceAccount, key *secrets.RSAKey) string {
	sum := sha256.Sum256([]byte(key.SecretName))

	return account.Name + "-token-" + hex.EncodeToString(sum[:])[:6]
}

// deleteOldTokens deletes the tokens of the old key, from the accounts and then themselves: all that were made before everybody had the
// new key, except those that were made because of it.
func (r tokenRotation) deleteOldTokens(ctx context.Context) error {
	key, err := r.secrets.RSAKey(ctx, gardencorev1beta1.SecretServiceAccountKey)
	if err != nil {
		return err
	}
	since := r.facts.Shoot.Status.Credentials.Rotation.ServiceAccountKey.LastInitiationFinishedTime
	if since == nil {
		return errors.New("the status does not say when the new key was ready, so old tokens cannot be told from new ones")
	}

	return r.eachAccount(ctx, client.HasLabels{gardencorev1beta1.LabelCredentialsKeyName}, func(ctx context.Context, shoot client.Client, account *corev1.ServiceAccount) error {
		var kept []corev1.ObjectReference
		for _, ref := range account.Secrets {
			secret := &corev1.Secret{}
			err := shoot.Get(ctx, client.ObjectKey{Namespace: account.Namespace, Name: ref.Name}, secret)
			if client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("get secret %q: %w", ref.Name, err)
			}
			if err != nil || secret.Name == tokenName(account, key) || secret.Type != corev1.SecretTypeServiceAccountToken || !secret.CreationTimestamp.Before(since) {
				kept = append(kept, ref)
				continue
			}
			if err := shoot.Delete(ctx, secret); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("delete secret %q: %w", ref.Name, err)
			}
		}
		account.Secrets = kept
		delete(account.Labels, gardencorev1beta1.LabelCredentialsKeyName)

		return nil
	})
}
