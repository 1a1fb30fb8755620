// SPDX-License-Identifier: Apache-2.0

package catalogue

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	// Dir is where the catalogue is.
	Dir = "docs/behaviour"
	// Index is the page that explains the catalogue and counts its rules.
	Index = Dir + "/README.md"
	// Differences is the page that argues what is different on purpose.
	Differences = Dir + "/differences.md"
	// unserved is the page of what the API accepts and nobody acts on.
	unserved = Dir + "/unserved.md"
)

// State says how much of a rule holds.
type State string

// The states of a rule.
const (
	// Done rules hold, and a test proves it.
	Done State = "done"
	// Part rules hold in part; the reason says what is missing.
	Part State = "part"
	// Differs rules are answered in another way on purpose; the reason says why.
	Differs State = "differs"
	// Open rules do not hold yet.
	Open State = "open"
)

// States returns all states in the order in which they are counted.
func States() []State { return []State{Done, Part, Differs, Open} }

// Rule is one row of the catalogue.
type Rule struct {
	ID, Origin, Text string
	State            State
	// Why is the reason of the states part and differs.
	Why string
	// Proofs are tests, as path:TestName or path:TestName/case.
	Proofs []string
	// Place is the file and line of the row.
	Place string
}

// Catalogue is all pages of the catalogue.
type Catalogue struct {
	// Pages are the names of the pages with rules, sorted.
	Pages []string
	// Rules are the rules of each page in their order.
	Rules map[string][]Rule
}

// Read reads the catalogue in a tree. The complaints tell what is wrong with single rows; those rows are left out.
func Read(tree fs.FS) (*Catalogue, []string, error) {
	names, err := fs.Glob(tree, Dir+"/*.md")
	if err != nil {
		return nil, nil, fmt.Errorf("list %s: %w", Dir, err)
	}
	c := &Catalogue{Rules: map[string][]Rule{}}
	var complaints []string
	for _, name := range names {
		if name == Index || name == Differences || name == unserved {
			continue
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, nil, fmt.Errorf("read the catalogue: %w", err)
		}
		c.Pages = append(c.Pages, name)
		rules, wrong := readPage(name, string(text))
		c.Rules[name] = rules
		complaints = append(complaints, wrong...)
	}
	return c, append(complaints, c.numbering()...), nil
}

// All returns the rules of all pages.
func (c *Catalogue) All() []Rule {
	var all []Rule
	for _, page := range c.Pages {
		all = append(all, c.Rules[page]...)
	}
	return all
}

func readPage(name, text string) (rules []Rule, complaints []string) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		place := fmt.Sprintf("%s:%d", name, number)
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|--") || strings.HasPrefix(line, "| id ") {
			continue
		}
		rule, complaint := readRow(line)
		if complaint != "" {
			complaints = append(complaints, place+": "+complaint)
			continue
		}
		rule.Place = place
		rules = append(rules, rule)
	}
	return rules, complaints
}

const columns = 5

func readRow(line string) (rule Rule, complaint string) {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	if len(cells) != columns {
		return Rule{}, fmt.Sprintf("the row has %d columns instead of %d", len(cells), columns)
	}
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	state, why, _ := strings.Cut(cells[3], ":")
	rule = Rule{ID: cells[0], Origin: cells[1], Text: cells[2], State: State(state), Why: strings.TrimSpace(why), Proofs: proofsOf(cells[4])}
	switch {
	case rule.ID == "" || rule.Text == "":
		return rule, "the row lacks an id or a rule"
	case !slices.Contains([]string{"seed", "era", "today"}, rule.Origin):
		return rule, fmt.Sprintf("%s is from %q, which is neither seed nor era nor today", rule.ID, rule.Origin)
	case !slices.Contains(States(), rule.State):
		return rule, fmt.Sprintf("%s has the unknown state %q", rule.ID, state)
	case (rule.State == Part || rule.State == Differs) != (rule.Why != ""):
		return rule, fmt.Sprintf("%s is %q: the states part and differs have a reason, the others have none", rule.ID, cells[3])
	case rule.State == Done && len(rule.Proofs) == 0:
		return rule, rule.ID + " is done and names no test"
	}
	return rule, ""
}

// proofsOf reads the tests of a row: code spans, or a dash.
func proofsOf(cell string) []string {
	var proofs []string
	for _, found := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
		proofs = append(proofs, found[1])
	}
	return proofs
}

// numbering complains about rules that are listed twice, and about numbers that are missing in a group: no rule is lost.
func (c *Catalogue) numbering() []string {
	var complaints []string
	places := map[string]string{}
	groups := map[string][]int{}
	for _, rule := range c.All() {
		if before, ok := places[rule.ID]; ok {
			complaints = append(complaints, fmt.Sprintf("%s: %s is listed in %s already", rule.Place, rule.ID, before))
			continue
		}
		places[rule.ID] = rule.Place
		at := strings.LastIndex(rule.ID, "-")
		if n, err := strconv.Atoi(rule.ID[at+1:]); err == nil {
			groups[rule.ID[:at]] = append(groups[rule.ID[:at]], n)
		}
	}
	for group, numbers := range groups {
		for n := range slices.Max(numbers) {
			if !slices.Contains(numbers, n+1) {
				complaints = append(complaints, fmt.Sprintf("%s-%d is missing in the catalogue", group, n+1))
			}
		}
	}
	slices.Sort(complaints)
	return complaints
}

// prefixes are the first words of all ids.
func (c *Catalogue) prefixes() []string {
	var found []string
	for _, rule := range c.All() {
		prefix, _, _ := strings.Cut(rule.ID, "-")
		found = append(found, prefix)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// title is the name of a page without folder and ending.
func title(page string) string { return strings.TrimSuffix(path.Base(page), ".md") }
