// SPDX-License-Identifier: Apache-2.0

package webui_test

import (
	"bytes"
	"context"
	"errors"
	"html"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/cli"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// command signs in with the link that `terrarium ui` prints to who may read the data directory.
func command(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		var out, errs bytes.Buffer
		status := cli.Main(t.Context(), cli.Environment{
			In: strings.NewReader(""), Out: &out, Err: &errs, Getenv: func(string) string { return "" }, Clock: clock.RealClock{},
		}, []string{"ui", "--data-dir", g.DataDir, "--server", "https://garden.example.org"})
		link, err := url.Parse(strings.TrimSpace(out.String()))
		if status != 0 || err != nil {
			t.Fatalf("terrarium ui = %d %q %q, %v", status, out.String(), errs.String(), err)
		}
		sent := *link
		sent.Fragment = ""
		if diff := cmp.Diff("https://garden.example.org/ui/sign-in", sent.String()); diff != "" {
			t.Errorf("the link leads to the sign-in, and nothing of the code is sent (-want +got):\n%s", diff)
		}
		b := open(t, g)
		b.signIn("code", strings.TrimPrefix(link.Fragment, "code="))
		if got := b.whoAmI(); got != "admin" {
			t.Errorf("the link signs in as the administrator; got %q", got)
		}
	}
}

// commandOpens opens the link in a browser, which is given a file that others cannot read.
func commandOpens(g *harness.Garden) func(*testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		var errs bytes.Buffer
		var file string
		b := open(t, g)
		status := cli.Main(t.Context(), cli.Environment{
			In: strings.NewReader(""), Out: &errs, Err: &errs, Getenv: func(string) string { return "" }, Clock: clock.RealClock{},
			Open: func(_ context.Context, given string) error {
				file = given
				text, err := os.ReadFile(given)
				if err != nil {
					return err
				}
				info, err := os.Stat(given)
				if err != nil {
					return err
				}
				dir, err := os.Stat(filepath.Dir(given))
				if err != nil {
					return err
				}
				if diff := cmp.Diff([]fs.FileMode{0o600, 0o700}, []fs.FileMode{info.Mode().Perm(), dir.Mode().Perm()}); diff != "" {
					t.Errorf("modes of the file and its directory (-want +got):\n%s", diff)
				}
				code := regexp.MustCompile(`url=[^"]*#code=([A-Z2-7]+)"`).FindStringSubmatch(html.UnescapeString(string(text)))
				if len(code) != 2 {
					t.Errorf("the file leads to the link; got %q", text)

					return errors.New("no link")
				}
				b.signIn("code", code[1]) //nolint:contextcheck // the browser has the context of its test

				return nil
			},
		}, []string{"ui", "--open", "--data-dir", g.DataDir})
		if status != 0 {
			t.Fatalf("terrarium ui --open = %d %q", status, errs.String())
		}
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the file is removed when the link was used; got error %v", err)
		}
		if strings.Contains(errs.String(), "code=") {
			t.Errorf("the link is not shown as well: %q", errs.String())
		}
	}
}
