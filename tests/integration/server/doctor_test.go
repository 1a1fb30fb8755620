// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/cli"
	"github.com/terrarium-garden/terrarium/appliance/doctor"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// terrarium runs a command.
func terrarium(t *testing.T, args ...string) (status int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	status = cli.Main(t.Context(), cli.Environment{
		In: strings.NewReader(""), Out: &o, Err: &e, Getenv: func(string) string { return "" }, Clock: clock.RealClock{},
	}, args)

	return status, o.String(), e.String()
}

// raw reads a path as a user.
func raw(t *testing.T, g *harness.Garden, path, user string, groups ...string) ([]byte, error) {
	t.Helper()
	config := rest.CopyConfig(g.Config)
	if user != "" {
		config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: append(groups, "system:authenticated")}
	}
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}

	return c.Discovery().RESTClient().Get().AbsPath(path).DoRaw(t.Context())
}

// TestDoctor asks a running server, and then examines its data directory.
func TestDoctor(t *testing.T) {
	t.Parallel()
	g := harness.Start(t)
	for _, path := range []string{"/appliance/doctor", "/appliance/status"} {
		for _, user := range []string{"mallory", "gardener.cloud:system:seed:eu"} {
			if _, err := raw(t, g, path, user, "gardener.cloud:system:seeds"); !apierrors.IsForbidden(err) {
				t.Errorf("GET %s as %q: got %v, want Forbidden", path, user, err)
			}
		}
	}
	report := &doctor.Report{}
	status, out, errs := terrarium(t, "doctor", "--data-dir", g.DataDir, "-o", "json")
	if err := json.Unmarshal([]byte(out), report); err != nil {
		t.Fatalf("doctor: status %d, %v\n%s%s", status, err, out, errs)
	}
	for _, check := range []string{"certificates", "disk", "host", "seeds", "shoots", "store", "stuck", "units"} {
		if !slices.Contains(report.Checked, check) {
			t.Errorf("check %q was not made, only %q", check, report.Checked)
		}
	}
	ill := slices.DeleteFunc(report.Findings, func(f doctor.Finding) bool {
		return f.Check != "units" && f.Check != "store" && f.Check != "certificates"
	})
	if diff := cmp.Diff([]doctor.Finding{}, ill, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("findings of a new garden (-want +got):\n%s", diff)
	}
	if status, out, errs := terrarium(t, "status", "--data-dir", g.DataDir); status != 0 || !strings.Contains(out, "Store of objects") || !strings.Contains(out, "Findings") {
		t.Errorf("status: status %d\n%s%s", status, out, errs)
	}

	g.Stop(t)
	if err := os.Chmod(g.DataDir, 0o750); err != nil {
		t.Fatal(err)
	}
	status, out, errs = terrarium(t, "doctor", "--data-dir", g.DataDir)
	if status != 4 || !strings.Contains(out, "server-down") || !strings.Contains(out, "data-directory-mode") || strings.Contains(out, "store-damaged") {
		t.Errorf("doctor without a server: status %d, want 4 with server-down and data-directory-mode\n%s%s", status, out, errs)
	}
}
