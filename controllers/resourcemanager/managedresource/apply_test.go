// SPDX-License-Identifier: Apache-2.0

package managedresource_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/managedresource"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func cluster(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(types).WithReturnManagedFields().WithObjects(objects...).Build()
}

// deployment has a container "c" with 100m of CPU, and 2 replicas.
func deployment(t *testing.T, annotations string) *unstructured.Unstructured {
	t.Helper()
	return object(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: ns, annotations: {`+annotations+`}}
spec:
  replicas: 2
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]}
`)
}

// TestWorkloadsKeepWhatOthersOwn is about replicas and resources of a live Deployment with 5 replicas and 300m.
func TestWorkloadsKeepWhatOthersOwn(t *testing.T) {
	t.Parallel()
	scaler := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s"}}
	scaler.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "d"}
	cases := map[string]struct {
		reason, annotations string
		beside              []client.Object
		open                bool
		replicas            int32
		cpu                 string
	}{
		"Plain":     {reason: "the manifest wins", replicas: 2, cpu: "100m"},
		"Replicas":  {reason: "GRM-APPLY-12: an annotation keeps replicas", annotations: `resources.gardener.cloud/preserve-replicas: "true"`, replicas: 5, cpu: "100m"},
		"Scaled":    {reason: "GRM-APPLY-12: so does an autoscaler", beside: []client.Object{scaler}, replicas: 5, cpu: "100m"},
		"Open":      {reason: "GRM-APPLY-12: so does a manifest that leaves replicas out", open: true, replicas: 5, cpu: "100m"},
		"Resources": {reason: "GRM-APPLY-13: another annotation keeps resources", annotations: `resources.gardener.cloud/preserve-resources: "true"`, replicas: 2, cpu: "300m"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := cluster(t, tc.beside...)
			spec := gardenresourcesv1alpha1.ManagedResourceSpec{InjectLabels: map[string]string{"x": "y"}}
			manifest := func() *unstructured.Unstructured {
				u := deployment(t, tc.annotations)
				if tc.open {
					unstructured.RemoveNestedField(u.Object, "spec", "replicas")
				}
				return u
			}
			if err := managedresource.ApplyOne(t.Context(), c, spec, manifest()); err != nil {
				t.Fatal(err)
			}
			live := &appsv1.Deployment{}
			get(t, c, live, "d")
			live.Spec.Replicas = new(int32(5))
			live.Spec.Template.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("300m")
			if err := c.Update(t.Context(), live); err != nil {
				t.Fatal(err)
			}
			if err := managedresource.ApplyOne(t.Context(), c, spec, manifest()); err != nil {
				t.Fatal(err)
			}
			get(t, c, live, "d")
			cpu := live.Spec.Template.Spec.Containers[0].Resources.Requests.Cpu().String()
			if *live.Spec.Replicas != tc.replicas || cpu != tc.cpu {
				t.Errorf("%s: got %d replicas with %s, want %d with %s", tc.reason, *live.Spec.Replicas, cpu, tc.replicas, tc.cpu)
			}
			if diff := cmp.Diff(map[string]string{"a": "b", "x": "y", "resources.gardener.cloud/managed-by": "gardener"}, live.Spec.Template.Labels); diff != "" {
				t.Errorf("GRM-APPLY-8: labels of pods (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReplicasLeaveTheManifest_GRM_APPLY_12: the live number stays as well if only the resource manager has ever set it.
func TestReplicasLeaveTheManifest_GRM_APPLY_12(t *testing.T) {
	t.Parallel()
	c, open := cluster(t), deployment(t, "")
	unstructured.RemoveNestedField(open.Object, "spec", "replicas")
	for _, manifest := range []*unstructured.Unstructured{deployment(t, ""), open} {
		if err := managedresource.ApplyOne(t.Context(), c, gardenresourcesv1alpha1.ManagedResourceSpec{}, manifest); err != nil {
			t.Fatal(err)
		}
	}
	live := &appsv1.Deployment{}
	get(t, c, live, "d")
	if diff := cmp.Diff(new(int32(2)), live.Spec.Replicas); diff != "" {
		t.Errorf("replicas (-want +got):\n%s", diff)
	}
}

// TestReplicasOfOtherKindsStay_GRM_APPLY_12: a server would set the number of these to its default when nobody applies it any more.
func TestReplicasOfOtherKindsStay_GRM_APPLY_12(t *testing.T) {
	t.Parallel()
	for kind, apiVersion := range map[string]string{"ReplicationController": "v1", "Fleet": "example.org/v1"} {
		c := cluster(t)
		manifest := func() *unstructured.Unstructured {
			return object(t, "apiVersion: "+apiVersion+"\nkind: "+kind+`
