// SPDX-License-Identifier: Apache-2.0

package csr

import (
	"context"
	"fmt"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/jointoken"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const accountUserPrefix = "system:serviceaccount:"

// shown reads the object behind the credentials of a requester: its join token, or its service account. The object is nil for
// requesters that are allowed to create seeds without one.
func (r *Reconciler) shown(ctx context.Context, csr *certificatesv1.CertificateSigningRequest) (client.Object, *Credentials, error) {
	if id, ok := strings.CutPrefix(csr.Spec.Username, jointoken.UserPrefix); ok {
		return r.token(ctx, id)
	}
	if account, ok := strings.CutPrefix(csr.Spec.Username, accountUserPrefix); ok {
		namespace, name, _ := strings.Cut(account, ":")
		if seed, ok := strings.CutPrefix(name, jointoken.AccountPrefix); ok {
			return r.account(ctx, client.ObjectKey{Namespace: namespace, Name: name}, seed)
		}
	}
	return nil, nil, nil
}

func (r *Reconciler) token(ctx context.Context, id string) (client.Object, *Credentials, error) {
	name := fmt.Sprintf("token %q", id)
	secret := &corev1.Secret{}
	if err := r.read(ctx, name, client.ObjectKey{Namespace: jointoken.Namespace, Name: jointoken.SecretPrefix + id}, secret); err != nil {
		return nil, nil, err
	}
	// Tokens from before the server checked their lifetime can be valid forever.
	if err := jointoken.CheckLifetime(secret, r.Clock.Now()); err != nil {
		return nil, nil, refusal(fmt.Errorf("%s cannot be used: %w", name, err))
	}
	purpose, err := jointoken.PurposeOf(secret)
	if err != nil {
		return nil, nil, refusal(fmt.Errorf("%s cannot be used: %w", name, err))
	}
	return secret, &Credentials{Name: name, Purpose: purpose, Use: jointoken.UseOf(secret)}, nil
}

func (r *Reconciler) account(ctx context.Context, key client.ObjectKey, seed string) (client.Object, *Credentials, error) {
	name := fmt.Sprintf("service account %q", key)
	account := &corev1.ServiceAccount{}
	if err := r.read(ctx, name, key, account); err != nil {
		return nil, nil, err
	}
	return account, &Credentials{Name: name, Account: true, Purpose: jointoken.Purpose{Seed: seed}, Use: jointoken.UseOf(account)}, nil
}

func (r *Reconciler) read(ctx context.Context, name string, key client.ObjectKey, object client.Object) error {
	err := r.Reader.Get(ctx, key, object)
	if apierrors.IsNotFound(err) {
		return refusal(fmt.Errorf("%s %w any more", name, ErrGone))
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// facts reads what the garden knows about a seed. It reads around the cache, which may not contain a new Seed yet.
func (r *Reconciler) facts(ctx context.Context, name string) (Facts, error) {
	f := Facts{MadeFrom: map[string]metav1.Object{}, Now: r.Clock.Now()}
	seed := &gardencorev1beta1.Seed{}
	there, err := kit.Live(ctx, r.Reader, r.Client, client.ObjectKey{Name: name}, seed)
	if err != nil {
		return f, fmt.Errorf("read seed %q: %w", name, err)
	}
	if there {
		f.Seed = seed
	}
	for kind, object := range map[string]client.Object{
		jointoken.KindManagedSeed: &gardenseedmanagementv1alpha1.ManagedSeed{},
		jointoken.KindGardenlet:   &gardenseedmanagementv1alpha1.Gardenlet{},
	} {
		key := client.ObjectKey{Namespace: gardencorev1beta1.NamespaceGarden, Name: name}
		there, err := kit.Live(ctx, r.Reader, r.Client, key, object)
		if err != nil {
			return f, fmt.Errorf("read %s %q: %w", kind, key, err)
		}
		if there {
			f.MadeFrom[kind] = object
		}
	}
	if managed, ok := f.MadeFrom[jointoken.KindManagedSeed].(*gardenseedmanagementv1alpha1.ManagedSeed); ok {
		var err error
		if f.RevokedHost, err = r.revokedHost(ctx, managed); err != nil {
			return f, err
		}
	}
	return f, nil
}

// revokedHost returns the seed that the shoot of a ManagedSeed runs on, or moves to, if it is shut out.
func (r *Reconciler) revokedHost(ctx context.Context, managed *gardenseedmanagementv1alpha1.ManagedSeed) (string, error) {
	if managed.Spec.Shoot == nil {
		return "", nil
	}
	shoot := &gardencorev1beta1.Shoot{}
	key := client.ObjectKey{Namespace: managed.Namespace, Name: managed.Spec.Shoot.Name}
	if _, err := kit.Live(ctx, r.Reader, r.Client, key, shoot); err != nil {
		return "", fmt.Errorf("read shoot %q: %w", key, err)
	}
	for _, seed := range []*string{shoot.Spec.SeedName, shoot.Status.SeedName} {
		if seed == nil {
			continue
		}
		if revoked, err := r.revoked(ctx, *seed); err != nil || revoked {
			return *seed, err
		}
	}
	return "", nil
}
