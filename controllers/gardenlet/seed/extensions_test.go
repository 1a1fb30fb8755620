// SPDX-License-Identifier: Apache-2.0

package seed_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/referred"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

type extension = gardenextensionsv1alpha1.Extension

// greenhouse is a seed with an extension that is installed and answers at once.
type greenhouse struct {
	seed.AddOns

	garden, cluster client.Client
	// answer is what the extension writes into a status, deleted is called when an object is about to be deleted.
	answer  func(x *extension)
	deleted func(x client.Object)
}

func newGreenhouse(t *testing.T) *greenhouse {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	offer := func(name string, to gardencorev1beta1.ClusterType, everywhere ...gardencorev1beta1.ClusterType) gardencorev1beta1.ControllerResource {
		return gardencorev1beta1.ControllerResource{Kind: "Extension", Type: name, ClusterCompatibility: []gardencorev1beta1.ClusterType{to}, AutoEnable: everywhere}
	}
	registration := gardencorev1beta1.ControllerRegistration{ObjectMeta: metav1.ObjectMeta{Name: "offers"}}
	registration.Spec.Resources = []gardencorev1beta1.ControllerResource{offer("greeting", "seed"), offer("auto", "seed", "seed"), offer("other", "shoot", "shoot")}
	installation := gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: "offers-x"}}
	installation.Spec.RegistrationRef.Name = "offers"
	for _, kind := range []gardencorev1beta1.ConditionType{"Valid", "Installed", "Healthy"} {
		installation.Status.Conditions = append(installation.Status.Conditions, gardencorev1beta1.Condition{Type: kind, Status: "True"})
	}

	g := &greenhouse{answer: content, deleted: func(client.Object) {}}
	g.garden = fake.NewClientBuilder().WithScheme(types).Build()
	g.cluster = fake.NewClientBuilder().WithScheme(types).WithReturnManagedFields().WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
			err := c.Get(ctx, key, obj, options...)
			if x, ok := obj.(*extension); ok && err == nil {
				g.answer(x)
			}
			return err
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.DeleteOption) error {
			g.deleted(obj)
			return c.Delete(ctx, obj, options...)
		},
	}).Build()
	g.AddOns = seed.AddOns{
		Engine: seed.Engine(g.cluster, clock.RealClock{}), Seed: &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one"}},
		Registrations: []gardencorev1beta1.ControllerRegistration{registration},
		Installations: func(context.Context) ([]gardencorev1beta1.ControllerInstallation, error) {
			return []gardencorev1beta1.ControllerInstallation{installation}, nil
		},
		Copier: referred.Copier{Garden: g.garden, Reader: g.garden, Seed: g.cluster, Clock: clock.RealClock{}, Namespace: "garden"},
	}
	for _, name := range []string{"pen", "ink"} {
		g.give(t, g.garden, &corev1.Secret{ObjectMeta: inGarden(name), Data: map[string][]byte{"k": []byte(name)}})
	}
	g.give(t, g.garden, &corev1.ConfigMap{ObjectMeta: inGarden("settings"), Data: map[string]string{"x": "y"}})
	g.Seed.Spec.Extensions = []gardencorev1beta1.Extension{{Type: "greeting", ProviderConfig: &runtime.RawExtension{Raw: []byte(`{"a":"b"}`)}}}
	g.Seed.Spec.Resources = []gardencorev1beta1.NamedResourceReference{refer("Secret", "pen"), refer("ConfigMap", "settings")}
	return g
}

// content is what an extension says that has done what it was asked for.
func content(x *extension) {
	x.Status.ObservedGeneration, x.Status.LastError = x.Generation, nil
	x.Status.LastOperation = &gardencorev1beta1.LastOperation{State: gardencorev1beta1.LastOperationStateSucceeded, LastUpdateTime: metav1.Now()}
	delete(x.Annotations, gardencorev1beta1.AnnotationOperation)
}

// unauthorized is what an extension says whose credentials are wrong.
func unauthorized(x *extension) {
	x.Status.LastError = &gardencorev1beta1.LastError{Description: "who are you", Codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeInfraUnauthorized}}
}

func inGarden(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "garden", Name: name}
}

func refer(kind, name string) gardencorev1beta1.NamedResourceReference {
	ref := gardencorev1beta1.NamedResourceReference{Name: strings.ToLower(kind) + "-" + name}
	ref.ResourceRef.APIVersion, ref.ResourceRef.Kind, ref.ResourceRef.Name = "v1", kind, name
	return ref
}

func (g *greenhouse) give(t *testing.T, c client.Client, object client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// reconcile runs the flow, and lets the time pass that it waits.
func (g *greenhouse) reconcile(t *testing.T) error {
	t.Helper()
	return g.runGraph(t, g.Graph)
}

func (g *greenhouse) runGraph(t *testing.T, compile func() (*flow.Graph, error)) error {
	t.Helper()
	graph, err := compile()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { err = graph.Run(t.Context(), flow.Options{Clock: clock.RealClock{}}) })
	return err
}

