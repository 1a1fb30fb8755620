// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/jointoken"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// tokenFor is the Secret of a join token that is valid for an hour.
func tokenFor(id string, values map[string]string) *corev1.Secret {
	data := map[string]string{
		"token-id": id, "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true", "usage-bootstrap-signing": "true",
		"expiration": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
	}
	for key, value := range values {
		data[key] = value
		if value == "" {
			delete(data, key)
		}
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-" + id},
		Type:       "bootstrap.kubernetes.io/token", StringData: data,
	}
}

func (o *operator) holder(id string) client.Client {
	o.t.Helper()
	return o.as("system:bootstrap:"+id, "system:bootstrappers")
}

// verdict waits until a request is approved or denied, and returns the message of a denial.
func (o *operator) verdict(request *certificatesv1.CertificateSigningRequest) (approved bool, message string) {
	o.t.Helper()
	answered := harness.Await(o.t, o.Client, request, "request "+request.Name+" is answered", func(r *certificatesv1.CertificateSigningRequest) error {
		return has(len(r.Status.Conditions) > 0, "conditions %v", r.Status.Conditions)
	})
	for _, c := range answered.Status.Conditions {
		if c.Type == certificatesv1.CertificateDenied {
			return false, c.Reason + ": " + c.Message
		}
	}
	return true, ""
}

// joined makes a Seed whose gardenlet has a certificate.
func (o *operator) joined(name string, expires time.Time) *gardencorev1beta1.Seed {
	o.t.Helper()
	seed := o.seed(name, "local", "north")
	o.changeStatus(seed, func() { seed.Status.ClientCertificateExpirationTimestamp = &metav1.Time{Time: expires} })
	return seed
}

// TestJoinTokenOnce races requests with one token: the token gives one certificate, no matter which request comes first.
func TestJoinTokenOnce(t *testing.T) {
	t.Parallel()
	o := operate(t)
	const rounds, racers = 12, 6
	var rivals []*certificatesv1.CertificateSigningRequest
	for round := range rounds {
		id := fmt.Sprintf("race%02d", round)
		secret := tokenFor(id, nil)
		if round%2 == 0 {
			secret = tokenFor(id, map[string]string{"seed": "seed-" + id})
		}
		o.create(secret)
		holder := o.holder(id)
		all := make([]*certificatesv1.CertificateSigningRequest, racers)
		group, ctx := errgroup.WithContext(t.Context())
		for i := range all {
			// A token for no seed in particular is raced for by several new seeds.
			name := "seed-" + id
			if round%2 != 0 {
				name = fmt.Sprintf("seed-%s-%d", id, i%2)
			}
			all[i] = signingRequest(t, fmt.Sprintf("%s-%d", id, i), "gardener.cloud:system:seed:"+name)
			group.Go(func() error { return holder.Create(ctx, all[i]) })
		}
		if err := group.Wait(); err != nil {
			t.Fatalf("ask with token %q: %v", id, err)
		}
		rivals = append(rivals, all...)
	}
	winners := map[string][]string{}
	for _, request := range rivals {
		id, _, _ := strings.Cut(request.Name, "-")
		approved, message := o.verdict(request)
		if approved {
			winners[id] = append(winners[id], request.Name)
		} else if !strings.Contains(message, "has already been used") {
			t.Errorf("request %q: denied with %q, want the reason that the token has been used", request.Name, message)
		}
	}
	for round := range rounds {
		id := fmt.Sprintf("race%02d", round)
		if len(winners[id]) != 1 {
			t.Errorf("a token gives one certificate: with token %q, %q were approved", id, winners[id])
			continue
		}
		secret := tokenFor(id, nil)
		if err := o.Client.Get(t.Context(), client.ObjectKeyFromObject(secret), secret); err != nil {
			t.Fatal(err)
		}
		if use := jointoken.UseOf(secret); use == nil || use.Request != winners[id][0] || time.Since(use.At) > time.Hour {
			t.Errorf("the token tells of its use: got %+v, want request %q", use, winners[id])
		}
	}
}

