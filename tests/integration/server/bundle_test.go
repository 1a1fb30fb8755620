// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// unpack returns the files of an archive.
func unpack(t *testing.T, path string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimPrefix(header.Name, "terrarium-support/")] = string(content)
	}
}

// forms are a text and what it looks like in base64, wherever it begins.
func forms(text string) []string {
	all := []string{text}
	for n := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(" ", n) + text))
		all = append(all, encoded[4:len(encoded)-4])
	}

	return all
}

// TestSupportBundle hides canaries wherever secrets are, and looks for them in the bundle.
func TestSupportBundle(t *testing.T) {
	t.Parallel()
	const canary, jwt, join = "CANARY-7d1f4c-SECRET", "eyJhbGciOiJSUzI1NiJ9.eyJjYW5hcnkiOiJ5ZXMifQ.c2lnbmF0dXJl", "abcdef.0123456789abcdef"
	const key = "-----BEGIN EC PRIVATE KEY-----\nQ0FOQVJZLUtFWQ==\n-----END EC PRIVATE KEY-----"
	g := harness.Start(t)
	seedNamespace := "garden"
	secretive := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Name: name, Labels: map[string]string{"canary": canary},
			Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": canary},
		}
	}
	secret := &corev1.Secret{ObjectMeta: secretive("cloud"), StringData: map[string]string{"password": canary, "key": key}}
	secret.Namespace = seedNamespace
	internal := &gardencorev1beta1.InternalSecret{ObjectMeta: secretive("inner"), StringData: map[string]string{"k": canary}}
	internal.Namespace = seedNamespace
	config := &corev1.ConfigMap{ObjectMeta: secretive("config"), Data: map[string]string{"kubeconfig": canary}}
	config.Namespace = seedNamespace
	project := &gardencorev1beta1.Project{ObjectMeta: secretive("meadow")}
	project.Spec.Description = new(canary)
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "said"}, Reason: "Said", Type: "Warning",
		InvolvedObject: corev1.ObjectReference{Kind: "Project", Name: "meadow", Namespace: "default"},
		Message:        "tried with " + jwt + " and " + join + " at https://user:" + canary + "@host, password=" + canary + " " + key,
	}
	token := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-abcdef"}, Type: "bootstrap.kubernetes.io/token",
		StringData: map[string]string{
			"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true",
			"expiration": metav1.Now().Add(3600e9).UTC().Format("2006-01-02T15:04:05Z07:00"),
		},
	}
	ctx := t.Context()
	for _, err := range []error{
		g.Client.Create(ctx, secret), g.Client.Create(ctx, internal), g.Client.Create(ctx, config), g.Client.Create(ctx, project),
		g.Client.Create(ctx, event), g.Client.Create(ctx, token),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := raw(t, g, "/appliance/support-bundle", "mallory"); !apierrors.IsForbidden(err) {
		t.Errorf("as mallory: got %v, want Forbidden", err)
	}
	file := filepath.Join(t.TempDir(), "bundle.tar.gz")
	if status, _, errs := terrarium(t, "support-bundle", "--data-dir", g.DataDir, "--file", file); status != 0 {
		t.Fatalf("support-bundle: status %d\n%s", status, errs)
	}
	if status, _, _ := terrarium(t, "support-bundle", "--data-dir", g.DataDir, "--file", file); status != 1 {
		t.Errorf("a file that exists is not replaced: status %d", status)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the file: got %v, %v", info, err)
	}
	found := unpack(t, file)
	for name, want := range map[string]string{
		"version.json": "v0.0.0-test", "configuration.yaml": "kind: ServerConfiguration", "status.json": `"units"`, "doctor.json": `"checked"`,
		"metrics.txt": "terrarium_store_commit_seconds", "server.log": "Garden ready", "goroutines.txt": "goroutine profile",
		"objects/Project.json": `"meadow"`, "objects/Seed.json": "SeedList", "objects/Shoot.json": "ShootList", "objects/Event.json": "tried with",
		"objects/CertificateSigningRequest.json": "List", "objects/Bastion.json": "BastionList", "objects/ManagedSeed.json": "ManagedSeedList",
	} {
		if !strings.Contains(found[name], want) {
			t.Errorf("%s does not contain %q:\n%.500s", name, want, found[name])
		}
	}
	admin, err := os.ReadFile(filepath.Join(g.DataDir, "pki", "admin.pem"))
	if err != nil {
		t.Fatal(err)
	}
	_, private, _ := strings.Cut(string(admin), "PRIVATE KEY-----\n")
	hidden := append(forms(canary), "Q0FOQVJZLUtFWQ", jwt, "0123456789abcdef", "PRIVATE KEY", private[:40])
	for name, content := range found {
		for _, text := range hidden {
			if strings.Contains(content, text) {
				t.Errorf("%s contains %q", name, text)
			}
		}
	}
}

// TestLogLevel changes the level of a running server.
func TestLogLevel(t *testing.T) {
	t.Parallel()
	g := harness.Start(t, harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) { c.LogLevel = "info" }))
	if _, err := raw(t, g, "/appliance/log-level", "mallory"); !apierrors.IsForbidden(err) {
		t.Errorf("as mallory: got %v, want Forbidden", err)
	}
	type answer struct {
		Status int
		Out    string
	}
	for _, tc := range []struct {
		args []string
		want answer
	}{{nil, answer{0, "info\n"}}, {[]string{"error"}, answer{0, "error\n"}}, {nil, answer{0, "error\n"}}, {[]string{"loud"}, answer{2, ""}}, {[]string{"info"}, answer{0, "info\n"}}} {
		status, out, errs := terrarium(t, append([]string{"log-level", "--data-dir", g.DataDir}, tc.args...)...)
		if diff := cmp.Diff(tc.want, answer{status, out}); diff != "" {
			t.Errorf("log-level %q (-want +got):\n%s%s", tc.args, diff, errs)
		}
	}
	if !strings.Contains(g.Log(), "Log level changed") {
		t.Error("a change is in the log")
	}
}
