// SPDX-License-Identifier: Apache-2.0

package compat_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

const (
	modelPrefix = "com.github.gardener.gardener.pkg.apis."
	quantity    = "io.k8s.apimachinery.pkg.api.resource.Quantity"
)

// schema is what the comparison reads of OpenAPI, in version 2 and 3 and in custom resource definitions.
//
//nolint:tagliatelle // the names are those of OpenAPI
type schema struct {
	limits

	Ref                  string            `json:"$ref"`
	Type                 string            `json:"type"`
	Format               string            `json:"format"`
	Properties           map[string]schema `json:"properties"`
	Required             []string          `json:"required"`
	Items                *schema           `json:"items"`
	AdditionalProperties json.RawMessage   `json:"additionalProperties"`
	AllOf                []schema          `json:"allOf"`

	ListType    string   `json:"x-kubernetes-list-type"`
	ListMapKeys []string `json:"x-kubernetes-list-map-keys"`
	MapType     string   `json:"x-kubernetes-map-type"`
	Strategy    string   `json:"x-kubernetes-patch-strategy"`
	MergeKey    string   `json:"x-kubernetes-patch-merge-key"`
	IntOrString bool     `json:"x-kubernetes-int-or-string"`
	Pattern     string   `json:"pattern"`
	Kinds       []struct {
		Group, Version, Kind string
	} `json:"x-kubernetes-group-version-kind"`
}

// limits are what custom resource definitions say of values.
//
//nolint:tagliatelle // the names are those of OpenAPI
type limits struct {
	Default   any   `json:"default,omitempty"`
	Enum      []any `json:"enum,omitempty"`
	MinLength any   `json:"minLength,omitempty"`
	MinItems  any   `json:"minItems,omitempty"`
	Minimum   any   `json:"minimum,omitempty"`
	Maximum   any   `json:"maximum,omitempty"`
	Rules     []struct {
		Rule string `json:"rule"`
	} `json:"x-kubernetes-validations,omitempty"`
}

// limited lists the limits of the values within a kind.
func (s schema) limited(path string) (facts, error) {
	all := facts{}
	// An empty default says nothing.
	if s.Default == "" {
		s.Default = nil
	}
	text, err := json.Marshal(s.limits)
	if err != nil {
		return nil, err
	}
	if string(text) != "{}" {
		all[path+" limits"] = string(text)
	}
	children := map[string]schema{}
	for name, field := range s.Properties {
		children[path+"."+name] = field
	}
	if s.Items != nil {
		children[path+"[]"] = *s.Items
	}
	if v := s.values(); v != nil {
		children[path+"{}"] = *v
	}
	for here, child := range children {
		more, err := child.limited(here)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, more)
	}
	return all, nil
}

// definitions are schemas by the names under which they are published.
type definitions map[string]schema

// named follows the one reference that version 3 wraps to add a default to it.
func (s schema) named() schema {
	if s.Ref == "" && len(s.AllOf) == 1 {
		wrapped := s.AllOf[0]
		wrapped.MapType, wrapped.ListType = s.MapType, s.ListType
		return wrapped
	}
	return s
}

func (s schema) target() string {
	_, name, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(s.Ref, "#/definitions/"), "#/components/"), "schemas/")
	if name == "" {
		name = strings.TrimPrefix(s.Ref, "#/definitions/")
	}
	return name
}

// values is the schema of the values of a map.
func (s schema) values() *schema {
	v := schema{}
	if len(s.AdditionalProperties) == 0 || json.Unmarshal(s.AdditionalProperties, &v) != nil {
		return nil
	}
	return &v
}

// describe says the type in short, with what else counts.
func (s schema) describe(required bool) string {
	s = s.named()
	parts := []string{s.kind()}
	if required {
		parts = append(parts, "required")
	}
	if s.ListType != "" {
		parts = append(parts, "list="+s.ListType)
	}
	if len(s.ListMapKeys) > 0 {
		parts = append(parts, "keys="+strings.Join(s.ListMapKeys, ","))
	}
	if s.MapType != "" {
		parts = append(parts, "map="+s.MapType)
	}
	if s.Strategy != "" || s.MergeKey != "" {
		parts = append(parts, "patch="+s.Strategy+":"+s.MergeKey)
	}
	return strings.Join(parts, " ")
}

func (s schema) kind() string {
	s = s.named()
	switch {
	case s.target() == quantity, s.IntOrString && s.Pattern != "":
		return "quantity"
	case s.Ref != "":
		return "#" + strings.TrimPrefix(s.target(), modelPrefix)
	case s.IntOrString, s.Format == "int-or-string":
		return "int-or-string"
	case s.Items != nil:
		return "[]" + s.Items.kind()
	case s.values() != nil:
		return "map " + s.values().kind()
	case s.Type == "":
		return "object"
	case s.Format != "" && s.Type != "number":
		return s.Type + "/" + s.Format
	default:
		return s.Type
	}
}

// facts are what is said of an API: what it is, by where it stands.
type facts map[string]string

// flat lists the fields of the definitions of a group.
func (d definitions) flat(prefix string) facts {
	all := facts{}
	for name, s := range d {
		short, mine := strings.CutPrefix(name, modelPrefix+prefix+".")
		if !mine {
			continue
		}
		all[short] = "object"
		for _, k := range s.Kinds {
			all[short] = "kind " + k.Group + "/" + k.Version + " " + k.Kind
		}
		for field, f := range s.Properties {
			all[short+"."+field] = f.describe(slices.Contains(s.Required, field))
		}
	}
	return all
}

// tree lists the fields of a kind with those of everything inside, down to the types of Kubernetes. Those are described by
// their names; soft also holds what they consist of, in case the other side says that instead.
func (d definitions) tree(root schema, kind string) (hard, soft facts) {
	w := walk{definitions: d, hard: facts{}, soft: facts{}}
	w.fields(kind, root, false)
	return w.hard, w.soft
}

type walk struct {
	definitions definitions
	hard, soft  facts
}

// fields walks over the fields of an object.
func (w walk) fields(path string, s schema, outside bool) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		w.field(path+"."+name, s.Properties[name], slices.Contains(s.Required, name), outside)
	}
}

func (w walk) field(path string, s schema, required, outside bool) {
	s = s.named()
	foreign := strings.HasPrefix(s.target(), "io.k8s.")
	inner := s
	if s.Ref != "" {
		inner = w.definitions[s.target()]
		// How a list merges is said where it is used, not where its type is.
		if s.MapType != "" {
			inner.MapType = s.MapType
		}
	}
	switch {
	case outside:
		w.soft[path] = inner.describe(required)
	case foreign:
		w.hard[path] = s.describe(required)
		w.soft[path] = inner.describe(required)
	default:
		w.hard[path] = inner.describe(required)
	}
	switch {
	case inner.Items != nil:
		w.field(path+"[]", *inner.Items, false, outside || foreign)
	case inner.values() != nil:
		w.field(path+"{}", *inner.values(), false, outside || foreign)
	default:
		w.fields(path, inner, outside || foreign)
	}
}
