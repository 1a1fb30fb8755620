// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/terrarium-garden/terrarium/tests/objectstore"
)

// TestServerWithBucket runs a garden whose configuration file names a bucket, loses its machine, and restores it with the same file: what an
// operator has is the file, the credentials and a copy of the key.
//
//nolint:paralleltest // the server takes over the logs of the whole process
func TestServerWithBucket(t *testing.T) {
	store := objectstore.New(t)
	dir := filepath.Join(t.TempDir(), "data")
	file := config(t, t.TempDir(), fmt.Sprintf(`listen: 127.0.0.1:0
snapshots:
  s3:
    endpoint: %s
    bucket: %s
    prefix: eu-1
    region: eu-central-1
    credentialsFile: %s
    caFile: %s`, store.URL, objectstore.Bucket, store.CredentialsFile, store.CAFile))
	user := newWorld()
	tell := func(args ...string) string {
		t.Helper()
		r := user.run(t, args...)
		if r.status != 0 {
			t.Fatalf("terrarium %s: status %d\n%s%s", strings.Join(args, " "), r.status, r.out, r.errors)
		}
		if strings.Contains(r.out+r.errors, objectstore.Secret) {
			t.Errorf("terrarium %s tells the secret key", strings.Join(args, " "))
		}

		return r.out
	}

	stop := runServer(t, "--config", file, "--data-dir", dir)
	note := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "note"}, Data: map[string]string{"text": "kept"}}
	if _, err := administrator(t, dir).CoreV1().ConfigMaps("default").Create(t.Context(), note, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	before := store.Requests()
	tell("snapshot", "save", "--data-dir", dir)
	if store.Requests() == before {
		t.Error("Nobody has asked the object store.")
	}
	listed := tell("snapshot", "list", "--data-dir", dir)
	name := regexp.MustCompile(`snapshot-[0-9-]+`).FindString(listed)
	if name == "" {
		t.Fatalf("snapshot list: %s", listed)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "snapshots")); err == nil && len(left) > 0 {
		t.Errorf("%d files are in the data directory, which is lost with the machine", len(left))
	}
	stop()
	key := filepath.Join(t.TempDir(), "copy.key")
	copied, err := os.ReadFile(filepath.Join(dir, "snapshot.key"))
	if err == nil {
		err = os.WriteFile(key, copied, 0o600)
	}
	if err == nil {
		err = os.RemoveAll(dir)
	}
	if err != nil {
		t.Fatal(err)
	}

	tell("snapshot", "verify", name, "--config", file, "--key", key)
	dir = filepath.Join(t.TempDir(), "data")
	tell("snapshot", "restore", "--config", file, "--key", key, "--data-dir", dir)
	stop = runServer(t, "--config", file, "--data-dir", dir)
	found, err := administrator(t, dir).CoreV1().ConfigMaps("default").Get(t.Context(), note.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(note.Data, found.Data); diff != "" {
		t.Errorf("what was saved (-want +got):\n%s", diff)
	}
	stop()
}

func administrator(t *testing.T, dir string) kubernetes.Interface {
	t.Helper()
	admin, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "admin.kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	clients, err := kubernetes.NewForConfig(admin)
	if err != nil {
		t.Fatal(err)
	}

	return clients
}
