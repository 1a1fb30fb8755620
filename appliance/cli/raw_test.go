// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestServerSaysWhy has all commands that send raw requests be refused, in the two ways in which servers say why.
func TestServerSaysWhy(t *testing.T) {
	t.Parallel()

	text := func(status int, message string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, message, status) }
	}
	object := func(err *apierrors.StatusError) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { refuse(w, err) }
	}
	noSeed := apierrors.NewNotFound(schema.GroupResource{}, "")
	noSeed.ErrStatus.Message = "there is no seed of that name"
	forbidden := object(apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("alice is no administrator")))
	const administrator = "use the kubeconfig of an administrator"
	for name, tc := range map[string]struct {
		args    string
		refusal http.HandlerFunc
		want    []string
	}{
		"Unknown seed":    {"seed revoke eu-1", object(noSeed), []string{`revoke seed "eu-1": there is no seed of that name`}},
		"Not shut out":    {"seed forgive eu-1", object(noSeed), []string{"there is no seed of that name"}},
		"Exposure":        {"seed exposure eu-1", object(noSeed), []string{"there is no seed of that name"}},
		"Revoked":         {"seed revoked", text(http.StatusServiceUnavailable, "not known yet"), []string{"not known yet"}},
		"External":        {"store check", text(http.StatusConflict, "the objects are in PostgreSQL"), []string{"check the databases: the objects are in PostgreSQL"}},
		"Vacuum":          {"store vacuum", text(http.StatusInsufficientStorage, "no space"), []string{"no space"}},
		"Waiting":         {"status", text(http.StatusServiceUnavailable, "waiting for the datastore"), []string{"waiting for the datastore"}},
		"Doctor":          {"doctor", text(http.StatusInternalServerError, "the doctor is ill"), []string{"the doctor is ill"}},
		"Audit":           {"audit", text(http.StatusBadRequest, "since: not a time"), []string{"search audit log: since: not a time"}},
		"Log level":       {"log-level debug", text(http.StatusBadRequest, "level: unknown"), []string{"level: unknown"}},
		"Support bundle":  {"support-bundle --file -", text(http.StatusServiceUnavailable, "waiting"), []string{"waiting"}},
		"Certificates":    {"certificate rotate", text(http.StatusConflict, "a rotation goes on"), []string{"a rotation goes on"}},
		"Link":            {"ui --server https://garden.example.org", forbidden, []string{"alice is no administrator", "only the administrator can"}},
		"Forbidden":       {"status", forbidden, []string{"alice is no administrator", administrator}},
		"Forbidden text":  {"status", text(http.StatusForbidden, "go away"), []string{"go away", administrator}},
		"No such page":    {"status", http.NotFound, []string{"the server could not find the requested resource"}},
		"Neither of both": {"status", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusConflict, []string{"x"}) }, []string{"the server reported a conflict"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := startGarden(t)
			g.refusal = tc.refusal
			r := newWorld().run(t, append(strings.Fields(tc.args), "--data-dir", g.Dir)...)
			for _, want := range tc.want {
				if r.status != 1 || !strings.Contains(r.errors, want) {
					t.Errorf("status %d, want 1 and %q\n%s", r.status, want, r.errors)
				}
			}
		})
	}
}
