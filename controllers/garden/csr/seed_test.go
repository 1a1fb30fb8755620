// SPDX-License-Identifier: Apache-2.0

package csr_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/jointoken"
	"github.com/terrarium-garden/terrarium/controllers/garden/csr"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	byToken   = "system:bootstrap:abcdef"
	bySeed    = "gardener.cloud:system:seed:eu-1"
	byAccount = "system:serviceaccount:garden:gardenlet-bootstrap-eu-1"
	aboutSeed = "A bootstrap token for the ManagedSeed resource garden/eu-1 ."
)

// answer judges a request, and returns it as it then is.
func answer(t *testing.T, garden client.WithWatch, asked *request) (*request, error) {
	t.Helper()
	r := &csr.Reconciler{Base: kit.Base{Client: garden, Reader: garden, Clock: clocktesting.NewFakeClock(theTime())}}
	result, err := r.Reconcile(t.Context(), asked.DeepCopy())
	if !result.IsZero() {
		t.Errorf("Reconcile(...) = %v, want rest", result)
	}
	live := &request{}
	if err := garden.Get(t.Context(), client.ObjectKeyFromObject(asked), live); err != nil {
		t.Fatal(err)
	}
	return live, err
}

func TestSeeds_GCM_CSR_4_5_6(t *testing.T) {
	t.Parallel()
	approved := []string{"Approved", "AutoApproved", "Automatically approved: the access review allows the requester to create seed client certificates"}
	denied := func(why string) []string { return []string{"Denied", "RequestDenied", why} }
	hostOut := func(who string) []string {
		return denied(who + ` cannot be used: the shoot of managed seed "eu-1" runs on seed "south", which is shut out of the garden; ` +
			`an operator can let it join with "terrarium token create --seed eu-1"`)
	}
	ofEU := joinToken(map[string]string{"seed": "eu-1"})
	ofManaged := joinToken(map[string]string{"description": aboutSeed})
	before := theTime().Add(-time.Minute)
	cases := map[string]struct {
		reason, author string
		change         func(*request)
		// clients is what everybody may create; those of seeds if it is empty.
		clients string
		objects []client.Object
		want    []string
		fails   bool
		// marked is what is marked as used, at some time.
		marked client.Object
		at     time.Time
	}{
		"Token":     {reason: "a token for this seed", author: byToken, objects: []client.Object{ofEU}, want: approved, marked: ofEU, at: theTime()},
		"NoRight":   {reason: "the permission may be granted later", author: byToken, clients: "shootclient", objects: []client.Object{ofEU}, fails: true},
		"Renewal":   {reason: "its gardenlet has a certificate", author: bySeed, objects: []client.Object{joined()}, want: approved},
		"RenewalNo": {reason: "and needs the permission as well", author: bySeed, clients: "shootclient", objects: []client.Object{joined()}, fails: true},
		"OtherSeed": {reason: "GCM-CSR-2: a gardenlet renews its own certificate", author: "gardener.cloud:system:seed:us-1", fails: true},
		"Operator":  {reason: "who may make seeds needs no token", author: "admin", want: approved},
		"Taken":     {reason: "people decide whether such a one takes over another seed", author: "admin", objects: []client.Object{joined()}, fails: true},
		"ForOther": {
			reason: "a token for another seed", author: byToken, objects: []client.Object{joinToken(map[string]string{"seed": "us-1"})},
			want: denied(`token "abcdef" is for another seed: it is for "us-1", and the request for "eu-1"`),
		},
		"TwoSeeds": {
			reason: "a token that contradicts itself", author: byToken, objects: []client.Object{joinToken(map[string]string{"seed": "us-1", "description": aboutSeed})},
			want: denied(`token "abcdef" cannot be used: the token names two different seeds: data[seed] names "us-1", the description "eu-1"`),
		},
		"Endless": {
			reason: "tokens expire", author: byToken, objects: []client.Object{joinToken(map[string]string{"seed": "eu-1", "expiration": ""})},
			want: denied(`token "abcdef" cannot be used: data[expiration]: required: a join token is valid for 24h0m0s at most`),
		},
		"GoneToken": {reason: "a token that was deleted says nothing", author: byToken, want: denied(`token "abcdef" does not exist any more`)},
		"Used": {
			reason: "a token is good for one certificate", author: byToken,
			objects: []client.Object{joinToken(map[string]string{"seed": "eu-1"}, &jointoken.Use{Seed: "eu-1", Request: "first", UID: "0", At: before})},
			want:    denied(`token "abcdef" has already been used: seed "eu-1" got its certificate with request "first"; if it was lost, create another token with "terrarium token create --seed eu-1"`),
			marked:  ofEU, at: before,
		},
		"Marked": {
			reason: "what was marked for this request is not marked again", author: byToken,
			objects: []client.Object{joinToken(map[string]string{"seed": "eu-1"}, &jointoken.Use{Seed: "eu-1", Request: "seed-csr", UID: "1", At: before})},
			want:    approved, marked: ofEU, at: before,
		},
		"ShutOut": {
			reason: "no token helps a seed that is shut out", author: byToken, objects: []client.Object{ofEU, record("eu-1", true)},
			want: denied(`seed "eu-1" is shut out of the garden; an operator can take that back with "terrarium seed forgive eu-1"`),
		},
		"ShutOutRenewal": {
			reason: "nor does its certificate", author: bySeed, objects: []client.Object{joined(), record("eu-1", true)},
			want: denied(`seed "eu-1" is shut out of the garden; an operator can take that back with "terrarium seed forgive eu-1"`),
		},
		"Forgiven": {reason: "until that is taken back", author: byToken, objects: []client.Object{ofEU, record("eu-1", false)}, want: approved, marked: ofEU, at: theTime()},
		"Account": {
			reason: "the account that was made for it", author: byAccount, objects: []client.Object{account("gardenlet-bootstrap-eu-1")},
			want: approved, marked: account("gardenlet-bootstrap-eu-1"), at: theTime(),
		},
		"AccountForOther": {
			reason: "not one for another seed", author: "system:serviceaccount:garden:gardenlet-bootstrap-us-1", objects: []client.Object{account("gardenlet-bootstrap-us-1")},
			want: denied(`service account "garden/gardenlet-bootstrap-us-1" is for another seed: it is for "us-1", and the request for "eu-1"`),
		},
		"AccountGone":  {reason: "nor one that was deleted", author: byAccount, want: denied(`service account "garden/gardenlet-bootstrap-eu-1" does not exist any more`)},
		"OtherAccount": {reason: "any other account has its permission, and no mark", author: "system:serviceaccount:garden:robot", objects: []client.Object{account("robot")}, want: approved},
		"Managed":      {reason: "a gardenlet made the token for a managed seed", author: byToken, objects: append(managed("north"), ofManaged), want: approved, marked: ofManaged, at: theTime()},
		"ManagedAlone": {reason: "or for one without a shoot", author: byToken, objects: append(managed(), ofManaged), want: approved, marked: ofManaged, at: theTime()},
		"ManagedGone": {
			reason: "which has to be there", author: byToken, objects: []client.Object{ofManaged},
			want: denied(`ManagedSeed "garden/eu-1", for which token "abcdef" was created, does not exist`),
		},
		"ManagedRenews": {
			reason: "who wants a managed seed to join again says so there", author: byToken,
			objects: append(asking(managed("north")), joined(), ofManaged), want: approved, marked: ofManaged, at: theTime(),
		},
		"HostOut":    {reason: "a gardenlet that is shut out makes no tokens", author: byToken, objects: append(managed("south"), ofManaged, record("south", true)), want: hostOut(`token "abcdef"`)},
		"HostLeft":   {reason: "also if the shoot moves away from it", author: byToken, objects: append(managed("north", "south"), ofManaged, record("south", true)), want: hostOut(`token "abcdef"`)},
		"HostNoMore": {reason: "and nowhere", author: byToken, objects: append(managed("", "south"), ofManaged, record("south", true)), want: hostOut(`token "abcdef"`)},
		"Ending": {reason: "a request that is deleted is not answered", author: byToken, objects: []client.Object{ofEU}, change: func(r *request) {
			r.DeletionTimestamp, r.Finalizers = new(metav1.NewTime(theTime())), []string{"test/held"}
		}},
		"Decided": {
			reason: "GCM-CSR-1: nor is one that people have answered", author: byToken, objects: []client.Object{ofEU},
			change: func(r *request) {
				r.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: "Denied", Reason: "No", Status: "True"}}
			}, want: []string{"Denied", "No", ""},
		},
		"Unreadable": {reason: "GCM-CSR-3: what cannot be parsed is an error", author: byToken, change: func(r *request) { r.Spec.Request = []byte("hello") }, fails: true},
		"Foreign":    {reason: "GCM-CSR-3: another request is left to people", author: byToken, objects: []client.Object{ofEU}, change: func(r *request) { r.Spec.SignerName = "example.com/any" }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := requestOfSeed(t, tc.author)
			if tc.change != nil {
				tc.change(asked)
			}
			if tc.clients == "" {
				tc.clients = "seedclient"
			}
			objects := []client.Object{asked}
			for _, o := range tc.objects {
				objects = append(objects, o.DeepCopyObject().(client.Object))
			}
			garden := gardenOf(t, tc.clients, objects...)
			live, err := answer(t, garden, asked)
			if tc.fails != (err != nil) {
				t.Errorf("%s\nReconcile(...) = %v, want an error: %t", tc.reason, err, tc.fails)
			}
			if diff := cmp.Diff(tc.want, decision(live)); diff != "" {
				t.Errorf("%s\nconditions (-want +got):\n%s", tc.reason, diff)
			}
			var want []time.Time
			if tc.marked != nil {
				want = []time.Time{tc.at}
			}
			if diff := cmp.Diff(want, marksOf(t, garden)); diff != "" {
				t.Errorf("%s\ntimes at which credentials were used (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// asking asks for another certificate at the first of some objects.
func asking(objects []client.Object) []client.Object {
	objects[0].SetAnnotations(map[string]string{"gardener.cloud/operation": "renew-kubeconfig"})
	return objects
}

// marksOf returns when the tokens and accounts of the garden were used.
func marksOf(t *testing.T, garden client.Client) (marks []time.Time) {
	t.Helper()
	tokens, accounts := &corev1.SecretList{}, &corev1.ServiceAccountList{}
	if err := errors.Join(garden.List(t.Context(), tokens), garden.List(t.Context(), accounts)); err != nil {
		t.Fatal(err)
	}
	var all []metav1.Object
	for i := range tokens.Items {
		all = append(all, &tokens.Items[i])
	}
	for i := range accounts.Items {
		all = append(all, &accounts.Items[i])
	}
	for _, object := range all {
		if use := jointoken.UseOf(object); use != nil {
			marks = append(marks, use.At)
		}
	}
	return marks
}
