// SPDX-License-Identifier: Apache-2.0

package kubectl_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gardenauthenticationv1alpha1 "github.com/terrarium-garden/terrarium/apis/authentication/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestGardenctl tries what gardenctl asks for.
func TestGardenctl(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	for _, manifest := range []string{registration, example(t, "cloudprofile.yaml"), example(t, "project.yaml")} {
		u.run(t, manifest, "apply", "-f", "-")
	}
	u.run(t, "", "wait", "--for=jsonpath={.status.phase}=Ready", "--timeout=60s", "project/meadow")
	u.run(t, example(t, "secret.yaml"), "apply", "-f", "-")
	u.run(t, example(t, "credentialsbinding.yaml"), "apply", "-f", "-")
	u.run(t, example(t, "shoot.yaml"), "apply", "-f", "-")

	t.Run("Identity", identity(u))
	t.Run("UUIDs", uuids(u))
	t.Run("Kubeconfigs", kubeconfigs(u))
	t.Run("Find", find(u))
	t.Run("Bookmarks", bookmarks(u))
}

func identity(u *user) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		said := &corev1.ConfigMap{}
		if err := u.Client.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "cluster-identity"}, said); err != nil {
			t.Fatal(err)
		}
		if said.Data["cluster-identity"] != u.ClusterIdentity || u.ClusterIdentity == "" {
			t.Errorf("a garden is told from others by its identity: got %q, want %q", said.Data["cluster-identity"], u.ClusterIdentity)
		}
		info := &corev1.ConfigMap{}
		if err := u.Client.Get(t.Context(), client.ObjectKey{Namespace: "gardener-system-public", Name: "gardener-info"}, info); err != nil {
			t.Fatal(err)
		}
		var server struct{ Version string }
		if err := yaml.Unmarshal([]byte(info.Data["gardenerAPIServer"]), &server); err != nil || !strings.HasPrefix(server.Version, "v1.") {
			t.Errorf("a garden tells the version of its API: got %q, %v", info.Data["gardenerAPIServer"], err)
		}
	}
}

var uuid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// uuids looks at every object of every resource.
func uuids(u *user) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		kube, err := kubernetes.NewForConfig(u.Config)
		if err != nil {
			t.Fatal(err)
		}
		lists, err := kube.Discovery().ServerPreferredResources()
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, l := range lists {
			for _, r := range l.APIResources {
				if !slices.Contains(r.Verbs, "list") {
					continue
				}
				all := &unstructured.UnstructuredList{}
				all.SetAPIVersion(l.GroupVersion)
				all.SetKind(r.Kind + "List")
				if err := u.Client.List(t.Context(), all); err != nil {
					t.Errorf("list %s %s: %v", l.GroupVersion, r.Name, err)
				}
				for _, o := range all.Items {
					seen++
					if !uuid.MatchString(string(o.GetUID())) {
						t.Errorf("%s %q has no UUID but %q", o.GetKind(), o.GetName(), o.GetUID())
					}
				}
			}
		}
		if seen < 100 {
			t.Errorf("a garden has objects from its start: got %d", seen)
		}
	}
}

// find asks as gardenctl does to find a shoot by what its user typed.
func find(u *user) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		projects := &gardencorev1beta1.ProjectList{}
		byNamespace := client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("spec.namespace", "garden-meadow")}
		if err := u.Client.List(t.Context(), projects, byNamespace, client.Limit(1)); err != nil {
			t.Fatal(err)
		}
		if len(projects.Items) != 1 || projects.Items[0].Name != "meadow" {
			t.Errorf("a project is found by its namespace: got %d", len(projects.Items))
		}
		shoots := &gardencorev1beta1.ShootList{}
		byName := client.MatchingFieldsSelector{Selector: fields.AndSelectors(
			fields.OneTermEqualSelector("metadata.name", "sprout"), fields.OneTermEqualSelector("spec.seedName", ""))}
		if err := u.Client.List(t.Context(), shoots, byName); err != nil {
			t.Fatal(err)
		}
		if len(shoots.Items) != 1 || shoots.Items[0].Namespace != "garden-meadow" {
			t.Errorf("a shoot is found in any project: got %d", len(shoots.Items))
		}
		says(t, "a user finds what gardenctl is not needed for", u.run(t, "", "get", "shoots", "-A", "-o", "custom-columns=NAME:.metadata.name,SEED:.spec.seedName"), "sprout", "<none>")
	}
}

