// SPDX-License-Identifier: Apache-2.0

package csr

import (
	"context"
	"fmt"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	subresourceApproval = "approval"
	reasonApproved      = "AutoApproved"
	messageApproved     = "Automatically approved: the access review allows the requester to create seed client certificates"
)

// Reconcile judges one request.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	csr := &certificatesv1.CertificateSigningRequest{}
	if err := r.Client.Get(ctx, request.NamespacedName, csr); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if csr.DeletionTimestamp != nil || !Open(csr) {
		return reconcile.Result{}, nil
	}
	user, err := SeedClient(csr)
	if err == nil && user != "" && Impersonates(csr, user) {
		err = fmt.Errorf("user %q asks for the certificate of %q", csr.Spec.Username, user)
	}
	if err != nil {
		// The request of a CSR never changes, so looking again cannot help.
		return kit.Result(kit.Stop(), kit.UserMustFix("InvalidRequest", fmt.Errorf("judge signing request %q: %w", csr.Name, err)))
	}
	if user == "" {
		return reconcile.Result{}, nil
	}
	outcome, err := kit.Run(ctx, csr, r.review, r.approve)
	return kit.Result(outcome, err)
}

// review fails when the requester has no right; the request then stays pending and is judged again, because the right
// may come later (GCM-CSR-4).
func (r *Reconciler) review(ctx context.Context, csr *certificatesv1.CertificateSigningRequest) (kit.Outcome, error) {
	review := Review(csr)
	if err := r.Client.Create(ctx, review); err != nil {
		return kit.Stop(), fmt.Errorf("review access of %q: %w", csr.Spec.Username, err)
	}
	if !review.Status.Allowed {
		return kit.Stop(), fmt.Errorf("approve signing request %q: user %q may not create certificatesigningrequests/seedclient (%s)",
			csr.Name, csr.Spec.Username, review.Status.Reason)
	}
	return kit.Continue(), nil
}

// approve is GCM-CSR-5.
func (r *Reconciler) approve(ctx context.Context, csr *certificatesv1.CertificateSigningRequest) (kit.Outcome, error) {
	now := metav1.NewTime(r.Clock.Now())
	csr.Status.Conditions = append(csr.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
		Type:               certificatesv1.CertificateApproved,
		Status:             corev1.ConditionTrue,
		Reason:             reasonApproved,
		Message:            messageApproved,
		LastUpdateTime:     now,
		LastTransitionTime: now,
	})
	if err := r.Client.SubResource(subresourceApproval).Update(ctx, csr); err != nil {
		return kit.Stop(), fmt.Errorf("approve signing request %q: %w", csr.Name, err)
	}
	logf.FromContext(ctx).Info("Signing request of a gardenlet approved", "requester", csr.Spec.Username)
	return kit.Stop(), nil
}
