// SPDX-License-Identifier: Apache-2.0

package identity_test

import (
	"crypto/x509"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/cert"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// authoritySubjects returns the names in the bundle of an authority; the one that signs has a star.
func authoritySubjects(t *testing.T, w world, name string) []string {
	t.Helper()
	items, err := identity.Inspect(w.dir, w.clk.Now())
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, item := range items {
		if item.Name != name {
			continue
		}
		subject := strings.TrimPrefix(item.Subject, "CN=terrarium-")
		if item.State == identity.StateOK {
			subject += "*"
		}
		all = append(all, subject)
	}

	return all
}

// checkAuthorities checks what signs and what is trusted, and that all certificates fit.
func checkAuthorities(t *testing.T, w world, g *identity.Garden, when string, want map[string][]string) {
	t.Helper()
	is := map[string][]string{}
	for name := range want {
		is[name] = authoritySubjects(t, w, name)
	}
	if diff := cmp.Diff(want, is); diff != "" {
		t.Errorf("authorities %s, those that sign have a star (-want +got):\n%s", when, diff)
	}
	verify(t, g.Authorities.Server, g.Certificates.Serving, x509.ExtKeyUsageServerAuth, w.clk.Now())
	verify(t, g.Authorities.Client, g.Certificates.Admin, x509.ExtKeyUsageClientAuth, w.clk.Now())
	verify(t, g.Authorities.FrontProxy, g.Certificates.FrontProxy, x509.ExtKeyUsageClientAuth, w.clk.Now())
	signer, err := cert.CertsFromFile(g.Authorities.ClientSignerFile())
	if err != nil || len(signer) != 1 || !signer[0].Equal(g.Authorities.Client.Cert) {
		t.Errorf("signer of client certificates %s: got %d, %v", when, len(signer), err)
	}
	checkModes(t, w.dir)
}

func before() map[string][]string {
	return map[string][]string{
		"server-ca": {"server-ca*"}, "client-ca": {"client-ca*"}, "front-proxy-ca": {"front-proxy-ca*"},
	}
}

const nextDay = "-20300103030405"

func started() map[string][]string {
	return map[string][]string{
		"server-ca": {"server-ca*", "server-ca" + nextDay}, "client-ca": {"client-ca", "client-ca" + nextDay + "*"},
		"front-proxy-ca": {"front-proxy-ca*", "front-proxy-ca" + nextDay},
	}
}

func completed() map[string][]string {
	return map[string][]string{
		"server-ca": {"server-ca" + nextDay + "*"}, "client-ca": {"client-ca" + nextDay + "*"},
		"front-proxy-ca": {"front-proxy-ca" + nextDay + "*"},
	}
}

func TestAuthorityRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.open(t)
	checkAuthorities(t, w, g, "at first", before())
	if err := errors.Join(g.Changes.SwitchAuthorities(w.clk.Now()), g.Changes.ForgetAuthorities(w.clk.Now())); !errors.Is(err, identity.ErrNotRotating) {
		t.Errorf("nothing to complete: got %v, want ErrNotRotating", err)
	}
	w.clk.SetTime(w.clk.Now().Add(day))
	former, bundle, changed := g.Certificates.Serving.Cert, g.Authorities.CABundle(), make([]<-chan struct{}, 2)
	for i := range changed {
		_, changed[i] = g.Authorities.WatchCABundle()
	}
	results := make(chan error)
	const starters = 8
	for range starters {
		go func() { results <- g.Changes.StartAuthorityRotation(w.clk.Now()) }()
	}
	ok := 0
	for range starters {
		if err := <-results; err == nil {
			ok++
		} else if !errors.Is(err, identity.ErrRotating) {
			t.Errorf("StartAuthorityRotation(...) = %v", err)
		}
	}
	if ok != 1 {
		t.Fatalf("rotations that began at the same time: got %d, want 1", ok)
	}
	<-changed[0]
	<-changed[1]
	checkAuthorities(t, w, g, "after the start", started())
	is := tree(t, w.dir)
	if err := g.Changes.ContinueAuthorityRotation(w.clk.Now()); err != nil || len(difference(is, tree(t, w.dir))) > 0 {
		t.Errorf("there is nothing left to do: %v, %v", difference(is, tree(t, w.dir)), err)
	}
	if !g.Certificates.Serving.Cert.Equal(former) || !strings.HasPrefix(string(g.Authorities.CABundle()), string(bundle)) {
		t.Error("A client that trusts only the former authority goes on to trust the server.")
	}
	if err := g.Changes.ForgetAuthorities(w.clk.Now()); !errors.Is(err, identity.ErrNotRotating) {
		t.Errorf("forget before the switch: got %v, want ErrNotRotating", err)
	}

	if err := errors.Join(g.Changes.SwitchAuthorities(w.clk.Now()), g.Changes.SwitchAuthorities(w.clk.Now())); err != nil {
		t.Fatalf("SwitchAuthorities(...) = %v", err)
	}
	if certs, err := cert.ParseCertsPEM(g.Authorities.CABundle()); err != nil || len(certs) != 2 || g.Certificates.Serving.Cert.CheckSignatureFrom(certs[1]) != nil {
		t.Errorf("The server has a certificate of the next authority while both are trusted: %d, %v", len(certs), err)
	}
	if err := errors.Join(g.Changes.ForgetAuthorities(w.clk.Now()), g.Changes.ForgetAuthorities(w.clk.Now()), g.Changes.EndAuthorityRotation(w.clk.Now())); err != nil {
		t.Fatalf("ForgetAuthorities(...) = %v", err)
	}
	checkAuthorities(t, w, g, "after the completion", completed())
	if r, err := g.Authorities.Rotation(); r != nil || err != nil {
		t.Errorf("the rotation is over: got %+v, %v", r, err)
	}
	if left, err := filepath.Glob(w.path("pki", "*next*")); len(left) > 0 || err != nil {
		t.Errorf("files are left: %q, %v", left, err)
	}
}

