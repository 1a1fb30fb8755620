// SPDX-License-Identifier: Apache-2.0

package dnszones_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/terrarium-garden/terrarium/appliance/seedling/dnszones"
)

// TestReconcile: records get into the files of their zones, and out of them when they are gone. Records of other zones and what is no record
// are left out.
func TestReconcile(t *testing.T) {
	t.Parallel()
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	r := &dnszones.Reconciler{
		ConfigMaps: corev1listers.NewConfigMapLister(store), Files: dnszones.Files{Dir: t.TempDir(), Zones: []string{"example", "test"}},
	}
	if err := r.Files.Begin(); err != nil {
		t.Fatal(err)
	}
	expect := func(reason string, want map[string]string) {
		t.Helper()
		if err := r.Reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		entries, err := os.ReadDir(r.Files.Dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			_, got[entry.Name()], _ = strings.Cut(read(t, filepath.Join(r.Files.Dir, entry.Name())), "\n")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s\nfiles without their heads (-want +got):\n%s", reason, diff)
		}
	}
	expect("there is no object yet", map[string]string{"db.example": "", "db.test": ""})
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "local-dns"}, Data: map[string]string{
		"a.one":     `{"name":"api.a.test","type":"A","ttl":5,"values":["10.0.0.1"]}`,
		"b.one":     `{"name":"api.b.example","type":"A","ttl":5,"values":["10.0.0.2"]}`,
		"c.foreign": `{"name":"kubernetes.default.svc.cluster.local","type":"A","ttl":5,"values":["10.0.0.3"]}`,
		"d.broken":  `no record`,
	}}
	if err := store.Add(config); err != nil {
		t.Fatal(err)
	}
	full := map[string]string{"db.example": "api.b.example. 5 IN A 10.0.0.2\n", "db.test": "api.a.test. 5 IN A 10.0.0.1\n"}
	expect("records are in their zones", full)
	if err := r.Files.Begin(); err != nil {
		t.Fatal(err)
	}
	expect("a start leaves the files as they are", full)
	if err := store.Delete(config); err != nil {
		t.Fatal(err)
	}
	expect("the records are gone", map[string]string{"db.example": "", "db.test": ""})
}

// TestBegin: a cluster that starts again serves what it served before.
func TestBegin(t *testing.T) {
	t.Parallel()
	files := dnszones.Files{Dir: t.TempDir(), Zones: []string{"test"}}
	path := filepath.Join(files.Dir, "db.test")
	if err := os.WriteFile(path, []byte("as it was"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := files.Begin(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "as it was" {
		t.Errorf("the file is %q", got)
	}
	files.Dir = filepath.Join(files.Dir, "nowhere")
	if err := files.Begin(); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("Begin() = %v without a folder", err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
