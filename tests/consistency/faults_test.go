// SPDX-License-Identifier: Apache-2.0

package consistency_test

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var putBack = flag.Bool("faults", false, "put the known faults back, one by one, and see them found (several builds)")

// root is the folder of the module.
const root = "../.."

// edit is a change of a source file.
type edit struct{ file, from, to string }

// believing makes reads of objects trust what was noted, as testdata/noted.go.txt does.
func believing(refusals, fallbacks string) ([]edit, map[string]string) {
	const file = "storage/registry/fresh/store.go"
	edits := []edit{
		{file, "head := s.records.head(key)", "head, known := s.noted(key)"},
		{file, "if !s.believed(head, out, err) {", "if known && !s.believed(head, out, err) {"},
		{
			file, "target.Set(before)\n\n\t\treturn s.Interface.Get(ctx, key, o, out)",
			"target.Set(before)\n\n\t\treturn s.noteFallback(key, out, s.Interface.Get(ctx, key, o, out))",
		},
		{
			file, "published, newest := s.records.newest()",
			"published := version(s.records.source.Revision())\n\tnewest := strconv.FormatUint(max(newest.Load(), 1), 10)",
		},
	}

	return edits, map[string]string{"NOTES_REFUSALS": refusals, "NOTES_FALLBACKS": fallbacks}
}

// TestFaultsPutBack puts back each of the faults that gardens had, in a build of its own, and has the other tests of this
// package find it. It runs for some minutes, by make test-consistency-faults.
//
//nolint:paralleltest // Each build takes the whole machine.
func TestFaultsPutBack(t *testing.T) {
	if !*putBack {
		t.Skip("asked for by -faults")
	}
	goesBack, notingRefusals := believing("true", "false")
	afterRefusal, notingFallbacks := believing("false", "true")
	cases := map[string]struct {
		reason string
		edits  []edit
		// noted are the words of testdata/noted.go.txt; nil leaves it out.
		noted map[string]string
		test  string
	}{
		"BehindAnswers": {
			reason: "A list can lack an acknowledged write: what reads return is raised after the answer.",
			edits: []edit{{
				"storage/log/writer.go",
				"l.cfg.pause(Committed)\n\tl.publish(b.records, step)\n\tl.cfg.pause(Published)\n\tb.answer(l.published)",
				"b.answer(l.published)\n\tl.cfg.pause(Committed)\n\tl.publish(b.records, step)\n\tl.cfg.pause(Published)",
			}},
			test: "TestStore",
		},
		"AheadOfEvents": {
			reason: "Progress is told before the events up to it: the revision of the log in place of that of the watch.",
			edits: []edit{{
				"storage/log/etcdwatch/connection.go",
				"if err := c.send(&etcdserverpb.WatchResponse{Header: header(upTo), WatchId: w.id}); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n\n\treturn nil\n}\n\n// cancel",
				"if err := c.send(&etcdserverpb.WatchResponse{Header: header(c.server.Source.Revision()), WatchId: w.id}); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n\n\treturn nil\n}\n\n// cancel",
			}},
			test: "TestStore",
		},
		"GoesBack": {
			reason: "A read goes back: one from the store sees what the next one, from the cache, does not.",
			edits:  goesBack, noted: notingRefusals, test: "TestGarden",
		},
		"GoesBackAfterRefusal": {
			reason: "A read goes back behind what a write was refused for.",
			edits:  afterRefusal, noted: notingFallbacks, test: "TestGarden",
		},
		"LosesPower": {
			reason: "What was answered is lost with the power: commits are not synced.",
			edits:  []edit{{"storage/log/file.go", `"_synchronous":  {"FULL"}`, `"_synchronous":  {"NORMAL"}`}},
			test:   "TestKilledStore",
		},
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		tc := cases[name]
		t.Run(name, func(t *testing.T) {
			overlay := write(t, tc.edits, tc.noted)
			command := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-overlay", overlay,
				"-run", "^"+tc.test+"$", "./tests/consistency", "-long", "3m")
			command.Dir = root
			said, err := command.CombinedOutput()
			findings := regexp.MustCompile(`(?m)^ +\w+_test\.go:\d+: .*$`).FindAllString(string(said), 3)
			if err == nil || !strings.Contains(string(said), "--- FAIL: "+tc.test) || len(findings) == 0 {
				t.Fatalf("It is found: %s\n%v\n%s", tc.reason, err, said)
			}
			t.Logf("%s\n%s", tc.reason, strings.Join(findings, "\n"))
		})
	}
}

// write makes an overlay: go builds with it as if the files had been changed.
func write(t *testing.T, edits []edit, noted map[string]string) string {
	t.Helper()
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	contents := map[string]string{}
	for _, e := range edits {
		path := filepath.Join(top, e.file)
		if contents[path] == "" {
			contents[path] = readText(t, path)
		}
		if strings.Count(contents[path], e.from) != 1 {
			t.Fatalf("The place of the fault is known: %q is not once in %s", e.from, e.file)
		}
		contents[path] = strings.Replace(contents[path], e.from, e.to, 1)
	}
	if noted != nil {
		text := readText(t, "testdata/noted.go.txt")
		for word, by := range noted {
			text = strings.ReplaceAll(text, word, by)
		}
		contents[filepath.Join(top, "storage/registry/fresh/noted.go")] = text
	}
	replace, dir := map[string]string{}, t.TempDir()
	for path, text := range contents {
		replace[path] = filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, raw, 0o600); err != nil {
		t.Fatal(err)
	}

	return overlay
}

func readText(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	return string(raw)
}
