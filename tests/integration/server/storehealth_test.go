// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/server"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestDamagedStore flips a byte of one object in the file of a stopped server. The next start finds it and fails, because the object
// would look to controllers as if it did not exist.
func TestDamagedStore(t *testing.T) {
	t.Parallel()
	const canary = "CANARY-IN-THE-FILE"
	g := harness.Start(t)
	for _, name := range []string{"victim", "neighbour"} {
		text := map[string]string{"victim": canary, "neighbour": "well"}[name]
		if err := g.Client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: name}, Data: map[string]string{"k": text}}); err != nil {
			t.Fatal(err)
		}
	}
	if status, out, errs := terrarium(t, "store", "check", "--data-dir", g.DataDir); status != 0 || !strings.Contains(out, "objects") {
		t.Errorf("store check: status %d\n%s%s", status, out, errs)
	}
	if status, out, errs := terrarium(t, "store", "vacuum", "--data-dir", g.DataDir); status != 0 || !strings.Contains(out, "events") {
		t.Errorf("store vacuum: status %d\n%s%s", status, out, errs)
	}
	g.Stop(t)
	file := filepath.Join(g.DataDir, "db", "objects.db")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(content, []byte(canary))
	if at < 0 {
		t.Fatal("the object is not in the file")
	}
	content[at] ^= 1
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if status, out, _ := terrarium(t, "doctor", "--offline", "--data-dir", g.DataDir); status != 4 || !strings.Contains(out, "store-damaged") {
		t.Errorf("doctor on the data directory: status %d\n%s", status, out)
	}

	config := &gardenconfigv1alpha1.ServerConfiguration{DataDir: g.DataDir, Listen: "127.0.0.1:0"}
	config.SetDefaults()
	err = server.Run(t.Context(), server.Options{Config: config, Log: logr.Discard(), Version: "v0.0.0-test"})
	if err == nil || !strings.Contains(err.Error(), "damaged") || !strings.Contains(err.Error(), "victim") {
		t.Errorf("a server with damaged objects does not start, and names them: got %v", err)
	}

	// With the byte as it was, it does.
	content[at] ^= 1
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	again := harness.Start(t, harness.WithDataDir(g.DataDir))
	if err := again.Client.Get(t.Context(), client.ObjectKey{Namespace: "garden", Name: "victim"}, &corev1.ConfigMap{}); err != nil {
		t.Errorf("what is whole is served: %v", err)
	}
	if status, out, _ := terrarium(t, "store", "check", "--data-dir", again.DataDir); status != 0 {
		t.Errorf("store check: status %d\n%s", status, out)
	}
	if _, err := raw(t, again, "/appliance/store/vacuum", "mallory"); !apierrors.IsForbidden(err) {
		t.Errorf("as mallory: got %v, want Forbidden", err)
	}
}
