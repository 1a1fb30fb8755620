// SPDX-License-Identifier: Apache-2.0

package resourcereference_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/resourcereference"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// TestTrial_API_RRM_2 binds a Secret, which webhooks of its provider then see for the first time.
func TestTrial_API_RRM_2(t *testing.T) {
	t.Parallel()
	const cloud, local = "provider.shoot.gardener.cloud/cloud", "provider.shoot.gardener.cloud/local"
	bad := apierrors.NewForbidden(corev1.Resource("secrets"), "", errors.New("the provider does not know this key"))
	several := admissiontest.Binding(func(b *gardencorev1beta1.SecretBinding) { b.Provider.Type = "local, cloud" })
	for name, tc := range map[string]struct {
		reason  string
		labels  map[string]string
		kind    corev1.SecretType
		request admissiontest.Request
		answer  error
		// shown are the labels of the copy, nil if there is none.
		shown   map[string]string
		refused metav1.StatusReason
	}{
		"credentials": {reason: "the copy has the label of the provider", request: admissiontest.Request{Object: credentialsOf("Secret")}, shown: map[string]string{local: "true"}},
		"binding":     {reason: "or those of several", request: admissiontest.Request{Object: several}, shown: map[string]string{local: "true", cloud: "true"}},
		"refused":     {reason: "what a webhook refuses is not bound", request: admissiontest.Request{Object: credentialsOf("Secret")}, answer: bad, shown: map[string]string{local: "true"}, refused: metav1.StatusReasonForbidden},
		"fails":       {reason: "nor what it cannot judge", request: admissiontest.Request{Object: credentialsOf("Secret")}, answer: apierrors.NewInternalError(errors.New("no answer")), shown: map[string]string{local: "true"}, refused: metav1.StatusReasonInternalError},
		"shown":       {reason: "what has the label was shown", labels: map[string]string{local: "true"}, request: admissiontest.Request{Object: credentialsOf("Secret")}, answer: bad},
		"shown once":  {reason: "unless it was to one of two", labels: map[string]string{local: "true"}, request: admissiontest.Request{Object: several}, answer: bad, shown: map[string]string{local: "true", cloud: "true"}, refused: metav1.StatusReasonForbidden},
		"update":      {reason: "a binding that stays was shown", request: admissiontest.Request{Object: credentialsOf("Secret"), Old: credentialsOf("Secret")}, answer: bad},
		"token":       {reason: "the token of a service account is no credential", kind: corev1.SecretTypeServiceAccountToken, request: admissiontest.Request{Object: credentialsOf("Secret")}, answer: bad},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, []string{mayRead}, []kind.Object{admissiontest.Secret("local", func(s *corev1.Secret) {
				s.Labels, s.Type, s.Data = tc.labels, tc.kind, map[string][]byte{"key": []byte("value")}
			})}...)
			var shown *corev1.Secret
			g.World.Judge(func(_ context.Context, s *corev1.Secret) error {
				shown = s
				return tc.answer
			})
			err := g.Ask(resourcereference.New(g.World), tc.request)
			if tc.refused == "" && err != nil || tc.refused != "" && apierrors.ReasonForError(err) != tc.refused {
				t.Errorf("%s: got %v, want reason %q", tc.reason, err, tc.refused)
			}
			if tc.refused == metav1.StatusReasonForbidden && (err == nil || !strings.Contains(err.Error(), "does not know this key")) {
				t.Errorf("%s: the message lacks that of the webhook: %v", tc.reason, err)
			}
			var want *corev1.Secret
			if tc.shown != nil {
				want = &corev1.Secret{
					ObjectMeta: metav1.ObjectMeta{Namespace: admissiontest.Namespace, GenerateName: "bound-", Labels: tc.shown},
					Type:       tc.kind, Data: map[string][]byte{"key": []byte("value")},
				}
			}
			if diff := cmp.Diff(want, shown); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
