// SPDX-License-Identifier: Apache-2.0

package webui_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// refusedBy returns no error once the API does not accept the credential of the session.
func (b *browser) refusedBy(ctx context.Context) error {
	got := b.send(b.request(ctx, http.MethodGet, "/ui/kube/api/v1/namespaces", ""))
	if got.status != http.StatusUnauthorized {
		return fmt.Errorf("got %d", got.status)
	}

	return nil
}

func redirects(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		const page = "text/html,application/xhtml+xml,*/*;q=0.8"
		for from, tc := range map[string]struct {
			accept string
			status int
			to     string
		}{
			"/":                                      {page, 302, "/ui/"},
			"/?":                                     {"application/json, */*", 401, ""},
			"/ui":                                    {page, 302, "/ui/"},
			"/namespace/garden-meadow/shoots/sprout": {page, 302, "/ui/projects/garden-meadow/shoots/sprout"},
			"/namespace/garden-meadow/shoots/sprout/yaml": {page, 302, "/ui/projects/garden-meadow/shoots/sprout"},
			"/namespace/garden-meadow/shoots":             {page, 302, "/ui/projects/garden-meadow/shoots"},
			"/namespace/garden-meadow":                    {page, 302, "/ui/projects/garden-meadow"},
			"/namespace/-/shoots":                         {page, 302, "/ui/shoots"},
			"/namespace/%2f%2fevil.example/shoots/a":      {page, 302, "/ui/"},
			"/seeds/local":                                {page, 302, "/ui/seeds/local"},
			"/seeds":                                      {page, 302, "/ui/seeds"},
			"/seeds/..%2f..%2fapi":                        {page, 302, "/ui/seeds"},
		} {
			got := open(t, g).do(http.MethodGet, from, "", "Accept", tc.accept, "Sec-Fetch-Site", "none")
			if got.status != tc.status || got.header.Get("Location") != tc.to {
				t.Errorf("GET %s = %d to %q, want %d to %q", from, got.status, got.header.Get("Location"), tc.status, tc.to)
			}
		}
		_, secret := account(t, g, "redirected")
		if got := open(t, g).do(http.MethodGet, "/", "", "Accept", page, "Authorization", "Bearer "+secret); got.status != http.StatusOK {
			t.Errorf("clients of the API get the list of its paths; got %d %s", got.status, got.body)
		}
	}
}

// pages looks at the headers of what everybody may read. The binary may have a UI or not.
func pages(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		for _, path := range []string{"/ui/", "/ui/projects/garden-meadow/shoots/sprout", "/ui/sign-in"} {
			got := open(t, g).do(http.MethodGet, path, "")
			if got.status != http.StatusOK && got.status != http.StatusNotImplemented {
				t.Errorf("GET %s = %d", path, got.status)
			}
			if !strings.HasPrefix(got.header.Get("Content-Type"), "text/html") || got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("all routes of the UI have its page; GET %s has %v", path, got.header)
			}
			policy := got.header.Get("Content-Security-Policy")
			for _, directive := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
				if !strings.Contains(policy, directive) {
					t.Errorf("the policy of %s lacks %q: %q", path, directive, policy)
				}
			}
			if strings.Contains(policy, "unsafe") || got.header.Get("Strict-Transport-Security") != "" {
				t.Errorf("nothing unsafe is allowed, and a certificate of its own must not bind browsers: %v", got.header)
			}
		}
		if got := open(t, g).do(http.MethodGet, "/ui/assets/..%2f..%2fgo.mod", ""); got.status != http.StatusNotFound && got.status != http.StatusNotImplemented {
			t.Errorf("there is nothing but the build; got %d", got.status)
		}
	}
}

func info(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		b := open(t, g)
		if got := b.do(http.MethodGet, "/ui/info", ""); got.reason() != "NoSession" {
			t.Errorf("the garden is described to its users; got %d %s", got.status, got.body)
		}
		b.signIn("code", newCode(t, g))
		var got map[string]any
		b.do(http.MethodGet, "/ui/info", "").into(t, &got)
		sum := sha256.Sum256(g.CA)
		want := map[string]any{
			"version": "v0.0.0-test", "server": g.External, "local": g.Server, "caFingerprint": hex.EncodeToString(sum[:]),
			"clusterIdentity": g.ClusterIdentity, "gardenerApiLevel": got["gardenerApiLevel"], "admin": true,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("GET /ui/info (-want +got):\n%s", diff)
		}
	}
}

