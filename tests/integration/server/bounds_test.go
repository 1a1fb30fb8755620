// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubeprotobuf "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

// door is a way to bring an object to the server, %s standing for a quantity in it.
type door struct{ method, path, contentType, body string }

// through sends a body and returns the refusal, which comes quickly.
func through(t *testing.T, g *harness.Garden, d door, body string) error {
	t.Helper()
	kube, err := kubernetes.NewForConfig(g.Config)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	// An encoder that wraps what is sent cannot be used: the bytes are the point.
	err = kube.RESTClient().Verb(d.method).RequestURI(d.path).SetHeader("Content-Type", d.contentType).Body([]byte(body)).Do(t.Context()).Error()
	if took := time.Since(begin); took > harness.Patience/2 {
		t.Errorf("The answer took %v", took)
	}

	return err
}

// cheapBodies tries that what would compute for minutes is refused at every door, and what only looks like it is not.
func cheapBodies(g *harness.Garden) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()
		const (
			quotas  = "/api/v1/namespaces/bounds/resourcequotas"
			quota   = quotas + "/there"
			gardens = "/apis/core.gardener.cloud/v1beta1/namespaces/bounds/quotas"
			merge   = "application/merge-patch+json"
			apply   = "?fieldManager=test&force=true"
		)
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "bounds"}}
		there := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "there"}}
		mustCreate(t, g, namespace, there)

		object := `{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"there"},"spec":{"hard":{"count/secrets":"%s"}}}`
		written := "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: there}\nspec:\n  hard:\n    count/secrets: \"%s\"\n"
		doors := map[string]door{
			"create":              {http.MethodPost, quotas, runtime.ContentTypeJSON, object},
			"create, dry run":     {http.MethodPost, quotas + "?dryRun=All", runtime.ContentTypeJSON, object},
			"create, YAML":        {http.MethodPost, quotas, runtime.ContentTypeYAML, written},
			"create, garden kind": {http.MethodPost, gardens, runtime.ContentTypeJSON, `{"apiVersion":"core.gardener.cloud/v1beta1","kind":"Quota","metadata":{"name":"q"},"spec":{"scope":{"apiVersion":"core.gardener.cloud/v1beta1","kind":"Project"},"metrics":{"cpu":"%s"}}}`},
			"update":              {http.MethodPut, quota, runtime.ContentTypeJSON, object},
			"merge patch":         {http.MethodPatch, quota, merge, `{"spec":{"hard":{"count/secrets":"%s"}}}`},
			"strategic patch":     {http.MethodPatch, quota, "application/strategic-merge-patch+json", `{"spec":{"hard":{"count/secrets":"%s"}}}`},
			"JSON patch":          {http.MethodPatch, quota, "application/json-patch+json", `[{"op":"add","path":"/spec/hard","value":{"count/secrets":"%s"}}]`},
			"apply":               {http.MethodPatch, quota + apply, "application/apply-patch+yaml", object},
			"apply, YAML":         {http.MethodPatch, quota + apply, "application/apply-patch+yaml", written},
			"status":              {http.MethodPatch, quota + "/status", merge, `{"status":{"used":{"count/secrets":"%s"}}}`},
		}
		for name, d := range doors {
			for _, text := range []string{"1e99999999", "1e-99999999", "12345678901234567890e99999"} {
				err := through(t, g, d, fmt.Sprintf(d.body, text))
				if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), text) {
					t.Errorf("%s of %s: got %v, want a refusal that names it", name, text, err)
				}
			}
		}
		binary := door{method: http.MethodPut, path: quota, contentType: runtime.ContentTypeProtobuf}
		if err := through(t, g, binary, protobufQuota(t, there, "7777777777", "1e99999999")); !apierrors.IsBadRequest(err) {
			t.Errorf("protobuf: got %v, want BadRequest", err)
		}
		deep := `{"metadata":{"annotations":` + strings.Repeat(`{"a":`, 9900) + "1" + strings.Repeat("}", 9902)
		if err := through(t, g, doors["merge patch"], deep); !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "nested deeper") {
			t.Errorf("A deep patch: got %v, want a refusal that says so", err)
		}
		var many strings.Builder
		for i := range 90_000 {
			fmt.Fprintf(&many, `"count/a%d.example.org":"1",`, i)
		}
		broad := `{"spec":{"hard":{` + many.String() + `"count/secrets":"1"}}}`
		if err := through(t, g, doors["merge patch"], broad); !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "entries") {
			t.Errorf("A map of 90,000 entries: got %v, want a refusal that says so", err)
		}
		passing(t, g, doors, protobufQuota(t, there, "7777777777", "1000000000"))
	}
}

// passing tries what is no quantity beyond the bounds.
func passing(t *testing.T, g *harness.Garden, doors map[string]door, binary string) {
	t.Helper()
	const maps = "/api/v1/namespaces/bounds/configmaps"
	text := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m","labels":{"commit":"12e4567"}},"data":{"a":"1e99999999","b":"{\"c\":1e99999999}","d":"take 1e99999999"}}`
	for name, step := range map[string]struct {
		door door
		body string
	}{
		"update":    {doors["update"], fmt.Sprintf(doors["update"].body, "1e3")},
		"apply":     {doors["apply, YAML"], fmt.Sprintf(doors["apply, YAML"].body, "1e3")},
		"protobuf":  {door{method: http.MethodPut, path: doors["update"].path, contentType: runtime.ContentTypeProtobuf}, binary},
		"ConfigMap": {door{method: http.MethodPost, path: maps, contentType: runtime.ContentTypeJSON}, text},
		"applied":   {door{method: http.MethodPatch, path: maps + "/n?fieldManager=test", contentType: "application/apply-patch+yaml"}, strings.Replace(text, `"m"`, `"n"`, 1)},
	} {
		if err := through(t, g, step.door, step.body); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	big := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"big"},"data":{"a":"` + strings.Repeat("a", 4<<20) + `"}}`
	if err := through(t, g, door{method: http.MethodPost, path: maps, contentType: runtime.ContentTypeJSON}, big); !apierrors.IsRequestEntityTooLargeError(err) {
		t.Errorf("A body beyond the limit: got %v, want RequestEntityTooLarge", err)
	}
	// Nothing unpacks bodies, so nothing can hide in them.
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := fmt.Fprintf(w, doors["update"].body, "1e99999999"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := through(t, g, doors["update"], packed.String()); !apierrors.IsBadRequest(err) {
		t.Errorf("A compressed body: got %v, want BadRequest", err)
	}
}

// protobufQuota returns a quota as protobuf, with one quantity in place of another of the same length.
func protobufQuota(t *testing.T, of *corev1.ResourceQuota, from, to string) string {
	t.Helper()
	kinds := runtime.NewScheme()
	quota := &corev1.ResourceQuota{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ResourceQuota"}, ObjectMeta: metav1.ObjectMeta{Namespace: of.Namespace, Name: of.Name},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/secrets": resource.MustParse(from)}},
	}
	var b bytes.Buffer
	if err := kubeprotobuf.NewSerializer(kinds, kinds).Encode(quota, &b); err != nil {
		t.Fatal(err)
	}

	return strings.Replace(b.String(), from, to, 1)
}
