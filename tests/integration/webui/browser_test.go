// SPDX-License-Identifier: Apache-2.0

package webui_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

const cookieName = "__Host-terrarium"

// browser is a browser with a page of the garden open.
type browser struct {
	*http.Client

	t      *testing.T
	server string
	csrf   string
}

// open opens a browser; certificate is one that it shows to servers.
func open(t *testing.T, g *harness.Garden, certificate ...tls.Certificate) *browser {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(g.CA)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: certificate}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)

	return &browser{t: t, server: g.Server, Client: &http.Client{
		Transport: transport, Jar: jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// answer is an answer with its body.
type answer struct {
	status int
	header http.Header
	body   string
}

// reason is why the web UI, or the API, refuses a request.
func (a answer) reason() string {
	refusal := struct{ Reason string }{}
	_ = json.Unmarshal([]byte(a.body), &refusal)

	return refusal.Reason
}

// into decodes the body.
func (a answer) into(t *testing.T, value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), value); err != nil {
		t.Fatalf("decode answer %d %q: %v", a.status, a.body, err)
	}
}

// request makes a request as a page of the garden does; headers are pairs that replace those of the page, and an empty value leaves
// one out.
func (b *browser) request(ctx context.Context, method, path, body string, headers ...string) *http.Request {
	b.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, b.server+path, bytes.NewBufferString(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Accept", "application/json")
	if method != http.MethodGet && method != http.MethodHead {
		r.Header.Set("Origin", b.server)
		r.Header.Set("Content-Type", "application/json")
		if b.csrf != "" {
			r.Header.Set("X-CSRF-Token", b.csrf)
		}
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}

	return r
}

func (b *browser) do(method, path, body string, headers ...string) answer {
	b.t.Helper()

	return b.send(b.request(b.t.Context(), method, path, body, headers...))
}

func (b *browser) send(r *http.Request) answer {
	b.t.Helper()
	response, err := b.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // nothing is written
	data, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}

	return answer{response.StatusCode, response.Header, string(data)}
}

// description is how the server describes a session.
type description struct {
	User struct {
		Name   string
		Groups []string
	}
	CSRF    string
	Expires time.Time
	Admin   bool
}

// signIn signs in with a field and its value.
func (b *browser) signIn(field, value string) description {
	b.t.Helper()
	data, err := json.Marshal(map[string]string{field: value})
	if err != nil {
		b.t.Fatal(err)
	}
	got := b.do(http.MethodPost, "/ui/session", string(data))
	if got.status != http.StatusCreated {
		b.t.Fatalf("sign in by %s: got %d %s, want 201", field, got.status, got.body)
	}
	var who description
	got.into(b.t, &who)
	b.csrf = who.CSRF

	return who
}

// cookie is the value that the browser has.
func (b *browser) cookie() string {
	b.t.Helper()
	u, err := url.Parse(b.server)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range b.Jar.Cookies(u) {
		if c.Name == cookieName {
			return c.Value
		}
	}

	return ""
}

// whoAmI asks the API who the session belongs to.
func (b *browser) whoAmI(headers ...string) string {
	b.t.Helper()
	got := b.do(http.MethodPost, "/ui/kube/apis/authentication.k8s.io/v1/selfsubjectreviews",
		`{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}`, headers...)
	if got.status != http.StatusCreated {
		return got.reason()
	}
	var review authenticationv1.SelfSubjectReview
	got.into(b.t, &review)

	return review.Status.UserInfo.Username
}

// newCode makes the code of a one-time link.
func newCode(t *testing.T, g *harness.Garden) string {
	t.Helper()
	status, body := post(t, g.Config)
	link := struct{ Code string }{}
	if err := json.Unmarshal([]byte(body), &link); err != nil || status != http.StatusCreated || link.Code == "" {
		t.Fatalf("make link: got %d %s, %v", status, body, err)
	}

	return link.Code
}

// post requests a one-time link with the credentials of a client.
func post(t *testing.T, config *rest.Config, headers ...string) (int, string) {
	t.Helper()
	c, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, config.Host+"/ui/links", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // nothing is written
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}

	return response.StatusCode, string(data)
}

// account makes a service account that may do everything by a role, and returns a token of it. The role is in effect by then: the
// server sees bindings a moment after they are made.
func account(t *testing.T, g *harness.Garden, name string) (*corev1.ServiceAccount, string) {
	t.Helper()
	owner := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: name}}
	create(t, g, owner, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "test-" + name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: owner.Namespace, Name: owner.Name}},
	})
	harness.Eventually(t, "the role of "+name+" is known", func(ctx context.Context) error {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:                  "system:serviceaccount:" + owner.Namespace + ":" + owner.Name,
			NonResourceAttributes: &authorizationv1.NonResourceAttributes{Verb: "*", Path: "*"},
		}}
		if err := g.Client.Create(ctx, review); err != nil || review.Status.Allowed {
			return err
		}

		return fmt.Errorf("not allowed yet: %s", review.Status.Reason)
	})

	return owner, tokenOf(t, g, owner, time.Hour)
}

// token makes a service account without permissions, and returns a token of it.
func token(t *testing.T, g *harness.Garden, name string) string {
	t.Helper()
	owner := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: name}}
	create(t, g, owner)

	return tokenOf(t, g, owner, time.Hour)
}

func create(t *testing.T, g *harness.Garden, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		if err := g.Client.Create(t.Context(), object); err != nil {
			t.Fatalf("create %T: %v", object, err)
		}
	}
}

func tokenOf(t *testing.T, g *harness.Garden, owner *corev1.ServiceAccount, lifetime time.Duration) string {
	t.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(lifetime / time.Second))}}
	if err := g.Client.SubResource("token").Create(t.Context(), owner, request); err != nil {
		t.Fatalf("request token: %v", err)
	}

	return request.Status.Token
}
