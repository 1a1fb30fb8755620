// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/extension/crds"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestGardenKinds takes the manifests of the playground through the life of an object, as a user with kubectl would.
func TestGardenKinds(t *testing.T) {
	t.Parallel()

	g := harness.Start(t)
	registerLocal(t, g)
	apply(t, g, "cloudprofile.yaml", "project.yaml")
	project := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: "meadow"}}
	harness.Await(t, g.Client, project, "the project has its namespace", func(p *gardencorev1beta1.Project) error {
		if p.Status.Phase != gardencorev1beta1.ProjectPhaseReady {
			return errNotYet
		}

		return nil
	})
	apply(t, g, "secret.yaml", "credentialsbinding.yaml", "shoot.yaml")
	seed := &gardencorev1beta1.Seed{
		ObjectMeta: metav1.ObjectMeta{Name: "local"},
		Spec: gardencorev1beta1.SeedSpec{
			Provider: gardencorev1beta1.SeedProvider{Type: "local", Region: "local"},
			Networks: gardencorev1beta1.SeedNetworks{Pods: "10.98.0.0/16", Services: "10.97.0.0/16"},
			DNS: gardencorev1beta1.SeedDNS{Internal: &gardencorev1beta1.SeedDNSProviderConfig{
				Type: "local", Domain: "internal.terrarium.local",
				CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Name: "local", Namespace: "garden-meadow"},
			}, Provider: &gardencorev1beta1.SeedDNSProvider{
				Type:           "local",
				CredentialsRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Name: "local", Namespace: "garden-meadow"},
			}},
			Ingress: &gardencorev1beta1.Ingress{
				Domain: "ingress.terrarium.local", Controller: gardencorev1beta1.IngressController{Kind: "nginx"},
			},
		},
	}
	mustCreate(t, g, seed)

	shoot := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "sprout"}}
	read := harness.Await(t, g.Client, shoot, "the shoot can be read", func(*gardencorev1beta1.Shoot) error { return nil })
	if read.UID == "" || read.Generation != 1 || read.Spec.Kubernetes.Version != "1.36.3" || read.Spec.Maintenance == nil {
		t.Errorf("An object has an identity, a generation and its defaults: got UID %q, generation %d, version %q, maintenance %v",
			read.UID, read.Generation, read.Spec.Kubernetes.Version, read.Spec.Maintenance)
	}

	patched := read.DeepCopy()
	patched.Labels = map[string]string{"mine": "yes"}
	patched.Status.TechnicalID = "not-by-this-way"
	if err := g.Client.Patch(t.Context(), patched, client.MergeFrom(read)); err != nil {
		t.Fatalf("A shoot can be patched.\nPatch(...): %v", err)
	}
	if patched.Labels["mine"] != "yes" || patched.Status.TechnicalID == "not-by-this-way" || patched.Generation != 1 {
		t.Errorf("A write to the object never changes its status, and a label is no new generation: got %v, %q, %d",
			patched.Labels, patched.Status.TechnicalID, patched.Generation)
	}
	stale := read.DeepCopy()
	stale.Labels = map[string]string{"mine": "no"}
	if err := g.Client.Update(t.Context(), stale); !apierrors.IsConflict(err) {
		t.Errorf("Who writes what is no longer true is told so.\nUpdate(...): got %v, want Conflict", err)
	}
	if err := g.Client.Delete(t.Context(), patched); !apierrors.IsForbidden(err) {
		t.Errorf("A shoot is deleted with a confirmation only.\nDelete(...): got %v, want Forbidden", err)
	}
	if err := g.Client.Delete(t.Context(), seed); err != nil {
		t.Fatalf("A seed can be deleted.\nDelete(...): %v", err)
	}
	awaitGone(t, g, seed, "the seed is gone")
}

// serverSideApply tries that two appliers of one object do not get in each other's way.
func serverSideApply(g *harness.Garden) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		profile := manifest(t, "cloudprofile.yaml")[0]
		for owner, object := range map[string]*unstructured.Unstructured{"first": profile.DeepCopy(), "again": profile.DeepCopy()} {
			if err := g.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(owner)); err != nil {
				t.Fatalf("Same values are no conflict.\nApply(%q): %v", owner, err)
			}
		}
		changed := profile.DeepCopy()
		if err := unstructured.SetNestedField(changed.Object, "other", "spec", "type"); err != nil {
			t.Fatal(err)
		}
		if err := g.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(changed), client.FieldOwner("third")); !apierrors.IsConflict(err) {
			t.Errorf("Another value is a conflict.\nApply(...): got %v, want Conflict", err)
		}
		found := &gardencorev1beta1.CloudProfile{}
		if err := g.Client.Get(t.Context(), client.ObjectKeyFromObject(profile), found); err != nil {
			t.Fatal(err)
		}
		managers := map[string]bool{}
		for _, f := range found.ManagedFields {
			managers[f.Manager] = true
		}
		if !managers["first"] || !managers["again"] {
			t.Errorf("The server knows who applied which field: got managers %v", managers)
		}
	}
}

