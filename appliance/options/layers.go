// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// ConfigDir is the directory of the configuration files that are used by default.
const ConfigDir = "/etc/terrarium"

// DropInSuffix is what the directory of the drop-ins of a configuration file has after the name of the file.
const DropInSuffix = ".d"

// Files reads configuration files.
type Files struct {
	// Read returns the content of a file.
	Read func(path string) ([]byte, error)
	// List returns the entries of a directory, ordered by name.
	List func(dir string) ([]fs.DirEntry, error)
}

// Disk reads the files of this machine.
func Disk() Files { return Files{Read: os.ReadFile, List: os.ReadDir} }

// Layers are a configuration file and its drop-ins, merged: the files FILE.d/*.yaml, ordered by name. A later file replaces the values
// of an earlier one, and sets a value back to its default with null. Objects are merged, lists are replaced.
type Layers struct {
	// Names are the paths of the files in the order in which they were merged.
	Names []string

	document map[string]any
	// origins maps the path of a value to the file that has set it last.
	origins map[string]string
}

// Source says which configuration file to read.
type Source struct {
	// Path is the path of the file.
	Path string
	// Optional says that the file does not have to exist.
	Optional bool
	// Check returns why the content of a file is not a configuration. It is called for each file and for the result.
	Check func(data []byte) error
}

// ReadLayers reads a configuration file and its drop-ins. Without any file, the result is empty.
func ReadLayers(files Files, source Source) (*Layers, error) {
	layers := &Layers{document: map[string]any{}, origins: map[string]string{}}
	data, err := files.Read(source.Path)
	switch {
	case err == nil:
		if err := layers.add(source, source.Path, data); err != nil {
			return nil, err
		}
	case source.Optional && errors.Is(err, fs.ErrNotExist):
	default:
		return nil, err
	}
	dir := source.Path + DropInSuffix
	entries, err := files.List(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list drop-ins: %w", err)
	}
	for _, entry := range entries {
		if entry.IsDir() || filepath.Ext(entry.Name()) != ".yaml" || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		data, err := files.Read(path)
		if err != nil {
			return nil, fmt.Errorf("read drop-in: %w", err)
		}
		if err := layers.add(source, path, data); err != nil {
			return nil, err
		}
	}
	return layers, nil
}

// add merges a file.
func (l *Layers) add(source Source, name string, data []byte) error {
	if err := source.Check(data); err != nil {
		return fmt.Errorf("configuration file %q: %w", name, err)
	}
	encoded, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return fmt.Errorf("configuration file %q: %w", name, err)
	}
	var document map[string]any
	if err := json.UnmarshalCaseSensitivePreserveInts(encoded, &document); err != nil {
		return fmt.Errorf("configuration file %q: %w", name, err)
	}
	l.Names = append(l.Names, name)
	l.merge("", l.document, document, name)
	return nil
}

// merge merges one object into another. path is their path in the configuration.
func (l *Layers) merge(path string, into, from map[string]any, name string) {
	for key, value := range from {
		child := joinPath(path, key)
		object, isObject := value.(map[string]any)
		below, wasObject := into[key].(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
			l.forget(child)
		case isObject && wasObject:
			l.merge(child, below, object, name)
		case isObject:
			l.forget(child)
			fresh := map[string]any{}
			into[key] = fresh
			l.merge(child, fresh, object, name)
		default:
			l.forget(child)
			into[key], l.origins[child] = value, name
		}
	}
}

// forget removes the origins of a value and of those below it.
func (l *Layers) forget(path string) {
	maps.DeleteFunc(l.origins, func(known, _ string) bool { return known == path || strings.HasPrefix(known, path+".") })
}

// Empty says that there is no file.
func (l *Layers) Empty() bool { return l == nil || len(l.Names) == 0 }

// Document returns the merged configuration.
func (l *Layers) Document() ([]byte, error) {
	data, err := yaml.Marshal(l.document)
	if err != nil {
		return nil, fmt.Errorf("encode configuration: %w", err)
	}
	return data, nil
}

// Origin returns the file that has set the value at a path, such as tokens.defaultLifetime or externalAddresses[0]; empty if none has.
func (l *Layers) Origin(path string) string {
	if l.Empty() {
		return ""
	}
	for path != "" {
		if name, found := l.origins[path]; found {
			return name
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return ""
}

// joinPath returns the path of a field of the object at a path.
func joinPath(path, field string) string {
	if path == "" {
		return field
	}
	return path + "." + field
}
