// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
)

// Trial creates a Secret in a dry run and returns the error of the API server.
type Trial func(ctx context.Context, secret *corev1.Secret) error

// Judge makes t what Try asks.
func (w *World) Judge(t Trial) { w.trial = t }

// Try reports whether the API server, with all webhooks for Secrets, would let the server itself create a Secret. An error that is
// not ErrUnreadable is a rejection. Without an API server, everything is accepted.
func (w *World) Try(ctx context.Context, secret *corev1.Secret) error {
	if w.trial == nil {
		return nil
	}
	err := w.trial(ctx, secret)
	if err == nil || rejects(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnreadable, err)
}

// Tried reports whether a request is what Try asks: the server itself shows the credentials of a new binding to the webhooks of its
// provider, with the label that they will have (API-RRM-2). These credentials are there already, so that no quota or limit is about it.
func Tried(a admission.Attributes) bool {
	return a.IsDryRun() && a.GetOperation() == admission.Create && a.GetSubresource() == "" &&
		a.GetResource().GroupResource() == corev1.Resource("secrets") && a.GetUserInfo().GetName() == user.APIServerUser
}

// rejects reports whether an API server has judged a request, and would judge it in the same way again.
func rejects(err error) bool {
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		return false
	}
	switch code := status.Status().Code; code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	default:
		return code >= http.StatusBadRequest && code < http.StatusInternalServerError
	}
}

// try implements Trial.
func (l *loopback) try(ctx context.Context, secret *corev1.Secret) error {
	secret = secret.DeepCopy()
	secret.TypeMeta = metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Secret"}
	raw, err := json.Marshal(secret)
	if err != nil {
		return fmt.Errorf("encode secret: %w", err)
	}
	return l.client.Post().AbsPath(path(corev1.GroupName, corev1.SchemeGroupVersion.Version)...).Namespace(secret.Namespace).Resource("secrets").
		Param("dryRun", metav1.DryRunAll).SetHeader("Content-Type", runtime.ContentTypeJSON).Body(raw).Do(ctx).Error()
}
