// SPDX-License-Identifier: Apache-2.0

package csr

import (
	"context"
	"errors"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/jointoken"
	"github.com/terrarium-garden/terrarium/apis/revocation"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "csr"

// Reconciler answers signing requests of gardenlets. It reads around the cache whether a token has been used.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs)).
		For(&certificatesv1.CertificateSigningRequest{}, builder.WithPredicates(kit.Matching(Open)))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

const (
	subresourceApproval = "approval"
	reasonApproved      = "AutoApproved"
	messageApproved     = "Automatically approved: the access review allows the requester to create seed client certificates"
	messageShoot        = "Automatically approved: the access review allows the requester to create client certificates of self-hosted shoots"
	reasonDenied        = "RequestDenied"

	// The clients that a requester has to be allowed to create.
	subresourceSeed  = "seedclient"
	subresourceShoot = "shootclient"
)

// refusedError is the reason why a request is denied.
type refusedError struct{ err error }

func (e *refusedError) Error() string { return e.err.Error() }

func (e *refusedError) Unwrap() error { return e.err }

func refusal(err error) error { return &refusedError{err: err} }

// judgement is the scope of one pass.
type judgement struct {
	csr *certificatesv1.CertificateSigningRequest
	ask Ask
}

// Reconcile answers one request.
func (r *Reconciler) Reconcile(ctx context.Context, csr *certificatesv1.CertificateSigningRequest) (reconcile.Result, error) {
	if csr.DeletionTimestamp != nil || !Open(csr) {
		return reconcile.Result{}, nil
	}
	ask, err := Asked(csr)
	if err == nil && ask != nil && Impersonates(csr, ask.Seed) {
		err = fmt.Errorf("user %q asks for the certificate of seed %q", csr.Spec.Username, ask.Seed)
	}
	if err != nil {
		// The request of a CSR never changes, so trying again cannot help.
		return kit.Result(kit.Stop(), kit.UserMustFix("InvalidRequest", fmt.Errorf("judge signing request %q: %w", csr.Name, err)))
	}
	if ask == nil {
		if ask := ShootAsked(csr); ask != nil {
			return r.answerShoot(ctx, csr, ask)
		}
		return reconcile.Result{}, nil
	}
	outcome, err := kit.Run(ctx, &judgement{csr: csr, ask: *ask}, r.trust, r.review, r.entitle, r.approve)
	if why, no := errors.AsType[*refusedError](err); no {
		err = r.deny(ctx, csr, why)
	}
	return kit.Result(outcome, err)
}

// trust refuses certificates of seeds that are shut out of the garden.
func (r *Reconciler) trust(ctx context.Context, j *judgement) (kit.Outcome, error) {
	revoked, err := r.revoked(ctx, j.ask.Seed)
	if err != nil {
		return kit.Stop(), err
	}
	if revoked {
		return kit.Stop(), refusal(fmt.Errorf("seed %q %w; an operator can take that back with \"terrarium seed forgive %s\"",
			j.ask.Seed, ErrRevoked, j.ask.Seed))
	}
	return kit.Continue(), nil
}

// revoked reports whether a seed is shut out.
func (r *Reconciler) revoked(ctx context.Context, seed string) (bool, error) {
	record := &corev1.ConfigMap{}
	err := r.Reader.Get(ctx, client.ObjectKey{Namespace: revocation.Namespace, Name: revocation.Name(seed)}, record)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read whether seed %q is shut out: %w", seed, err)
	}
	is, ok := revocation.Decode(record)
	return ok && is.Revoked, nil
}

// review fails if the requester lacks the permission. The request then stays pending and is tried again, because the permission
// may be granted later (GCM-CSR-4).
func (r *Reconciler) review(ctx context.Context, j *judgement) (kit.Outcome, error) {
	review, err := r.reviewed(ctx, j.csr, subresourceSeed)
	if err != nil {
		return kit.Stop(), err
	}
	if !review.Allowed {
		return kit.Stop(), fmt.Errorf("approve signing request %q: user %q may not create certificatesigningrequests/%s (%s)",
			j.csr.Name, j.csr.Spec.Username, subresourceSeed, review.Reason)
	}
	return kit.Continue(), nil
}

