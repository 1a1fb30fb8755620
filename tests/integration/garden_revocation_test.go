// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	authenticationv1 "k8s.io/api/authentication/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/revocation"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// certificate gets a client certificate for a seed with a join token.
func (o *operator) certificate(token, seed string) *rest.Config {
	o.t.Helper()
	o.create(tokenFor(token, map[string]string{"seed": seed, "renew": "true"}))

	return o.certified(token, pkix.Name{CommonName: "gardener.cloud:system:seed:" + seed, Organization: []string{"gardener.cloud:system:seeds"}})
}

// certified gets a client certificate with a join token.
func (o *operator) certified(token string, subject pkix.Name) *rest.Config {
	o.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		o.t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject}, key)
	if err != nil {
		o.t.Fatal(err)
	}
	request := signingRequestOf(o.t, "join-"+token, subject)
	request.Spec.Request = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	if err := o.holder(token).Create(o.t.Context(), request); err != nil {
		o.t.Fatalf("ask for a certificate: %v", err)
	}
	request = harness.Await(o.t, o.Client, request, "the certificate is issued", func(r *certificatesv1.CertificateSigningRequest) error {
		return has(len(r.Status.Certificate) > 0, "conditions %v", r.Status.Conditions)
	})
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		o.t.Fatal(err)
	}
	config := o.Anonymous()
	config.CertData = request.Status.Certificate
	config.KeyData = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})

	return config
}

func (o *operator) bearer(token string) *rest.Config {
	config := o.Anonymous()
	config.BearerToken = token

	return config
}

// office sends a request about revocations as the administrator or, by impersonation, as somebody else.
func (o *operator) office(method, path, body string, who ...string) ([]byte, error) {
	o.t.Helper()
	config := rest.CopyConfig(o.Config)
	if len(who) > 0 {
		config.Impersonate = rest.ImpersonationConfig{UserName: who[0], Groups: append(who[1:], "system:authenticated")}
	}
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		o.t.Fatal(err)
	}

	return c.Discovery().RESTClient().Verb(method).RequestURI("/appliance/revocations" + path).Body([]byte(body)).DoRaw(o.t.Context())
}

func (o *operator) connected(config *rest.Config) client.WithWatch {
	o.t.Helper()
	// A client that is shut out cannot ask what is served.
	c, err := client.NewWithWatch(config, client.Options{Scheme: o.Scheme, Mapper: o.Client.RESTMapper()})
	if err != nil {
		o.t.Fatal(err)
	}

	return c
}

// extensionToken makes a service account in the namespace of a seed, and returns a token of it.
func (o *operator) extensionToken(seed, name string) string {
	o.t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "seed-" + seed, Name: name}}
	harness.Eventually(o.t, "the namespace of the seed exists", func(ctx context.Context) error {
		if err := o.Client.Create(ctx, account); !apierrors.IsAlreadyExists(err) {
			return err
		}
		return nil
	})
	request := &authenticationv1.TokenRequest{}
	if err := o.Client.SubResource("token").Create(o.t.Context(), account, request); err != nil {
		o.t.Fatal(err)
	}

	return request.Status.Token
}

// refusedAtOnce has a number of clients of the seed write and read without a pause while it is shut out. What they begin after the
// answer to the revocation is refused.
func (o *operator) refusedAtOnce(clients map[string]client.WithWatch, revoke func()) {
	o.t.Helper()
	var group sync.WaitGroup
	var answered sync.Map
	stop := make(chan struct{})
	late := make(chan string, 1000)
	for name, c := range clients {
		for range 4 {
			group.Go(func() {
				for {
					_, after := answered.Load("yes")
					err := c.Get(o.t.Context(), client.ObjectKey{Name: "one"}, &gardencorev1beta1.Seed{})
					if after && !apierrors.IsForbidden(err) {
						late <- name
					}
					select {
					case <-stop:
						return
					default:
					}
				}
			})
		}
	}
	revoke()
	answered.Store("yes", true)
	time.AfterFunc(300*time.Millisecond, func() { close(stop) })
	group.Wait()
	close(late)
	for name := range late {
		o.t.Fatalf("a request of %s that began after the answer was not refused", name)
	}
}

// closed waits until a watch has ended.
func (o *operator) closed(name string, events watch.Interface) {
	o.t.Helper()
	limit := time.NewTimer(harness.Patience)
	defer limit.Stop()
	for {
		select {
		case _, open := <-events.ResultChan():
			if !open {
				return
			}
		case <-limit.C:
			o.t.Fatalf("the watch of %s is still open", name)
		}
	}
}

// revocationAnswer is what the administrator reads of a revocation.
type revocationAnswer struct {
	Revoked bool
	By      string
	Open    int
	Exposed []struct{ Kind, Namespace, Name string }
}

