// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	// lifetime is how long a token is valid if its Secret does not say otherwise.
	lifetime = 12 * time.Hour
	// longest bounds the time between two tokens, however long they are valid.
	longest = 24 * time.Hour
	// renewalShare is the part of its life after which a token is renewed, and jitter the part by which that may be later.
	renewalShare, jitter = 0.8, 0.05
	// reviewPeriod is the time after which a token is checked again, in case the shoot has refused it since.
	reviewPeriod = 10 * time.Minute
)

// Cluster is where the service accounts are.
type Cluster struct {
	// Client reads without a cache.
	client.Client

	// CA is the bundle that verifies the API server, if it is known.
	CA []byte
	// Accepts asks the cluster whether it accepts a token. Its errors do not quote the token.
	Accepts func(ctx context.Context, token string) (bool, error)
}

// Keeper keeps the tokens of Secrets in the seed.
type Keeper struct {
	// Seed writes the Secrets.
	Seed client.Client
	// Clock tells the time.
	Clock clock.PassiveClock
}

// Keep gives a Secret a valid token of the service account that it names, and says when to look at it again.
func (k Keeper) Keep(ctx context.Context, to Cluster, secret *corev1.Secret) (reconcile.Result, error) {
	due, err := k.keep(ctx, to, secret)
	if kit.IsTransient(err) {
		return kit.Result(kit.Stop(), err)
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("keep the token of Secret %q: %w", client.ObjectKeyFromObject(secret), err)
	}
	return reconcile.Result{RequeueAfter: min(due, reviewPeriod)}, nil
}

// keep renews the token if it is due, and returns the time until the next renewal.
func (k Keeper) keep(ctx context.Context, to Cluster, secret *corev1.Secret) (time.Duration, error) {
	account, err := accountOf(secret)
	if err != nil {
		return 0, kit.UserMustFix("InvalidSecret", err)
	}
	if err := ensureAccount(ctx, to, secret, account); err != nil {
		return 0, err
	}
	holder, err := holderOf(ctx, to, secret)
	if err != nil {
		return 0, err
	}
	due := k.due(secret)
	wanted, err := bundleOf(to, secret)
	if err != nil {
		return 0, err
	}
	valid, err := k.valid(ctx, to, holder, wanted)
	if err != nil {
		return 0, err
	}
	if due > 0 && valid {
		return due, nil
	}
	return k.renew(ctx, to, secret, account)
}

// bundleOf is the CA of the cluster if the Secret asks for it (GRM-TOKREQ-9).
func bundleOf(to Cluster, secret *corev1.Secret) ([]byte, error) {
	if asked, err := strconv.ParseBool(secret.Annotations[gardenresourcesv1alpha1.AnnotationInjectCABundle]); err != nil || !asked {
		return nil, nil //nolint:nilerr // There is none.
	}
	if len(to.CA) == 0 {
		return nil, errors.New("the access to the cluster holds no CA that could be given on")
	}
	return to.CA, nil
}

// due is the time until the token has to be renewed. It is not positive if that is due or unknown (GRM-TOKREQ-8).
func (k Keeper) due(secret *corev1.Secret) time.Duration {
	at, err := time.Parse(time.RFC3339, secret.Annotations[gardenresourcesv1alpha1.AnnotationTokenRenewTimestamp])
	if err != nil {
		return 0
	}
	return at.Sub(k.Clock.Now())
}

// valid reports whether the Secret that holds the token has one that the cluster accepts, and the CA that it wants (GRM-TOKREQ-7).
func (k Keeper) valid(ctx context.Context, to Cluster, holder *corev1.Secret, ca []byte) (bool, error) {
	have, err := read(holder)
	if err != nil || have.token == "" || len(ca) > 0 && !bytes.Equal(have.ca, ca) || len(ca) == 0 && holder.Data[gardenresourcesv1alpha1.DataKeyBundle] != nil {
		return false, err
	}
	return to.Accepts(ctx, have.token)
}

// renew requests a token and writes it where it belongs (GRM-TOKREQ-3).
func (k Keeper) renew(ctx context.Context, to Cluster, secret *corev1.Secret, account client.ObjectKey) (time.Duration, error) {
	seconds, err := expirationOf(secret)
	if err != nil {
		return 0, kit.UserMustFix("InvalidSecret", err)
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	user := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: account.Namespace, Name: account.Name}}
	if err := to.SubResource("token").Create(ctx, user, request); err != nil {
		return 0, fmt.Errorf("request a token of service account %q: %w", account, err)
	}
	now := k.Clock.Now()
	life := min(request.Status.ExpirationTimestamp.Sub(now), longest)
	renewal := now.Add(wait.Jitter(time.Duration(float64(life)*renewalShare), jitter))
	ca, err := bundleOf(to, secret)
	if err == nil {
		err = k.write(ctx, to, secret, content{token: request.Status.Token, ca: ca}, renewal)
	}
	if err != nil {
		return 0, err
	}
	return renewal.Sub(now), nil
}

