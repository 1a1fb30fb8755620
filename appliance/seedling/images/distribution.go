// SPDX-License-Identifier: Apache-2.0

package images

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Distribution says where packages come from.
type Distribution struct {
	Suite      string
	Mirror     string
	Components []string
	// Keyring verifies the mirror; if empty, debootstrap chooses it.
	Keyring string
}

// ErrNoMirror says that the package sources of a machine contain no mirror that debootstrap can use.
var ErrNoMirror = errors.New("no mirror of the distribution of this machine found in its package sources (/etc/apt/sources.list, /etc/apt/sources.list.d)")

// ReadDistribution returns the distribution of the machine with the given root file system: its codename from
// os-release, and its mirror from the package sources of apt.
func ReadDistribution(root fs.FS) (Distribution, error) {
	suite, err := codename(root)
	if err != nil {
		return Distribution{}, err
	}
	files := []string{"etc/apt/sources.list"}
	for _, pattern := range []string{"etc/apt/sources.list.d/*.sources", "etc/apt/sources.list.d/*.list"} {
		more, err := fs.Glob(root, pattern)
		if err != nil {
			return Distribution{}, fmt.Errorf("list package sources: %w", err)
		}
		files = append(files, more...)
	}
	for _, file := range files {
		content, err := fs.ReadFile(root, file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Distribution{}, fmt.Errorf("read package sources: %w", err)
		}
		for _, source := range parseSources(file, string(content)) {
			if !slices.Contains(source.types, "deb") || !slices.Contains(source.suites, suite) {
				continue
			}
			for _, uri := range source.uris {
				if mirror := resolveMirror(root, uri); mirror != "" {
					return Distribution{Suite: suite, Mirror: mirror, Components: source.components, Keyring: source.keyring}, nil
				}
			}
		}
	}
	return Distribution{}, fmt.Errorf("suite %q: %w", suite, ErrNoMirror)
}

func codename(root fs.FS) (string, error) {
	content, err := fs.ReadFile(root, "etc/os-release")
	if err != nil {
		return "", fmt.Errorf("read the name of this machine's distribution: %w", err)
	}
	for line := range strings.Lines(string(content)) {
		if value, is := strings.CutPrefix(strings.TrimSpace(line), "VERSION_CODENAME="); is {
			return strings.Trim(value, `"'`), nil
		}
	}
	return "", errors.New("/etc/os-release has no VERSION_CODENAME: debootstrap does not know this distribution")
}

type source struct {
	types, uris, suites, components []string
	keyring                         string
}

func parseSources(file, content string) []source {
	if path.Ext(file) == ".sources" {
		return parseStanzas(content)
	}
	var sources []source
	for line := range strings.Lines(content) {
		if one, ok := parseLine(line); ok {
			sources = append(sources, one)
		}
	}
	return sources
}

// parseLine parses the one-line format: deb [ option=value ... ] uri suite component...
func parseLine(line string) (source, bool) {
	line, _, _ = strings.Cut(line, "#")
	kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	var one source
	if options, after, found := strings.Cut(strings.TrimPrefix(rest, "["), "]"); found && strings.HasPrefix(rest, "[") {
		for option := range strings.FieldsSeq(options) {
			if value, is := strings.CutPrefix(option, "signed-by="); is {
				one.keyring = keyring(value)
			}
		}
		rest = after
	}
	fields := strings.Fields(rest)
	if len(fields) < 3 {
		return source{}, false
	}
	one.types, one.uris, one.suites, one.components = []string{kind}, fields[:1], fields[1:2], fields[2:]
	return one, true
}

// parseStanzas parses the format with "Key: value" paragraphs.
func parseStanzas(content string) []source {
	var sources []source
	var current source
	scanner := bufio.NewScanner(strings.NewReader(content + "\n\n"))
	for scanner.Scan() {
		line := scanner.Text()
		if strings.TrimSpace(line) == "" {
			sources = append(sources, current)
			current = source{}
			continue
		}
		key, value, found := strings.Cut(line, ":")
		if !found || strings.HasPrefix(line, "#") || strings.HasPrefix(line, " ") {
			continue
		}
		switch values := strings.Fields(value); strings.ToLower(key) {
		case "types":
			current.types = values
		case "uris":
			current.uris = values
		case "suites":
			current.suites = values
		case "components":
			current.components = values
		case "signed-by":
			current.keyring = keyring(strings.TrimSpace(value))
		default:
		}
	}
	return sources
}

// keyring returns a key that is given as a file. For a key inside the source, debootstrap uses its own.
func keyring(value string) string {
	if path.IsAbs(value) {
		return value
	}
	return ""
}

// resolveMirror returns a mirror that debootstrap accepts. Cloud images refer to a file with a list of mirrors.
func resolveMirror(root fs.FS, uri string) string {
	if list, is := strings.CutPrefix(uri, "mirror+file:"); is {
		content, err := fs.ReadFile(root, strings.TrimLeft(list, "/"))
		if err != nil {
			return ""
		}
		fields := strings.Fields(string(content))
		if len(fields) == 0 {
			return ""
		}
		uri = fields[0]
	}
	for _, scheme := range []string{"http://", "https://", "file:"} {
		if strings.HasPrefix(uri, scheme) {
			return uri
		}
	}
	return ""
}
