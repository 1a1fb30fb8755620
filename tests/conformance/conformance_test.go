// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

const (
	dryRun = "dryRun=All"
	// askers is how many requests are under way at once.
	askers = 8
)

var update = flag.Bool("update", false, "write testdata/answers anew")

// TestConformance varies an object of each kind in each of its fields, and compares the answers with those that are kept.
func TestConformance(t *testing.T) {
	t.Parallel()
	garden := harness.Start(t)
	client, err := rest.HTTPClientFor(garden.Config)
	if err != nil {
		t.Fatal(err)
	}
	c := caller{host: garden.Config.Host, client: client}
	surround(t, garden)
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			compare(t, k.name, vary(t, c, k))
		})
	}
}

// compare compares answers with those that are kept, or keeps them.
func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "answers", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}

		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("answers differ from %s; if they are right, run the test with -update (-want +got):\n%s", path, diff)
	}
}

// request is a question of one line in the file of answers.
type request struct {
	// group is the field or the kind of question, the headline in the file; label is what is tried.
	group, label string
	method, path string
	body         map[string]any
}

// vary asks everything about a kind, and returns the text of the answers. All creations are asked before the object is
// there, so that none is refused for its name.
func vary(t *testing.T, c caller, k kind) string {
	t.Helper()
	base := read(t, filepath.Join("testdata", "base", k.name+".yaml"))[0]
	creations := creations(k, base)
	created := askAll(t, c, k, creations)
	updates := updates(k, create(t, c, k, base))
	updated := askAll(t, c, k, updates)

	return text(slices.Concat(creations, updates), slices.Concat(created, updated))
}

func creations(k kind, base map[string]any) []request {
	requests := []request{{group: "(the object itself)", label: "create", method: http.MethodPost, path: k.path(base, false), body: base}}
	requests = append(requests, metadata(k, base)...)
	for _, f := range fields(k.goType, base) {
		for _, v := range atCreation(f) {
			requests = append(requests, request{f.String(), "create " + v.name, http.MethodPost, k.path(base, false), with(base, f.path, v)})
		}
	}

	return append(requests, k.more(base)...)
}

func updates(k kind, stored map[string]any) []request {
	var requests []request
	for _, f := range fields(k.goType, stored) {
		for _, v := range atUpdate(f) {
			requests = append(requests, request{f.String(), "update " + v.name, http.MethodPut, k.path(stored, true), with(stored, f.path, v)})
		}
	}

	return requests
}

// create makes the object that is varied in updates, and returns it as it is stored.
func create(t *testing.T, c caller, k kind, base map[string]any) map[string]any {
	t.Helper()
	a, err := c.ask(t.Context(), http.MethodPost, strings.TrimSuffix(k.path(base, false), "?"+dryRun), base)
	if err != nil {
		t.Fatal(err)
	}
	if a.code != http.StatusCreated {
		t.Fatalf("create %s: %s\n%s", k.name, a, a.body)
	}
	stored := map[string]any{}
	if err := json.Unmarshal(a.body, &stored); err != nil {
		t.Fatal(err)
	}

	return stored
}

// askAll sends requests, some at a time, and returns the answers in their order.
func askAll(t *testing.T, c caller, k kind, requests []request) []answer {
	t.Helper()
	answers := make([]answer, len(requests))
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(askers)
	for i, r := range requests {
		group.Go(func() error {
			a, err := send(ctx, c, k, r)
			answers[i] = a

			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}

	return answers
}

// send sends a request. An update carries the version that the object has by now, as controllers may have changed it.
func send(ctx context.Context, c caller, k kind, r request) (answer, error) {
	for {
		body := r.body
		if r.method == http.MethodPut {
			version, err := currentVersion(ctx, c, k, r)
			if err != nil {
				return answer{}, err
			}
			body = with(body, []any{"metadata", "resourceVersion"}, variation{value: version})
		}
		a, err := c.ask(ctx, r.method, r.path, body)
		if err != nil || a.code != http.StatusConflict || r.method != http.MethodPut {
			return a, err
		}
	}
}

func currentVersion(ctx context.Context, c caller, k kind, r request) (string, error) {
	path, _, _ := strings.Cut(r.path, "?")
	a, err := c.ask(ctx, http.MethodGet, path, nil)
	if err != nil {
		return "", err
	}
	object := struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}{}
	if err := json.Unmarshal(a.body, &object); err != nil || a.code != http.StatusOK {
		return "", fmt.Errorf("read %s before an update: %s", k.name, a)
	}

	return object.Metadata.ResourceVersion, nil
}

// text writes answers under the field that they are about; fields stay in the order in which they come first. Warnings
// that the object itself is answered with, which is the first request, are not repeated.
func text(requests []request, answers []answer) string {
	usual := answers[0].warnings
	var order []string
	lines := map[string][]string{}
	for i, r := range requests {
		if _, known := lines[r.group]; !known {
			order = append(order, r.group)
		}
		lines[r.group] = append(lines[r.group], fmt.Sprintf("  %-22s %s", r.label, answers[i].beside(usual, i == 0)))
	}
	var b strings.Builder
	for _, group := range order {
		fmt.Fprintf(&b, "%s\n%s\n", group, strings.Join(lines[group], "\n"))
	}

	return b.String()
}
