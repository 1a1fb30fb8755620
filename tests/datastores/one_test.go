// SPDX-License-Identifier: Apache-2.0

package datastores_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// datastore is a real one that a test can take away.
type datastore interface {
	start(t *testing.T)
	stop(t *testing.T)
}

// on keeps the objects of a garden at a URL.
func on(endpoint string, keys *certificates) harness.Option {
	return harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) {
		c.Datastore.Endpoint = endpoint
		if keys != nil {
			c.Datastore.CAFile, c.Datastore.CertFile, c.Datastore.KeyFile = keys.authorityFile, keys.client.certFile, keys.client.keyFile
		}
	})
}

func TestPostgres(t *testing.T) {
	t.Parallel()

	keys := newCertificates(t)
	p := newPostgres(t, keys)
	g := live(t, p, on(p.endpoint("one"), keys), "PostgreSQL at "+p.address+"/one")
	for name, text := range map[string]string{"log": g.Log(), "output of PostgreSQL": p.output.String()} {
		if strings.Contains(text, password) {
			t.Errorf("The password is nowhere.\n%s: %s", name, text)
		}
	}
}

func TestMySQL(t *testing.T) {
	t.Parallel()

	keys := newCertificates(t)
	m := newMySQL(t, keys)
	g := live(t, m, on(m.endpoint("one"), keys), "MySQL at "+m.address+"/one")
	for name, text := range map[string]string{"log": g.Log(), "output of MariaDB": m.output.String()} {
		if strings.Contains(text, password) {
			t.Errorf("The password is nowhere.\n%s: %s", name, text)
		}
	}
}

func TestEtcd(t *testing.T) {
	t.Parallel()

	keys := newCertificates(t)
	e := newEtcd(t, keys)
	live(t, e, on(e.endpoint(), keys), "etcd at "+strings.TrimPrefix(e.endpoint(), "https://"))
}

// live leads a garden through what happens to one: it starts while its datastore is away, works, loses the datastore, recovers, and
// starts again.
func live(t *testing.T, d datastore, where harness.Option, place string) *harness.Garden {
	t.Helper()
	d.stop(t)
	dir := t.TempDir()
	g := harness.Begin(t, where, harness.WithDataDir(dir))
	awaitText(t, g, "/readyz", http.StatusServiceUnavailable, "[-]terrarium/datastore failed: the datastore does not answer")
	awaitText(t, g, "/livez", http.StatusOK, "ok")
	d.start(t)
	g.AwaitReady(t)

	notes := write100(t, g)
	work(t, g)
	shown(t, g, place)

	d.stop(t)
	awaitText(t, g, "/readyz", http.StatusInternalServerError, "[-]terrarium/datastore failed")
	awaitLog(t, g, "The datastore does not answer")
	keysStay(t, g)
	d.start(t)
	awaitLog(t, g, "The datastore answers again")
	awaitText(t, g, "/readyz", http.StatusOK, "ok")
	work(t, g)
	keysChange(t, g)
	g.Stop(t)

	again := harness.Start(t, where, harness.WithDataDir(dir))
	if diff := cmp.Diff(notes, read(t, again)); diff != "" {
		t.Errorf("Everything is there after a restart (-want +got):\n%s", diff)
	}
	again.Stop(t)
	refused(t, dir, "datastore.endpoint is not set")
	refused(t, t.TempDir(), "the datastore belongs to another garden", where)

	return again
}

// keysChange changes keys by the operations of the Garden, each of which is published before it is made.
func keysChange(t *testing.T, g *harness.Garden) {
	t.Helper()
	before := heldBy(t, g)
	for _, operation := range []string{
		"rotate-ca-start", "rotate-serviceaccount-key-start", "rotate-workload-identity-key-start", "rotate-etcd-encryption-key",
	} {
		own := &gardenoperatorv1alpha1.Garden{ObjectMeta: metav1.ObjectMeta{Name: "garden"}}
		harness.Eventually(t, operation, func(ctx context.Context) error {
			return g.Client.Patch(ctx, own, client.RawPatch(types.MergePatchType,
				fmt.Appendf(nil, `{"metadata":{"annotations":{"gardener.cloud/operation":%q}}}`, operation)))
		})
		harness.Await(t, g.Client, own, operation+" is carried out", func(own *gardenoperatorv1alpha1.Garden) error {
			if is := own.Annotations["gardener.cloud/operation"]; is != "" {
				return errors.New("it is not")
			}

			return nil
		})
	}
	if is := heldBy(t, g); is.Number < before.Number+4 {
		t.Errorf("Each change is a generation of the keys: got %d after %d", is.Number, before.Number)
	}
}

