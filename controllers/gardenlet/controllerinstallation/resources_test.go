// SPDX-License-Identifier: Apache-2.0

package controllerinstallation_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/controllerinstallation"
)

// TestSubstitute_EXT_REG_8 puts data into values.
func TestSubstitute_EXT_REG_8(t *testing.T) {
	t.Parallel()
	lookUp := func(name, key string) (string, error) {
		if name == "none" {
			return "", errors.New("no such resource")
		}
		return name + "/" + key, nil
	}
	cases := map[string]struct {
		reason  string
		value   any
		want    any
		wantErr string
	}{
		"Whole":        {reason: "a string may be a reference", value: "{{ .resources.db.data.password }}", want: "db/password"},
		"Part":         {reason: "or have some", value: "a{{ .resources.db.data.user }}:{{.resources.db.data.password}}@b", want: "adb/user:db/password@b"},
		"Dots":         {reason: "keys of Secrets have dots", value: "{{ .resources.my-db_1.data.tls.crt }}", want: "my-db_1/tls.crt"},
		"Nested":       {reason: "tables and lists are gone through", value: []any{map[string]any{"a": "{{ .resources.db.data.x }}"}, "b", 1.5, true, nil}, want: []any{map[string]any{"a": "db/x"}, "b", 1.5, true, nil}},
		"Keys":         {reason: "keys are none of it", value: map[string]any{"{{ .resources.db.data.x }}": "y"}, want: map[string]any{"{{ .resources.db.data.x }}": "y"}},
		"OtherBraces":  {reason: "a chart may use templates itself", value: "{{ $labels.pod }} {{ .Values.resources.db.data.x }} {{ }} {{", want: "{{ $labels.pod }} {{ .Values.resources.db.data.x }} {{ }} {{"},
		"Missing":      {reason: "what cannot be found is an error", value: "{{ .resources.none.data.x }}", wantErr: "values have {{ .resources.none.data.x }}: no such resource"},
		"First":        {reason: "the error is the same each time", value: map[string]any{"b": "{{ .resources.none.data.b }}", "a": "{{ .resources.none.data.a }}", "c": "{{ .resources.none.data.c }}"}, wantErr: "none.data.a"},
		"Function":     {reason: "there are no functions", value: "{{ .resources.db.data.x | quote }}", wantErr: "only {{ .resources.<name>.data.<key> }} is possible"},
		"Trim":         {reason: "nor marks that trim", value: "{{- .resources.db.data.x }}", wantErr: "only {{ .resources.<name>.data.<key> }} is possible"},
		"OtherField":   {reason: "nor other fields", value: "{{ .resources.db.metadata.name }}", wantErr: "only {{ .resources.<name>.data.<key> }} is possible"},
		"NoKey":        {reason: "nor all data at once", value: "{{ .resources.db.data }}", wantErr: "only {{ .resources.<name>.data.<key> }} is possible"},
		"SecondStage":  {reason: "what is found in braces within braces stays the reference that it is", value: "{{{ .resources.db.data.x }}}", want: "{db/x}"},
		"NothingToSay": {reason: "values without references stay", value: map[string]any{"a": map[string]any{}, "b": []any{}}, want: map[string]any{"a": map[string]any{}, "b": []any{}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := controllerinstallation.Substitute(map[string]any{"value": tc.value}, lookUp)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("%s\nSubstitute(...): got error %v, want one with %q", tc.reason, err, tc.wantErr)
				}
				return
			}
			if diff := cmp.Diff(map[string]any{"value": tc.want}, got); diff != "" || err != nil {
				t.Errorf("%s\nSubstitute(...): error %v (-want +got):\n%s", tc.reason, err, diff)
			}
		})
	}
}

