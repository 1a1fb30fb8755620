// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestMounts asks for what is served beside the API, with and without credentials.
func TestMounts(t *testing.T) {
	t.Parallel()
	const graph, issuer = "/debug/resource-dependency-graph", "/garden/workload-identity/issuer"
	open := harness.Start(t, harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) { c.EnableDebugHandlers = true }))
	ask := func(config *rest.Config, method, path string) (int, string) {
		t.Helper()
		client, err := rest.HTTPClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequestWithContext(t.Context(), method, config.Host+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body)
	}
	for name, tc := range map[string]struct {
		reason       string
		config       *rest.Config
		method, path string
		status       int
		body         string
	}{
		"CA":       {"who does not trust the garden yet gets its CA", open.Anonymous(), "GET", "/cacerts", 200, "BEGIN CERTIFICATE"},
		"keys":     {"who verifies tokens is no user", open.Anonymous(), "GET", issuer + "/jwks", 200, `"keys"`},
		"issuer":   {"nor who looks for the keys", open.Anonymous(), "GET", issuer + "/.well-known/openid-configuration", 200, "jwks_uri"},
		"write":    {"what is for everybody is there to be read", open.Anonymous(), "POST", "/cacerts", 401, ""},
		"stranger": {"GAC-GR-13: the graph is not for everybody", open.Anonymous(), "GET", graph, 401, ""},
		"admin":    {"GAC-GR-13: it is for those whom RBAC permits", open.Config, "GET", graph, 200, "What belongs to which seed"},
		"changing": {"GAC-GR-13: it is there to be read", open.Config, "POST", graph, 405, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, body := ask(tc.config, tc.method, tc.path)
			if status != tc.status || !strings.Contains(body, tc.body) {
				t.Errorf("%s\n%s %s = %d %.200s, want %d and %q", tc.reason, tc.method, tc.path, status, body, tc.status, tc.body)
			}
		})
	}
}

// graphIsOff asks a garden that was not told to show the graph.
func graphIsOff(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		client, err := rest.HTTPClientFor(g.Config)
		if err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.Config.Host+"/debug/resource-dependency-graph", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		if diff := cmp.Diff(http.StatusNotFound, answer.StatusCode); diff != "" {
			t.Errorf("GAC-GR-13: the graph is served only if that is configured; status code (-want +got):\n%s", diff)
		}
	}
}
