// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/backup"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// download requests the file of a snapshot, maybe as somebody else.
func download(t *testing.T, g *harness.Garden, name, user, span string) (*http.Response, []byte) {
	t.Helper()
	config := rest.CopyConfig(g.Config)
	config.Impersonate.UserName = user
	garden, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	path := "/apis/appliance.gardener.cloud/v1alpha1/snapshots/" + name + "/download"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.Server+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if span != "" {
		r.Header.Set("Range", span)
	}
	answer, err := garden.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // Nothing is written.
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}

	return answer, body
}

// TestSnapshotOverTheAPI verifies and downloads a snapshot as an administrator, and as others who may not. Downloads are in the audit log.
func TestSnapshotOverTheAPI(t *testing.T) {
	t.Parallel()
	g := harness.Start(t)
	made := &gardenappliancev1alpha1.Snapshot{}
	if err := g.Client.Create(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	begun := &gardenappliancev1alpha1.Snapshot{}
	if err := g.Client.SubResource("verification").Create(t.Context(), made, begun); err != nil || begun.Status.Verification == nil {
		t.Fatalf("Verify: %+v, %v", begun.Status, err)
	}
	harness.Await(t, g.Client, made, "it is verified", func(s *gardenappliancev1alpha1.Snapshot) error {
		is := s.Status.Verification
		if is == nil || is.State != gardenappliancev1alpha1.SnapshotVerificationSucceeded || is.Files < 1 || is.ChecksumsOnly {
			return fmt.Errorf("%+v", is)
		}

		return nil
	})
	missing := made.DeepCopy()
	missing.Name = "snapshot-20000101-000000-1-1"
	if err := g.Client.SubResource("verification").Create(t.Context(), missing, begun); !apierrors.IsNotFound(err) {
		t.Errorf("Verify one that is missing: %v", err)
	}

	file, err := os.ReadFile(filepath.Join(g.DataDir, "snapshots", made.Name+backup.Extension))
	if err != nil {
		t.Fatal(err)
	}
	answer, got := download(t, g, made.Name, "", "") //nolint:bodyclose // The function closes it.
	if answer.StatusCode != http.StatusOK || !bytes.Equal(got, file) || answer.ContentLength != int64(len(file)) {
		t.Errorf("Download: %s, %d of %d bytes", answer.Status, len(got), len(file))
	}
	if want := fmt.Sprintf("attachment; filename=%q", made.Name+backup.Extension); answer.Header.Get("Content-Disposition") != want {
		t.Errorf("Content-Disposition: %q, want %q", answer.Header.Get("Content-Disposition"), want)
	}
	if answer, got := download(t, g, made.Name, "", "bytes=100-"); answer.StatusCode != http.StatusPartialContent || !bytes.Equal(got, file[100:]) { //nolint:bodyclose // The function closes it.
		t.Errorf("The rest of it: %s, %d bytes", answer.Status, len(got))
	}
	statuses := map[string]int{missing.Name: 0, "key": 0, "..%2Fkey": 0}
	for name := range statuses {
		answer, _ := download(t, g, name, "", "") //nolint:bodyclose // The function closes it.
		statuses[name] = answer.StatusCode
	}
	if diff := cmp.Diff(map[string]int{missing.Name: http.StatusNotFound, "key": http.StatusNotFound, "..%2Fkey": http.StatusNotFound}, statuses); diff != "" {
		t.Errorf("Downloads of what is no snapshot (-want +got):\n%s", diff)
	}
	mallory := g.As(t, "mallory", "system:authenticated")
	if err := mallory.SubResource("verification").Create(t.Context(), made, begun); !apierrors.IsForbidden(err) {
		t.Errorf("Others verify: %v", err)
	}
	if answer, got := download(t, g, made.Name, "mallory", ""); answer.StatusCode != http.StatusForbidden || bytes.Contains(got, file[:32]) { //nolint:bodyclose // The function closes it.
		t.Errorf("Others download: %s", answer.Status)
	}
	// Each request is recorded when it begins and when it ends: who holds a download open is seen as well.
	harness.Eventually(t, "downloads are recorded", func(context.Context) error {
		requests := map[string]bool{}
		for _, event := range found(t, g, "--resource", "snapshots", "--verb", "get", "--name", made.Name) { //nolint:contextcheck // It takes that of the test.
			requests[event.AuditID] = true
		}
		if n := len(requests); n != 3 {
			return fmt.Errorf("there are not two downloads and one attempt, but %d", n)
		}

		return nil
	})
}