// TestJoinTokenPurpose tries what a token is good for.
func TestJoinTokenPurpose(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	o.joined("valid", time.Now().Add(time.Hour))
	o.joined("expired", time.Now().Add(-time.Hour))
	renewed := o.joined("renewed", time.Now().Add(time.Hour))
	o.change(renewed, func() {
		metav1.SetMetaDataAnnotation(&renewed.ObjectMeta, "gardener.cloud/operation", "renew-kubeconfig")
	})
	cases := map[string]struct {
		reason string
		token  map[string]string
		asks   string
		denied string
	}{
		"aaaaa1": {reason: "a token for no seed in particular makes a new one", asks: "fresh-a"},
		"aaaaa2": {reason: "it is not good for a seed that exists", asks: "valid", denied: "already exists"},
		"aaaaa3": {reason: "even if the certificate of that has expired", asks: "expired", denied: "already exists"},
		"aaaaa4": {reason: "a token for a seed makes this seed", token: map[string]string{"seed": "fresh-b"}, asks: "fresh-b"},
		"aaaaa5": {reason: "and no other", token: map[string]string{"seed": "fresh-c"}, asks: "fresh-d", denied: "is for another seed"},
		"aaaaa6": {reason: "a good certificate is not replaced", token: map[string]string{"seed": "valid"}, asks: "valid", denied: "has already joined and has a valid certificate"},
		"aaaaa7": {reason: "one that has expired is", token: map[string]string{"seed": "expired"}, asks: "expired"},
		"aaaaa8": {reason: "so is one for which an operator asked", token: map[string]string{"seed": "renewed"}, asks: "renewed"},
		"aaaaa9": {reason: "or whose token says so", token: map[string]string{"seed": "valid", "renew": "true"}, asks: "valid"},
		"aaaab1": {
			reason: "a token of a gardenlet is for its managed seed",
			token:  map[string]string{"description": "A bootstrap token for the ManagedSeed resource garden/nursery"}, asks: "valid", denied: "is for another seed",
		},
		"aaaab2": {
			reason: "which has to be there",
			token:  map[string]string{"description": "A bootstrap token for the ManagedSeed resource garden/nursery"}, asks: "nursery", denied: "does not exist",
		},
	}
	for id, tc := range cases {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			o := o.in(t)
			o.create(tokenFor(id, tc.token))
			request := signingRequest(t, id, "gardener.cloud:system:seed:"+tc.asks)
			if err := o.holder(id).Create(t.Context(), request); err != nil {
				t.Fatal(err)
			}
			approved, message := o.verdict(request)
			if approved != (tc.denied == "") || !strings.Contains(message, tc.denied) {
				t.Errorf("%s: approved %t, message %q; want a denial with %q", tc.reason, approved, message, tc.denied)
			}
		})
	}

	t.Run("same key", func(t *testing.T) {
		t.Parallel()
		o := o.in(t)
		o.create(tokenFor("aaaac1", nil))
		first, second := signingRequest(t, "aaaac1-first", "gardener.cloud:system:seed:fresh-e"), signingRequest(t, "aaaac1-second", "x")
		second.Spec = first.Spec
		for _, request := range []*certificatesv1.CertificateSigningRequest{first, second} {
			if err := o.holder("aaaac1").Create(t.Context(), request); err != nil {
				t.Fatal(err)
			}
			if approved, message := o.verdict(request); !approved {
				t.Errorf("a gardenlet that was interrupted asks again with its key: request %q was denied: %s", request.Name, message)
			}
		}
	})
	t.Run("service account", func(t *testing.T) {
		t.Parallel()
		o.in(t).joinsByAccount()
	})
}

// joinsByAccount joins with a service account as a gardenlet makes it for a managed seed.
func (o *operator) joinsByAccount() {
	o.t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "gardenlet-bootstrap-sprout"}}
	o.create(account, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-sprout"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "gardener.cloud:system:seed-bootstrapper"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "garden", Name: account.Name}},
	})
	robot := o.as("system:serviceaccount:garden:gardenlet-bootstrap-sprout", "system:serviceaccounts")
	for _, step := range []struct{ name, seed, denied string }{
		{name: "account-other", seed: "valid", denied: "is for another seed"},
		{name: "account-first", seed: "sprout"},
		{name: "account-again", seed: "sprout", denied: "has already been used"},
	} {
		request := signingRequest(o.t, step.name, "gardener.cloud:system:seed:"+step.seed)
		harness.Eventually(o.t, "the account has its role", func(ctx context.Context) error {
			return client.IgnoreAlreadyExists(robot.Create(ctx, request))
		})
		approved, message := o.verdict(request)
		if approved != (step.denied == "") || !strings.Contains(message, step.denied) {
			o.t.Errorf("%s: approved %t, message %q; want a denial with %q", step.name, approved, message, step.denied)
		}
	}
}