func heldBy(t *testing.T, g *harness.Garden) identity.Generation {
	t.Helper()
	is, err := identity.Held(g.DataDir)
	if err != nil || is.Number == 0 {
		t.Fatalf("The keys are published: got %+v, %v", is, err)
	}

	return is
}

// keysStay asks for a change of keys that cannot be published: it is not made.
func keysStay(t *testing.T, g *harness.Garden) {
	t.Helper()
	before, key := heldBy(t, g), keyOfTokens(t, g)
	answer, err := kubernetes.NewForConfigOrDie(g.Config).RESTClient().Post().AbsPath("/appliance/certificates").
		SetHeader("Content-Type", "application/json").Body([]byte(`{"rotate":"serviceAccountKey","phase":"start"}`)).Do(t.Context()).Raw()
	if err == nil || heldBy(t, g) != before || keyOfTokens(t, g) != key {
		t.Errorf("What cannot be published is not used.\nrotate: got %v, %s, generation %d, want %d", err, answer, heldBy(t, g).Number, before.Number)
	}
}

func keyOfTokens(t *testing.T, g *harness.Garden) string {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(g.DataDir, "pki", "service-account.key"))
	if err != nil {
		t.Fatal(err)
	}

	return string(key)
}

// write100 writes objects whose contents are known.
func write100(t *testing.T, g *harness.Garden) map[string]string {
	t.Helper()
	for n := range 100 {
		object := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("note-%03d", n), Labels: map[string]string{"note": "yes"}},
			Data:       map[string][]byte{"text": fmt.Appendf(nil, "text %d", n)},
		}
		if err := g.Client.Create(t.Context(), object); err != nil {
			t.Fatalf("create %q: %v", object.Name, err)
		}
	}

	return read(t, g)
}

func read(t *testing.T, g *harness.Garden) map[string]string {
	t.Helper()
	list := &corev1.SecretList{}
	if err := g.Client.List(t.Context(), list, client.MatchingLabels{"note": "yes"}); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for i := range list.Items {
		all[list.Items[i].Name] = string(list.Items[i].UID) + string(list.Items[i].Data["text"])
	}
	if len(all) != 100 {
		t.Errorf("All that was written is listed.\nList(...): got %d, want 100", len(all))
	}

	return all
}

// work creates and deletes a project, which takes the API, the controllers of the garden, and those of Kubernetes.
func work(t *testing.T, g *harness.Garden) {
	t.Helper()
	harness.Eventually(t, "all kinds can be listed", func(ctx context.Context) error { return listAll(ctx, g.Config) })
	name := "p" + strings.ToLower(strings.TrimLeft(fmt.Sprint(len(g.Log())), "0"))
	p := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{
		Name: name, Annotations: map[string]string{gardencorev1beta1.AnnotationConfirmationDeletion: "true"},
	}}
	harness.Eventually(t, "create project", func(ctx context.Context) error { return g.Client.Create(ctx, p) })
	harness.Await(t, g.Client, p, "project is ready", func(p *gardencorev1beta1.Project) error {
		if p.Status.Phase != "Ready" {
			return fmt.Errorf("phase %q", p.Status.Phase)
		}

		return nil
	})
	if err := g.Client.Delete(t.Context(), p); err != nil {
		t.Fatalf("delete project: %v", err)
	}
	harness.Eventually(t, "project and namespace are gone", func(ctx context.Context) error {
		namespaces := &corev1.NamespaceList{}
		if err := g.Client.List(ctx, namespaces, client.MatchingLabels{"project.gardener.cloud/name": name}); err != nil {
			return err
		}
		if len(namespaces.Items) > 0 {
			return errors.New("the namespace is there")
		}
		if err := g.Client.Get(ctx, client.ObjectKeyFromObject(p), p); client.IgnoreNotFound(err) != nil || err == nil {
			return fmt.Errorf("the project is there: %w", err)
		}

		return nil
	})
}

