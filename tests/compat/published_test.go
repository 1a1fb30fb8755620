// SPDX-License-Identifier: Apache-2.0

package compat_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/terrarium-garden/terrarium/apis/openapi"
	"github.com/terrarium-garden/terrarium/controllers/extension/crds"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

const asTable = "application/json;as=Table;g=meta.k8s.io;v=v1"

// published is what a running garden says about its kinds.
type published struct {
	client      kubernetes.Interface
	definitions definitions
}

func newPublished(t *testing.T, g *harness.Garden) *published {
	t.Helper()
	client, err := kubernetes.NewForConfig(g.Config)
	if err != nil {
		t.Fatal(err)
	}
	p := &published{client: client}
	document := struct{ Definitions definitions }{}
	p.read(t, "/openapi/v2", runtime.ContentTypeJSON, &document)
	p.definitions = document.Definitions
	p.addOpaque(t)
	return p
}

// addOpaque adds the models that no field names, because they stand in fields that a server does not look into, or because
// they are part of others.
func (p *published) addOpaque(t *testing.T) {
	t.Helper()
	generated := openapi.GetOpenAPIDefinitions(func(path string) spec.Ref { return spec.MustCreateRef("#/definitions/" + path) })
	for name, definition := range generated {
		if _, known := p.definitions[name]; known || !strings.HasPrefix(name, modelPrefix) {
			continue
		}
		text, err := json.Marshal(definition.Schema)
		if err != nil {
			t.Fatal(err)
		}
		s := schema{}
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		p.definitions[name] = s
	}
}

func (p *published) read(t *testing.T, path, accept string, into any) {
	t.Helper()
	body, err := p.client.Discovery().RESTClient().Get().RequestURI(path).SetHeader("Accept", accept).DoRaw(t.Context())
	if err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("read %s: %v", path, err)
	}
}

// third are the models of a group in version 3 of OpenAPI.
func (p *published) third(t *testing.T, g group) definitions {
	t.Helper()
	document := struct {
		Components struct{ Schemas definitions }
	}{}
	p.read(t, "/openapi/v3/apis/"+g.path(), runtime.ContentTypeJSON, &document)
	return document.Components.Schemas
}

// kinds are those of a group with everything inside, as far as the reference describes them in this way.
func (p *published) kinds(g group) (hard, soft facts) {
	hard, soft = facts{}, facts{}
	for name, s := range p.definitions {
		kind, mine := strings.CutPrefix(name, modelPrefix+g.prefix+".")
		if !mine || len(s.Kinds) == 0 || strings.HasSuffix(kind, "List") {
			continue
		}
		named, consisting := p.definitions.tree(s, kind)
		maps.Copy(hard, named)
		maps.Copy(soft, consisting)
	}
	return hard, soft
}

// resources are the resources of a group as discovery, tables and field selectors show them.
func (p *published) resources(t *testing.T, g group) facts {
	t.Helper()
	all := facts{}
	if strings.HasPrefix(g.name, "authentication.") {
		return all
	}
	found, err := p.client.Discovery().ServerResourcesForGroupVersion(g.path())
	if err != nil {
		t.Fatalf("discover %s: %v", g.path(), err)
	}
	for _, r := range found.APIResources {
		name, sub, _ := strings.Cut(r.Name, "/")
		if sub != "" {
			other := ""
			if r.Group != "" {
				other = r.Group + "/" + r.Version
			}
			all["/"+r.Name] = strings.TrimSpace(strings.Join([]string{other, r.Kind, list(r.Verbs)}, " "))
			continue
		}
		table := &metav1.Table{}
		path := "/apis/" + g.path() + "/" + name
		p.read(t, path, asTable, table)
		var columns []column
		for _, c := range table.ColumnDefinitions {
			columns = append(columns, column{Name: c.Name, Priority: c.Priority})
		}
		resource{
			Name: name, Kind: r.Kind, SingularName: r.SingularName, Namespaced: r.Namespaced, ShortNames: r.ShortNames,
			Categories: r.Categories, Verbs: r.Verbs, Columns: columns, Selectors: p.selectors(t, path),
		}.add(all)
	}
	if g.nested {
		return asDefined(all)
	}
	return all
}

