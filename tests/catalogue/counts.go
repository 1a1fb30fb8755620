// SPDX-License-Identifier: Apache-2.0

package catalogue

import (
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

// counted are the places with counts: a page, what to find there, and what it has to be.
func (c *Catalogue) counted() []struct {
	file, what string
	find       *regexp.Regexp
	want       string
} {
	return []struct {
		file, what string
		find       *regexp.Regexp
		want       string
	}{
		{Index, "the table of counts", regexp.MustCompile(`(?m)(?:^\| part \|.*\n)(?:^\|.*\n)*`), c.table()},
		{"README.md", `the sentence with "… rules: …"`, regexp.MustCompile(`[\d,]+ rules: [^.]*`), c.sentence()},
	}
}

// Counts complains about counts that are not those of the catalogue.
func (c *Catalogue) Counts(tree fs.FS) ([]string, error) {
	var complaints []string
	for _, place := range c.counted() {
		text, err := fs.ReadFile(tree, place.file)
		if err != nil {
			return nil, fmt.Errorf("read the counts: %w", err)
		}
		switch found := place.find.FindAllString(string(text), -1); {
		case len(found) != 1:
			complaints = append(complaints, fmt.Sprintf("%s: %s is there %d times, want it once", place.file, place.what, len(found)))
		case found[0] != place.want:
			complaints = append(complaints, fmt.Sprintf("%s: %s is stale, write it anew with go test ./tests/catalogue -update", place.file, place.what))
		}
	}
	return complaints, nil
}

// Recount returns the files with counts, with their counts written anew.
func (c *Catalogue) Recount(tree fs.FS) (map[string]string, error) {
	files := map[string]string{}
	for _, place := range c.counted() {
		text, err := fs.ReadFile(tree, place.file)
		if err != nil {
			return nil, fmt.Errorf("read the counts: %w", err)
		}
		files[place.file] = place.find.ReplaceAllLiteralString(string(text), place.want)
	}
	return files, nil
}

// count returns how many rules there are, and how many in each state.
func count(rules []Rule) (all int, states map[State]int) {
	states = map[State]int{}
	for _, rule := range rules {
		states[rule.State]++
	}
	return len(rules), states
}

// table is the table of the index.
func (c *Catalogue) table() string {
	var b strings.Builder
	b.WriteString("| part | rules | done | part of it | differs | open |\n|---|---|---|---|---|---|\n")
	row := func(name string, rules []Rule) {
		all, states := count(rules)
		fmt.Fprintf(&b, "| %s | %s |", name, grouped(all))
		for _, state := range States() {
			fmt.Fprintf(&b, " %s |", grouped(states[state]))
		}
		b.WriteString("\n")
	}
	for _, page := range c.Pages {
		row("["+title(page)+"]("+title(page)+".md)", c.Rules[page])
	}
	row("**all**", c.All())
	return b.String()
}

// sentence is what the README of the project says of the catalogue.
func (c *Catalogue) sentence() string {
	all, states := count(c.All())
	return fmt.Sprintf("%s rules: %s done, %s in part, %s different on purpose, %s open",
		grouped(all), grouped(states[Done]), grouped(states[Part]), grouped(states[Differs]), grouped(states[Open]))
}

const thousand = 1000

// grouped writes a number below a million with a comma between thousands.
func grouped(n int) string {
	if n < thousand {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/thousand, n%thousand)
}