metadata: {name: f, namespace: ns, annotations: {resources.gardener.cloud/preserve-replicas: "true"}}
spec: {replicas: 2, minReadySeconds: 1}
`)
		}
		live := manifest()
		for _, step := range []struct {
			reason string
			scaled int64
			want   int64
		}{{reason: "created", want: 2}, {reason: "applied again, while nobody else has set the number", want: 2}, {reason: "scaled", scaled: 5, want: 5}, {reason: "applied after that", want: 5}} {
			if step.scaled != 0 {
				if err := unstructured.SetNestedField(live.Object, step.scaled, "spec", "replicas"); err != nil {
					t.Fatal(err)
				}
				if err := c.Update(t.Context(), live, client.FieldOwner("scaler")); err != nil {
					t.Fatal(err)
				}
			}
			if err := managedresource.ApplyOne(t.Context(), c, gardenresourcesv1alpha1.ManagedResourceSpec{}, manifest()); err != nil {
				t.Fatal(err)
			}
			get(t, c, live, "f")
			if got, _, err := unstructured.NestedInt64(live.Object, "spec", "replicas"); err != nil || got != step.want {
				t.Errorf("%s, %s: %d replicas, %v, want %d", kind, step.reason, got, err, step.want)
			}
		}
	}
}

func get(t *testing.T, c client.Client, into client.Object, name string) {
	t.Helper()
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: name}, into); err != nil {
		t.Fatal(err)
	}
}

func TestFieldsThatNeverChangeStay_GRM_MERGE_4(t *testing.T) {
	t.Parallel()
	set := func(size string) *unstructured.Unstructured {
		return object(t, `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s, namespace: ns}
spec:
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}
  volumeClaimTemplates: [{metadata: {name: v}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: `+size+`}}}}]
