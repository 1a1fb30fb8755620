// SPDX-License-Identifier: Apache-2.0

package webui_test

import (
	"bytes"
	"net/url"
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
