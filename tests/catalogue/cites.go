// SPDX-License-Identifier: Apache-2.0

package catalogue

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Cited complains about ids in the sources, tests and documents of a tree that are not in the catalogue.
func (c *Catalogue) Cited(tree fs.FS) ([]string, error) {
	known := map[string]bool{}
	for _, rule := range c.All() {
		known[rule.ID] = true
	}
	finder := c.finder()
	var complaints []string
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || skipped(name, entry) {
			if err == nil && entry.IsDir() && name != "." {
				return fs.SkipDir
			}
			return err
		}
		if entry.IsDir() {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return fmt.Errorf("look for ids: %w", err)
		}
		number := 0
		for line := range bytes.Lines(text) {
			number++
			for _, id := range finder.find(string(line)) {
				if !known[id] {
					complaints = append(complaints, fmt.Sprintf("%s:%d: %s is not in the catalogue", name, number, id))
				}
			}
		}
		return nil
	})
	return complaints, err
}

// skipped reports whether a file or folder is neither source nor document: what the build makes, what is hidden, other kinds
// of files.
func skipped(name string, entry fs.DirEntry) bool {
	base := path.Base(name)
	if entry.IsDir() {
		return name != "." && strings.HasPrefix(base, ".") || base == "node_modules"
	}
	if !entry.Type().IsRegular() || strings.HasPrefix(base, "zz_generated") {
		return true
	}
	return !slices.Contains([]string{".go", ".md", ".txt", ".yaml", ".yml", ".sh", ".ts", ".tsx", ""}, path.Ext(base))
}

// finder finds ids in a text.
type finder struct {
	// written are ids as comments have them: one, several numbers of a group, or the first and the last number.
	written *regexp.Regexp
	// named are ids in names of tests, with underscores.
	named *regexp.Regexp
}

func (c *Catalogue) finder() finder {
	prefixes := strings.Join(c.prefixes(), "|")
	return finder{
		written: regexp.MustCompile(`\b((?:` + prefixes + `)(?:-[A-Z][A-Z0-9]*)+)-(\d+)[a-z]?\b((?:(?:, and |, | and |/)\d{1,2}\b)*)(?: to (\d{1,2})\b)?`),
		named:   regexp.MustCompile(`_((?:` + prefixes + `)(?:_[A-Z]+)+)((?:_\d+)+)`),
	}
}

// find returns the ids in a text, in the form of the catalogue.
func (f finder) find(text string) []string {
	var ids []string
	number := regexp.MustCompile(`\d+`)
	for _, m := range f.written.FindAllStringSubmatch(text, -1) {
		group, first := m[1], m[2]
		ids = append(ids, group+"-"+first)
		for _, n := range number.FindAllString(m[3], -1) {
			ids = append(ids, group+"-"+n)
		}
		from, _ := strconv.Atoi(first)
		to, _ := strconv.Atoi(m[4])
		for n := from + 1; n <= to; n++ {
			ids = append(ids, group+"-"+strconv.Itoa(n))
		}
	}
	for _, m := range f.named.FindAllStringSubmatch(text, -1) {
		for _, n := range number.FindAllString(m[2], -1) {
			ids = append(ids, strings.ReplaceAll(m[1], "_", "-")+"-"+n)
		}
	}
	return ids
}