`)
	}
	account := &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}, ImagePullSecrets: []corev1.LocalObjectReference{{Name: "theirs"}},
		Secrets: []corev1.ObjectReference{{Name: "token"}},
	}
	c := cluster(t, account)
	spec := gardenresourcesv1alpha1.ManagedResourceSpec{}
	for _, u := range []*unstructured.Unstructured{
		set("1Gi"), set("2Gi"), object(t, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, namespace: ns}\nimagePullSecrets: [{name: ours}]\n"),
	} {
		if err := managedresource.ApplyOne(t.Context(), c, spec, u); err != nil {
			t.Fatal(err)
		}
	}
	live := &appsv1.StatefulSet{}
	get(t, c, live, "s")
	if got := live.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage().String(); got != "1Gi" {
		t.Errorf("the claim template asks for %s, want the 1Gi that it began with", got)
	}
	get(t, c, account, "a")
	if len(account.ImagePullSecrets) != 1 || account.ImagePullSecrets[0].Name != "theirs" || len(account.Secrets) != 1 {
		t.Errorf("the account became %+v", account)
	}
}

// TestJobsKeepWhatTheServerSets is about the selector and the labels of a Job, which its server adds.
func TestJobsKeepWhatTheServerSets(t *testing.T) {
	t.Parallel()
	job := func() *unstructured.Unstructured {
		return object(t, `
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: ns}
spec: {template: {metadata: {labels: {a: b}}, spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
`)
	}
	c, live := cluster(t), &batchv1.Job{}
	applyThenChange(t, c, job(), live, func() {
		live.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"controller-uid": "u"}}
		live.Spec.Template.Labels["controller-uid"] = "u"
	}, job())
	if live.Spec.Selector == nil || live.Spec.Selector.MatchLabels["controller-uid"] != "u" || live.Spec.Template.Labels["controller-uid"] != "u" || live.Spec.Template.Labels["a"] != "b" {
		t.Errorf("GRM-MERGE-4: the Job became %+v", live.Spec)
	}
}

// TestRestartsByHandStay is about the annotation that kubectl rollout restart sets.
func TestRestartsByHandStay(t *testing.T) {
	t.Parallel()
	const restarted = "kubectl.kubernetes.io/restartedAt"
	live := &appsv1.Deployment{}
	applyThenChange(t, cluster(t), deployment(t, ""), live, func() {
		live.Spec.Template.Annotations = map[string]string{restarted: "today"}
	}, deployment(t, ""))
	if live.Spec.Template.Annotations[restarted] != "today" {
		t.Errorf("GRM-MERGE-3: the annotations of the pods are %v", live.Spec.Template.Annotations)
	}
}

// TestStaleReferencesGo_GRM_MERGE_2: a reference that somebody else has left would keep what it names from the garbage collector.
func TestStaleReferencesGo_GRM_MERGE_2(t *testing.T) {
	t.Parallel()
	const prefix = "reference.resources.gardener.cloud/"
	manifest := func() *unstructured.Unstructured { return deployment(t, prefix+"secret-1: ours") }
	patches := 0
	c := interceptor.NewClient(cluster(t), interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
			patches++
			return c.Patch(ctx, o, patch, options...)
		},
	})
	live := &appsv1.Deployment{}
	applyThenChange(t, c, manifest(), live, func() {
		live.Annotations[prefix+"secret-2"], live.Annotations[prefix+"configmap-3"], live.Annotations["example.org/beside"] = "stale", "stale", "theirs"
	}, manifest())
	got := map[string]string{}
	for key, value := range live.Annotations {
		if !strings.HasPrefix(key, "resources.gardener.cloud/") {
			got[key] = value
		}
	}
	if diff := cmp.Diff(map[string]string{prefix + "secret-1": "ours", "example.org/beside": "theirs"}, got); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if err := managedresource.ApplyOne(t.Context(), c, gardenresourcesv1alpha1.ManagedResourceSpec{}, manifest()); err != nil || patches != 1 {
		t.Errorf("%d patches, %v: where nothing is stale nothing is written", patches, err)
	}
}

// TestServicesKeepTheirAddresses is about what a server gives to a Service, and a manifest leaves open.
func TestServicesKeepTheirAddresses(t *testing.T) {
	t.Parallel()
	service := func(port string) *unstructured.Unstructured {
		return object(t, `
apiVersion: v1
kind: Service
metadata: {name: s, namespace: ns}
spec: {type: LoadBalancer, externalTrafficPolicy: Local, selector: {a: b}, ports: [{name: web, port: `+port+`, protocol: TCP}, {name: fixed, port: 81, protocol: TCP, nodePort: 30081}]}
`)
	}
	live := &corev1.Service{}
	applyThenChange(t, cluster(t), service("443"), live, func() {
		live.Spec.ClusterIP, live.Spec.HealthCheckNodePort, live.Spec.LoadBalancerIP = "10.0.0.7", 30100, "192.0.2.1"
		live.Spec.Ports[0].NodePort = 30443
	}, service("8443"))
	if live.Spec.ClusterIP != "10.0.0.7" || live.Spec.HealthCheckNodePort != 30100 || live.Spec.LoadBalancerIP != "192.0.2.1" {
		t.Errorf("GRM-MERGE-5: the Service became %+v", live.Spec)
	}
	got := map[int32]int32{}
	for _, port := range live.Spec.Ports {
		got[port.Port] = port.NodePort
	}
	if diff := cmp.Diff(map[int32]int32{8443: 30443, 81: 30081}, got); diff != "" {
		t.Errorf("GRM-MERGE-5: node ports (-want +got):\n%s", diff)
	}
}

// TestAnnotationsOfLoadBalancersStay_GRM_MERGE_5: without them, the controller would lose the load balancer of a Service.
func TestAnnotationsOfLoadBalancersStay_GRM_MERGE_5(t *testing.T) {
	t.Parallel()
	const balancer, other = "loadbalancer.openstack.org/load-balancer-id", "example.org/beside"
	c, spec := cluster(t), gardenresourcesv1alpha1.ManagedResourceSpec{ForceOverwriteAnnotations: new(true)}
	for kind, want := range map[string][]bool{"Service": {true, false}, "ConfigMap": {false, false}} {
		manifest := func() *unstructured.Unstructured {
			return object(t, "apiVersion: v1\nkind: "+kind+"\nmetadata: {name: s, namespace: ns}\n")
		}
		if err := managedresource.ApplyOne(t.Context(), c, spec, manifest()); err != nil {
			t.Fatal(err)
		}
		live := manifest()
		get(t, c, live, "s")
		live.SetAnnotations(map[string]string{balancer: "1", other: "2"})
		if err := c.Update(t.Context(), live, client.FieldOwner("server")); err != nil {
			t.Fatal(err)
		}
		if err := managedresource.ApplyOne(t.Context(), c, spec, manifest()); err != nil {
			t.Fatal(err)
		}
		get(t, c, live, "s")
		_, keeps := live.GetAnnotations()[balancer]
		_, beside := live.GetAnnotations()[other]
		if got := []bool{keeps, beside}; !slices.Equal(got, want) {
			t.Errorf("%s: the annotations became %v", kind, live.GetAnnotations())
		}
	}
}

// applyThenChange applies an object, changes the live one as its server or somebody else would, and applies the object again.
func applyThenChange(t *testing.T, c client.Client, first *unstructured.Unstructured, live client.Object, change func(), second *unstructured.Unstructured) { //nolint:revive // Each is a part of the story.
	t.Helper()
	spec := gardenresourcesv1alpha1.ManagedResourceSpec{}
	if err := managedresource.ApplyOne(t.Context(), c, spec, first); err != nil {
		t.Fatal(err)
	}
	get(t, c, live, first.GetName())
	change()
	if err := c.Update(t.Context(), live, client.FieldOwner("server")); err != nil {
		t.Fatal(err)
	}
	if err := managedresource.ApplyOne(t.Context(), c, spec, second); err != nil {
		t.Fatal(err)
	}
	get(t, c, live, first.GetName())
}

func TestObjectsThatCannotBeUpdated_GRM_APPLY_14(t *testing.T) {
	t.Parallel()
	const asked = `resources.gardener.cloud/delete-on-invalid-update: "true"`
	const dependents = `, resources.gardener.cloud/deletion-propagation-on-invalid-update: `
	cases := map[string]struct {
		reason, annotations string
		immutable, gone     bool
		dependents          metav1.DeletionPropagation
	}{
		"Plain":      {reason: "an object that is refused stays"},
		"Asked":      {reason: "one that asks for it is deleted", annotations: asked, gone: true},
		"Foreground": {reason: "after its dependents, if it asks for that", annotations: asked + dependents + "Foreground", gone: true, dependents: "Foreground"},
		"Orphan":     {reason: "or without them", annotations: asked + dependents + "Orphan", gone: true, dependents: "Orphan"},
		"Immutable":  {reason: "so is one that was declared immutable", immutable: true, gone: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live := object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: ns, annotations: {"+tc.annotations+"}}\n")
			live.Object["immutable"] = tc.immutable
			var dependents metav1.DeletionPropagation
			refusing := interceptor.NewClient(cluster(t, live), interceptor.Funcs{
				Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
					return apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "m", nil)
				},
				Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
					dependents = ptr.Deref((&client.DeleteOptions{}).ApplyOptions(options).PropagationPolicy, "")
					return c.Delete(ctx, o, options...)
				},
			})
			err := managedresource.ApplyOne(t.Context(), refusing, gardenresourcesv1alpha1.ManagedResourceSpec{}, object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: ns}\n"))
			if err == nil {
				t.Errorf("%s: the run succeeded", tc.reason)
			}
			found := refusing.Get(t.Context(), client.ObjectKeyFromObject(live), live)
			if apierrors.IsNotFound(found) != tc.gone {
				t.Errorf("%s: the object is gone: %t, %v", tc.reason, apierrors.IsNotFound(found), found)
			}
			if dependents != tc.dependents {
				t.Errorf("%s: it was deleted with the propagation %q, want %q", tc.reason, dependents, tc.dependents)
			}
		})
	}
}

func TestOrder_GRM_APPLY_4(t *testing.T) {
	t.Parallel()
	var objects []*unstructured.Unstructured
	for _, kind := range []string{"Zebra", "Deployment", "Ape", "ConfigMap", "Service", "CustomResourceDefinition", "Secret", "Namespace"} {
		u := &unstructured.Unstructured{}
		u.SetKind(kind)
		u.SetName("x")
		objects = append(objects, u)
	}
	var got []string
	for _, u := range managedresource.SortForApply(objects) {
		got = append(got, u.GetKind())
	}
	want := []string{"Namespace", "Secret", "ConfigMap", "CustomResourceDefinition", "Service", "Deployment", "Ape", "Zebra"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}

func TestEquivalence_GRM_DEL_1(t *testing.T) {
	t.Parallel()
	of := func(apiVersion, kind, name string) *unstructured.Unstructured {
		return object(t, "apiVersion: "+apiVersion+"\nkind: "+kind+"\nmetadata: {name: "+name+"}\n")
	}
	own := gardenresourcesv1alpha1.ManagedResourceSpec{Equivalences: [][]metav1.GroupKind{{{Group: "a.b", Kind: "Old"}, {Group: "c.d", Kind: "New"}}}}
	got := []bool{
		managedresource.Same(own, of("apps/v1", "Deployment", "x"), of("apps/v1beta1", "Deployment", "x")),
		managedresource.Same(own, of("extensions/v1beta1", "Ingress", "x"), of("networking.k8s.io/v1", "Ingress", "x")),
		managedresource.Same(own, of("a.b/v1", "Old", "x"), of("c.d/v1", "New", "x")),
		managedresource.Same(own, of("a.b/v1", "Old", "x"), of("c.d/v1", "New", "y")),
		managedresource.Same(own, of("apps/v1", "Deployment", "x"), of("batch/v1", "Deployment", "x")),
	}
	if !slices.Equal(got, []bool{true, true, true, false, false}) {
		t.Errorf("versions, known moves, own moves, other names, other groups: got %v", got)
	}
}
