// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestLongestWatch asks for a watch of three centuries. The library cannot count so many seconds and ends such a watch before it begins, so this one
// was made shorter.
func TestLongestWatch(t *testing.T) {
	t.Parallel()
	g := harness.Start(t)
	c, err := rest.HTTPClientFor(g.Config)
	if err != nil {
		t.Fatal(err)
	}
	path := g.Config.Host + "/api/v1/namespaces?watch=true&resourceVersion=0&timeoutSeconds=9223372037"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // Nothing is written.
	line, err := bufio.NewReader(answer.Body).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, `{"type":"ADDED"`) {
		t.Errorf("GET ...&timeoutSeconds=9223372037: %s, %q, %v, want an event", answer.Status, line, err)
	}
}
