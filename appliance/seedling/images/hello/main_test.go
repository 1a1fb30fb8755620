// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestGreet(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	if err := run([]string{"/usr/local/bin/hello", "-"}, strings.NewReader("world\nmoon"), &said); err != nil || said.String() != "Hello, world\nHello, moon\n" {
		t.Errorf("hello - says %q, %v", &said, err)
	}
}

// TestWebhook asks as an API server does.
func TestWebhook(t *testing.T) {
	t.Parallel()
	post := func(t *testing.T, content []byte) *httptest.ResponseRecorder {
		t.Helper()
		answer := httptest.NewRecorder()
		webhook().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/validate?timeout=10s", bytes.NewReader(content)))
		return answer
	}
	for reason, tc := range map[string]struct {
		labels  string
		refused string
	}{
		"it has no labels":      {`null`, ""},
		"the label says yes":    {`{"hello":"welcome"}`, ""},
		"another label says no": {`{"goodbye":"unwelcome"}`, ""},
		"the label says no":     {`{"hello":"unwelcome"}`, `"a" is not welcome: it has the label hello=unwelcome`},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			asked := &admissionv1.AdmissionReview{
				TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
				Request:  &admissionv1.AdmissionRequest{UID: "4711", Object: runtime.RawExtension{Raw: []byte(`{"kind":"ConfigMap","metadata":{"name":"a","labels":` + tc.labels + `}}`)}},
			}
			content, err := json.Marshal(asked)
			if err != nil {
				t.Fatal(err)
			}
			var got admissionv1.AdmissionReview
			if err := json.Unmarshal(post(t, content).Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			want := admissionv1.AdmissionReview{TypeMeta: asked.TypeMeta, Response: &admissionv1.AdmissionResponse{UID: "4711", Allowed: tc.refused == ""}}
			if tc.refused != "" {
				want.Response.Result = &metav1.Status{Message: tc.refused}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the answer (-want +got):\n%s", diff)
			}
		})
	}
	if answer := post(t, []byte(`{"kind":"Pod"}`)); answer.Code != http.StatusBadRequest {
		t.Errorf("something else than a review is answered with %d", answer.Code)
	}
}

// TestArchive copies a folder from one place to another, as `kubectl cp` does from pod to pod.
func TestArchive(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	content := map[string]string{"a": "1", "deep/b": strings.Repeat("2", 1<<20)}
	for name, text := range content {
		path := filepath.Join(from, "letters", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var packed bytes.Buffer
	if err := run([]string{"tar", "cf", "-", filepath.Join(from, "letters")}, nil, &packed); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"tar", "--no-same-permissions", "--no-same-owner", "-xmf", "-", "-C", to}, &packed, nil); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name := range content {
		text, err := os.ReadFile(filepath.Join(to, from, "letters", name))
		if err != nil {
			t.Fatal(err)
		}
		got[name] = string(text)
	}
	if diff := cmp.Diff(content, got); diff != "" {
		t.Errorf("what arrived (-want +got):\n%s", diff)
	}
}

func TestArchiveRefuses(t *testing.T) {
	t.Parallel()
	var outside bytes.Buffer
	w := tar.NewWriter(&outside)
	if err := w.WriteHeader(&tar.Header{Name: "../escaped", Typeflag: tar.TypeReg, Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for reason, tc := range map[string]struct {
		args []string
		in   []byte
	}{
		"a name leads out of the folder": {[]string{"-xmf", "-", "-C", folder}, outside.Bytes()},
		"this is no archive":             {[]string{"-xmf", "-", "-C", folder}, []byte(strings.Repeat("x", 1024))},
		"the folder is missing":          {[]string{"-xmf", "-", "-C"}, nil},
		"a folder that does not exist":   {[]string{"-xmf", "-", "-C", filepath.Join(folder, "none")}, nil},
		"a file that does not exist":     {[]string{"cf", "-", filepath.Join(folder, "none")}, nil},
		"both at once":                   {[]string{"cf", "-xmf", "-"}, nil},
		"options that it does not have":  {[]string{"czf", "-", folder}, nil},
	} {
		if err := run(append([]string{"tar"}, tc.args...), bytes.NewReader(tc.in), new(bytes.Buffer)); err == nil {
			t.Errorf("%s: no error", reason)
		}
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(folder), "escaped")); err == nil {
		t.Error("a file was written outside of the folder")
	}
}