// kubeconfigs are made from the shoot's authority, which a gardenlet leaves in the garden.
func kubeconfigs(u *user) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "sprout"}}
		certificate, key := authority(t)
		for _, o := range []client.Object{
			&gardencorev1beta1.InternalSecret{
				ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "sprout.ca-client"}, Type: corev1.SecretTypeOpaque,
				Data: map[string][]byte{"ca.crt": certificate, "ca.key": key},
			},
			&corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "sprout.ca-cluster"},
				Data:       map[string]string{"ca.crt": string(certificate)},
			},
		} {
			if err := u.Client.Create(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		if err := u.Client.Get(t.Context(), client.ObjectKeyFromObject(shoot), shoot); err != nil {
			t.Fatal(err)
		}
		before := shoot.DeepCopy()
		shoot.Status.AdvertisedAddresses = []gardencorev1beta1.ShootAdvertisedAddress{{Name: "external", URL: "https://api.sprout.example.com"}}
		if err := u.Client.Status().Patch(t.Context(), shoot, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
		admin, viewer := &gardenauthenticationv1alpha1.AdminKubeconfigRequest{}, &gardenauthenticationv1alpha1.ViewerKubeconfigRequest{}
		if err := u.Client.SubResource("adminkubeconfig").Create(t.Context(), shoot, admin); err != nil {
			t.Fatal(err)
		}
		if err := u.Client.SubResource("viewerkubeconfig").Create(t.Context(), shoot, viewer); err != nil {
			t.Fatal(err)
		}
		for name, tc := range map[string]struct {
			kubeconfig []byte
			want       pkix.Name
		}{
			"API-KUBE-4 admin":  {admin.Status.Kubeconfig, pkix.Name{CommonName: "gardener.cloud:admin:", Organization: []string{"gardener.cloud:system:admins"}}},
			"API-KUBE-4 viewer": {viewer.Status.Kubeconfig, pkix.Name{CommonName: "gardener.cloud:viewer:", Organization: []string{"gardener.cloud:system:viewers"}}},
		} {
			config, err := clientcmd.Load(tc.kubeconfig)
			if err != nil {
				t.Fatal(err)
			}
			current := config.Contexts[config.CurrentContext]
			if current == nil || config.CurrentContext != "garden-meadow--sprout-external" {
				t.Errorf("%s: gardenctl knows contexts by their names, got %q", name, config.CurrentContext)
				continue
			}
			block, _ := pem.Decode(config.AuthInfos[current.AuthInfo].ClientCertificateData)
			if block == nil {
				t.Errorf("%s: the user has no certificate", name)
				continue
			}
			shown, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(shown.Subject.CommonName, tc.want.CommonName) || !cmp.Equal(shown.Subject.Organization, tc.want.Organization) {
				t.Errorf("%s: the certificate carries the groups of the reference: got %q of %q", name, shown.Subject.CommonName, shown.Subject.Organization)
			}
		}
	}
}

func authority(t *testing.T) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "client-ca"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}