// TestSubstituteOnce_EXT_REG_8 takes data as it is, whatever it looks like.
func TestSubstituteOnce_EXT_REG_8(t *testing.T) {
	t.Parallel()
	given := map[string]any{"value": "{{ .resources.a.data.b }}"}
	got, err := controllerinstallation.Substitute(given, func(string, string) (string, error) { return "{{ .resources.a.data.c }}\n$1", nil })
	if diff := cmp.Diff(map[string]any{"value": "{{ .resources.a.data.c }}\n$1"}, got); diff != "" || err != nil {
		t.Errorf("Substitute(...): error %v (-want +got):\n%s", err, diff)
	}
	if given["value"] != "{{ .resources.a.data.b }}" {
		t.Errorf("Substitute(...) changed the values that it was given: %v", given)
	}
}

const settingsTemplate = "apiVersion: v1\nkind: Secret\nmetadata: {name: settings}\nstringData: {password: {{ .Values.password | quote }}, city: {{ .Values.city | quote }}}\n"

// resourceful is a deployment with two resources.
func resourceful(t *testing.T, template string) *gardencorev1.ControllerDeployment {
	t.Helper()
	d := deployment(gardencorev1.HelmControllerDeployment{
		RawChart: packed(t, template),
		Values:   &apiextensionsv1.JSON{Raw: []byte(`{"password":"{{ .resources.db.data.password }}","city":"{{ .resources.place.data.city }}"}`)},
	})
	d.Resources = []gardencorev1.NamedResourceReference{
		{Name: "db", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "database"}},
		{Name: "place", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "ConfigMap", Name: "location"}},
		{Name: "unused", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "of-the-extension-itself"}},
	}
	return d
}

func place(role string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "location", Labels: map[string]string{"gardener.cloud/role": role}}, Data: map[string]string{"city": "Ghent"},
	}
}

// TestResources_EXT_REG_8 installs a chart whose values have data of a Secret and a ConfigMap. As long as something is missing, it is said
// what, and tried again. Other data is seen within a minute.
func TestResources_EXT_REG_8(t *testing.T) {
	t.Parallel()
	const password = "open-sesame"
	d := resourceful(t, settingsTemplate)
	s := newStage(t, d)
	database := func(role, key, value string) *corev1.Secret {
		return secret("database", role, map[string]string{key: value})
	}
	for _, step := range []struct {
		reason string
		do     func()
		want   string
	}{
		{reason: "no ConfigMap", do: func() {}, want: `ConfigMap "location" in namespace "garden" of the garden does not exist`},
		{reason: "a ConfigMap for something else", do: func() { s.create(place("")) }, want: "needs the label gardener.cloud/role=resource-reference"},
		{reason: "no Secret", do: func() { s.replace(place("resource-reference")) }, want: `Secret "database" in namespace "garden" of the garden does not exist`},
		{reason: "a Secret for something else", do: func() { s.create(database("internal-domain", "password", password)) }, want: "needs the label gardener.cloud/role=resource-reference"},
		{reason: "no key", do: func() { s.replace(database("resource-reference", "passwort", password)) }, want: `no key "password"`},
		{reason: "no text", do: func() { s.replace(database("resource-reference", "password", password+"\xff")) }, want: `no text in key "password"`},
	} {
		step.do()
		valid, err := s.pass()
		if got := string(valid.Status) + " " + valid.Reason; got != "False RenderingHelmValuesFailed" || !strings.Contains(valid.Message, step.want) {
			t.Errorf("%s: got condition %s: %s, want False RenderingHelmValuesFailed with %q", step.reason, got, valid.Message, step.want)
		}
		if err == nil || errors.Is(err, reconcile.TerminalError(nil)) || strings.Contains(valid.Message+err.Error(), password) {
			t.Errorf("%s: the pass ends with %v, want that it is tried again and tells no data", step.reason, err)
		}
	}

	for _, given := range []string{password, "other: \"{{ .resources.place.data.city }}\"\n- x"} {
		s.replace(database("resource-reference", "password", given))
		if valid, err := s.pass(); valid.Status != "True" {
			t.Errorf("with all objects: got condition %s %s: %s, error %v", valid.Status, valid.Reason, valid.Message, err)
		}
		got := s.installedSecret("settings")
		if diff := cmp.Diff(map[string]string{"password": given, "city": "Ghent"}, got); diff != "" {
			t.Errorf("what is installed (-want +got):\n%s", diff)
		}
	}
}

