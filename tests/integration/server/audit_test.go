// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/auditlog"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// found searches the audit log with the command line.
func found(t *testing.T, g *harness.Garden, args ...string) []auditlog.Event {
	t.Helper()
	status, out, errs := terrarium(t, append([]string{"audit", "--data-dir", g.DataDir, "-o", "json"}, args...)...)
	var answer struct{ Items []auditlog.Event }
	if err := json.Unmarshal([]byte(out), &answer); err != nil || status != 0 {
		t.Fatalf("audit: status %d, %v\n%s%s", status, err, out, errs)
	}

	return answer.Items
}

// TestAudit has many people write and read at the same time, stops the server, and counts what it has recorded.
func TestAudit(t *testing.T) {
	t.Parallel()
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	// An operator's policy that asks for everything: bodies of credentials are left out all the same.
	all := "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: None, users: ['system:apiserver']}, {level: RequestResponse}]\n"
	if err := os.WriteFile(policy, []byte(all), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"default": "", "everything": policy} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := harness.Start(t, harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) { c.Audit.PolicyFile = file }))
			const people, each = 8, 25
			var group sync.WaitGroup
			for range people {
				group.Go(func() {
					for range each {
						secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", GenerateName: "canary-"}, StringData: map[string]string{"k": "CANARY"}}
						if err := g.Client.Create(t.Context(), secret); err != nil {
							t.Error(err)
						}
					}
				})
			}
			group.Wait()
			mallory := g.As(t, "mallory")
			if err := mallory.Get(t.Context(), client.ObjectKey{Namespace: "garden", Name: "stolen"}, &corev1.Secret{}); !apierrors.IsForbidden(err) {
				t.Errorf("got %v, want Forbidden", err)
			}
			if _, err := raw(t, g, "/appliance/audit", "mallory"); !apierrors.IsForbidden(err) {
				t.Errorf("GET /appliance/audit as mallory: got %v, want Forbidden", err)
			}
			harness.Eventually(t, "events are written", func(context.Context) error {
				if n := len(found(t, g, "--user", "mallory", "--resource", "secrets", "--verb", "get", "--name", "stolen", "-n", "garden")); n != 1 { //nolint:contextcheck // It takes that of the test.
					return errors.New("the attempt of mallory is not there once")
				}

				return nil
			})
			attempt := found(t, g, "--user", "mallory", "--name", "stolen")[0]
			if attempt.Impersonated == nil || attempt.Status == nil {
				t.Fatalf("the attempt: got %+v", attempt)
			}
			got := []string{attempt.User.Username, attempt.Impersonated.Username, strconv.Itoa(int(attempt.Status.Code))}
			if diff := cmp.Diff([]string{"admin", "mallory", "403"}, got); diff != "" {
				t.Errorf("who made the attempt, as whom, and the status (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]auditlog.Event{}, found(t, g, "--user", "nobody"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("what nobody did (-want +got):\n%s", diff)
			}
			if status, _, errs := terrarium(t, "audit", "--data-dir", g.DataDir, "--from", "yesterday"); status != 2 {
				t.Errorf("a malformed time: status %d\n%s", status, errs)
			}

			g.Stop(t)
			dir := filepath.Join(g.DataDir, "audit")
			events, err := auditlog.Search(t.Context(), dir, auditlog.Filter{Verb: "create", Resource: "secrets", User: "admin", Limit: 1000})
			if err != nil || len(events) != people*each {
				t.Errorf("nothing is lost on a clean stop: got %d events of %d, %v", len(events), people*each, err)
			}
			err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				info, err := d.Info()
				if err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%s: mode %v, %v", path, info.Mode(), err)
				}
				content, err := os.ReadFile(path)
				for _, canary := range []string{"CANARY", "Q0FOQVJZ"} {
					if strings.Contains(string(content), canary) {
						t.Errorf("%s contains the content of a Secret", path)
					}
				}

				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