// asDefined says of resources what a custom resource definition would say.
func asDefined(all facts) facts {
	out := facts{}
	for name, value := range all {
		resource, aspect, _ := strings.Cut(name, " ")
		switch {
		case aspect == "verbs", aspect == "selectors":
		case aspect == "columns":
			out[name] = strings.TrimPrefix(value, "Name | ")
		case strings.Contains(strings.TrimPrefix(resource, "/"), "/"):
			out[name] = "-"
		default:
			out[name] = value
		}
	}
	return out
}

// selectors are the fields by which a resource can be selected, of all that any resource can be selected by.
func (p *published) selectors(t *testing.T, path string) []string {
	t.Helper()
	var accepted []string
	for _, field := range candidates(t) {
		err := p.client.Discovery().RESTClient().Get().RequestURI(path + "?limit=1&fieldSelector=" + field + "%3Dx").Do(t.Context()).Error()
		if err == nil {
			accepted = append(accepted, field)
		}
	}
	return accepted
}

func candidates(t *testing.T) []string {
	t.Helper()
	all := map[string]bool{"spec.noSuchField": true, "status.phase": true, "spec.provider.type": true}
	for _, g := range groups() {
		for name, value := range read(t, g.file()) {
			if !strings.HasSuffix(name, " selectors") {
				continue
			}
			for field := range strings.SplitSeq(value, ",") {
				all[field] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// owner finds the model and the field in it that a path within a kind leads to.
func (p *published) owner(group, kind, path string) (model, field string) {
	short, _, _ := strings.Cut(group, ".")
	_, version, _ := strings.Cut(group, "_")
	name := modelPrefix + short + "." + version + "." + kind
	segments := strings.Split(path, ".")
	for i, segment := range segments {
		segment = strings.TrimRight(segment, "[]{}")
		property, found := p.definitions[name].Properties[segment]
		if !found {
			return "", ""
		}
		if i == len(segments)-1 {
			return strings.TrimPrefix(name, modelPrefix+short+"."+version+"."), segment
		}
		property = property.named()
		for property.Items != nil || property.values() != nil {
			if property.Items != nil {
				property = property.Items.named()
			} else {
				property = property.values().named()
			}
		}
		name = property.target()
	}
	return "", ""
}

// expanded replaces types of Kubernetes by what they consist of, as custom resource definitions do.
func (p *published) expanded(all facts) facts {
	out := facts{}
	for path, value := range all {
		before, name, found := strings.Cut(value, "#io.k8s.")
		if !found {
			out[path] = value
			continue
		}
		name, flags, _ := strings.Cut(name, " ")
		inner := p.definitions["io.k8s."+name]
		if before != "" {
			out[path] = strings.TrimSpace(before + inner.kind() + " " + flags)
			continue
		}
		out[path] = inner.describe(strings.Contains(flags, "required"))
		w := walk{definitions: p.definitions, hard: facts{}, soft: out}
		w.fields(path, inner, true)
	}
	return out
}

// installed are the kinds of a group that seeds serve from custom resource definitions.
func installed(t *testing.T, g group) facts {
	t.Helper()
	objects, err := crds.Objects()
	if err != nil {
		t.Fatal(err)
	}
	all := facts{}
	for _, object := range objects {
		crd, ok := object.(*apiextensionsv1.CustomResourceDefinition)
		if !ok {
			t.Fatalf("%T is no custom resource definition", object)
		}
		v := crd.Spec.Versions[0]
		if crd.Spec.Group+"_"+v.Name != g.name {
			continue
		}
		text, err := json.Marshal(v.Schema.OpenAPIV3Schema)
		if err != nil {
			t.Fatal(err)
		}
		root := schema{}
		if err := json.Unmarshal(text, &root); err != nil {
			t.Fatal(err)
		}
		names := crd.Spec.Names
		hard, _ := definitions{}.tree(root, names.Kind)
		maps.Copy(all, hard)
		limited, err := root.limited(names.Kind)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(all, limited)
		r := resource{
			Name: names.Plural, Kind: names.Kind, SingularName: names.Singular, ShortNames: names.ShortNames, Categories: names.Categories,
			Namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
		}
		for _, c := range v.AdditionalPrinterColumns {
			r.Columns = append(r.Columns, column{Name: c.Name, JSONPath: c.JSONPath, Priority: c.Priority})
		}
		r.add(all)
		if v.Subresources != nil && v.Subresources.Status != nil {
			all["/"+names.Plural+"/status"] = "-"
		}
		if !v.Served || !v.Storage || len(crd.Spec.Versions) != 1 {
			t.Errorf("%s has one version, which is served and stored", crd.Name)
		}
	}
	return all
}