// listAll lists the objects of every kind that can be listed.
func listAll(ctx context.Context, config *rest.Config) error {
	found, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	lists, err := found.ServerPreferredResources()
	if err != nil {
		return err
	}
	kinds := 0
	for _, list := range lists {
		prefix := "/apis/" + list.GroupVersion
		if list.GroupVersion == "v1" {
			prefix = "/api/v1"
		}
		for i := range list.APIResources {
			r := &list.APIResources[i]
			if !slices.Contains(r.Verbs, "list") {
				continue
			}
			if err := found.RESTClient().Get().AbsPath(prefix, r.Name).Do(ctx).Error(); err != nil {
				return fmt.Errorf("list %s of %s: %w", r.Name, list.GroupVersion, err)
			}
			kinds++
		}
	}
	if kinds < 30 {
		return fmt.Errorf("only %d kinds", kinds)
	}

	return nil
}

// shown checks what the commands of operators ask the server for.
func shown(t *testing.T, g *harness.Garden, place string) {
	t.Helper()
	ask := kubernetes.NewForConfigOrDie(g.Config).RESTClient()
	status, err := ask.Get().AbsPath("/appliance/status").DoRaw(t.Context())
	if err != nil || !strings.Contains(string(status), fmt.Sprintf(`"external":%q`, place)) {
		t.Errorf("The status says where the objects are.\nGET /appliance/status: got %v, %s, want %q in it", err, status, place)
	}
	for _, verb := range []string{"vacuum", "check"} {
		answer, err := ask.Post().AbsPath("/appliance/store/" + verb).DoRaw(t.Context())
		if err == nil || !strings.Contains(string(answer), "by its own means") {
			t.Errorf("A database that is not the server's is not maintained by it.\nPOST %s: got %v, %s", verb, err, answer)
		}
	}
	err = ask.Post().AbsPath("/apis/appliance.gardener.cloud/v1alpha1/snapshots").
		SetHeader("Content-Type", "application/json").Body([]byte(`{"apiVersion":"appliance.gardener.cloud/v1alpha1","kind":"Snapshot","metadata":{"generateName":"a-"}}`)).Do(t.Context()).Error()
	if err == nil || !strings.Contains(err.Error(), "external datastore") {
		t.Errorf("There are no snapshots of it.\ncreate snapshot: got %v", err)
	}
	for _, path := range []string{"/appliance/configuration", "/appliance/doctor", "/appliance/status", "/metrics"} {
		text, err := ask.Get().AbsPath(path).DoRaw(t.Context())
		if err != nil || strings.Contains(string(text), password) {
			t.Errorf("The password is nowhere.\nGET %s: got %v, %s", path, err, text)
		}
	}
}

// refused starts a garden that must not start.
func refused(t *testing.T, dir, want string, options ...harness.Option) {
	t.Helper()
	g := harness.Begin(t, append(options, harness.WithDataDir(dir))...)
	if err := g.Ended(t); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), password) {
		t.Errorf("A server keeps to its datastore.\nRun(...): got %v, want an error with %q", err, want)
	}
}

// awaitText asks the server, as anybody can, until it gives an answer.
func awaitText(t *testing.T, g *harness.Garden, path string, code int, text string) {
	t.Helper()
	harness.Eventually(t, path+" answers "+text, func(ctx context.Context) error {
		got, body, err := g.Ask(ctx, path)
		if err != nil {
			return err
		}
		if got != code || !strings.Contains(body, text) {
			return fmt.Errorf("got %d, %s", got, body)
		}

		return nil
	})
}

func awaitLog(t *testing.T, g *harness.Garden, text string) {
	t.Helper()
	harness.Eventually(t, "log has "+text, func(context.Context) error {
		if !strings.Contains(g.Log(), text) {
			return errors.New("it has not")
		}

		return nil
	})
}
