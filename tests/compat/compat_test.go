// SPDX-License-Identifier: Apache-2.0

package compat_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

const differencesFile = "testdata/differences.txt"

// difference is a fact that is not the same on both sides; an empty side says nothing of it.
type difference struct{ group, path, want, got string }

func (d difference) String() string {
	switch {
	case d.got == "":
		return fmt.Sprintf("%s %s is missing, want %q", d.group, d.path, d.want)
	case d.want == "":
		return fmt.Sprintf("%s %s is %q and ours alone", d.group, d.path, d.got)
	default:
		return fmt.Sprintf("%s %s is %q, want %q", d.group, d.path, d.got, d.want)
	}
}

// result is how much of a group is the same.
type result struct {
	group       string
	same, total int
	differences []difference
}

// compare goes through the facts of the reference, and then through those that are ours alone. An answer of ours in soft
// counts where the reference does not name a type but says what it consists of.
func compare(name string, want, hard, soft facts) result {
	r := result{group: name, total: len(want)}
	for _, path := range slices.Sorted(maps.Keys(want)) {
		got, found := hard[path]
		other, more := soft[path]
		switch {
		case found && got == want[path], more && other == want[path]:
			r.same++
		case found:
			r.differences = append(r.differences, difference{name, path, want[path], got})
		default:
			r.differences = append(r.differences, difference{name, path, want[path], other})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(hard)) {
		if _, known := want[path]; !known {
			r.differences = append(r.differences, difference{name, path, "", hard[path]})
		}
	}
	return r
}

// TestGarden compares a garden with the reference.
func TestGarden(t *testing.T) {
	t.Parallel()
	p := newPublished(t, harness.Start(t))
	t.Run("Published", samePublished(p))
	t.Run("Versions", sameVersions(p))
	t.Run("Groups", sameGroups(p))
}

// samePublished compares what a server publishes, and the definitions of what seeds serve.
func samePublished(p *published) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		argued := newArguments(t, p)
		var results []result
		for _, g := range groups() {
			want := read(t, g.file())
			var hard, soft facts
			switch {
			case !g.nested:
				hard = p.definitions.flat(g.prefix)
				maps.Copy(hard, p.resources(t, g))
			case g.prefix != "":
				hard, soft = p.kinds(g)
				want, hard, soft = unnamed(withoutPaths(want)), unnamed(hard), unnamed(soft)
				maps.Copy(hard, p.resources(t, g))
			default:
				want = unnamed(p.expanded(want))
				hard = unnamed(installed(t, g))
			}
			results = append(results, compare(g.name, want, hard, soft))
		}
		for _, r := range results {
			less, more, open := 0, 0, 0
			for _, d := range r.differences {
				reason := argued.reason(d)
				switch {
				case reason == "":
					open++
					t.Errorf("%s", d)
					continue
				case d.want == "":
					more++
				default:
					less++
				}
				t.Logf("%s: %s", d, reason)
			}
			t.Logf("%-38s %6.2f %% of the facts are the same (%d of %d), %d differ as argued, %d are ours alone as argued, %d are not argued",
				r.group, 100*float64(r.same)/float64(r.total), r.same, r.total, less, more, open)
		}
		for _, unused := range argued.unused() {
			t.Errorf("%s argues for %q, which does not differ", differencesFile, unused)
		}
	}
}

var (
	patch = regexp.MustCompile(` patch=\S+`)
	model = regexp.MustCompile(`((?:\[\]|map )+)#\S+`)
)

// unnamed leaves out what custom resource definitions do not say: how lists merge, and the names of the types in them,
// which are described one line further on.
func unnamed(all facts) facts {
	out := facts{}
	for path, value := range all {
		out[path] = model.ReplaceAllString(patch.ReplaceAllString(value, ""), "${1}object")
	}
	return out
}

var columnPath = regexp.MustCompile(`=\S+`)

// withoutPaths leaves out where the cells of a table come from, which only custom resource definitions say.
func withoutPaths(all facts) facts {
	out := maps.Clone(all)
	for name, value := range all {
		if strings.HasSuffix(name, " columns") {
			out[name] = columnPath.ReplaceAllString(value, "")
		}
	}
	return out
}

// sameVersions compares the two versions of OpenAPI that a server publishes: clients use either.
func sameVersions(p *published) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		for _, group := range groups() {
			if group.prefix == "" || group.prefix == "authentication.v1alpha1" {
				continue
			}
			t.Run(group.name, func(t *testing.T) {
				t.Parallel()
				third := p.third(t, group).flat(group.prefix)
				second := p.definitions.flat(group.prefix)
				for path, value := range third {
					if second[path] != value {
						t.Errorf("%s is %q in version 3 and %q in version 2", path, value, second[path])
					}
				}
				if len(third) == 0 {
					t.Error("Version 3 knows no model of the group.")
				}
			})
		}
	}
}

// sameGroups compares the groups of discovery, the preferred version of each first. The bodies of subresources alone make no
// group.
func sameGroups(p *published) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		found, err := p.client.Discovery().ServerGroups()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, group := range found.Groups {
			if !strings.HasSuffix(group.Name, ".gardener.cloud") {
				continue
			}
			for _, v := range group.Versions {
				got = append(got, v.GroupVersion)
			}
		}
		want := []string{
			"core.gardener.cloud/v1beta1", "core.gardener.cloud/v1", "seedmanagement.gardener.cloud/v1alpha1", "operations.gardener.cloud/v1alpha1",
			"security.gardener.cloud/v1alpha1", "settings.gardener.cloud/v1alpha1", "operator.gardener.cloud/v1alpha1",
			// Our own: what a garden tells about itself.
			"appliance.gardener.cloud/v1alpha1",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("groups of the garden (-want +got):\n%s", diff)
		}
	}
}

// arguments are the differences that are meant, with their reasons.
type arguments struct {
	listed   facts
	formerly facts
	used     map[string]bool
}

// newArguments reads the list of differences. Fields that the API had before count as argued.
func newArguments(t *testing.T, p *published) *arguments {
	t.Helper()
	a := &arguments{listed: read(t, differencesFile), formerly: facts{}, used: map[string]bool{}}
	for name, last := range read(t, formerlyFile) {
		group, path, _ := strings.Cut(name, " ")
		a.formerly[group+" "+path] = last
		kind, fields, _ := strings.Cut(path, ".")
		if owner, field := p.owner(group, kind, fields); owner != "" {
			a.formerly[group+" "+owner+"."+field] = last
		}
	}
	return a
}

// reason is why a difference is meant; empty when nobody said.
func (a *arguments) reason(d difference) string {
	if last, ok := a.formerly[d.group+" "+strings.TrimRight(d.path, "[]{}")]; ok && d.want == "" {
		return "was part of the API until " + last
	}
	for name, reason := range a.listed {
		group, path, _ := strings.Cut(name, " ")
		prefix, open := strings.CutSuffix(path, "*")
		suffix, further := strings.CutPrefix(path, "*")
		if group == d.group && (path == d.path || open && strings.HasPrefix(d.path, prefix) || further && d.want == "" && strings.HasSuffix(d.path, suffix)) {
			a.used[name] = true
			return reason
		}
	}
	return ""
}

func (a *arguments) unused() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(a.listed)) {
		if !a.used[name] {
			names = append(names, name)
		}
	}
	return names
}