// seen is what is in the namespace garden of the seed: the objects for extensions with their class, and the copies.
func (g *greenhouse) seen(t *testing.T) []string {
	t.Helper()
	all := map[string]bool{}
	objects, secrets, configs := &gardenextensionsv1alpha1.ExtensionList{}, &corev1.SecretList{}, &corev1.ConfigMapList{}
	for _, list := range []client.ObjectList{objects, secrets, configs} {
		if err := g.cluster.List(t.Context(), list, client.InNamespace("garden")); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range objects.Items {
		all[string(*x.Spec.Class)+" "+x.Name] = true
	}
	for _, s := range secrets.Items {
		all["Secret "+s.Name] = true
	}
	for _, c := range configs.Items {
		if !strings.HasPrefix(c.Name, "inventory-") {
			all["ConfigMap "+c.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func (g *greenhouse) sees(t *testing.T, why string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, g.seen(t)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", why, diff)
	}
}

// TestAddOns_EXT_CLASS_2 follows what a seed asks for, and what it does not ask for any more. Objects of other classes are left alone.
func TestAddOns_EXT_CLASS_2(t *testing.T) {
	t.Parallel()
	g := newGreenhouse(t)
	g.give(t, g.cluster, &extension{ObjectMeta: inGarden("theirs"), Spec: gardenextensionsv1alpha1.ExtensionSpec{DefaultSpec: gardenextensionsv1alpha1.DefaultSpec{
		Type: "theirs", Class: new(gardenextensionsv1alpha1.ExtensionClassGarden),
	}}})
	if err := g.reconcile(t); err != nil {
		t.Fatal(err)
	}
	g.sees(t, "what the seed asks for, and what every seed gets", "ConfigMap ref-settings", "Secret ref-pen", "garden theirs", "seed auto", "seed greeting")
	g.answer = func(*extension) {}
	x := &extension{ObjectMeta: inGarden("greeting")}
	if err := g.cluster.Get(t.Context(), client.ObjectKeyFromObject(x), x); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(gardenextensionsv1alpha1.ExtensionSpec{DefaultSpec: gardenextensionsv1alpha1.DefaultSpec{
		Type: "greeting", Class: new(gardenextensionsv1alpha1.ExtensionClassSeed), ProviderConfig: &runtime.RawExtension{Raw: []byte(`{"a":"b"}`)},
	}}, x.Spec); diff != "" || x.Annotations["gardener.cloud/operation"] != "reconcile" {
		t.Errorf("the object for the extension, annotations %v, spec (-want +got):\n%s", x.Annotations, diff)
	}

	g.answer, g.Seed.Spec.Extensions = content, nil
	g.Seed.Spec.Resources = []gardencorev1beta1.NamedResourceReference{refer("Secret", "ink")}
	g.deleted = func(obj client.Object) {
		if _, ok := obj.(*extension); ok {
			g.sees(t, "an extension cleans up with what it was given", "ConfigMap ref-settings", "Secret ref-ink", "Secret ref-pen", "garden theirs", "seed auto", "seed greeting")
		}
	}
	if err := g.reconcile(t); err != nil {
		t.Fatal(err)
	}
	g.sees(t, "what the seed does not ask for any more goes", "Secret ref-ink", "garden theirs", "seed auto")
}

// TestForeignExtension finds an object of another class under the name of its own: it is neither changed nor taken over.
func TestForeignExtension(t *testing.T) {
	t.Parallel()
	g := newGreenhouse(t)
	g.give(t, g.cluster, &extension{ObjectMeta: inGarden("greeting"), Spec: gardenextensionsv1alpha1.ExtensionSpec{DefaultSpec: gardenextensionsv1alpha1.DefaultSpec{
		Type: "greeting", Class: new(gardenextensionsv1alpha1.ExtensionClassGarden),
	}}})
	err := g.reconcile(t)
	if err == nil || !strings.Contains(err.Error(), `it is of class "garden"`) {
		t.Errorf("the flow ended with %v, want the class of the object in the way", err)
	}
	g.Seed.Spec.Extensions = nil
	if err := g.reconcile(t); err != nil {
		t.Fatal(err)
	}
	g.sees(t, "an object of another class", "ConfigMap ref-settings", "Secret ref-pen", "garden greeting", "seed auto")
}

// TestTroubles says what is wrong, and what to do about it.
func TestTroubles(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(g *greenhouse)
		want   string
		codes  []gardencorev1beta1.ErrorCode
		object bool
	}{
		"GLET-SEED-8 not installed": {
			reason: "extensions have to be installed before they are asked",
			change: func(g *greenhouse) {
				g.Installations = func(context.Context) ([]gardencorev1beta1.ControllerInstallation, error) { return nil, nil }
			},
			want: `not healthy on seed "one": Extension/auto, Extension/greeting; register a ControllerRegistration`,
		},
		"GLET-SEED-8 not for seeds": {
			reason: "an extension for shoots does not serve a seed",
			change: func(g *greenhouse) { g.Seed.Spec.Extensions[0].Type = "other" },
			want:   `not healthy on seed "one": Extension/other; register`,
		},
		"EXT-AGENT-5 codes": {
			reason: "the codes of the extension reach the Seed", change: func(g *greenhouse) { g.answer = unauthorized },
			want: "who are you", codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeInfraUnauthorized}, object: true,
		},
		"EXT-AGENT-4 silent": {
			reason: "an extension that does not answer is named", change: func(g *greenhouse) { g.answer = func(*extension) {} },
			want: `Extension "auto" is not ready: not within 3m0s`, object: true,
		},
		"EXT-CONV-3 missing": {
			reason: "extensions are not asked without what they need",
			change: func(g *greenhouse) { g.Seed.Spec.Resources[0].ResourceRef.Name = "lost" },
			want:   `resource "secret-pen" of spec.resources: get credentials: Secret "garden/lost"`,
		},
		"EXT-CONV-3 keys": {
			reason: "keys of clusters are not copied, even if a Seed refers to them",
			change: func(g *greenhouse) {
				g.Seed.Spec.Resources[0].ResourceRef.APIVersion, g.Seed.Spec.Resources[0].ResourceRef.Kind = "core.gardener.cloud/v1beta1", "InternalSecret"
			},
			want: "must be a Secret, ConfigMap or WorkloadIdentity", codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeConfigurationProblem},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGreenhouse(t)
			tc.change(g)
			err := g.reconcile(t)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: the flow ended with %v, want %q in it", tc.reason, err, tc.want)
			}
			if diff := cmp.Diff(tc.codes, operation.Codes(err)); diff != "" {
				t.Errorf("%s: codes (-want +got):\n%s", tc.reason, diff)
			}
			if asked := slices.Contains(g.seen(t), "seed auto"); asked != tc.object {
				t.Errorf("%s: the extension was asked: %t, want %t", tc.reason, asked, tc.object)
			}
		})
	}
}