// status asks how the server is, by both ways.
func status(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		b, member := open(t, g), open(t, g)
		b.signIn("code", newCode(t, g))
		member.signIn("token", token(t, g, "status-member"))
		for _, path := range []string{"/ui/status", "/ui/kube/appliance/status"} {
			var is struct {
				Version, Started string
				Process          struct{ CPUSeconds, ResidentBytes, HeapBytes float64 }
				Store            struct {
					SizeBytes float64
					Databases []struct {
						Name     string
						Revision float64
					}
				}
				Certificates []struct {
					Name     string
					DaysLeft int
				}
				Units []struct {
					Name  string
					Ready bool
				}
				Controllers []struct{ Name string }
			}
			b.do(http.MethodGet, path, "").into(t, &is)
			if is.Version != "v0.0.0-test" || is.Started == "" || is.Process.CPUSeconds <= 0 || is.Process.HeapBytes <= 0 || is.Store.SizeBytes <= 0 {
				t.Errorf("GET %s = %+v, want what the process takes", path, is)
			}
			if len(is.Store.Databases) != 2 || is.Store.Databases[0].Name != "objects" || is.Store.Databases[0].Revision <= 0 {
				t.Errorf("GET %s = %+v, want two databases", path, is.Store)
			}
			if len(is.Certificates) != 6 || is.Certificates[0].Name != "serving" || is.Certificates[0].DaysLeft < 360 {
				t.Errorf("GET %s = %+v, want the certificates", path, is.Certificates)
			}
			if len(is.Units) < 8 || !is.Units[0].Ready || len(is.Controllers) < 5 {
				t.Errorf("GET %s = %+v %+v, want units and controllers", path, is.Units, is.Controllers)
			}
			var configuration struct{ Kind, DataDir string }
			b.do(http.MethodGet, "/ui/kube/appliance/configuration", "").into(t, &configuration)
			if configuration.DataDir != g.DataDir {
				t.Errorf("GET /appliance/configuration = %+v, want that of the server", configuration)
			}
			if got := member.do(http.MethodGet, "/ui/kube/appliance/configuration", ""); got.status != http.StatusForbidden {
				t.Errorf("the configuration is for administrators; got %d %.200s", got.status, got.body)
			}
			if got := member.do(http.MethodGet, path, ""); got.status != http.StatusForbidden {
				t.Errorf("the status is for administrators; GET %s = %d %.200s", path, got.status, got.body)
			}
		}
	}
}

// projects asks a member of one of two projects, who may not list any.
func projects(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		secret := token(t, g, "one-project")
		for name, member := range map[string]string{"mine": "one-project", "theirs": "nobody"} {
			create(t, g, &gardencorev1beta1.Project{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec: gardencorev1beta1.ProjectSpec{
					Purpose: new("to see it"), Namespace: new("garden-" + name),
					Members: []gardencorev1beta1.ProjectMember{{
						Subject: rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "garden", Name: member},
						Role:    gardencorev1beta1.ProjectMemberViewer,
					}},
				},
			})
		}
		b := open(t, g)
		b.signIn("token", secret)
		if got := b.do(http.MethodGet, "/ui/kube/apis/core.gardener.cloud/v1beta1/projects", ""); got.status != http.StatusForbidden {
			t.Errorf("a member may not list projects; got %d", got.status)
		}
		want := `{"items":[{"name":"mine","namespace":"garden-mine","phase":"Ready","purpose":"to see it"}]}`
		harness.Eventually(t, "the roles of the member are there", func(ctx context.Context) error {
			got := b.send(b.request(ctx, http.MethodGet, "/ui/session/projects", ""))
			if diff := cmp.Diff(want, strings.TrimSpace(got.body)); diff != "" {
				return fmt.Errorf("GET /ui/session/projects = %d (-want +got):\n%s", got.status, diff)
			}

			return nil
		})
	}
}
