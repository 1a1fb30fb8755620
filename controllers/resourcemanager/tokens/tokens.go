// SPDX-License-Identifier: Apache-2.0

// Package tokens keeps tokens of service accounts of a shoot in Secrets of its control plane, for components and extensions that act
// in the shoot. A Secret with the label for it names the service account, which is created if it does not exist. The token is
// requested with a short life and renewed before its end. It never gets into a log, an error or an event.
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
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/target"
)

const (
	controllerName = "token-requestor"
	// lifetime is how long a token is valid if its Secret does not say otherwise.
	lifetime = 12 * time.Hour
	// longest bounds the time between two tokens, however long they are valid.
	longest = 24 * time.Hour
	// renewalShare is the part of its life after which a token is renewed, and jitter the part by which that may be later.
	renewalShare, jitter = 0.8, 0.05
	// unreachablePause is the time between two attempts while the shoot cannot be reached.
	unreachablePause = 10 * time.Second
	// reviewPeriod is the time after which a token is checked again, in case the shoot has refused it since.
	reviewPeriod = 10 * time.Minute
)

// Reconciler keeps the tokens of all shoots of a seed.
type Reconciler struct {
	kit.Base

	// Targets finds the shoot of a Secret.
	Targets target.Finder
}

// AddToManager registers the reconciler in the manager of the seed.
func (r *Reconciler) AddToManager(seed manager.Manager) error {
	// Every change of such a Secret starts a look at it, because whoever takes its token away wants a new one.
	b := r.ManagedBy(seed, controllerName, kit.Queue{}).
		For(&corev1.Secret{}, builder.OnlyMetadata, builder.WithPredicates(predicate.NewPredicateFuncs(wanted)))
	return kit.Complete(b, controllerName, r)
}

// wanted reports whether a Secret asks for a token of a shoot (GRM-TOKREQ-1).
func wanted(secret client.Object) bool {
	labels := secret.GetLabels()
	class := labels[gardenresourcesv1alpha1.LabelClass]
	return labels[gardenresourcesv1alpha1.LabelPurpose] == gardenresourcesv1alpha1.PurposeTokenRequestor &&
		(class == "" || class == gardenresourcesv1alpha1.ClassShoot)
}

// Reconcile renews the token of one Secret if it is time.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	secret := &corev1.Secret{}
	if err := r.Reader.Get(ctx, request.NamespacedName, secret); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if secret.DeletionTimestamp != nil || !wanted(secret) {
		return reconcile.Result{}, nil
	}
	shoot, err := r.Targets.ShootOf(ctx, secret.Namespace)
	switch {
	case errors.Is(err, target.ErrGone):
		return reconcile.Result{}, nil
	case errors.Is(err, target.ErrAsleep) || errors.Is(err, kit.ErrNoShootAccess):
		return reconcile.Result{RequeueAfter: unreachablePause}, nil
	case err != nil:
		return reconcile.Result{}, err
	}
	due, err := r.keep(ctx, shoot, secret)
	if kit.IsTransient(err) {
		return kit.Result(kit.Stop(), err)
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("keep the token of Secret %q: %w", request.NamespacedName, err)
	}
	return reconcile.Result{RequeueAfter: min(due, reviewPeriod)}, nil
}

// keep renews the token if it is due, and returns the time until the next renewal.
func (r *Reconciler) keep(ctx context.Context, shoot *kit.Shoot, secret *corev1.Secret) (time.Duration, error) {
	account, err := accountOf(secret)
	if err != nil {
		return 0, kit.UserMustFix("InvalidSecret", err)
	}
	if err := ensureAccount(ctx, shoot, secret, account); err != nil {
		return 0, err
	}
	holder, err := holderOf(ctx, shoot, secret)
	if err != nil {
		return 0, err
	}
	due := r.due(secret)
	wanted, err := bundleOf(shoot, secret)
	if err != nil {
		return 0, err
	}
	valid, err := r.valid(ctx, shoot, holder, wanted)
	if err != nil {
		return 0, err
	}
	if due > 0 && valid {
		return due, nil
	}
	return r.renew(ctx, shoot, secret, account)
}

// bundleOf is the CA of the shoot if the Secret asks for it (GRM-TOKREQ-9).
func bundleOf(shoot *kit.Shoot, secret *corev1.Secret) ([]byte, error) {
	if asked, err := strconv.ParseBool(secret.Annotations[gardenresourcesv1alpha1.AnnotationInjectCABundle]); err != nil || !asked {
		return nil, nil //nolint:nilerr // There is none.
	}
	if len(shoot.CA) == 0 {
		return nil, errors.New("the access to the shoot holds no CA that could be given on")
	}
	return shoot.CA, nil
}

