// SPDX-License-Identifier: Apache-2.0

package compat_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var reference = flag.String("reference", "", "folder with the reference, to write testdata anew from it")

// group is a file of facts.
type group struct {
	// name is that of the group and its version, joined by an underscore.
	name string
	// prefix is what the names of its models begin with, for kinds that an API server publishes.
	prefix string
	// nested kinds are described with everything inside.
	nested bool
}

func groups() []group {
	return []group{
		{name: "authentication.gardener.cloud_v1alpha1", prefix: "authentication.v1alpha1"},
		{name: "core.gardener.cloud_v1", prefix: "core.v1"},
		{name: "core.gardener.cloud_v1beta1", prefix: "core.v1beta1"},
		{name: "operations.gardener.cloud_v1alpha1", prefix: "operations.v1alpha1"},
		{name: "security.gardener.cloud_v1alpha1", prefix: "security.v1alpha1"},
		{name: "seedmanagement.gardener.cloud_v1alpha1", prefix: "seedmanagement.v1alpha1"},
		{name: "settings.gardener.cloud_v1alpha1", prefix: "settings.v1alpha1"},
		{name: "operator.gardener.cloud_v1alpha1", prefix: "operator.v1alpha1", nested: true},
		{name: "extensions.gardener.cloud_v1alpha1", nested: true},
		{name: "resources.gardener.cloud_v1alpha1", nested: true},
	}
}

// path is the group and version as it stands in URLs.
func (g group) path() string { return strings.Replace(g.name, "_", "/", 1) }

func (g group) file() string { return filepath.Join("testdata", g.name+".txt") }

// document is what the reference says of a group.
type document struct {
	Definitions definitions `json:"definitions"`
	Resources   []resource  `json:"resources"`
}

// resource is what discovery and tables say of a resource.
type resource struct {
	Name         string   `json:"name"`
	Kind         string   `json:"kind"`
	SingularName string   `json:"singularName"`
	Namespaced   bool     `json:"namespaced"`
	ShortNames   []string `json:"shortNames"`
	Categories   []string `json:"categories"`
	Verbs        []string `json:"verbs"`
	Columns      []column `json:"columns"`
	Selectors    []string `json:"fieldSelectors"`
	Subresources []struct {
		Name         string   `json:"name"`
		Kind         string   `json:"kind"`
		GroupVersion string   `json:"groupVersion"`
		Verbs        []string `json:"verbs"`
	} `json:"subresources"`
}

type column struct {
	Name     string `json:"name"`
	JSONPath string `json:"jsonPath"`
	Priority int32  `json:"priority"`
}

func list(words []string) string {
	return cmp.Or(strings.Join(slices.Sorted(slices.Values(words)), ","), "-")
}

func (r resource) describe() string {
	scope := "cluster"
	if r.Namespaced {
		scope = "namespaced"
	}
	return strings.Join(append([]string{r.Kind, cmp.Or(r.SingularName, "-"), scope}, r.ShortNames...), " ")
}

func heads(columns []column) string {
	var names []string
	for _, c := range columns {
		name := c.Name
		if c.Priority > 0 {
			name += "†"
		}
		if c.JSONPath != "" {
			name += "=" + c.JSONPath
		}
		names = append(names, name)
	}
	return strings.Join(names, " | ")
}

func (r resource) add(to facts) {
	to["/"+r.Name] = r.describe()
	to["/"+r.Name+" categories"] = list(r.Categories)
	to["/"+r.Name+" columns"] = heads(r.Columns)
	if len(r.Verbs) > 0 {
		to["/"+r.Name+" verbs"] = list(r.Verbs)
		to["/"+r.Name+" selectors"] = list(r.Selectors)
	}
	for _, s := range r.Subresources {
		to["/"+r.Name+"/"+s.Name] = strings.TrimSpace(strings.Join([]string{s.GroupVersion, s.Kind, list(s.Verbs)}, " "))
	}
}

func (g group) facts(d document) (facts, error) {
	all := facts{}
	if !g.nested {
		all = d.Definitions.flat(g.prefix)
	}
	for name, s := range d.Definitions {
		if !g.nested {
			break
		}
		hard, _ := d.Definitions.tree(s, name)
		maps.Copy(all, hard)
		if g.prefix != "" {
			continue
		}
		limited, err := s.limited(name)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, limited)
	}
	for _, r := range d.Resources {
		r.add(all)
	}
	return all, nil
}

// TestFacts writes the facts anew when it is given the reference, and else checks that they can be read.
func TestFacts(t *testing.T) {
	t.Parallel()
	for _, g := range groups() {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			if *reference == "" {
				if len(read(t, g.file())) == 0 {
					t.Errorf("%s holds no facts", g.file())
				}
				return
			}
			text, err := os.ReadFile(filepath.Join(*reference, "openapi", g.name+".json"))
			if errors.Is(err, os.ErrNotExist) {
				text, err = os.ReadFile(filepath.Join(*reference, "openapi-seed", g.name+".json"))
			}
			d := document{}
			if err := errors.Join(err, json.Unmarshal(text, &d)); err != nil {
				t.Fatal(err)
			}
			all, err := g.facts(d)
			if err != nil {
				t.Fatal(err)
			}
			write(t, g.file(), all)
		})
	}
}

// TestFormerly writes the fields that were removed from the API, likewise.
func TestFormerly(t *testing.T) {
	t.Parallel()
	if *reference == "" {
		if len(read(t, formerlyFile)) == 0 {
			t.Errorf("%s holds no facts", formerlyFile)
		}
		return
	}
	text, err := os.ReadFile(filepath.Join(*reference, "removed-fields.json"))
	removed := struct {
		GroupVersions map[string]map[string][]struct{ Path, LastIn string }
	}{}
	if err := errors.Join(err, json.Unmarshal(text, &removed)); err != nil {
		t.Fatal(err)
	}
	all := facts{}
	for version, kinds := range removed.GroupVersions {
		for kind, fields := range kinds {
			for _, f := range fields {
				all[strings.Replace(version, "/", "_", 1)+" "+kind+"."+f.Path] = f.LastIn
			}
		}
	}
	write(t, formerlyFile, all)
}

const formerlyFile = "testdata/formerly.txt"

func write(t *testing.T, path string, all facts) {
	t.Helper()
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&out, "%s\t%s\n", name, all[name])
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// read reads lines of two words, of which the second may be empty; lines that begin with # are comments.
func read(t *testing.T, path string) facts {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}()
	all := facts{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if name, value, found := strings.Cut(lines.Text(), "\t"); found && !strings.HasPrefix(name, "#") {
			all[name] = value
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
