// SPDX-License-Identifier: Apache-2.0

package catalogue

import (
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

// Proofs complains about tests that rules name and that do not exist.
func (c *Catalogue) Proofs(tree fs.FS) []string {
	var complaints []string
	for _, rule := range c.All() {
		for _, proof := range rule.Proofs {
			if lack := missing(tree, proof); lack != "" {
				complaints = append(complaints, fmt.Sprintf("%s: %s names %s: %s", rule.Place, rule.ID, proof, lack))
			}
		}
	}
	return complaints
}

// missing says what of a test does not exist.
func missing(tree fs.FS, proof string) string {
	file, name, ok := strings.Cut(proof, ":")
	if !ok || !strings.HasSuffix(file, "_test.go") {
		return "a test is named as path_test.go:TestName"
	}
	text, err := fs.ReadFile(tree, file)
	if err != nil {
		return "there is no such file"
	}
	function, subtest, _ := strings.Cut(name, "/")
	if !regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(function) + `\(\w+ \*testing\.[TF]\)`).Match(text) {
		return "the file has no such test"
	}
	if subtest != "" && !strings.Contains(string(text), strconv.Quote(subtest)) {
		return "the file has no such case"
	}
	return ""
}

// Argued complains about rules that differ and are not argued on the page of differences.
func (c *Catalogue) Argued(tree fs.FS) ([]string, error) {
	text, err := fs.ReadFile(tree, Differences)
	if err != nil {
		return nil, fmt.Errorf("read the differences: %w", err)
	}
	argued := map[string]bool{}
	for _, id := range c.finder().find(string(text)) {
		argued[id] = true
	}
	var complaints []string
	for _, rule := range c.All() {
		if rule.State == Differs && !argued[rule.ID] {
			complaints = append(complaints, fmt.Sprintf("%s: %s differs and is not argued in %s", rule.Place, rule.ID, Differences))
		}
	}
	return complaints, nil
}