// TestAuthorityRotationInterrupted ends the process after each file that a phase changes.
func TestAuthorityRotationInterrupted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.open(t)
	phases := []struct {
		name  string
		run   func() error
		order []string
		want  map[string][]string
	}{
		{"start", func() error { return g.Changes.StartAuthorityRotation(w.clk.Now()) }, []string{
			"authority-rotation.json", "server-ca-next.pem", "server-ca.crt", "client-ca-next.pem", "client-ca.crt",
			"front-proxy-ca-next.pem", "front-proxy-ca.crt", "client-ca.key", "client-ca-signer.pem", "admin.pem",
		}, started()},
		{"switch", func() error { return g.Changes.SwitchAuthorities(w.clk.Now()) }, []string{
			"authority-rotation.json", "server-ca.key", "front-proxy-ca.key", "serving.pem", "front-proxy-client.pem",
		}, completed()},
		{"forget", func() error {
			return errors.Join(g.Changes.ForgetAuthorities(w.clk.Now()), g.Changes.EndAuthorityRotation(w.clk.Now()))
		}, []string{
			"server-ca.crt", "server-ca-next.pem", "client-ca.crt", "client-ca-next.pem", "front-proxy-ca.crt", "front-proxy-ca-next.pem",
			"authority-rotation.json",
		}, completed()},
	}
	w.clk.SetTime(w.clk.Now().Add(day))
	for _, phase := range phases {
		old := tree(t, w.dir)
		if err := phase.run(); err != nil {
			t.Fatalf("%s: %v", phase.name, err)
		}
		fresh := tree(t, w.dir)
		changed := slices.Sorted(maps.Keys(difference(old, fresh)))
		expected := make([]string, 0, len(phase.order))
		for _, file := range phase.order {
			expected = append(expected, w.path("pki", file))
		}
		slices.Sort(expected)
		if diff := cmp.Diff(expected, changed); diff != "" {
			t.Fatalf("%s changes other files than are tried (-want +got):\n%s", phase.name, diff)
		}
		for n := 1; n <= len(phase.order); n++ {
			is := maps.Clone(old)
			for _, file := range phase.order[:n] {
				path := w.path("pki", file)
				if is[path] = fresh[path]; is[path] == "" {
					delete(is, path)
				}
			}
			again := w.copyOf(t, is)
			checkAuthorities(t, again, again.ensure(t, names()), phase.name+" up to "+phase.order[n-1], phase.want)
		}
	}
}

// difference returns the paths that are not the same in two trees.
func difference(a, b map[string]string) map[string]bool {
	all := map[string]bool{}
	for path := range a {
		all[path] = true
	}
	for path := range b {
		all[path] = true
	}
	maps.DeleteFunc(all, func(path string, _ bool) bool { return a[path] == b[path] })

	return all
}

// copyOf writes files of a directory into another one.
func (w world) copyOf(t *testing.T, files map[string]string) world {
	t.Helper()
	to := world{dir: filepath.Join(t.TempDir(), "data"), clk: w.clk}
	for path, data := range files {
		relative, err := filepath.Rel(w.dir, path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(to.path(relative)), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, to.path(relative), []byte(data))
	}

	return to
}
