// SPDX-License-Identifier: Apache-2.0

package csr_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/jointoken"
	"github.com/terrarium-garden/terrarium/controllers/garden/csr"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// requestOfShoot asks for the certificate of a client with that name.
func requestOfShoot(t *testing.T, name, author string) *request {
	t.Helper()
	subject := pkix.Name{CommonName: name, Organization: []string{"gardener.cloud:system:shoots"}}
	return &request{ObjectMeta: metav1.ObjectMeta{Name: "shoot-csr", UID: "1"}, Spec: certificatesv1.CertificateSigningRequestSpec{
		Request: encode(t, &x509.CertificateRequest{Subject: subject}), SignerName: "kubernetes.io/kube-apiserver-client",
		Usages: []certificatesv1.KeyUsage{"key encipherment", "digital signature", "client auth"}, Username: author,
	}}
}

// decision is what became of a request: the type, the reason and the message of its condition.
func decision(r *request) []string {
	var all []string
	for _, c := range r.Status.Conditions {
		all = append(all, string(c.Type), c.Reason, c.Message)
	}
	return all
}

func TestSelfHostedShoots_GCM_CSR_7(t *testing.T) {
	t.Parallel()
	const (
		shoot, tool, token = "gardener.cloud:system:shoot:garden-dev:a", "gardener.cloud:gardenadm:shoot:garden-dev:a", "system:bootstrap:abcdef"
		about              = "Connects the shoot garden-dev/a."
	)
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	approved := []string{"Approved", "AutoApproved", "Automatically approved: the access review allows the requester to create client certificates of self-hosted shoots"}
	denied := func(why string) []string { return []string{"Denied", "RequestDenied", why} }
	unentitled := func(who, why string) []string {
		return denied(who + " is not entitled to the certificate of a self-hosted shoot: " + why)
	}
	cases := map[string]struct {
		reason, name, author string
		// about is the description of the token and more its other data; forbidden says that the author lacks the permission.
		about     string
		more      map[string]string
		forbidden bool
		used      *jointoken.Use
		// age is how much older than the shoot the token is. gone says that the shoot does not exist, and hosted that it is on a seed.
		age          time.Duration
		gone, hosted bool
		want         []string
		// mark says that the token is marked as used.
		mark bool
	}{
		"Token":     {reason: "a token for this shoot", name: shoot, author: token, about: about, want: approved, mark: true},
		"SameAge":   {reason: "times are in seconds", name: shoot, author: token, about: about, age: time.Millisecond, want: approved, mark: true},
		"Gardenadm": {reason: "people decide about the tool that connects a shoot", name: tool, author: token, about: "for the Shoot resource garden-dev/a"},
		"Renewal":   {reason: "its gardenlet has a certificate", name: shoot, author: shoot, want: approved},
		"Again": {
			reason: "a gardenlet that was interrupted asks again with its key", name: shoot, author: token, about: about,
			used: &jointoken.Use{Seed: "garden-dev/a", UID: "0", Key: "same"}, want: approved, mark: true,
		},
		"Used": {
			reason: "a token is good for one certificate", name: shoot, author: token, about: about, used: &jointoken.Use{Seed: "garden-dev/a", Request: "first", UID: "0", Key: "other"}, mark: true,
			want: denied(`token "abcdef" has already been used: shoot "garden-dev/a" got its certificate with request "first"; if it was lost, create another token with "terrarium token create --shoot garden-dev/a"`),
		},
		"UsedBySeed": {
			reason: "whoever used it", name: shoot, author: token, about: about, used: &jointoken.Use{Seed: "eu-1", Request: "first", UID: "0", Key: "same"}, mark: true,
			want: denied(`token "abcdef" has already been used: shoot "eu-1" got its certificate with request "first"; if it was lost, create another token with "terrarium token create --shoot garden-dev/a"`),
		},
		"NoRight": {
			reason: "the permission is another one than that for seeds", name: shoot, author: token, about: "garden-dev/a", forbidden: true,
			want: unentitled(`user "system:bootstrap:abcdef"`, `it may not create certificatesigningrequests/shootclient`),
		},
		"RenewalNoRight": {
			reason: "the authorizer gives none to the gardenlet of a former shoot", name: shoot, author: shoot, forbidden: true,
			want: unentitled(`user "gardener.cloud:system:shoot:garden-dev:a"`, `it may not create certificatesigningrequests/shootclient`),
		},
		"NoToken": {
			reason: "a permission is not enough", name: shoot, author: "admin",
			want: unentitled(`user "admin"`, `it takes a bootstrap token for shoot "garden-dev/a"`),
		},
		"OtherGardenlet": {
			reason: "nor is the certificate of another shoot", name: shoot, author: "gardener.cloud:system:shoot:garden-dev:b",
			want: unentitled(`user "gardener.cloud:system:shoot:garden-dev:b"`, `it takes a bootstrap token for shoot "garden-dev/a"`),
		},
		"Tool": {
			reason: "nor that of the tool that connected it", name: shoot, author: tool,
			want: unentitled(`user "gardener.cloud:gardenadm:shoot:garden-dev:a"`, `it takes a bootstrap token for shoot "garden-dev/a"`),
		},
		"ToolRenews": {
			reason: "which renews nothing either", name: tool, author: tool,
			want: unentitled(`user "gardener.cloud:gardenadm:shoot:garden-dev:a"`, `it takes a bootstrap token for shoot "garden-dev/a"`),
		},
		"OtherShoot": {
			reason: "a token is for one shoot", name: shoot, author: token, about: "Connects the shoot garden-dev/ab.",
			want: unentitled(`token "abcdef"`, `it is for a seed, or its description does not name shoot "garden-dev/a"`),
		},
		"SeedToken": {
			reason: "a token for a seed is for no shoot", name: shoot, author: token, about: about, more: map[string]string{"seed": "eu-1"},
			want: unentitled(`token "abcdef"`, `it is for a seed, or its description does not name shoot "garden-dev/a"`),
		},
		"ManagedSeedToken": {
			reason: "nor is one that the gardenlet of a seed made", name: shoot, author: token, about: "for the ManagedSeed resource garden/eu-1 garden-dev/a",
			want: unentitled(`token "abcdef"`, `it is for a seed, or its description does not name shoot "garden-dev/a"`),
		},
		"AnyToken": {
			reason: "nor is one for any new seed", name: shoot, author: token,
			want: unentitled(`token "abcdef"`, `it is for a seed, or its description does not name shoot "garden-dev/a"`),
		},
		"Endless": {
			reason: "tokens expire", name: shoot, author: token, about: about, more: map[string]string{"expiration": ""},
			want: denied(`token "abcdef" cannot be used: data[expiration]: required: a join token is valid for 24h0m0s at most`),
		},
		"GoneToken": {
			reason: "a token that was deleted says nothing", name: shoot, author: "system:bootstrap:fedcba",
			want: denied(`token "fedcba" does not exist any more`),
		},
		"GoneShoot": {
			reason: "a shoot comes first", name: shoot, author: token, about: about, gone: true,
			want: denied(`shoot "garden-dev/a" does not exist: create it first`),
		},
		"GoneRenewal": {
			reason: "and stays", name: shoot, author: shoot, gone: true,
			want: denied(`shoot "garden-dev/a" does not exist: create it first`),
		},
		"Hosted": {
			reason: "a shoot on a seed has the gardenlet of the seed", name: shoot, author: token, about: about, hosted: true,
			want: denied(`shoot "garden-dev/a" is not self-hosted: it has no gardenlet of its own`),
		},
		"FormerShoot": {
			reason: "its owner may be another one", name: shoot, author: token, about: about, age: time.Second,
			want: denied(`token "abcdef" cannot be used: it was created before shoot "garden-dev/a", and may be for a former shoot of this name; create another one with "terrarium token create --shoot garden-dev/a"`),
		},
		"NoShoot": {
			reason: "a shoot has a namespace and a name", name: "gardener.cloud:system:shoot:a", author: token, about: "garden-dev/a",
			want: denied("the common name is not that of a self-hosted shoot, which has a namespace and a name"),
		},
		"NoName": {
			reason: "both are names", name: "gardener.cloud:system:shoot:garden-dev:a:b", author: token, about: "garden-dev/a",
			want: denied("the common name is not that of a self-hosted shoot, which has a namespace and a name"),
		},
		"NoClient": {reason: "other names are not ours", name: "gardener.cloud:system:seed:eu-1", author: token},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := requestOfShoot(t, tc.name, tc.author)
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-abcdef"}, Data: map[string][]byte{
				"description": []byte(tc.about), "expiration": []byte(now.Add(time.Hour).Format(time.RFC3339)),
			}}
			for key, value := range tc.more {
				secret.Data[key] = []byte(value)
			}
			secret.CreationTimestamp = metav1.NewTime(now.Add(-tc.age).Truncate(time.Second))
			if tc.age < time.Second {
				secret.CreationTimestamp = metav1.NewTime(now)
			}
			if tc.used != nil {
				if tc.used.Key == "same" {
					tc.used.Key = csr.ShootAsked(asked).Key
				}
				jointoken.Mark(secret, tc.used)
			}
			there := []client.Object{asked, secret}
			if !tc.gone {
				s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a", CreationTimestamp: metav1.NewTime(now)}}
				s.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "one"}}
				if !tc.hosted {
					s.Spec.Provider.Workers[0].ControlPlane = &gardencorev1beta1.WorkerControlPlane{}
				}
				there = append(there, s)
			}
			garden := gardenOf(t, "shootclient", there...)
			if tc.forbidden {
				garden = gardenOf(t, "seedclient", there...)
			}
			r := &csr.Reconciler{Base: kit.Base{Client: garden, Reader: garden, Clock: clocktesting.NewFakeClock(now)}}
			if result, err := r.Reconcile(t.Context(), asked); err != nil || !result.IsZero() {
				t.Errorf("%s: Reconcile(...) = %v, %v, want rest", tc.reason, result, err)
			}
			live := &request{}
			if err := garden.Get(t.Context(), client.ObjectKeyFromObject(asked), live); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, decision(live)); diff != "" {
				t.Errorf("%s\nconditions (-want +got):\n%s", tc.reason, diff)
			}
			if err := garden.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); err != nil {
				t.Fatal(err)
			}
			if use := jointoken.UseOf(secret); (use != nil) != tc.mark {
				t.Errorf("%s: the token has the mark %v, want any: %t", tc.reason, use, tc.mark)
			}
		})
	}
}