// TestJoinTokenLifetime tries the doors by which a token could live for longer than a day, or be good a second time.
func TestJoinTokenLifetime(t *testing.T) {
	t.Parallel()
	o := operate(t)
	in := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
	for name, tc := range map[string]struct {
		reason string
		values map[string]string
		want   string
	}{
		"endless":   {"a token ends", map[string]string{"expiration": ""}, "data[expiration]"},
		"too long":  {"within a day", map[string]string{"expiration": in(25 * time.Hour)}, "data[expiration]"},
		"no time":   {"at a time", map[string]string{"expiration": "soon"}, "data[expiration]"},
		"bad seed":  {"a seed has the name of a seed", map[string]string{"seed": "Two Words"}, "data[seed]"},
		"two seeds": {"and one only", map[string]string{"seed": "a", "description": "for the ManagedSeed resource garden/b"}, "two different seeds"},
		"whose":     {"a renewal is for somebody", map[string]string{"renew": "true"}, "data[seed]"},
	} {
		err := o.Client.Create(t.Context(), tokenFor("bbbbb1", tc.values))
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %s: got %v, want a refusal with %q", name, tc.reason, err, tc.want)
		}
	}

	secret := tokenFor("bbbbb2", map[string]string{"seed": "used"})
	jointoken.Mark(secret, &jointoken.Use{Seed: "used", UID: "1", Key: "2"})
	o.create(secret)
	if diff := cmp.Diff((*jointoken.Use)(nil), jointoken.UseOf(secret)); diff != "" {
		t.Errorf("nobody but the server marks a token; mark of a new one (-want +got):\n%s", diff)
	}
	secret.StringData = map[string]string{"expiration": in(48 * time.Hour)}
	if err := o.Client.Update(t.Context(), secret.DeepCopy()); !apierrors.IsForbidden(err) {
		t.Errorf("a token is not made longer later: got %v, want Forbidden", err)
	}
	first := signingRequest(t, "bbbbb2-first", "gardener.cloud:system:seed:used")
	if err := o.holder("bbbbb2").Create(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if approved, message := o.verdict(first); !approved {
		t.Fatalf("the token is good for its seed: denied with %q", message)
	}
	o.change(secret, func() { jointoken.Mark(secret, nil) })
	if jointoken.UseOf(secret) == nil {
		t.Error("nobody but the server takes the mark away")
	}
	o.change(secret, func() { secret.Data["token-secret"] = []byte("fedcba9876543210") })
	if diff := cmp.Diff((*jointoken.Use)(nil), jointoken.UseOf(secret)); diff != "" {
		t.Errorf("with another secret half it is another token; its mark (-want +got):\n%s", diff)
	}
	second := signingRequest(t, "bbbbb2-second", "gardener.cloud:system:seed:used")
	if err := o.holder("bbbbb2").Create(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if approved, message := o.verdict(second); !approved {
		t.Errorf("and good for a certificate, as the seed has not registered yet: denied with %q", message)
	}
}

func TestTokenLifetimeIsTold(t *testing.T) {
	t.Parallel()
	o := operate(t, harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) {
		c.Tokens.DefaultLifetime = &metav1.Duration{Duration: 2 * time.Hour}
	}))
	info := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "gardener-system-public", Name: "gardener-info"}}
	o.read(info)
	if diff := cmp.Diff("2h0m0s", info.Data["joinTokenLifetime"]); diff != "" {
		t.Errorf("Who makes tokens learns how long the operator wants them to be valid.\njoinTokenLifetime (-want +got):\n%s", diff)
	}
}
