// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestAuditHidesNothing has somebody with credentials try to hide what he reads, and somebody without any try to push out what others did. All of them
// write what they like into the headers and paths of their requests.
func TestAuditHidesNothing(t *testing.T) {
	t.Parallel()
	g := harness.Start(t)
	config := rest.CopyConfig(g.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "mallory", Groups: []string{"system:authenticated"}}
	fake := strings.TrimSuffix(strings.Repeat("198.51.100.7,", 30), ",")
	secrets := "/api/v1/namespaces/garden/secrets/"
	// In JSON, each of these characters becomes six: the line would be longer than any that is read.
	asks(t, config, http.MethodGet, secrets+"long", map[string]string{"Audit-ID": strings.Repeat("<", 300_000)})
	// The same ID as that of something harmless.
	asks(t, config, http.MethodGet, secrets+"twin", map[string]string{"Audit-ID": "twin", "X-Forwarded-For": fake})
	asks(t, config, http.MethodGet, secrets+"other", map[string]string{"Audit-ID": "twin"})
	asks(t, g.Anonymous(), http.MethodGet, secrets+"stranger", map[string]string{"Audit-ID": strings.Repeat("x", 900_000)})
	asks(t, g.Anonymous(), http.MethodDelete, "/apis/"+strings.Repeat("<", 300_000)+"/v1/namespaces/garden/secrets/group", nil)

	for _, name := range []string{"long", "twin", "other"} {
		harness.Eventually(t, "the attempt at "+name+" is found", func(context.Context) error {
			if n := len(found(t, g, "--user", "mallory", "--resource", "secrets", "--name", name)); n != 1 { //nolint:contextcheck // It takes that of the test.
				return fmt.Errorf("%d events, want 1", n)
			}

			return nil
		})
	}
	twin, other := found(t, g, "--name", "twin")[0], found(t, g, "--name", "other")[0]
	if twin.AuditID == other.AuditID {
		t.Errorf("two requests have the ID %q", twin.AuditID)
	}
	if diff := cmp.Diff(other.SourceIPs, twin.SourceIPs[len(twin.SourceIPs)-1:]); diff != "" {
		t.Errorf("the address of the connection is the last one (-want +got):\n%s", diff)
	}
	harness.Eventually(t, "the attempt of the stranger is found", func(context.Context) error {
		if len(found(t, g, "--name", "stranger")) != 1 || len(found(t, g, "--name", "group")) != 1 { //nolint:contextcheck // It takes that of the test.
			return errors.New("it is not there")
		}

		return nil
	})
	g.Stop(t)
	if n := longestLine(t, filepath.Join(g.DataDir, "audit")); n > 64<<10 {
		t.Errorf("a request made the log record %d bytes", n)
	}
}

// asks sends a request with headers that the client chooses.
func asks(t *testing.T, config *rest.Config, method, path string, headers map[string]string) {
	t.Helper()
	c, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, config.Host+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	answer, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // Nothing is written.
	if refused := []int{http.StatusUnauthorized, http.StatusForbidden}; !slices.Contains(refused, answer.StatusCode) {
		t.Errorf("%s %.80s: got %s", method, path, answer.Status)
	}
}

func longestLine(t *testing.T, dir string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			most = max(most, len(lines.Bytes()))
		}
		if err := errors.Join(lines.Err(), file.Close()); err != nil {
			t.Fatal(err)
		}
	}

	return most
}
