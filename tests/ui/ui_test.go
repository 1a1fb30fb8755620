// SPDX-License-Identifier: Apache-2.0

package ui_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
	"github.com/terrarium-garden/terrarium/tests/issuer"
)

var (
	needed      = flag.Bool("browser", false, "fail instead of skipping if there is no browser, no Node or no built UI")
	only        = flag.String("only", "*", "run the tests of the browser in files of this name alone")
	screenshots = flag.String("screenshots", "", "directory for a picture of each page")
)

// testLimit is how long the browser may take for all tests.
const testLimit = 25 * time.Minute

// TestBrowser runs the tests in webui/e2e. They are told where the garden is, and where to ask for what only its administrator or
// other users can do.
func TestBrowser(t *testing.T) {
	t.Parallel()
	run := prepare(t)
	accounts := issuer.Start(t)
	accounts.SignIn(issuer.Account{Subject: "alice", Ask: true})
	w := furnish(t, harness.Start(t, harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) {
		c.OIDC = &gardenconfigv1alpha1.OIDCConfiguration{
			IssuerURL: accounts.URL, ClientID: issuer.ClientID, ClientSecretFile: accounts.SecretFile, CAFile: accounts.CAFile, DisplayName: "Example",
		}
		c.SetDefaults()
		c.DataDir = "" // The directory of the test, and not the default.
	})))
	accounts.Register(w.Server + "/ui/session/oidc/callback")
	run(w, w.Server, "", accounts.URL)
}

// prepare finds what the tests of the browser need. It returns what runs those in a folder of webui/e2e, with the URL at which the browser
// finds the garden, and those of others that it needs.
func prepare(t *testing.T) func(w *world, garden, folder string, others ...string) {
	t.Helper()
	sources, err := filepath.Abs(filepath.Join("..", "..", "webui"))
	if err != nil {
		t.Fatal(err)
	}
	chromium, node := browser(t), find(t, "node")
	if _, err := os.Stat(filepath.Join(sources, "node_modules", "playwright-core")); err != nil {
		lacking(t, "webui/node_modules is not installed")
	}
	pictures := *screenshots
	if pictures == "" {
		pictures = t.TempDir()
	}

	return func(w *world, garden, folder string, others ...string) {
		if status := request(t, w.Garden, "/ui/"); status != http.StatusOK {
			lacking(t, fmt.Sprintf("the UI is not built: GET /ui/ = %d", status))
		}
		files, err := filepath.Glob(filepath.Join(sources, "e2e", folder, *only+".test.mjs"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no tests in %q: %v", folder, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), testLimit)
		defer cancel()
		command := exec.CommandContext(ctx, node, append([]string{"--test", "--test-concurrency=1", "--test-reporter=spec"}, files...)...)
		command.Dir = sources
		control := w.control()
		command.Env = append(os.Environ(), "GARDEN="+garden, "CONTROL="+control, "CHROMIUM="+chromium, "SCREENSHOTS="+pictures)
		command.Stdout, command.Stderr = t.Output(), t.Output() // They take minutes, and -v shows how far they are.
		if err := startApart(t, command, hosts(t, append(others, garden, control))...); err != nil {
			t.Fatalf("start the tests of the browser: %v", err)
		}
		if err := command.Wait(); err != nil {
			t.Errorf("the tests of the browser failed: %v", err)
		}
	}
}

// hosts are the hosts of URLs, with their ports.
func hosts(t *testing.T, urls []string) []string {
	t.Helper()
	all := make([]string, 0, len(urls))
	for _, text := range urls {
		parsed, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, parsed.Host)
	}

	return all
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

// TestBrowserAuthorities changes the certificate authorities in the pages. The garden is one of its own, because all others who are
// signed in to it have to sign in again.
func TestBrowserAuthorities(t *testing.T) { //nolint:paralleltest // Two browsers at the same time are too slow for each other.
	run := prepare(t)
	w := &world{Garden: harness.Start(t), t: t, log: &lines{}}
	w.load(filepath.Join("..", "..", "packaging", "examples", "internal-domain.yaml"))
	w.load(filepath.Join("testdata", "forsaken.yaml"))
	run(w, w.Server, "authorities")
}