func TestRevokedSeed(t *testing.T) {
	t.Parallel()
	o := operate(t)
	growAccess(o)
	certificate := o.certificate("aaaaaa", "one")
	o.create(tokenFor("bbbbbb", map[string]string{"seed": "one", "renew": "true"}), tokenFor("cccccc", map[string]string{"seed": "two", "renew": "true"}))
	token := o.extensionToken("one", "extension-x")
	clients := map[string]client.WithWatch{
		"the gardenlet": o.connected(certificate), "an extension": o.WithToken(t, token),
		"another account": o.WithToken(t, o.extensionToken("one", "nobody")),
	}
	two := o.acting(seedRole("two"))
	watches := map[string]watch.Interface{}
	for name, c := range clients {
		events, err := c.Watch(t.Context(), &gardencorev1beta1.SeedList{})
		if err != nil {
			t.Fatalf("watch as %s: %v", name, err)
		}
		watches[name] = events
	}
	othersWatch, err := two.Watch(t.Context(), &gardencorev1beta1.SeedList{})
	if err != nil {
		t.Fatal(err)
	}
	defer othersWatch.Stop()

	// Who may not.
	for _, who := range [][]string{{"mallory"}, {"member"}, {"gardener.cloud:system:seed:two", "gardener.cloud:system:seeds"}} {
		for method, path := range map[string]string{http.MethodGet: "", http.MethodPost: "/one", http.MethodDelete: "/one"} {
			if _, err := o.office(method, path, "", who...); !apierrors.IsForbidden(err) {
				t.Errorf("%s %s as %s: got %v, want Forbidden", method, path, who[0], err)
			}
		}
	}
	record := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "revoked-seed-two"}}
	for name, c := range clients {
		if err := c.Create(t.Context(), record.DeepCopy()); !apierrors.IsForbidden(err) {
			t.Errorf("%s writes a record: got %v, want Forbidden", name, err)
		}
	}
	if _, err := o.office(http.MethodPost, "/nobody", `{}`); !apierrors.IsNotFound(err) {
		t.Errorf("a seed that does not exist, maybe a mistake: got %v, want NotFound", err)
	}
	o.revokesDeleted()
	if _, err := o.office(http.MethodPost, "/one", `{"because":"x"}`); !apierrors.IsBadRequest(err) {
		t.Errorf("an unknown field: got %v, want BadRequest", err)
	}

	var answer revocationAnswer
	o.refusedAtOnce(clients, func() {
		data, err := o.office(http.MethodPost, "/one", `{"reason":"the machine was stolen"}`)
		if err != nil {
			t.Fatalf("revoke: %v", err)
		}
		if err := json.Unmarshal(data, &answer); err != nil {
			t.Fatal(err)
		}
	})
	if diff := cmp.Diff(revocationAnswer{Revoked: true, By: "admin"}, answer, cmpopts.IgnoreFields(answer, "Exposed")); diff != "" {
		t.Errorf("answer, with the requests that are open (-want +got):\n%s", diff)
	}
	for _, want := range []string{"Secret garden given-one", "Secret garden-meadow mine", "Shoot garden-meadow mine", "BackupBucket  one", "WorkloadIdentity garden given-one"} {
		if !slices.ContainsFunc(answer.Exposed, func(x struct{ Kind, Namespace, Name string }) bool {
			return x.Kind+" "+x.Namespace+" "+x.Name == want
		}) {
			t.Errorf("what it could read misses %q: %v", want, answer.Exposed)
		}
	}
	for _, x := range answer.Exposed {
		if x.Name == "given-two" || x.Namespace == "garden-wood" {
			t.Errorf("what it could not read is listed: %v", x)
		}
	}
	for name, events := range watches {
		o.closed(name, events)
	}
	o.shutOut(clients)

	// Tokens are gone, and no new certificate is issued.
	for id, gone := range map[string]bool{"bbbbbb": true, "cccccc": false} {
		err := o.Client.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "bootstrap-token-" + id}, &corev1.Secret{})
		if apierrors.IsNotFound(err) != gone {
			t.Errorf("token %s: got %v, want gone %t", id, err, gone)
		}
	}
	o.create(tokenFor("dddddd", map[string]string{"seed": "one", "renew": "true"}))
	again := signingRequest(t, "again", "gardener.cloud:system:seed:one")
	if err := o.holder("dddddd").Create(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	if approved, why := o.verdict(again); approved || !strings.Contains(why, "shut out") {
		t.Errorf("a certificate of a seed that is shut out: approved %t, %q", approved, why)
	}
	review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	if err := o.Client.Create(t.Context(), review); err != nil || review.Status.Authenticated {
		t.Errorf("a review of a token of the seed: got %+v, %v", review.Status, err)
	}
	marked := func(namespace, name string, want bool) {
		t.Helper()
		shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		harness.Await(t, o.Client, shoot, "the mark of its shoots", func(s *gardencorev1beta1.Shoot) error {
			_, err := condition(s.Status.Constraints, revocation.Constraint)
			return has((err == nil) == want, "constraints %+v", s.Status.Constraints)
		})
	}
	marked("garden-meadow", "mine", true)
	marked("garden-wood", "other", false)
	if err := two.Get(t.Context(), client.ObjectKey{Name: "two"}, &gardencorev1beta1.Seed{}); err != nil {
		t.Errorf("other seeds go on: %v", err)
	}

	// It holds over a restart, and again over one at which it is taken back.
	o.Stop(t)
	o.Garden = harness.Start(t, harness.WithDataDir(o.DataDir))
	certificate.Host = o.Config.Host
	clients = map[string]client.WithWatch{"the gardenlet": o.connected(certificate), "an extension": o.connected(o.bearer(token))}
	o.shutOut(clients)
	if _, err := o.office(http.MethodDelete, "/one?credentials=new", ""); err != nil {
		t.Fatalf("forgive: %v", err)
	}
	if _, err := o.office(http.MethodDelete, "/one", ""); !apierrors.IsNotFound(err) {
		t.Errorf("forgive twice: got %v, want NotFound", err)
	}
	marked("garden-meadow", "mine", false)
	for name, c := range clients {
		if err := c.Get(t.Context(), client.ObjectKey{Name: "one"}, &gardencorev1beta1.Seed{}); !apierrors.IsUnauthorized(err) {
			t.Errorf("old credentials of %s: got %v, want Unauthorized", name, err)
		}
	}
	forged := rest.CopyConfig(certificate)
	forged.BearerToken = "e30.eyJpYXQiOjk5OTk5OTk5OTl9.x"
	if err := o.connected(forged).Get(t.Context(), client.ObjectKey{Name: "one"}, &gardencorev1beta1.Seed{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("an old certificate beside a token that claims to be new: got %v, want Unauthorized", err)
	}
	fresh := o.connected(o.certificate("eeeeee", "one"))
	if err := fresh.Get(t.Context(), client.ObjectKey{Name: "one"}, &gardencorev1beta1.Seed{}); err != nil {
		t.Errorf("a new certificate: %v", err)
	}
	if _, err := o.office(http.MethodPost, "/one", ""); err != nil {
		t.Fatalf("revoke again: %v", err)
	}
	if _, err := o.office(http.MethodDelete, "/one", ""); err != nil {
		t.Fatalf("forgive again: %v", err)
	}
	harness.Eventually(t, "the gardenlet goes on", func(ctx context.Context) error {
		return fresh.Get(ctx, client.ObjectKey{Name: "one"}, &gardencorev1beta1.Seed{})
	})
	if err := clients["the gardenlet"].Get(t.Context(), client.ObjectKey{Name: "one"}, &gardencorev1beta1.Seed{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("what was refused before stays refused: got %v, want Unauthorized", err)
	}
}

// shutOut checks that all clients of the seed are refused with the reason.
func (o *operator) shutOut(clients map[string]client.WithWatch) {
	o.t.Helper()
	for name, c := range clients {
		err := c.Get(o.t.Context(), client.ObjectKey{Name: "one"}, &gardencorev1beta1.Seed{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "the machine was stolen") {
			o.t.Errorf("%s is refused with the reason: got %v", name, err)
		}
		if _, err := c.Watch(o.t.Context(), &gardencorev1beta1.SeedList{}); !apierrors.IsForbidden(err) {
			o.t.Errorf("a watch of %s: got %v, want Forbidden", name, err)
		}
	}
}

// revokesDeleted shuts a seed out whose Seed is gone, so that its gardenlet cannot make it anew.
func (o *operator) revokesDeleted() {
	o.t.Helper()
	again := &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "gone"}}
	gardenlet := o.as("gardener.cloud:system:seed:gone", "gardener.cloud:system:seeds")
	if err := gardenlet.Create(o.t.Context(), again.DeepCopy(), client.DryRunAll); apierrors.IsForbidden(err) {
		o.t.Fatalf("before: %v; want that it may make its Seed", err)
	}
	if _, err := o.office(http.MethodPost, "/gone", `{"unknown":true,"reason":"retired"}`); err != nil {
		o.t.Fatalf("revoke a seed that is gone: %v", err)
	}
	if err := gardenlet.Create(o.t.Context(), again, client.DryRunAll); !apierrors.IsForbidden(err) {
		o.t.Errorf("it makes its Seed anew: got %v, want Forbidden", err)
	}
	if _, err := o.office(http.MethodDelete, "/gone", ""); err != nil {
		o.t.Errorf("forgive it: %v", err)
	}
}
