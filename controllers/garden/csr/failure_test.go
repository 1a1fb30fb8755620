// SPDX-License-Identifier: Apache-2.0

package csr_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

// TestFailures_GCM_CSR_4 has one read or write of the garden fail: the request stays pending, and is tried again.
func TestFailures_GCM_CSR_4(t *testing.T) {
	t.Parallel()
	errBoom := errors.New("boom")
	is := func(verb string, kind client.Object) string { return fmt.Sprintf("%s %T", verb, kind) }
	const shootAuthor = "gardener.cloud:system:shoot:garden-dev:a"
	cases := map[string]struct {
		reason, author string
		fails          string
		objects        []client.Object
		// shoot says that the request is for the certificate of a self-hosted shoot.
		shoot bool
	}{
		"Record":      {reason: "the seed may be shut out", author: byToken, fails: is("get", &corev1.ConfigMap{})},
		"Review":      {reason: "the requester may lack the permission", author: byToken, fails: is("create", &authorizationv1.SubjectAccessReview{})},
		"Token":       {reason: "a token that cannot be read is not gone", author: byToken, fails: is("get", &corev1.Secret{})},
		"Account":     {reason: "nor is an account", author: byAccount, fails: is("get", &corev1.ServiceAccount{})},
		"Seed":        {reason: "the seed may have a certificate", author: byToken, fails: is("get", &gardencorev1beta1.Seed{})},
		"ManagedSeed": {reason: "the managed seed may be on one that is shut out", author: byToken, fails: is("get", &gardenseedmanagementv1alpha1.ManagedSeed{})},
		"Gardenlet":   {reason: "who has asked for another certificate is not known", author: byToken, fails: is("get", &gardenseedmanagementv1alpha1.Gardenlet{})},
		"Host":        {reason: "where the managed seed runs is not known", author: byToken, fails: is("get", &gardencorev1beta1.Shoot{}), objects: managed("north")},
		"Mark":        {reason: "a token that cannot be marked could be used twice", author: byToken, fails: is("update", &corev1.Secret{})},
		"Approval":    {reason: "the mark stays, for this request", author: byToken, fails: is("answer", &request{})},
		"Denial":      {reason: "the requester has to learn of it", author: byToken, fails: is("answer", &request{}), objects: []client.Object{record("eu-1", true)}},
		"ShootReview": {reason: "as for seeds", author: shootAuthor, shoot: true, fails: is("create", &authorizationv1.SubjectAccessReview{})},
		"Shoot":       {reason: "the shoot may be gone", author: shootAuthor, shoot: true, fails: is("get", &gardencorev1beta1.Shoot{})},
		"ShootToken":  {reason: "as for seeds", author: byToken, shoot: true, fails: is("get", &corev1.Secret{})},
		"ShootMark":   {reason: "as for seeds", author: byToken, shoot: true, fails: is("update", &corev1.Secret{})},
		"ShootAnswer": {reason: "as for seeds", author: shootAuthor, shoot: true, fails: is("answer", &request{})},
		"HostShutOut": {reason: "whether the host is shut out is not known", author: byToken, fails: "host", objects: managed("south")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, clients, token := requestOfSeed(t, tc.author), "seedclient", joinToken(map[string]string{"seed": "eu-1"})
			if tc.shoot {
				asked, clients, token = requestOfShoot(t, shootAuthor, tc.author), "shootclient", joinToken(map[string]string{"description": "garden-dev/a"})
			}
			self := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a"}}
			self.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "one", ControlPlane: &gardencorev1beta1.WorkerControlPlane{}}}
			objects := append([]client.Object{asked, token, self, account("gardenlet-bootstrap-eu-1")}, tc.objects...)
			broken := func(verb string, object client.Object, name string) error {
				if is(verb, object) == tc.fails || tc.fails == "host" && name == "revoked-seed-south" {
					return errBoom
				}
				return nil
			}
			whole := gardenOf(t, clients, objects...)
			garden := interceptor.NewClient(whole, interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
					if err := broken("get", o, key.Name); err != nil {
						return err
					}
					return c.Get(ctx, key, o, options...)
				},
				Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
					if err := broken("create", o, ""); err != nil {
						return err
					}
					return c.Create(ctx, o, options...)
				},
				Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
					if err := broken("update", o, ""); err != nil {
						return err
					}
					return c.Update(ctx, o, options...)
				},
				SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, options ...client.SubResourceUpdateOption) error {
					if err := broken("answer", o, ""); err != nil {
						return err
					}
					return c.SubResource(sub).Update(ctx, o, options...)
				},
			})
			live, err := answer(t, garden, asked)
			if !errors.Is(err, errBoom) {
				t.Errorf("%s\nReconcile(...) = %v, want %v", tc.reason, err, errBoom)
			}
			if got := decision(live); got != nil {
				t.Errorf("%s\nconditions %q, want none", tc.reason, got)
			}
		})
	}
}