// openAPI tries what kubectl explain and strict validation live on.
func openAPI(g *harness.Garden) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		const shootModel = "com.github.gardener.gardener.pkg.apis.core.v1beta1.Shoot"
		kube, err := kubernetes.NewForConfig(g.Config)
		if err != nil {
			t.Fatal(err)
		}
		for path, reason := range map[string]string{
			"/openapi/v2": "Version 2 holds all kinds in one document.",
			"/openapi/v3/apis/core.gardener.cloud/v1beta1": "Version 3 has a document for each group.",
		} {
			body, err := kube.RESTClient().Get().AbsPath(path).SetHeader("Accept", runtime.ContentTypeJSON).Do(t.Context()).Raw()
			if err != nil {
				t.Fatalf("%s\nGET %s: %v", reason, path, err)
			}
			var document struct {
				Definitions map[string]any `json:"definitions"`
				Components  struct {
					Schemas map[string]any `json:"schemas"`
				} `json:"components"`
			}
			if err := json.Unmarshal(body, &document); err != nil {
				t.Fatal(err)
			}
			if document.Definitions[shootModel] == nil && document.Components.Schemas[shootModel] == nil {
				t.Errorf("%s\nGET %s: no model %q", reason, path, shootModel)
			}
		}

		wrong := manifest(t, "project.yaml")[0]
		if err := unstructured.SetNestedField(wrong.Object, "x", "spec", "noSuchField"); err != nil {
			t.Fatal(err)
		}
		strict := client.WithFieldValidation(g.Client, metav1.FieldValidationStrict)
		if err := strict.Create(t.Context(), wrong); err == nil || !strings.Contains(err.Error(), `unknown field "spec.noSuchField"`) {
			t.Errorf("A wrong field is named.\nCreate(...): got %v", err)
		}
	}
}

// preferProtobuf asks for garden kinds as the loops of Kubernetes do: protobuf if there is any.
func preferProtobuf(g *harness.Garden) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		c, err := metadata.NewForConfig(g.Config)
		if err != nil {
			t.Fatal(err)
		}
		shoots := c.Resource(gardencorev1beta1.GroupVersion.WithResource("shoots"))
		if err := shoots.Namespace("default").DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			t.Errorf("A namespace has to be emptied.\nDeleteCollection(...): %v", err)
		}
		if _, err := shoots.List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Errorf("List(...): %v", err)
		}
	}
}

// customResources tries the last server of the chain with the kinds that extensions bring.
func customResources(g *harness.Garden) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		definitions, err := crds.Objects()
		if err != nil {
			t.Fatal(err)
		}
		definition, ok := definitions[0].(*apiextensionsv1.CustomResourceDefinition)
		if !ok {
			t.Fatalf("%T is no custom resource definition", definitions[0])
		}
		mustCreate(t, g, definition)
		harness.Await(t, g.Client, definition, "the kind is served", func(d *apiextensionsv1.CustomResourceDefinition) error {
			for _, c := range d.Status.Conditions {
				if c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue {
					return nil
				}
			}

			return errNotYet
		})
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(definition.Spec.Group + "/" + definition.Spec.Versions[0].Name)
		list.SetKind(definition.Spec.Names.ListKind)
		harness.Eventually(t, "the kind can be listed", func(ctx context.Context) error { return g.Client.List(ctx, list) })
	}
}

// discovery tries that garden groups stand where clients look for them.
func discovery(g *harness.Garden) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		kube, err := kubernetes.NewForConfig(g.Config)
		if err != nil {
			t.Fatal(err)
		}
		_, lists, err := kube.Discovery().ServerGroupsAndResources()
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, l := range lists {
			for _, r := range l.APIResources {
				found[l.GroupVersion+" "+r.Name] = true
			}
		}
		for _, want := range []string{
			"core.gardener.cloud/v1beta1 shoots", "core.gardener.cloud/v1beta1 shoots/status", "core.gardener.cloud/v1beta1 shoots/binding",
			"core.gardener.cloud/v1beta1 shoots/adminkubeconfig", "core.gardener.cloud/v1beta1 seeds", "core.gardener.cloud/v1beta1 internalsecrets",
			"v1 secrets", "coordination.k8s.io/v1 leases", "apiextensions.k8s.io/v1 customresourcedefinitions", "apiregistration.k8s.io/v1 apiservices",
		} {
			if !found[want] {
				t.Errorf("A client looks for it: %q is not served", want)
			}
		}
		for _, unwanted := range []string{"v1 pods", "v1 nodes", "apps/v1 deployments"} {
			if found[unwanted] {
				t.Errorf("A garden runs no containers: %q is served", unwanted)
			}
		}
		service := &unstructured.Unstructured{}
		service.SetAPIVersion("apiregistration.k8s.io/v1")
		service.SetKind("APIService")
		if err := g.Client.Get(t.Context(), client.ObjectKey{Name: "v1beta1.core.gardener.cloud"}, service); err != nil {
			t.Fatalf("The garden's group is routed by the aggregator.\nGet(...): %v", err)
		}
		priority, _, err := unstructured.NestedInt64(service.Object, "spec", "groupPriorityMinimum")
		if diff := cmp.Diff(int64(10000), priority); err != nil || diff != "" {
			t.Errorf("It stands behind Kubernetes' own groups and before custom resources, %v (-want +got):\n%s", err, diff)
		}
	}
}

// registerLocal makes the provider of the manifests known.
func registerLocal(t *testing.T, g *harness.Garden) {
	t.Helper()
	registration := &gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "provider-local"}}
	for _, kind := range []string{"Infrastructure", "ControlPlane", "Network", "OperatingSystemConfig", "Worker", "DNSRecord"} {
		registration.Spec.Resources = append(registration.Spec.Resources, gardencorev1beta1.ControllerResource{Kind: kind, Type: "local"})
	}
	mustCreate(t, g, registration)
}

func apply(t *testing.T, g *harness.Garden, files ...string) {
	t.Helper()
	for _, file := range files {
		for _, object := range manifest(t, file) {
			err := g.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("kubectl"))
			if err != nil {
				t.Fatalf("apply %s %q: %v", object.GetKind(), object.GetName(), err)
			}
		}
	}
}

// manifest reads one of the example manifests.
func manifest(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "packaging", "examples", file))
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	var all []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("read %q: %v", file, err)
		}
		all = append(all, object)
	}
}