// TestPeriod_EXT_REG_8 comes back soon for an extension with resources, which nobody watches.
func TestPeriod_EXT_REG_8(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		resources int
		want      time.Duration
	}{{0, 10 * time.Minute}, {3, time.Minute}} {
		d := resourceful(t, settingsTemplate)
		d.Resources = d.Resources[:tc.resources]
		if tc.resources == 0 {
			d.Helm.Values = nil
		}
		s := newStage(t, d, place("resource-reference"), secret("database", "resource-reference", map[string]string{"password": "x"}))
		s.settle()
		result, err := s.reconcile()
		if diff := cmp.Diff(reconcile.Result{RequeueAfter: tc.want}, result); diff != "" || err != nil {
			t.Errorf("Reconcile(...) with %d resources: error %v (-want +got):\n%s", tc.resources, err, diff)
		}
	}
}

// TestConfidentialObjects_EXT_REG_8 has the seed refuse objects, and quote them.
func TestConfidentialObjects_EXT_REG_8(t *testing.T) {
	t.Parallel()
	const password = "open-sesame"
	s := newStage(t, resourceful(t, settingsTemplate), place("resource-reference"), secret("database", "resource-reference", map[string]string{"password": password}))
	s.settle()
	mr := &gardenresourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "demo-x"}}
	if err := s.seed.Get(t.Context(), client.ObjectKeyFromObject(mr), mr); err != nil {
		t.Fatal(err)
	}
	if mr.Labels[controllerinstallation.LabelConfidential] != "true" {
		t.Errorf("who checks the extension does not see that the status may quote data; labels %v", mr.Labels)
	}
	mr.Status.Conditions = []gardencorev1beta1.Condition{{Type: "ResourcesApplied", Status: "False", Message: "Invalid value: " + password}}
	if err := s.seed.Update(t.Context(), mr); err != nil {
		t.Fatal(err)
	}
	_, err := s.reconcile()
	installation := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "demo-x"}}
	if err := s.garden.Get(t.Context(), client.ObjectKeyFromObject(installation), installation); err != nil {
		t.Fatal(err)
	}
	told := fmt.Sprint(installation.Status.Conditions, err)
	if strings.Contains(told, password) || !strings.Contains(told, `ManagedResource "garden/demo-x" of the seed`) {
		t.Errorf("the garden is told the data, or not where to look: %s", told)
	}
}

// TestConfidential_EXT_REG_8 fails to render charts that quote their values in the error.
func TestConfidential_EXT_REG_8(t *testing.T) {
	t.Parallel()
	const password = "open-sesame"
	for name, tc := range map[string]struct{ template, want string }{
		"Always":       {template: `{{ fail (printf "not with %s" .Values.password) }}`, want: "not with {{ .resources.db.data.password }}"},
		"WithTheData":  {template: fmt.Sprintf(`{{ if eq .Values.password %q }}{{ fail (b64enc .Values.password) }}{{ end }}`, password), want: "why is not told here"},
		"AfterTheData": {template: `{{ if hasPrefix "open" .Values.password }}a: b: {{ .Values.password }}{{ end }}`, want: "why is not told here"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, resourceful(t, tc.template), place("resource-reference"), secret("database", "resource-reference", map[string]string{"password": password}))
			valid, err := s.pass()
			if err == nil || valid.Reason != "ChartCannotBeRendered" || !strings.Contains(valid.Message, tc.want) {
				t.Fatalf("got condition %s: %s, want ChartCannotBeRendered with %q", valid.Reason, valid.Message, tc.want)
			}
			for _, hidden := range []string{password, "b3Blbi1zZXNhbWU="} {
				if strings.Contains(valid.Message+err.Error(), hidden) && !strings.Contains(tc.template, hidden) {
					t.Errorf("the condition or the error tells %q: %v", hidden, err)
				}
			}
			if errors.Is(err, reconcile.TerminalError(nil)) {
				t.Errorf("other data could help, but it is not tried again: %v", err)
			}
		})
	}
}
