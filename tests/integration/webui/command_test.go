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
		if link.Host != "garden.example.org" || link.Path != "/ui/sign-in" || link.RawQuery != "" {
			t.Errorf("the link leads to the sign-in, and nothing of it is sent before; got %s", link)
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
				if info.Mode().Perm() != 0o600 || dir.Mode().Perm() != 0o700 {
					t.Errorf("modes of the file and its directory = %s and %s, want those of a secret", info.Mode(), dir.Mode())
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
