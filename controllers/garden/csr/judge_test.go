// SPDX-License-Identifier: Apache-2.0

package csr_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/jointoken"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/garden/csr"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	seed := func(expires time.Time) *gardencorev1beta1.Seed {
		return &gardencorev1beta1.Seed{
			ObjectMeta: metav1.ObjectMeta{Name: "eu-1"},
			Status:     gardencorev1beta1.SeedStatus{ClientCertificateExpirationTimestamp: &metav1.Time{Time: expires}},
		}
	}
	renewing := func(o metav1.Object) metav1.Object {
		o.SetAnnotations(map[string]string{"gardener.cloud/operation": "renew-kubeconfig"})
		return o
	}
	annotated := seed(now.Add(time.Hour))
	renewing(annotated)
	anonymous := jointoken.Purpose{}
	named := jointoken.Purpose{Seed: "eu-1"}
	managed := jointoken.Purpose{
		Seed: "eu-1", Kind: "ManagedSeed", Object: types.NamespacedName{Namespace: "garden", Name: "eu-1"},
	}
	use := func(uid types.UID, key string) *jointoken.Use {
		return &jointoken.Use{Seed: "eu-1", Request: "seed-csr-1", UID: uid, Key: key}
	}
	managedSeed := &gardenseedmanagementv1alpha1.ManagedSeed{}

	cases := map[string]struct {
		reason  string
		nobody  bool
		account bool
		host    string
		purpose jointoken.Purpose
		use     *jointoken.Use
		seed    *gardencorev1beta1.Seed
		from    map[string]metav1.Object
		want    error
	}{
		"new seed":             {reason: "a token for no seed in particular makes a new one", purpose: anonymous},
		"taken name":           {reason: "it is not good for a seed that exists", purpose: anonymous, seed: seed(now.Add(time.Hour)), want: csr.ErrExists},
		"taken name, expired":  {reason: "whatever the seed's certificate", purpose: anonymous, seed: seed(now.Add(-time.Hour)), want: csr.ErrExists},
		"taken name, asked":    {reason: "a renewal that was asked for is for those who were named", purpose: anonymous, seed: annotated, want: csr.ErrExists},
		"named":                {reason: "a token for a seed that does not exist yet", purpose: named},
		"other":                {reason: "a token for another seed", purpose: jointoken.Purpose{Seed: "us-1"}, want: csr.ErrOtherSeed},
		"GCM-CSR-7 shoot":      {reason: "a token for a self-hosted shoot", purpose: jointoken.Purpose{Shoot: types.NamespacedName{Namespace: "garden-dev", Name: "a"}}, want: csr.ErrForShoot},
		"valid":                {reason: "a seed with a valid certificate renews it by itself", purpose: named, seed: seed(now.Add(time.Hour)), want: csr.ErrHasCertificate},
		"expired":              {reason: "a seed that was away for too long comes back", purpose: named, seed: seed(now.Add(-time.Second))},
		"asked":                {reason: "an operator asked for another certificate at the Seed", purpose: named, seed: annotated},
		"asked at gardenlet":   {reason: "or at the Gardenlet", purpose: named, seed: seed(now.Add(time.Hour)), from: map[string]metav1.Object{"Gardenlet": renewing(&gardenseedmanagementv1alpha1.Gardenlet{})}},
		"asked at managedseed": {reason: "or at the ManagedSeed", purpose: named, seed: seed(now.Add(time.Hour)), from: map[string]metav1.Object{"ManagedSeed": renewing(&gardenseedmanagementv1alpha1.ManagedSeed{})}},
		"asked by token":       {reason: "or with the token", purpose: jointoken.Purpose{Seed: "eu-1", Renew: true}, seed: seed(now.Add(time.Hour))},
		"made beforehand":      {reason: "a Seed that nobody has worked for is joined by the one that was named", purpose: named, seed: &gardencorev1beta1.Seed{}},
		"beforehand, no name":  {reason: "and by nobody else", purpose: anonymous, seed: &gardencorev1beta1.Seed{}, want: csr.ErrExists},
		"used":                 {reason: "a token is good for one certificate", purpose: named, use: use("2", "other"), want: csr.ErrUsed},
		"used, no name":        {reason: "so is one for no seed in particular", purpose: anonymous, use: use("2", "other"), want: csr.ErrUsed},
		"same request":         {reason: "the approval may get lost after the mark was written", purpose: named, use: use("1", "key"), seed: seed(now.Add(time.Hour))},
		"same key":             {reason: "a gardenlet that was interrupted asks again with its key", purpose: named, use: use("2", "key")},
		"same key, later":      {reason: "but not once it has joined", purpose: named, use: use("2", "key"), seed: seed(now.Add(time.Hour)), want: csr.ErrHasCertificate},
		"same key, other seed": {reason: "nor as another seed", purpose: anonymous, use: &jointoken.Use{Seed: "us-1", UID: "2", Key: "key"}, want: csr.ErrUsed},
		"managed seed":         {reason: "a gardenlet made the token for a managed seed", purpose: managed, from: map[string]metav1.Object{"ManagedSeed": managedSeed}},
		"managed seed gone":    {reason: "which does not exist any more", purpose: managed, want: csr.ErrGone},
		"host shut out":        {reason: "the gardenlet that made the token is not trusted", purpose: managed, from: map[string]metav1.Object{"ManagedSeed": managedSeed}, host: "host", want: csr.ErrRevoked},
		"host, same request":   {reason: "not even if the mark was written before", purpose: managed, use: use("1", "key"), host: "host", want: csr.ErrRevoked},
		"host, account":        {reason: "nor is a service account that it made", purpose: named, account: true, host: "host", want: csr.ErrRevoked},
		"host, operator":       {reason: "an operator lets the managed seed join nevertheless", purpose: named, host: "host"},
		"account":              {reason: "a gardenlet that is trusted made the account", purpose: named, account: true},
		"own right":            {reason: "who may make seeds makes a new one", nobody: true},
		"own right, taken":     {reason: "but takes none over", nobody: true, seed: seed(now.Add(time.Hour)), want: csr.ErrHasCertificate},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shown := &csr.Credentials{Name: `token "abcdef"`, Account: tc.account, Purpose: tc.purpose, Use: tc.use}
			if tc.nobody {
				shown = nil
			}
			ask := csr.Ask{Seed: "eu-1", Request: "seed-csr", UID: "1", Key: "key"}
			got := csr.Judge(ask, shown, csr.Facts{Seed: tc.seed, MadeFrom: tc.from, RevokedHost: tc.host, Now: now})
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s\nJudge(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