// due is the time until the token has to be renewed. It is not positive if that is due or unknown (GRM-TOKREQ-8).
func (r *Reconciler) due(secret *corev1.Secret) time.Duration {
	at, err := time.Parse(time.RFC3339, secret.Annotations[gardenresourcesv1alpha1.AnnotationTokenRenewTimestamp])
	if err != nil {
		return 0
	}
	return at.Sub(r.Clock.Now())
}

// valid reports whether the Secret that holds the token has one that the shoot accepts, and the CA that it wants (GRM-TOKREQ-7).
func (r *Reconciler) valid(ctx context.Context, shoot *kit.Shoot, holder *corev1.Secret, ca []byte) (bool, error) {
	have, err := read(holder)
	if err != nil || have.token == "" || len(ca) > 0 && !bytes.Equal(have.ca, ca) || len(ca) == 0 && holder.Data[gardenresourcesv1alpha1.DataKeyBundle] != nil {
		return false, err
	}
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: have.token}}
	if err := shoot.Create(ctx, review); err != nil {
		return false, errors.New("ask the shoot about the token: the request failed") // the error may quote the request
	}
	return review.Status.Authenticated, nil
}

// renew requests a token and writes it where it belongs (GRM-TOKREQ-3).
func (r *Reconciler) renew(ctx context.Context, shoot *kit.Shoot, secret *corev1.Secret, account client.ObjectKey) (time.Duration, error) {
	seconds, err := expirationOf(secret)
	if err != nil {
		return 0, kit.UserMustFix("InvalidSecret", err)
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	user := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: account.Namespace, Name: account.Name}}
	if err := shoot.SubResource("token").Create(ctx, user, request); err != nil {
		return 0, fmt.Errorf("request a token of service account %q: %w", account, err)
	}
	now := r.Clock.Now()
	life := min(request.Status.ExpirationTimestamp.Sub(now), longest)
	renewal := now.Add(wait.Jitter(time.Duration(float64(life)*renewalShare), jitter))
	ca, err := bundleOf(shoot, secret)
	if err == nil {
		err = r.write(ctx, shoot, secret, content{token: request.Status.Token, ca: ca}, renewal)
	}
	if err != nil {
		return 0, err
	}
	return renewal.Sub(now), nil
}

// write puts the content into the Secret, or into the one in the shoot that it names. Another writer is not overwritten (GRM-TOKREQ-11).
func (r *Reconciler) write(ctx context.Context, shoot client.Client, secret *corev1.Secret, with content, renewal time.Time) error {
	before := secret.DeepCopy()
	if target := targetOf(secret); target != nil {
		err := deliver(ctx, shoot, target, with)
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
	if err := r.Client.Patch(ctx, secret, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("write the Secret: %w", err)
	}
	return nil
}

// deliver writes the token to a Secret in the shoot (GRM-TOKREQ-5).
func deliver(ctx context.Context, shoot client.Client, holder *corev1.Secret, with content) error {
	_, err := kit.Ensure(ctx, shoot, holder, func() error { return with.put(holder) })
	return err
}

// holderOf is the Secret that holds the token: the given one, or one in the shoot, which has no data if it does not exist.
func holderOf(ctx context.Context, shoot client.Client, secret *corev1.Secret) (*corev1.Secret, error) {
	holder := targetOf(secret)
	if holder == nil {
		return secret, nil
	}
	if err := shoot.Get(ctx, client.ObjectKeyFromObject(holder), holder); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("get Secret %q of the shoot: %w", client.ObjectKeyFromObject(holder), err)
	}
	return holder, nil
}

// targetOf is the Secret in the shoot that gets the token, or nil.
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
		return key, fmt.Errorf("the annotations %s and %s have to name a service account of the shoot",
			gardenresourcesv1alpha1.AnnotationServiceAccountName, gardenresourcesv1alpha1.AnnotationServiceAccountNamespace)
	}
	return key, nil
}

// ensureAccount keeps the service account of a Secret, which mounts no token by itself (GRM-TOKREQ-2).
func ensureAccount(ctx context.Context, shoot client.Client, secret *corev1.Secret, key client.ObjectKey) error {
	var labels map[string]string
	given, exact := secret.Annotations[gardenresourcesv1alpha1.AnnotationServiceAccountLabels]
	if exact {
		if err := json.Unmarshal([]byte(given), &labels); err != nil {
			return kit.UserMustFix("InvalidSecret", fmt.Errorf("annotation %s: %w", gardenresourcesv1alpha1.AnnotationServiceAccountLabels, err))
		}
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	_, err := kit.Ensure(ctx, shoot, account, func() error {
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