// bookmarks tell a client how far it has seen, and where the present begins.
func bookmarks(u *user) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		watching, err := u.Client.Watch(t.Context(), &gardencorev1beta1.ProjectList{}, &client.ListOptions{Raw: &metav1.ListOptions{
			AllowWatchBookmarks: true, SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer watching.Stop()
		found := false
		for {
			select {
			case event := <-watching.ResultChan():
				if event.Object == nil {
					t.Fatal("the watch ended early")
				}
				p, ok := event.Object.(*gardencorev1beta1.Project)
				if !ok {
					t.Fatalf("watch projects: %#v", event.Object)
				}
				if event.Type != watch.Bookmark {
					found = found || p.Name == "meadow"
					continue
				}
				if p.Annotations["k8s.io/initial-events-end"] != "true" || p.ResourceVersion == "" || !found {
					t.Errorf("what is there comes first, then a bookmark: found %t, annotations %v", found, p.Annotations)
				}
				return
			case <-time.After(harness.Patience):
				t.Fatal("no bookmark came")
			}
		}
	}
}

// TestManyObjects reads a list of ten thousand page by page.
func TestManyObjects(t *testing.T) {
	t.Parallel()
	const (
		many    = 10_000
		page    = 500
		writers = 32
	)
	u := newUser(t)
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(writers)
	for i := range many {
		group.Go(func() error {
			return u.Client.Create(ctx, &gardencorev1beta1.InternalSecret{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("many-%05d", i)}, Type: corev1.SecretTypeOpaque,
				Data: map[string][]byte{"a": []byte("b")},
			})
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	u.pages(t, many, page)
	names := strings.Fields(u.run(t, "", "get", "internalsecrets", "-n", "default", "--chunk-size=500", "-o", "name"))
	if len(slices.Compact(names)) != many {
		t.Errorf("kubectl reads them all: got %d, want %d", len(names), many)
	}
	table := &metav1.Table{}
	u.table(t, fmt.Sprintf("/apis/core.gardener.cloud/v1beta1/namespaces/default/internalsecrets?limit=%d", page), table)
	if len(table.Rows) != page || table.RemainingItemCount == nil || *table.RemainingItemCount != many-page || table.Continue == "" {
		t.Errorf("a table has pages, too: got %d rows, remaining %v", len(table.Rows), table.RemainingItemCount)
	}
}

func (u *user) pages(t *testing.T, many, page int64) {
	t.Helper()
	seen, version := map[string]bool{}, ""
	for next, first := "", true; first || next != ""; first = false {
		list := &gardencorev1beta1.InternalSecretList{}
		if err := u.Client.List(t.Context(), list, client.InNamespace("default"), client.Limit(page), client.Continue(next)); err != nil {
			t.Fatal(err)
		}
		if version == "" {
			version = list.ResourceVersion
			// What is made later belongs to no page.
			late := &gardencorev1beta1.InternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "many-late"}, Type: corev1.SecretTypeOpaque}
			if err := u.Client.Create(t.Context(), late); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := u.Client.Delete(context.WithoutCancel(t.Context()), late); err != nil {
					t.Error(err)
				}
			}()
		}
		for _, s := range list.Items {
			seen[s.Name] = true
		}
		remaining := many - int64(len(seen))
		switch {
		case remaining > 0 && (list.RemainingItemCount == nil || *list.RemainingItemCount != remaining || list.Continue == ""):
			t.Fatalf("a page tells how many are left: got %v after %d, want %d", list.RemainingItemCount, len(seen), remaining)
		case remaining == 0 && (list.RemainingItemCount != nil || list.Continue != ""):
			t.Fatalf("the last page says that it is: remaining %v, continue %q", list.RemainingItemCount, list.Continue)
		}
		if list.ResourceVersion != version {
			t.Errorf("all pages are of one moment: got %s, want %s", list.ResourceVersion, version)
		}
		next = list.Continue
	}
	if int64(len(seen)) != many || seen["many-late"] {
		t.Errorf("the pages hold all that was there, and nothing more: got %d, want %d", len(seen), many)
	}
}

// table reads a path in the form that kubectl prints.
func (u *user) table(t *testing.T, path string, into *metav1.Table) {
	t.Helper()
	c, err := rest.HTTPClientFor(u.Config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u.Config.Host+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
	response, err := c.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := json.NewDecoder(response.Body).Decode(into); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d, %v", path, response.StatusCode, err)
	}
}
