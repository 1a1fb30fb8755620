// SPDX-License-Identifier: Apache-2.0

package chart_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/terrarium-garden/terrarium/controllers/chart"
)

const metadata = "apiVersion: v2\nname: demo\nversion: 0.1.0\n"

func files(templates map[string]string) fstest.MapFS {
	all := fstest.MapFS{
		"Chart.yaml":  {Data: []byte(metadata)},
		"values.yaml": {Data: []byte("replicas: 1\nnested: {a: chart, b: chart}\n")},
		"embed.go":    {Data: []byte("package demo")},
	}
	for name, content := range templates {
		all[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return all
}

func TestRender(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason    string
		templates map[string]string
		values    map[string]any
		want      []string
		wantErr   string
	}{
		"Values": {
			reason: "values of the caller override those of the chart, table by table",
			templates: map[string]string{"templates/a.yaml": `
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}", namespace: "{{ .Release.Namespace }}"}
data: {replicas: "{{ .Values.replicas }}", a: "{{ .Values.nested.a }}", b: "{{ .Values.nested.b }}"}`},
			values: map[string]any{"replicas": 3, "nested": map[string]any{"b": "caller"}},
			want:   []string{"ConfigMap there/me replicas=3 a=chart b=caller"},
		},
		"Definitions": {
			reason: "custom resource definitions come first, then the templates by name",
			templates: map[string]string{
				"templates/b.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: s}\n",
				"templates/a.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: ns}",
				"crds/crd.yaml":    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: c}",
			},
			want: []string{"CustomResourceDefinition /c", "Namespace /ns", "Deployment /d", "ServiceAccount /s"},
		},
		"LeftOut": {
			reason: "hooks, notes, partials and empty documents give no objects",
			templates: map[string]string{
				"templates/hook.yaml":   "apiVersion: v1\nkind: Pod\nmetadata: {name: p, annotations: {helm.sh/hook: test}}",
				"templates/NOTES.txt":   "Read me",
				"templates/_part.tpl":   `{{ define "x" }}y{{ end }}`,
				"templates/empty.yaml":  "---\n# nothing\n---\n",
				"templates/switch.yaml": "{{ if .Values.absent }}nonsense{{ end }}",
			},
		},
		"List": {
			reason:    "the items of a list are objects of their own",
			templates: map[string]string{"templates/l.yaml": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: x}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: cm}}\n"},
			want:      []string{"Secret /x", "ConfigMap /cm"},
		},
		"Version": {
			reason:    "templates see the Kubernetes version of the cluster",
			templates: map[string]string{"templates/v.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Capabilities.KubeVersion }}\"}"},
			want:      []string{"ConfigMap /v1.36.3"},
		},
		"BadTemplate": {
			reason:    "a template that fails names its file",
			templates: map[string]string{"templates/bad.yaml": `{{ required "give a colour" .Values.colour }}`},
			wantErr:   "give a colour",
		},
		"BadYAML": {
			reason:    "a template that gives no YAML names its file",
			templates: map[string]string{"templates/bad.yaml": "a: b: c"},
			wantErr:   `file "demo/templates/bad.yaml" is not valid YAML`,
		},
		"NoKind": {
			reason:    "an object without a kind is refused",
			templates: map[string]string{"templates/bad.yaml": "a: b"},
			wantErr:   "without apiVersion or kind",
		},
		"NoName": {
			reason:    "an object without a name is refused",
			templates: map[string]string{"templates/bad.yaml": "apiVersion: v1\nkind: Secret"},
			wantErr:   "a Secret without a name",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loaded, err := chart.LoadFS(files(tc.templates))
			if err != nil {
				t.Fatalf("LoadFS(...): %v", err)
			}
			objects, err := loaded.Render(chart.Release{Name: "me", Namespace: "there", KubernetesVersion: "v1.36.3"}, tc.values)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) || !errors.Is(err, chart.ErrInvalid) {
					t.Fatalf("%s\nRender(...): got error %v, want ErrInvalid with %q", tc.reason, err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s\nRender(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, summarize(objects)); diff != "" {
				t.Errorf("%s\nRender(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func summarize(objects []*unstructured.Unstructured) []string {
	var lines []string
	for _, object := range objects {
		line := object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
		data, _, _ := unstructured.NestedStringMap(object.Object, "data")
		for _, key := range []string{"replicas", "a", "b"} {
			if value, ok := data[key]; ok {
				line += " " + key + "=" + value
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func TestPackAndLoad(t *testing.T) {
	t.Parallel()
	source := files(map[string]string{"templates/a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: x}"})
	packed, err := chart.Pack("demo", source)
	if err != nil {
		t.Fatalf("Pack(...): %v", err)
	}
	again, err := chart.Pack("demo", source)
	if err != nil {
		t.Fatalf("Pack(...): %v", err)
	}
	if string(packed) != string(again) {
		t.Error("Equal files must give equal bytes, or every build would redeploy the extension")
	}
	zipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if first, err := tar.NewReader(zipped).Next(); err != nil || first.ModTime.Unix() != 0 || first.Name != "demo/Chart.yaml" {
		t.Errorf("No time is packed, and everything lies in the chart's folder: got %+v, error %v", first, err)
	}
	loaded, err := chart.Load(packed)
	if err != nil {
		t.Fatalf("Load(...): %v", err)
	}
	objects, err := loaded.Render(chart.Release{Name: "me"}, nil)
	if err != nil {
		t.Fatalf("Render(...): %v", err)
	}
	if diff := cmp.Diff([]string{"Secret /x"}, summarize(objects)); diff != "" {
		t.Errorf("A packed chart renders like its folder\n(-want +got):\n%s", diff)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	large := files(nil)
	large["zeros"] = &fstest.MapFile{Data: make([]byte, 6<<20)}
	bomb, err := chart.Pack("demo", large)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		input  []byte
	}{
		"Empty":   {reason: "no bytes are no chart", input: nil},
		"Garbage": {reason: "text is no archive", input: []byte("not an archive")},
		"Bomb":    {reason: "a small archive may not have a large file", input: bomb},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := chart.Load(tc.input); !errors.Is(err, chart.ErrInvalid) {
				t.Errorf("%s\nLoad(...): got error %v, want ErrInvalid", tc.reason, err)
			}
		})
	}
	if _, err := chart.LoadFS(fstest.MapFS{}); !errors.Is(err, chart.ErrInvalid) {
		t.Errorf("A folder without Chart.yaml is no chart: got error %v, want ErrInvalid", err)
	}
}
