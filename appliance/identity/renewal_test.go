// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// open starts a use of the directory that ends with the test.
func (w world) open(t *testing.T) *identity.Garden {
	t.Helper()
	g, err := identity.Ensure(w.dir, names(), w.clk)
	if err != nil {
		t.Fatalf("Ensure(...) = %v", err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})

	return g
}

func leaves() []string { return []string{"serving", "admin", "front-proxy-client"} }

func TestRenew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.open(t)
	start := w.clk.Now()
	renew := func(at time.Time, all bool) []string {
		t.Helper()
		w.clk.SetTime(at)
		renewed, err := g.Certificates.Renew(w.clk.Now(), all)
		if err != nil {
			t.Fatalf("Renew(%s, %t) = %v", at, all, err)
		}

		return renewed
	}
	authority := g.Authorities.Server.Cert
	before := read(t, w.path("pki", "serving.pem"))
	due := g.Certificates.RenewalDue()
	if from, to := start.Add(255*day), start.Add(329*day); due.Before(from) || due.After(to) {
		t.Errorf("A certificate is renewed at 70 to 90 %% of its life: got %s, want %s to %s", due, from, to)
	}
	if got := renew(due.Add(-time.Second), false); len(got) > 0 {
		t.Errorf("Nothing is due yet, but was renewed: %q", got)
	}
	if got := renew(due.Add(time.Second), false); len(got) == 0 {
		t.Error("What is due is renewed.")
	}
	if diff := cmp.Diff(leaves(), renew(due.Add(day), true)); diff != "" {
		t.Errorf("All are renewed if somebody asks for it (-want +got):\n%s", diff)
	}
	if bytes.Equal(before, read(t, w.path("pki", "serving.pem"))) {
		t.Error("The file of the serving certificate did not change.")
	}
	if next := g.Certificates.RenewalDue(); !next.After(due.Add(250 * day)) {
		t.Errorf("New certificates are due much later: got %s, before it was %s", next, due)
	}
	if !g.Authorities.Server.Cert.Equal(authority) || g.Certificates.Serving.Cert.VerifyHostname("garden.example.org") != nil {
		t.Error("A renewed certificate has the same names and comes from the same authority.")
	}
	checkModes(t, w.dir)
}

func TestRenewDirectory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := identity.RenewDirectory(w.dir, w.clk); !errors.Is(err, identity.ErrNoGarden) {
		t.Errorf("A directory without a garden: got %v, want ErrNoGarden", err)
	}
	if _, err := os.Stat(w.dir); !os.IsNotExist(err) {
		t.Errorf("It must not be created: got %v", err)
	}
	g, err := identity.Ensure(w.dir, names(), w.clk)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Certificates.WriteAdminKubeconfig("https://garden.example.org:6443"); err != nil {
		t.Fatal(err)
	}
	if _, err := identity.RenewDirectory(w.dir, w.clk); !errors.Is(err, identity.ErrInUse) {
		t.Errorf("The directory of a garden that runs: got %v, want ErrInUse", err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	before := read(t, w.path("admin.kubeconfig"))
	renewed, err := identity.RenewDirectory(w.dir, w.clk)
	if diff := cmp.Diff(leaves(), renewed); err != nil || diff != "" {
		t.Errorf("RenewDirectory(...) = %v (-want +got):\n%s", err, diff)
	}
	if bytes.Equal(before, read(t, w.path("admin.kubeconfig"))) {
		t.Error("The kubeconfig has the new certificate.")
	}
	config, err := clientcmd.LoadFromFile(w.path("admin.kubeconfig"))
	if err != nil || config.Clusters["terrarium"].Server != "https://garden.example.org:6443" {
		t.Errorf("The kubeconfig leads to the same server: %v, %v", config, err)
	}
	serving := read(t, w.path("pki", "serving.pem"))
	w.ensure(t, names())
	if !bytes.Equal(serving, read(t, w.path("pki", "serving.pem"))) {
		t.Error("The certificate has kept its names, so the next start has nothing to do.")
	}
	checkModes(t, w.dir)
}

func TestInspect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ensure(t, names())
	inspect := func(after time.Duration) (states map[string]identity.State, all []identity.Item) {
		t.Helper()
		items, err := identity.Inspect(w.dir, w.clk.Now().Add(after))
		if err != nil {
			t.Fatalf("Inspect(...) = %v", err)
		}
		states = map[string]identity.State{}
		for _, item := range items {
			if item.State != identity.StateOK {
				states[item.Name] = item.State
			}
		}

		return states, items
	}
	states, items := inspect(0)
	var got []string
	for _, item := range items {
		got = append(got, string(item.Kind)+" "+item.Name)
		if item.Subject == "" || (item.Kind != identity.KindKey) != (item.DaysLeft != nil) || (item.Kind == identity.KindCertificate) != (item.RenewalDue != nil) {
			t.Errorf("An item has a subject, certificates have an end, and leaves a renewal: %+v", item)
		}
	}
	want := []string{
		"certificate serving", "certificate admin", "certificate front-proxy-client",
		"authority server-ca", "authority client-ca", "authority front-proxy-ca",
		"key service-account", "key workload-identity", "key encryption",
	}
	if diff := cmp.Diff(want, got); diff != "" || len(states) > 0 {
		t.Errorf("Inspect(...) of a new garden, states %v (-want +got):\n%s", states, diff)
	}
	for _, tc := range []struct {
		after time.Duration
		want  map[string]identity.State
	}{
		{after: -2 * time.Hour, want: map[string]identity.State{
			"serving": "notYetValid", "admin": "notYetValid", "front-proxy-client": "notYetValid",
			"server-ca": "notYetValid", "client-ca": "notYetValid", "front-proxy-ca": "notYetValid",
		}},
		{after: 331 * day, want: map[string]identity.State{"serving": "due", "admin": "due", "front-proxy-client": "due"}},
		{after: 9*365*day + 200*day, want: map[string]identity.State{
			"serving": "expired", "admin": "expired", "front-proxy-client": "expired",
			"server-ca": "expiring", "client-ca": "expiring", "front-proxy-ca": "expiring",
		}},
	} {
		if states, _ := inspect(tc.after); !cmp.Equal(tc.want, states) {
			t.Errorf("after %s (-want +got):\n%s", tc.after, cmp.Diff(tc.want, states))
		}
	}
	write(t, w.path("pki", "service-account.key"), []byte("secret nonsense"))
	remove(t, w.path("pki", "client-ca.crt"))
	states, items = inspect(0)
	if diff := cmp.Diff(map[string]identity.State{"service-account": "unreadable", "client-ca": "unreadable"}, states); diff != "" {
		t.Errorf("damaged files (-want +got):\n%s", diff)
	}
	for _, item := range items {
		if strings.Contains(item.Message, "nonsense") {
			t.Errorf("A message must not quote a file with a key: %q", item.Message)
		}
	}
}
