// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

var (
	needed      = flag.Bool("browser", false, "fail instead of skipping if there is no browser, no Node or no built UI")
	screenshots = flag.String("screenshots", "", "directory for a picture of each page")
)

// testLimit is how long the browser may take for all tests.
const testLimit = 10 * time.Minute

// TestBrowser runs the tests in webui/e2e. They are told where the garden is, and where to ask for what only its administrator or
// other users can do.
func TestBrowser(t *testing.T) {
	t.Parallel()
	sources, err := filepath.Abs(filepath.Join("..", "..", "webui"))
	if err != nil {
		t.Fatal(err)
	}
	chromium, node := browser(t), find(t, "node")
	if _, err := os.Stat(filepath.Join(sources, "node_modules", "playwright-core")); err != nil {
		lacking(t, "webui/node_modules is not installed")
	}
	g := harness.Start(t)
	if status := request(t, g, "/ui/"); status != http.StatusOK {
		lacking(t, fmt.Sprintf("the UI is not built: GET /ui/ = %d", status))
	}
	w := furnish(t, g)
	pictures := *screenshots
	if pictures == "" {
		pictures = t.TempDir()
	}
	ctx, cancel := context.WithTimeout(t.Context(), testLimit)
	defer cancel()
	command := exec.CommandContext(ctx, node, "--test", "--test-concurrency=1", "--test-reporter=spec", "e2e/")
	command.Dir = sources
	command.Env = append(os.Environ(), "GARDEN="+g.Server, "CONTROL="+w.control(), "CHROMIUM="+chromium, "SCREENSHOTS="+pictures)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("the tests of the browser failed: %v", err)
	}
	t.Logf("%s", bytes.TrimSpace(out))
}

// browser finds Chromium, under one of its names.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	lacking(t, "there is no Chromium")

	return ""
}

func find(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		lacking(t, err.Error())
	}

	return path
}

// lacking ends a test that cannot run here.
func lacking(t *testing.T, what string) {
	t.Helper()
	if *needed {
		t.Fatalf("%s; `make test-ui` prepares everything", what)
	}
	t.Skipf("%s; `make test-ui` prepares everything", what)
}

func request(t *testing.T, g *harness.Garden, path string) int {
	t.Helper()
	client, err := rest.HTTPClientFor(g.Anonymous())
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.Server+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()

	return answer.StatusCode
}
