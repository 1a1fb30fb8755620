// SPDX-License-Identifier: Apache-2.0

package applets_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gopkg.in/go-jose/go-jose.v2"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	imagepolicyv1alpha1 "k8s.io/api/imagepolicy/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/apiserver"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
)

// issuer signs tokens.
type issuer struct {
	*httptest.Server

	key *rsa.PrivateKey
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{key: key}
	i.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := any(map[string]any{
			"issuer": i.URL, "jwks_uri": i.URL + "/keys", "response_types_supported": []string{"id_token"},
			"subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"RS256"},
		})
		if r.URL.Path == "/keys" {
			answer = jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k", Algorithm: "RS256", Use: "sig"}}}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(i.Close)
	return i
}

// token is valid for an audience.
func (i *issuer) token(t *testing.T, user, audience string) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: i.key, KeyID: "k"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	claims, err := json.Marshal(map[string]any{
		"iss": i.URL, "sub": user, "aud": audience, "groups": []string{"devs"}, "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// hook is a server of the owner: it authorizes requests for ConfigMaps and refuses images with "evil" in their names.
type hook struct {
	*httptest.Server

	asked atomic.Int64
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{}
	h.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer of-the-owner" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h.asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/images" {
			review := &imagepolicyv1alpha1.ImageReview{}
			_ = json.NewDecoder(r.Body).Decode(review)
			review.Status.Allowed, review.Status.Reason = !strings.Contains(review.Spec.Containers[0].Image, "evil"), "the owner does not want it"
			_ = json.NewEncoder(w).Encode(review)
			return
		}
		review := &authorizationv1.SubjectAccessReview{}
		_ = json.NewDecoder(r.Body).Decode(review)
		review.Status.Allowed = review.Spec.ResourceAttributes != nil && review.Spec.ResourceAttributes.Resource == "configmaps"
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(h.Close)
	return h
}

// kubeconfig is what the owner puts into a Secret.
func (h *hook) kubeconfig(path string) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "%s%s", certificate-authority-data: %s}}]
users: [{name: a, user: {token: of-the-owner}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
current-context: a
`, h.URL, path, base64.StdEncoding.EncodeToString([]byte(certificateOf(h.Server))))
}

func shootWith(settings gardencorev1beta1.KubeAPIServerConfig) facts.Shoot {
	shoot := &gardencorev1beta1.Shoot{}
	shoot.Spec.Networking = &gardencorev1beta1.Networking{Services: new("10.101.0.0/16")}
	shoot.Spec.Kubernetes.KubeAPIServer = &settings
	return facts.Shoot{Shoot: shoot, Namespace: "shoot--dev--a", KubeletsSigned: true, Hosts: facts.Hosts{Internal: "api.a.dev.internal.terrarium.local"}}
}

// as is a client with a token, or with none.
func (s *running) as(t *testing.T, token string) *kubernetes.Clientset {
	t.Helper()
	config := rest.CopyConfig(s.anybody)
	config.BearerToken = token
	return clientOf(t, config)
}

func clientOf(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// whoami is the user that the server takes the owner of a token for. Authenticators begin to work a moment after the server.
func (s *running) whoami(t *testing.T, token string) authenticationv1.UserInfo {
	t.Helper()
	var review *authenticationv1.SelfSubjectReview
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), poll, patience, true, func(ctx context.Context) (bool, error) {
		review, last = s.as(t, token).AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("the token is not accepted: %v", last)
	}
	return review.Status.UserInfo
}

// TestSettingsOfOwners runs an API server as it is rendered for a shoot whose owner hands in everything that can be handed in.
func TestSettingsOfOwners(t *testing.T) {
	t.Parallel()
	i, h := newIssuer(t), newHook(t)
	f := shootWith(gardencorev1beta1.KubeAPIServerConfig{
		TLSMinVersion: new("VersionTLS13"), Logging: &gardencorev1beta1.APIServerLogging{HTTPAccessVerbosity: new(int32(4))},
		AdmissionPlugins: []gardencorev1beta1.AdmissionPlugin{{
			Name: "ImagePolicyWebhook", Config: &runtime.RawExtension{Raw: []byte(`{"imagePolicy":{"kubeConfigFile":"/nowhere","kubeConfigfile":"/nowhere"}}`)},
		}, {Name: "ValidatingAdmissionWebhook"}},
	})
	f.Handed = facts.Handed{
		AuditPolicy: "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata, users: [\"x:alice\"]}, {level: None}]\n",
		Authentication: "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\nanonymous: {enabled: false}\njwt:\n" +
			fmt.Sprintf("- issuer: {url: %q, audiences: [shoot], certificateAuthority: %q}\n", i.URL, certificateOf(i.Server)) +
			"  claimMappings: {username: {claim: sub, prefix: \"x:\"}, groups: {claim: groups, prefix: \"x:\"}}\n",
		Authorization: "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n- type: Webhook\n  name: guard\n" +
			"  webhook: {timeout: 3s, subjectAccessReviewVersion: v1, matchConditionSubjectAccessReviewVersion: v1, failurePolicy: Deny, " +
			"connectionInfo: {type: InClusterConfig}}\n",
		Authorizers: map[string][]byte{"guard": h.kubeconfig("/authorize")},
		Plugins:     map[string][]byte{"ImagePolicyWebhook": h.kubeconfig("/images"), "ValidatingAdmissionWebhook": h.kubeconfig("")},
	}
	if err := apiserver.Unusable(f); err != nil {
		t.Fatal(err)
	}
	s := serve(t, store(t), f)
	token := i.token(t, "alice", "shoot")
	alice := authenticationv1.UserInfo{Username: "x:alice", Groups: []string{"x:devs", "system:authenticated"}}
	if diff := cmp.Diff(alice, s.whoami(t, token), cmpopts.IgnoreFields(alice, "UID", "Extra")); diff != "" {
		t.Errorf("whom the server takes the token for (-want +got):\n%s", diff)
	}
	if _, err := s.as(t, i.token(t, "alice", "other")).Discovery().ServerVersion(); !apierrors.IsUnauthorized(err) {
		t.Errorf("a token for somebody else: %v", err)
	}
	if _, err := s.as(t, "").Discovery().ServerVersion(); !apierrors.IsUnauthorized(err) {
		t.Errorf("without credentials, beyond health: %v", err)
	}

	asAlice, list := s.as(t, token).CoreV1(), metav1.ListOptions{}
	if _, err := asAlice.ConfigMaps("default").List(t.Context(), list); err != nil || h.asked.Load() == 0 {
		t.Errorf("what the webhook allows: %v; it was asked %d times", err, h.asked.Load())
	}
	if _, err := asAlice.Secrets("default").List(t.Context(), list); !apierrors.IsForbidden(err) {
		t.Errorf("what it does not allow: %v", err)
	}
	images(t, clientOf(t, s.admin))

	old := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}}
	if connection, err := old.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "https://")); err == nil {
		_ = connection.Close()
		t.Error("TLS 1.2 is accepted")
	}
	log, err := os.ReadFile(s.audit)
	if err != nil || !strings.Contains(string(log), `"resource":"configmaps"`) || !strings.Contains(string(log), `"username":"x:alice"`) || strings.Contains(string(log), `"username":"admin"`) {
		t.Errorf("the log has what the policy asks for, and nothing else; error %v:\n%.2000s", err, log)
	}
}

// images makes pods with images that the webhook of the owner allows and refuses.
func images(t *testing.T, admin *kubernetes.Clientset) {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}, AutomountServiceAccountToken: new(false)}
	err := wait.PollUntilContextTimeout(t.Context(), poll, patience, true, func(ctx context.Context) (bool, error) {
		_, err := admin.CoreV1().ServiceAccounts("default").Create(ctx, account, metav1.CreateOptions{})
		return err == nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	run := func(name string) error {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: name}}}}
		_, err := admin.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{})
		return err
	}
	if err := run("good"); err != nil {
		t.Errorf("an image that is allowed: %v", err)
	}
	if err := run("evil"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "the owner does not want it") {
		t.Errorf("an image that is refused: %v", err)
	}
}

// TestOIDCOfOwners runs an API server with the settings that structured authentication has replaced.
func TestOIDCOfOwners(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	s := serve(t, store(t), shootWith(gardencorev1beta1.KubeAPIServerConfig{
		EnableAnonymousAuthentication: new(true),
		OIDCConfig: &gardencorev1beta1.OIDCConfig{
			IssuerURL: &i.URL, ClientID: new("shoot"), CABundle: new(certificateOf(i.Server)), GroupsClaim: new("groups"), GroupsPrefix: new("g:"),
			RequiredClaims: map[string]string{"sub": "alice"},
		},
	}))
	alice := authenticationv1.UserInfo{Username: i.URL + "#alice", Groups: []string{"g:devs", "system:authenticated"}}
	if diff := cmp.Diff(alice, s.whoami(t, i.token(t, "alice", "shoot")), cmpopts.IgnoreFields(alice, "UID", "Extra")); diff != "" {
		t.Errorf("whom the server takes the token for (-want +got):\n%s", diff)
	}
	if _, err := s.as(t, i.token(t, "bob", "shoot")).Discovery().ServerVersion(); !apierrors.IsUnauthorized(err) {
		t.Errorf("a token without a required claim: %v", err)
	}
	if _, err := s.as(t, "").Discovery().ServerVersion(); err != nil {
		t.Errorf("everybody may ask for the version, also without credentials: %v", err)
	}
}