// TestStuckExtension cannot clean up: it keeps what it was given until it can.
func TestStuckExtension(t *testing.T) {
	t.Parallel()
	g := newGreenhouse(t)
	if err := g.reconcile(t); err != nil {
		t.Fatal(err)
	}
	g.answer = func(*extension) {}
	x := &extension{ObjectMeta: inGarden("greeting")}
	hold := func(finalizers ...string) {
		t.Helper()
		if err := g.cluster.Get(t.Context(), client.ObjectKeyFromObject(x), x); err != nil {
			t.Fatal(err)
		}
		x.Finalizers = finalizers
		if err := g.cluster.Update(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	hold("extensions.gardener.cloud/greeting")

	g.Seed.Spec.Extensions, g.Seed.Spec.Resources = nil, nil
	g.answer = func(x *extension) {
		content(x)
		if x.Name == "greeting" {
			unauthorized(x)
		}
	}
	for range 2 {
		err := g.reconcile(t)
		if err == nil || !strings.Contains(err.Error(), `Extension "greeting" still exists: who are you`) {
			t.Errorf("the flow ended with %v, want what the extension says", err)
		}
		g.sees(t, "while it cleans up", "ConfigMap ref-settings", "Secret ref-pen", "seed auto", "seed greeting")
	}
	hold()
	g.answer = content
	if err := g.reconcile(t); err != nil {
		t.Fatal(err)
	}
	g.sees(t, "once it has cleaned up", "seed auto")
}

// TestDeleteAddOns_GLET_SEED_12 deletes a seed, although an object that it refers to does not exist any more.
func TestDeleteAddOns_GLET_SEED_12(t *testing.T) {
	t.Parallel()
	g := newGreenhouse(t)
	if err := g.reconcile(t); err != nil {
		t.Fatal(err)
	}
	if err := g.garden.Delete(t.Context(), &corev1.Secret{ObjectMeta: inGarden("pen")}); err != nil {
		t.Fatal(err)
	}
	var gone []string
	g.deleted = func(obj client.Object) {
		if _, ok := obj.(*extension); !ok {
			return
		}
		gone = append(gone, obj.GetName())
		if err := g.cluster.Get(t.Context(), client.ObjectKey{Namespace: "garden", Name: "ref-pen"}, &corev1.Secret{}); apierrors.IsNotFound(err) {
			t.Error("an extension has nothing left with which it could clean up")
		}
	}
	if err := g.runGraph(t, g.DeleteGraph); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"auto", "greeting"}, gone); diff != "" {
		t.Errorf("extensions that were deleted (-want +got):\n%s", diff)
	}
	if left := g.seen(t); len(left) > 0 {
		t.Errorf("a deletion leaves %v", left)
	}
}