// reviewed asks whether the requester may create clients of a kind.
func (r *Reconciler) reviewed(ctx context.Context, csr *certificatesv1.CertificateSigningRequest, clients string) (authorizationv1.SubjectAccessReviewStatus, error) {
	review := Review(csr, clients)
	if err := r.Client.Create(ctx, review); err != nil {
		return review.Status, fmt.Errorf("review access of %q: %w", csr.Spec.Username, err)
	}
	return review.Status, nil
}

// entitle continues if the credentials of the requester are valid for this certificate, and marks them as used. Without such
// credentials, a request that is too early stays pending, for people to decide.
func (r *Reconciler) entitle(ctx context.Context, j *judgement) (kit.Outcome, error) {
	if fromSeed(j.csr) {
		return kit.Continue(), nil
	}
	object, shown, err := r.shown(ctx, j.csr)
	if err != nil {
		return kit.Stop(), err
	}
	facts, err := r.facts(ctx, j.ask.Seed)
	if err != nil {
		return kit.Stop(), err
	}
	err = Judge(j.ask, shown, facts)
	switch {
	case err != nil && shown == nil:
		return kit.Stop(), fmt.Errorf("approve signing request %q: %w", j.csr.Name, err)
	case err != nil:
		return kit.Stop(), refusal(err)
	case shown == nil || shown.Use != nil:
		return kit.Continue(), nil
	}
	return kit.Continue(), r.mark(ctx, object, j.ask)
}

// mark records the use before the certificate is issued. Of two requests at the same time one gets a conflict, because the mark
// is only written to the version that was read.
func (r *Reconciler) mark(ctx context.Context, object client.Object, ask Ask) error {
	jointoken.Mark(object, &jointoken.Use{Seed: ask.Seed, At: r.Clock.Now(), Request: ask.Request, UID: ask.UID, Key: ask.Key})
	if err := r.Client.Update(ctx, object); err != nil {
		return fmt.Errorf("mark %q as used: %w", object.GetName(), err)
	}
	return nil
}

// approve approves the request (GCM-CSR-5).
func (r *Reconciler) approve(ctx context.Context, j *judgement) (kit.Outcome, error) {
	if err := r.answer(ctx, j.csr, certificatesv1.CertificateApproved, reasonApproved, messageApproved); err != nil {
		return kit.Stop(), fmt.Errorf("approve signing request %q: %w", j.csr.Name, err)
	}
	logf.FromContext(ctx).Info("Signing request of a gardenlet approved", "requester", j.csr.Spec.Username, "seed", j.ask.Seed)
	return kit.Stop(), nil
}

// deny reports to the requester why it gets no certificate, so that it does not wait for one.
func (r *Reconciler) deny(ctx context.Context, csr *certificatesv1.CertificateSigningRequest, why error) error {
	if err := r.answer(ctx, csr, certificatesv1.CertificateDenied, reasonDenied, why.Error()); err != nil {
		return fmt.Errorf("deny signing request %q: %w", csr.Name, err)
	}
	logf.FromContext(ctx).Info("Signing request of a gardenlet denied", "requester", csr.Spec.Username, "reason", why.Error())
	return nil
}

func (r *Reconciler) answer(
	ctx context.Context, csr *certificatesv1.CertificateSigningRequest, kind certificatesv1.RequestConditionType, reason, message string,
) error {
	now := metav1.NewTime(r.Clock.Now())
	csr.Status.Conditions = append(csr.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
		Type:               kind,
		Status:             corev1.ConditionTrue,
		Reason:             reason,
		Message:            message,
		LastUpdateTime:     now,
		LastTransitionTime: now,
	})
	return r.Client.SubResource(subresourceApproval).Update(ctx, csr)
}