// write puts the content into the Secret, or into the one in the cluster that it names. Another writer is not overwritten (GRM-TOKREQ-11).
func (k Keeper) write(ctx context.Context, to client.Client, secret *corev1.Secret, with content, renewal time.Time) error {
	before := secret.DeepCopy()
	if target := targetOf(secret); target != nil {
		err := deliver(ctx, to, target, with)
		if err != nil {
			return err
		}
		for _, key := range []string{gardenresourcesv1alpha1.DataKeyToken, gardenresourcesv1alpha1.DataKeyKubeconfig, gardenresourcesv1alpha1.DataKeyBundle} {
			delete(secret.Data, key)
		}
	} else if err := with.put(secret); err != nil {
		return err
	}
	metav1.SetMetaDataAnnotation(&secret.ObjectMeta, gardenresourcesv1alpha1.AnnotationTokenRenewTimestamp, renewal.UTC().Format(time.RFC3339))
	if err := k.Seed.Patch(ctx, secret, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("write the Secret: %w", err)
	}
	return nil
}

// deliver writes the token to a Secret in the cluster (GRM-TOKREQ-5).
func deliver(ctx context.Context, to client.Client, holder *corev1.Secret, with content) error {
	_, err := kit.Ensure(ctx, to, holder, func() error { return with.put(holder) })
	return err
}

// holderOf is the Secret that holds the token: the given one, or one in the cluster, which has no data if it does not exist.
func holderOf(ctx context.Context, to client.Client, secret *corev1.Secret) (*corev1.Secret, error) {
	holder := targetOf(secret)
	if holder == nil {
		return secret, nil
	}
	if err := to.Get(ctx, client.ObjectKeyFromObject(holder), holder); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("get Secret %q of the cluster: %w", client.ObjectKeyFromObject(holder), err)
	}
	return holder, nil
}

// targetOf is the Secret in the cluster that gets the token, or nil.
func targetOf(secret *corev1.Secret) *corev1.Secret {
	name := secret.Annotations[gardenresourcesv1alpha1.AnnotationTargetSecretName]
	namespace := secret.Annotations[gardenresourcesv1alpha1.AnnotationTargetSecretNamespace]
	if name == "" || namespace == "" {
		return nil
	}
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Type: corev1.SecretTypeOpaque}
}

func accountOf(secret *corev1.Secret) (client.ObjectKey, error) {
	key := client.ObjectKey{
		Namespace: secret.Annotations[gardenresourcesv1alpha1.AnnotationServiceAccountNamespace],
		Name:      secret.Annotations[gardenresourcesv1alpha1.AnnotationServiceAccountName],
	}
	if key.Namespace == "" || key.Name == "" {
		return key, fmt.Errorf("the annotations %s and %s have to name a service account",
			gardenresourcesv1alpha1.AnnotationServiceAccountName, gardenresourcesv1alpha1.AnnotationServiceAccountNamespace)
	}
	return key, nil
}

// ensureAccount keeps the service account of a Secret, which mounts no token by itself (GRM-TOKREQ-2).
func ensureAccount(ctx context.Context, to client.Client, secret *corev1.Secret, key client.ObjectKey) error {
	var labels map[string]string
	given, exact := secret.Annotations[gardenresourcesv1alpha1.AnnotationServiceAccountLabels]
	if exact {
		if err := json.Unmarshal([]byte(given), &labels); err != nil {
			return kit.UserMustFix("InvalidSecret", fmt.Errorf("annotation %s: %w", gardenresourcesv1alpha1.AnnotationServiceAccountLabels, err))
		}
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	_, err := kit.Ensure(ctx, to, account, func() error {
		account.AutomountServiceAccountToken = new(false)
		if exact && !maps.Equal(account.Labels, labels) {
			account.Labels = labels
		}
		return nil
	})
	return err
}

func expirationOf(secret *corev1.Secret) (int64, error) {
	given, found := secret.Annotations[gardenresourcesv1alpha1.AnnotationTokenExpirationDuration]
	if !found {
		return int64(lifetime.Seconds()), nil
	}
	wanted, err := time.ParseDuration(given)
	if err != nil {
		return 0, fmt.Errorf("annotation %s: %w", gardenresourcesv1alpha1.AnnotationTokenExpirationDuration, err)
	}
	return int64(wanted.Seconds()), nil
}
