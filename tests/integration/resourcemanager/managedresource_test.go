// SPDX-License-Identifier: Apache-2.0

package resourcemanager_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// patch changes an object by a merge patch.
func patch(t *testing.T, c client.Client, object client.Object, text string) {
	t.Helper()
	if err := c.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(text))); err != nil {
		t.Fatalf("patch %T %q: %v", object, object.GetName(), err)
	}
}

// TestLifeOfObjects follows the objects of one ManagedResource in the seed.
func TestLifeOfObjects(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(o *resourcemanager.Options) { o.ClusterID = "island" })
	mr := s.deliver("life", "seed", manifests{
		"a.yaml":    configMap("one", "x: '1'") + "---\n# nothing here\n---\n" + configMap("two", "x: '2'"),
		"b.yaml.br": compressed(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"three"},"data":{"x":"3"}}`),
		"c.yaml":    "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: four, namespace: nowhere}\nrules: []\n",
	}, func(mr *gardenresourcesv1alpha1.ManagedResource) {
		mr.Spec.InjectLabels = map[string]string{"part": "life"}
	})
	mr = s.conditions(mr, settled())
	checkMarks(t, holds(t, s, "one", "x=1"))
	holds(t, s, "two", "x=2")
	holds(t, s, "three", "x=3")
	checkStatus(t, mr)

	one := holds(t, s, "one", "x=1")
	patch(t, s, one, `{"data":{"x":"changed"},"metadata":{"annotations":{"mine":"stays"}}}`)
	if one = holds(t, s, "one", "x=1"); one.Annotations["mine"] != "stays" {
		t.Errorf("GRM-MERGE-2: the annotations are %v, want also the one of somebody else", one.Annotations)
	}
	if err := s.Delete(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	one = holds(t, s, "one", "x=1")
	// The run that sets the other object right applies this one as well.
	patch(t, s, holds(t, s, "two", "x=2"), `{"data":{"x":"changed"}}`)
	holds(t, s, "two", "x=2")
	if again := holds(t, s, "one", "x=1"); again.ResourceVersion != one.ResourceVersion {
		t.Errorf("GRM-APPLY-15: the object was written without a difference, from version %s to %s", one.ResourceVersion, again.ResourceVersion)
	}

	s.rewrite("life", manifests{"a.yaml": configMap("one", "z: '7'")})
	holds(t, s, "one", "z=7")
	holds(t, s, "two", "-")
	holds(t, s, "three", "-")

	if err := s.Delete(t.Context(), mr); err != nil {
		t.Fatal(err)
	}
	holds(t, s, "one", "-")
	s.gone(mr)
}

// gone waits until a ManagedResource does not exist any more.
func (s *stage) gone(mr *gardenresourcesv1alpha1.ManagedResource) {
	s.t.Helper()
	s.eventually(fmt.Sprintf("ManagedResource %q is gone", mr.Name), func(ctx context.Context) error {
		err := s.Get(ctx, client.ObjectKeyFromObject(mr), mr)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(err, fmt.Errorf("it has the finalizers %v and conditions %+v", mr.Finalizers, mr.Status.Conditions))
	})
}

func checkMarks(t *testing.T, one *corev1.ConfigMap) {
	t.Helper()
	if diff := cmp.Diff(map[string]string{"part": "life", "resources.gardener.cloud/managed-by": "gardener"}, one.Labels); diff != "" {
		t.Errorf("GRM-APPLY-8: labels (-want +got):\n%s", diff)
	}
	if got := one.Annotations["resources.gardener.cloud/origin"]; got != "island:shoot--dev--a/life" {
		t.Errorf("GRM-APPLY-9: the origin is %q", got)
	}
	if got := one.Annotations["resources.gardener.cloud/description"]; !strings.HasPrefix(got, "DO NOT EDIT") {
		t.Errorf("GRM-APPLY-9: the description is %q", got)
	}
}

func checkStatus(t *testing.T, mr *gardenresourcesv1alpha1.ManagedResource) {
	t.Helper()
	var names []string
	for _, r := range mr.Status.Resources {
		names = append(names, fmt.Sprintf("%s %s/%s", r.Kind, r.Namespace, r.Name))
	}
	want := []string{"ClusterRole /four", "ConfigMap default/one", "ConfigMap default/three", "ConfigMap default/two"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("GRM-APPLY-2, GRM-APPLY-6: references in their order, with defaulted namespaces (-want +got):\n%s", diff)
	}
	if mr.Status.ObservedGeneration != mr.Generation || mr.Status.SecretsDataChecksum == nil {
		t.Errorf("GRM-APPLY-6: generation %d of %d, checksum %v", mr.Status.ObservedGeneration, mr.Generation, mr.Status.SecretsDataChecksum)
	}
	if diff := cmp.Diff([]string{"resources.gardener.cloud/gardener-resource-manager-seed"}, mr.Finalizers); diff != "" {
		t.Errorf("GRM-MR-5: finalizers (-want +got):\n%s", diff)
	}
}

// TestLabelsThatLeaveTheManifest is about labels that a ManagedResource has set before.
func TestLabelsThatLeaveTheManifest(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	labelled := func(labels string) manifests {
		return manifests{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: labelled, namespace: default, labels: {" + labels + "}}\ndata: {x: '1'}\n"}
	}
	mr := s.deliver("labelled", "seed", labelled("stays: ours, goes: ours, taken: ours"))
	s.conditions(mr, settled())
	patch(t, s, mr, `{"metadata":{"annotations":{"resources.gardener.cloud/ignore":"true"}}}`)
	s.conditions(mr, map[string]string{"Applied": "True ManagedResourceIgnored"})
	patch(t, s, holds(t, s, "labelled", "x=1"), `{"metadata":{"labels":{"taken":"theirs","beside":"theirs"}}}`)
	s.rewrite("labelled", labelled("stays: ours"))
	patch(t, s, mr, `{"metadata":{"annotations":{"resources.gardener.cloud/ignore":null}}}`)
	s.eventually("GRM-MERGE-2: what is no longer wanted goes, unless somebody changed it", func(ctx context.Context) error {
		live := &corev1.ConfigMap{}
		if err := s.Get(ctx, client.ObjectKey{Namespace: "default", Name: "labelled"}, live); err != nil {
			return err
		}
		want := map[string]string{"stays": "ours", "taken": "theirs", "beside": "theirs", "resources.gardener.cloud/managed-by": "gardener"}
		if diff := cmp.Diff(want, live.Labels); diff != "" {
			return fmt.Errorf("labels (-want +got):\n%s", diff)
		}
		return nil
	})
}

// TestObjectsThatFail is about what is wrong with manifests, and how much of the rest is done.
func TestObjectsThatFail(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	unknown := "apiVersion: nobody.example.org/v1\nkind: Mystery\nmetadata: {name: m}\n"

	absent := &gardenresourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "absent"}}
	absent.Spec.Class, absent.Spec.SecretRefs = new("seed"), []corev1.LocalObjectReference{{Name: "absent"}}
	s.create(absent)
	s.conditions(absent, map[string]string{"Applied": "False CannotReadSecret"})

	broken := s.deliver("broken", "seed", manifests{"a.yaml": "kind: Secret\ndata: {key: aHVzaA==}\n---\n" + configMap("fine", "x: '1'")})
	broken = s.conditions(broken, map[string]string{"Applied": "False DecodingFailed"})
	holds(t, s, "fine", "x=1")
	if message := query.FindCondition(broken.Status.Conditions, "ResourcesApplied").Message; strings.Contains(message, "aHVzaA") || !strings.Contains(message, `"a.yaml", document 1`) {
		t.Errorf("The message names the document and quotes nothing of it: %s", message)
	}

	failing := s.deliver("failing", "seed", manifests{"a.yaml": configMap("before", "x: '1'") + "---\n" + unknown})
	// GRM-APPLY-3: nothing is known of objects that are new.
	failing = s.conditions(failing, map[string]string{"Applied": "False ApplyFailed", "Healthy": "Unknown ChecksPending", "Progressing": "Unknown ChecksPending"})
	if message := query.FindCondition(failing.Status.Conditions, "ResourcesApplied").Message; !strings.Contains(message, `Mystery "default/m"`) {
		t.Errorf("GRM-APPLY-5, GRM-APPLY-7: the message names the object: %s", message)
	}
	holds(t, s, "before", "x=1")
	if len(failing.Status.Resources) != 2 {
		t.Errorf("A run that failed lists what it may have made: %+v", failing.Status.Resources)
	}
	s.rewrite("failing", manifests{"a.yaml": configMap("after", "x: '2'")})
	s.conditions(failing, settled())
	holds(t, s, "after", "x=2")
	holds(t, s, "before", "-")

	lost := s.deliver("lost", "seed", manifests{"a.yaml": unknown})
	lost = s.conditions(lost, map[string]string{"Applied": "False ApplyFailed"})
	if len(lost.Status.Resources) != 1 {
		t.Errorf("The object of an unknown kind may exist: %+v", lost.Status.Resources)
	}
	if err := s.Delete(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	s.gone(lost) // GRM-DEL-9: an object of an unknown kind counts as deleted
}

// TestAnnotationsOfObjects is about objects that ask to be handled in another way.
func TestAnnotationsOfObjects(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	annotated := func(name, annotation, data string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: default, annotations: {resources.gardener.cloud/" + annotation + "}}\ndata: {" + data + "}\n"
	}
	all := func(value string) manifests {
		return manifests{"a.yaml": strings.Join([]string{
			configMap("plain", "x: "+value), annotated("once", "ignore: 'true'", "x: "+value), annotated("kept", "keep-object: 'true'", "x: "+value),
		}, "---\n")}
	}
	mr := s.deliver("annotated", "seed", all("a"))
	s.conditions(mr, settled())
	s.rewrite("annotated", all("b"))
	holds(t, s, "plain", "x=b")
	holds(t, s, "once", "x=a")

	handed := all("b")
	handed["a.yaml"] = strings.Replace(handed["a.yaml"], configMap("plain", "x: b"), annotated("plain", "mode: Ignore", "x: c"), 1)
	s.rewrite("annotated", handed)
	s.eventually("GRM-APPLY-11: the object is released and stays as it is", func(ctx context.Context) error {
		live := &corev1.ConfigMap{}
		if err := s.Get(ctx, client.ObjectKey{Namespace: "default", Name: "plain"}, live); err != nil {
			return err
		}
		if live.Data["x"] != "b" || live.Annotations["resources.gardener.cloud/origin"] != "" {
			return fmt.Errorf("data %v, annotations %v", live.Data, live.Annotations)
		}
		return nil
	})
	mr = s.conditions(mr, settled())
	if err := s.Delete(t.Context(), mr); err != nil {
		t.Fatal(err)
	}
	s.gone(mr)
	holds(t, s, "once", "-")
	holds(t, s, "kept", "x=b")
	holds(t, s, "plain", "x=b")
}

// TestDeletionWaits is about objects that are not gone at once.
func TestDeletionWaits(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	held := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: held, namespace: default, finalizers: [example.org/hold]}\n"
	mr := s.deliver("slow", "seed", manifests{"a.yaml": held})
	s.conditions(mr, settled())
	if err := s.Delete(t.Context(), mr); err != nil {
		t.Fatal(err)
	}
	mr = s.conditions(mr, map[string]string{"Applied": "Progressing DeletionPending", "Healthy": "False DeletionPending", "Progressing": "True DeletionPending"})
	if message := query.FindCondition(mr.Status.Conditions, "ResourcesApplied").Message; !strings.Contains(message, `ConfigMap "default/held"`) {
		t.Errorf("GRM-DEL-3: the message names what is left: %s", message)
	}
	patch(t, s, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "held"}}, `{"metadata":{"finalizers":null}}`)
	s.gone(mr)
}

// TestSettingsOfManagedResources is about what the spec and annotations of a ManagedResource say.
func TestSettingsOfManagedResources(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	ignored := s.deliver("ignored", "seed", manifests{"a.yaml": configMap("never", "x: '1'")}, func(mr *gardenresourcesv1alpha1.ManagedResource) {
		mr.Annotations = map[string]string{"resources.gardener.cloud/ignore": "true"}
	})
	s.conditions(ignored, map[string]string{"Applied": "True ManagedResourceIgnored", "Healthy": "True ManagedResourceIgnored", "Progressing": "False ManagedResourceIgnored"})
	holds(t, s, "never", "-")
	patch(t, s, ignored, `{"metadata":{"annotations":{"resources.gardener.cloud/ignore":null}}}`)
	s.conditions(ignored, settled())
	holds(t, s, "never", "x=1")

	foreign := s.deliver("foreign", "elsewhere", manifests{"a.yaml": configMap("foreign", "x: '1'")})
	keeping := s.deliver("keeping", "seed", manifests{"a.yaml": configMap("stays", "x: '1'")}, func(mr *gardenresourcesv1alpha1.ManagedResource) {
		mr.Spec.KeepObjects, mr.Spec.ForceOverwriteLabels = new(true), new(true)
	})
	s.conditions(keeping, settled())
	patch(t, s, holds(t, s, "stays", "x=1"), `{"metadata":{"labels":{"mine":"goes"}}}`)
	s.eventually("a label that the manifest does not have is removed", func(ctx context.Context) error {
		live := &corev1.ConfigMap{}
		err := s.Get(ctx, client.ObjectKey{Namespace: "default", Name: "stays"}, live)
		if err == nil && live.Labels["mine"] != "" {
			err = fmt.Errorf("labels: %v", live.Labels)
		}
		return err
	})
	if err := s.Delete(t.Context(), keeping); err != nil {
		t.Fatal(err)
	}
	s.gone(keeping)
	holds(t, s, "stays", "x=1")

	if err := s.Get(t.Context(), client.ObjectKeyFromObject(foreign), foreign); err != nil || len(foreign.Finalizers)+len(foreign.Status.Conditions) > 0 {
		t.Errorf("GRM-MR-3: a ManagedResource of another class became %+v, %v", foreign, err)
	}
	holds(t, s, "foreign", "-")
}

// TestShoots is about objects in a shoot, and about ManagedResources that change their class.
func TestShoots(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	mr := s.deliver("travels", "", manifests{"a.yaml": configMap("traveller", "x: '1'")})
	s.conditions(mr, map[string]string{"Applied": "Progressing ApplyProgressing"})
	shoot := s.withShoot()
	mr = s.conditions(mr, settled())
	holds(t, shoot.Client, "traveller", "x=1")
	holds(t, s, "traveller", "-")
	if diff := cmp.Diff([]string{"resources.gardener.cloud/gardener-resource-manager"}, mr.Finalizers); diff != "" {
		t.Errorf("GRM-MR-5: finalizers (-want +got):\n%s", diff)
	}

	patch(t, s, mr, `{"spec":{"class":"seed"}}`)
	holds(t, s, "traveller", "x=1")
	holds(t, shoot.Client, "traveller", "-")
	mr = harness.Await(t, s.Client, mr, "the class has changed", func(mr *gardenresourcesv1alpha1.ManagedResource) error {
		if diff := cmp.Diff([]string{"resources.gardener.cloud/gardener-resource-manager-seed"}, mr.Finalizers); diff != "" {
			return fmt.Errorf("finalizers (-want +got):\n%s", diff)
		}
		return nil
	})

	patch(t, s, mr, `{"metadata":{"finalizers":["resources.gardener.cloud/gardener-resource-manager-seed","resources.gardener.cloud/gardener-resource-manager-other"]},"spec":{"class":"resources"}}`)
	holds(t, s, "traveller", "-")
	mr = harness.Await(t, s.Client, mr, "GRM-MR-4: the other resource manager is waited for", func(mr *gardenresourcesv1alpha1.ManagedResource) error {
		if c := query.FindCondition(mr.Status.Conditions, "ResourcesApplied"); len(mr.Finalizers) != 1 || c == nil || !strings.Contains(c.Message, "gardener-resource-manager-other") {
			return fmt.Errorf("finalizers %v, condition %+v", mr.Finalizers, c)
		}
		return nil
	})
	holds(t, shoot.Client, "traveller", "-")
	patch(t, s, mr, `{"metadata":{"finalizers":null}}`)
	holds(t, shoot.Client, "traveller", "x=1")
}

// TestHealthOfChangedObjects is about an object of the seed that changes long before the next look at it.
func TestHealthOfChangedObjects(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(o *resourcemanager.Options) {
		o.SyncPeriod, o.ClusterID = time.Hour, "island"
	})
	mr := s.deliver("defining", "seed", manifests{"a.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Thing, listKind: ThingList, plural: things, singular: thing}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`})
	s.conditions(mr, settled())
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "things.example.org"}}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(definition), definition); err != nil {
		t.Fatal(err)
	}
	before := definition.UID
	if err := s.Delete(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	s.eventually("GRM-HEALTH-3, GRM-MR-7: what is missing is noticed and made anew", func(ctx context.Context) error {
		err := s.Get(ctx, client.ObjectKeyFromObject(definition), definition)
		if err == nil && definition.UID == before {
			err = errors.New("it is still the one before")
		}
		return err
	})
	s.conditions(mr, settled())
}

// TestOrderToReconcile is the annotation that starts a run at once.
func TestOrderToReconcile(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(o *resourcemanager.Options) {
		o.SyncPeriod, o.ClusterID = time.Hour, resourcemanager.ClusterIDOfCluster
	})
	mr := s.deliver("ordered", "seed", manifests{"a.yaml": configMap("ordered", "x: '1'")})
	s.conditions(mr, settled())
	ordered := holds(t, s, "ordered", "x=1")
	if got, want := ordered.Annotations["resources.gardener.cloud/origin"], s.seed.ClusterIdentity+":shoot--dev--a/ordered"; got != want {
		t.Errorf("GRM-CFG-5: the origin is %q, want %q", got, want)
	}
	patch(t, s, ordered, `{"data":{"x":"changed"}}`)
	patch(t, s, mr, `{"metadata":{"annotations":{"gardener.cloud/operation":"reconcile"}}}`)
	holds(t, s, "ordered", "x=1")
	harness.Await(t, s.Client, mr, "the order is taken off", func(mr *gardenresourcesv1alpha1.ManagedResource) error {
		if order := mr.Annotations[gardencorev1beta1.AnnotationOperation]; order != "" {
			return fmt.Errorf("it is still %q", order)
		}
		return nil
	})
}
