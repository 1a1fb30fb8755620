// SPDX-License-Identifier: Apache-2.0

package catalogue_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/tests/catalogue"
)

var update = flag.Bool("update", false, "write the counts of the catalogue anew")

const root = "../.."

// TestCatalogue holds the catalogue of this working tree against its sources and tests.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	if *update {
		recount(t)
	}
	for _, complaint := range check(t, os.DirFS(root)) {
		t.Error(complaint)
	}
}

func recount(t *testing.T) {
	t.Helper()
	c, _, err := catalogue.Read(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	files, err := c.Recount(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// check returns all complaints about a tree.
func check(t *testing.T, tree fs.FS) []string {
	t.Helper()
	c, complaints, err := catalogue.Read(tree)
	if err != nil {
		t.Fatal(err)
	}
	cited, err := c.Cited(tree)
	if err != nil {
		t.Fatal(err)
	}
	argued, err := c.Argued(tree)
	if err != nil {
		t.Fatal(err)
	}
	counts, err := c.Counts(tree)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(complaints, c.Proofs(tree), cited, argued, counts)
}

// The ids of the sample are put together here, so that the check of this tree does not take them for citations.
const (
	soil  = "SOIL" + "-PH"
	water = "WATER" + "-CAN"
)

// sample is a small tree without mistakes. Each edit replaces a text in a file by another one, or appends where it is empty.
func sample(t *testing.T, edits ...edit) fstest.MapFS {
	t.Helper()
	files := map[string]string{
		"README.md":                     "What holds: 5 rules: 2 done, 1 in part, 1 different on purpose, 1 open.\n",
		"docs/behaviour/README.md":      "# Behaviour\n\n| part | rules | done | part of it | differs | open |\n|---|---|---|---|---|---|\n| [soil](soil.md) | 3 | 1 | 1 | 0 | 1 |\n| [water](water.md) | 2 | 1 | 0 | 1 | 0 |\n| **all** | 5 | 2 | 1 | 1 | 1 |\n\nMore.\n",
		"docs/behaviour/differences.md": "| id | what | why |\n|---|---|---|\n| " + water + "-2 | rain | no roof |\n",
		"docs/behaviour/soil.md": "# Soil\n\n| id | from | rule | state | proof |\n|---|---|---|---|---|\n" +
			"| " + soil + "-1 | seed | Soil is dark. | done | `soil/ph_test.go:TestDark`<br>`soil/ph_test.go:TestDark/night` |\n" +
			"| " + soil + "-2 | era | Soil is deep. | part: the pot is small | – |\n" +
			"| " + soil + "-3 | today | Soil is warm. | open | – |\n",
		"docs/behaviour/water.md": "| id | from | rule | state | proof |\n|---|---|---|---|---|\n" +
			"| " + water + "-1 | seed | Water is wet. | done | `soil/ph_test.go:FuzzWet` |\n" +
			"| " + water + "-2 | seed | Water falls. | differs: there is a roof | – |\n",
		"soil/ph.go":      "// Dark is " + soil + "-1 to 3, and (" + water + "-1, 2).\n",
		"soil/ph_test.go": "func TestDark(t *testing.T) { t.Run(\"night\", nil) }\n\nfunc FuzzWet(f *testing.F) {}\n\nfunc helper() {}\n",
		".build/old.go":   "// " + soil + "-99\n",
		"soil/photo.png":  soil + "-99",
	}
	for _, e := range edits {
		before := files[e.file]
		files[e.file] = strings.ReplaceAll(before, e.old, e.new)
		if e.old == "" {
			files[e.file] = before + e.new
		} else if files[e.file] == before {
			t.Fatalf("%s does not have %q", e.file, e.old)
		}
	}
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

type edit struct{ file, old, new string }

func TestComplaints(t *testing.T) {
	t.Parallel()
	const soilPage, waterPage = "docs/behaviour/soil.md", "docs/behaviour/water.md"
	for name, tc := range map[string]struct {
		reason string
		edits  []edit
		want   []string
	}{
		"Whole": {reason: "a tree without mistakes has no complaint"},
		"UnknownInCode": {
			reason: "an id in the code is in the catalogue", edits: []edit{{"soil/ph.go", "", "// See " + soil + "-4.\n"}},
			want: []string{"soil/ph.go:2: " + soil + "-4 is not in the catalogue"},
		},
		"UnknownNumber": {
			reason: "each number of a list counts", edits: []edit{{"soil/ph.go", "-1, 2)", "-1, 2, 7)"}},
			want: []string{"soil/ph.go:1: " + water + "-7 is not in the catalogue"},
		},
		"UnknownInRange": {
			reason: "each number of a range counts", edits: []edit{{"soil/ph.go", "to 3", "to 4"}},
			want: []string{"soil/ph.go:1: " + soil + "-4 is not in the catalogue"},
		},
		"UnknownGroup": {
			reason: "a group that is gone is noticed by its prefix", edits: []edit{{"soil/ph.go", "", "// " + "SOIL" + "-DEPTH-1b\n"}},
			want: []string{"soil/ph.go:2: SOIL" + "-DEPTH-1 is not in the catalogue"},
		},
		"UnknownInTestName": {
			reason: "the rule of a test is in the catalogue", edits: []edit{{"soil/ph_test.go", "", "func TestDeep_SOIL" + "_PH_2_9(t *testing.T) {}\n"}},
			want: []string{"soil/ph_test.go:6: " + soil + "-9 is not in the catalogue"},
		},
		"UnknownInDocument": {
			reason: "so is one in a document", edits: []edit{{"docs/behaviour/differences.md", "", "| " + soil + "-8 | x | y |\n"}},
			want: []string{"docs/behaviour/differences.md:4: " + soil + "-8 is not in the catalogue"},
		},
		"NoProof": {
			reason: "what is done is proven", edits: []edit{{waterPage, "`soil/ph_test.go:FuzzWet`", "–"}},
			want: []string{waterPage + ":3: " + water + "-1 is done and names no test"},
		},
		"NoFile": {
			reason: "a proof is a file that exists", edits: []edit{{waterPage, "soil/ph_test.go", "water/wet_test.go"}},
			want: []string{waterPage + ":3: " + water + "-1 names water/wet_test.go:FuzzWet: there is no such file"},
		},
		"NoTest": {
			reason: "and a test in it", edits: []edit{{waterPage, "FuzzWet", "TestWet"}},
			want: []string{waterPage + ":3: " + water + "-1 names soil/ph_test.go:TestWet: the file has no such test"},
		},
		"NoTestButFunction": {
			reason: "a function that is no test proves nothing", edits: []edit{{waterPage, "FuzzWet", "helper"}},
			want: []string{waterPage + ":3: " + water + "-1 names soil/ph_test.go:helper: the file has no such test"},
		},
		"NoCase": {
			reason: "and the case of it", edits: []edit{{soilPage, "/night", "/day"}},
			want: []string{soilPage + ":5: " + soil + "-1 names soil/ph_test.go:TestDark/day: the file has no such case"},
		},
		"NotATest": {
			reason: "a proof is a test", edits: []edit{{waterPage, "soil/ph_test.go:FuzzWet", "soil/ph.go"}},
			want: []string{waterPage + ":3: " + water + "-1 names soil/ph.go: a test is named as path_test.go:TestName"},
		},
		"UnknownState": {
			reason: "there are four states", edits: []edit{{soilPage, "| open |", "| almost |"}},
			want: []string{soilPage + ":7: " + soil + `-3 has the unknown state "almost"`},
		},
		"NoReason": {
			reason: "a part says what is missing", edits: []edit{{soilPage, "part: the pot is small", "part"}},
			want: []string{soilPage + ":6: " + soil + `-2 is "part": the states part and differs have a reason, the others have none`},
		},
		"NeedlessReason": {
			reason: "what is done has no reservation", edits: []edit{{soilPage, "| done |", "| done: nearly |"}},
			want: []string{soilPage + ":5: " + soil + `-1 is "done: nearly": the states part and differs have a reason, the others have none`},
		},
		"UnknownOrigin": {
			reason: "there are three origins", edits: []edit{{soilPage, "| today |", "| yesterday |"}},
			want: []string{soilPage + ":7: " + soil + `-3 is from "yesterday", which is neither seed nor era nor today`},
		},
		"Columns": {
			reason: "a row has five columns", edits: []edit{{soilPage, "is warm", "is | warm"}},
			want: []string{soilPage + ":7: the row has 6 columns instead of 5"},
		},
		"NoRule": {
			reason: "a row says the rule", edits: []edit{{soilPage, "Soil is warm.", ""}},
			want: []string{soilPage + ":7: the row lacks an id or a rule"},
		},
		"Twice": {
			reason: "a rule is listed once", edits: []edit{{waterPage, "", "| " + soil + "-3 | today | Soil is warm. | open | – |\n"}},
			want: []string{waterPage + ":5: " + soil + "-3 is listed in " + soilPage + ":7 already"},
		},
		"Lost": {
			reason: "no rule gets lost", edits: []edit{{soilPage, "| " + soil + "-2 | era | Soil is deep. | part: the pot is small | – |\n", ""}},
			want: []string{soil + "-2 is missing in the catalogue"},
		},
		"NotArgued": {
			reason: "a difference is argued", edits: []edit{{"docs/behaviour/differences.md", water + "-2", "–"}},
			want: []string{waterPage + ":4: " + water + "-2 differs and is not argued in docs/behaviour/differences.md"},
		},
		"StaleTable": {
			reason: "the counts of the index are those of the pages", edits: []edit{{"docs/behaviour/README.md", "| 3 | 1 |", "| 3 | 2 |"}},
			want: []string{"docs/behaviour/README.md: the table of counts is stale"},
		},
		"StaleSentence": {
			reason: "so are those of the README", edits: []edit{{"README.md", "2 done", "5 done"}},
			want: []string{`README.md: the sentence with "… rules: …" is stale`},
		},
		"NoSentence": {
			reason: "which has them", edits: []edit{{"README.md", "rules: ", "rules, "}},
			want: []string{`README.md: the sentence with "… rules: …" is there 0 times`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := check(t, sample(t, tc.edits...))
			for _, want := range tc.want {
				if !slices.ContainsFunc(got, func(complaint string) bool { return strings.HasPrefix(complaint, want) }) {
					t.Errorf("%s\ncheck(...) lacks the complaint %q, got:\n%s", tc.reason, want, strings.Join(got, "\n"))
				}
			}
			if tc.want == nil && len(got) != 0 {
				t.Errorf("%s\ncheck(...) = %q, want nothing", tc.reason, got)
			}
		})
	}
}

func TestRecount(t *testing.T) {
	t.Parallel()
	tree := sample(t, edit{"docs/behaviour/README.md", "| 5 | 2 |", "| 9 | 9 |"}, edit{"README.md", "2 done", "5 done"})
	c, _, err := catalogue.Read(tree)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Recount(tree)
	if err != nil {
		t.Fatal(err)
	}
	whole := sample(t)
	want := map[string]string{}
	for _, name := range []string{"README.md", catalogue.Index} {
		want[name] = string(whole[name].Data)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counts are written anew and the rest of a page stays\nRecount(...) (-want +got):\n%s", diff)
	}
}
