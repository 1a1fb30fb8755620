// SPDX-License-Identifier: Apache-2.0

package health_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/health"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/target"
)

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "ns", Name: name, Generation: 2}
}

// deployment is rolled out, unless it is changed.
func deployment(change func(*appsv1.Deployment)) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: meta("d")}
	d.Spec.Replicas = new(int32(2))
	d.Status = appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 2, Conditions: []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
		{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
	}}
	if change != nil {
		change(d)
	}
	return d
}

// pods are those of the Deployment: two that serve, and others.
func pods(others ...func(*corev1.Pod)) []client.Object {
	var all []client.Object
	for i := range 2 + len(others) {
		p := &corev1.Pod{ObjectMeta: meta(fmt.Sprintf("d-%d", i)), Status: corev1.PodStatus{Phase: corev1.PodRunning}}
		p.Labels, p.Finalizers = map[string]string{"a": "b"}, []string{"test/held"}
		if i >= 2 {
			others[i-2](p)
		}
		all = append(all, p)
	}
	return append(all, deployment(func(d *appsv1.Deployment) {
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	}))
}

// foreign is an object of the second generation of a kind without a Go type.
func foreign(apiVersion, kind string, status map[string]any) client.Object {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"namespace": "ns", "name": "f", "generation": int64(2)},
		"spec": map[string]any{"replicas": int64(2)}, "status": status,
	}}
}

// monitoring is the status of what the monitoring operator runs.
func monitoring(available, updated, observed int64, status string) map[string]any {
	condition := func(kind string) any {
		return map[string]any{"type": kind, "status": status, "observedGeneration": observed, "message": "told"}
	}
	return map[string]any{"availableReplicas": available, "updatedReplicas": updated, "conditions": []any{condition("Available"), condition("Reconciled")}}
}

func reference(apiVersion, kind, name string) gardenresourcesv1alpha1.ObjectReference {
	return gardenresourcesv1alpha1.ObjectReference{ObjectReference: corev1.ObjectReference{APIVersion: apiVersion, Kind: kind, Namespace: "ns", Name: name}}
}

func TestJudge_GRM_HEALTH_GRM_PROG(t *testing.T) {
	t.Parallel()
	set := &appsv1.StatefulSet{ObjectMeta: meta("s"), Status: appsv1.StatefulSetStatus{ObservedGeneration: 2, ReadyReplicas: 1}}
	daemons := &appsv1.DaemonSet{ObjectMeta: meta("n"), Status: appsv1.DaemonSetStatus{ObservedGeneration: 2, CurrentNumberScheduled: 2, DesiredNumberScheduled: 2, UpdatedNumberScheduled: 1}}
	skipped := deployment(func(d *appsv1.Deployment) {
		d.Annotations, d.Status = map[string]string{"resources.gardener.cloud/skip-health-check": "true"}, appsv1.DeploymentStatus{}
	})
	settings := &corev1.ConfigMap{ObjectMeta: meta("c")}
	autoscaler := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "autoscaling.k8s.io/v1", "kind": "VerticalPodAutoscaler", "metadata": map[string]any{"namespace": "ns", "name": "v"},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "ConfigUnsupported", "status": "True"}}},
	}}
	ofDeployment, ofSettings := reference("apps/v1", "Deployment", "d"), reference("v1", "ConfigMap", "c")
	ofPrometheus, ofCertificate := reference("monitoring.coreos.com/v1", "Prometheus", "f"), reference("cert.gardener.cloud/v1alpha1", "Certificate", "f")
	prometheus := func(status map[string]any) []client.Object {
		return []client.Object{foreign("monitoring.coreos.com/v1", "Prometheus", status)}
	}
	certificate := func(observed int64, state string) []client.Object {
		return []client.Object{foreign("cert.gardener.cloud/v1alpha1", "Certificate", map[string]any{"observedGeneration": observed, "state": state})}
	}
	cases := map[string]struct {
		reason              string
		objects             []client.Object
		references          []gardenresourcesv1alpha1.ObjectReference
		health, progressing string
	}{
		"Well": {
			reason: "everything is as it should be", objects: []client.Object{deployment(nil), settings},
			references: []gardenresourcesv1alpha1.ObjectReference{ofSettings, ofDeployment}, health: "True ResourcesHealthy", progressing: "False ResourcesRolledOut",
		},
		"Missing": {
			reason: "GRM-HEALTH-1: a missing object is named, and makes no progress", references: []gardenresourcesv1alpha1.ObjectReference{ofSettings},
			health: `False ConfigMapMissing`, progressing: "False ResourcesRolledOut",
		},
		"UnknownKind": {
			reason: "so is one of a kind that the cluster does not know", references: []gardenresourcesv1alpha1.ObjectReference{reference("a.b/v1", "Mystery", "m")},
			health: `False MysteryMissing`, progressing: "False ResourcesRolledOut",
		},
		"First": {
			reason: "GRM-HEALTH-1: the first failure wins", references: []gardenresourcesv1alpha1.ObjectReference{ofSettings, ofDeployment},
			objects: []client.Object{deployment(func(d *appsv1.Deployment) { d.Status.Conditions = nil })}, health: `False ConfigMapMissing`, progressing: "True DeploymentProgressing",
		},
		"Unavailable": {
			reason: "GRM-HEALTH-5: a Deployment has to be available", references: []gardenresourcesv1alpha1.ObjectReference{ofDeployment},
			objects: []client.Object{deployment(func(d *appsv1.Deployment) { d.Status.Conditions[0].Status = corev1.ConditionFalse })}, health: `False DeploymentUnhealthy`, progressing: "False ResourcesRolledOut",
		},
		"RollsOut": {
			reason: "GRM-PROG-2: a rollout is progress, and no disease", references: []gardenresourcesv1alpha1.ObjectReference{ofDeployment},
			objects: []client.Object{deployment(func(d *appsv1.Deployment) { d.Status.Conditions[1].Reason = "ReplicaSetUpdated" })}, health: "True ResourcesHealthy", progressing: "True DeploymentProgressing",
		},
		"OldPods": {
			reason: "GRM-PROG-2: old pods are progress", references: []gardenresourcesv1alpha1.ObjectReference{ofDeployment},
			objects: []client.Object{deployment(func(d *appsv1.Deployment) { d.Status.Replicas = 3 })}, health: "True ResourcesHealthy", progressing: "True DeploymentProgressing",
		},
		"Unobserved": {
			reason: "GRM-PROG-2: a status of the version before says nothing", references: []gardenresourcesv1alpha1.ObjectReference{ofDeployment},
			objects: []client.Object{deployment(func(d *appsv1.Deployment) { d.Status.ObservedGeneration = 1 })}, health: `False DeploymentUnhealthy`, progressing: "True DeploymentProgressing",
		},
		"StatefulSet": {
			reason: "GRM-PROG-2: pods of a StatefulSet are updated", objects: []client.Object{set}, references: []gardenresourcesv1alpha1.ObjectReference{reference("apps/v1", "StatefulSet", "s")},
			health: "True ResourcesHealthy", progressing: "True StatefulSetProgressing",
		},
		"DaemonSet": {
			reason: "GRM-PROG-2: pods of a DaemonSet are updated", objects: []client.Object{daemons}, references: []gardenresourcesv1alpha1.ObjectReference{reference("apps/v1", "DaemonSet", "n")},
			health: "True ResourcesHealthy", progressing: "True DaemonSetProgressing",
		},
		"Autoscaler": {
			reason: "GRM-HEALTH-5: an autoscaler that cannot act is a fault", objects: []client.Object{autoscaler},
			references: []gardenresourcesv1alpha1.ObjectReference{reference("autoscaling.k8s.io/v1", "VerticalPodAutoscaler", "v")},
			health:     "False VerticalPodAutoscalerUnhealthy", progressing: "False ResourcesRolledOut",
		},
		"EndingPods": {
			reason: "GRM-PROG-2: a pod that ends is not over", references: []gardenresourcesv1alpha1.ObjectReference{ofDeployment},
			objects: pods(func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Now()) }), health: "True ResourcesHealthy", progressing: "True DeploymentProgressing",
		},
		"PastPods": {
			reason: "GRM-PROG-2: pods that do nothing any more are no progress", references: []gardenresourcesv1alpha1.ObjectReference{ofDeployment},
			objects: pods(
				func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed },
				func(p *corev1.Pod) { p.Status.Reason = "Evicted" },
				func(p *corev1.Pod) {
					p.Status.Conditions = []corev1.PodCondition{{Type: "DisruptionTarget", Status: "True"}}
				},
				func(p *corev1.Pod) {
					p.Status.Conditions = []corev1.PodCondition{{Type: "Ready", Status: "False", Reason: "PodCompleted"}}
				},
			), health: "True ResourcesHealthy", progressing: "False ResourcesRolledOut",
		},
		"Prometheus": {
			reason: "GRM-HEALTH-5: all its pods are available", references: []gardenresourcesv1alpha1.ObjectReference{ofPrometheus},
			objects: prometheus(monitoring(2, 2, 2, "True")), health: "True ResourcesHealthy", progressing: "False ResourcesRolledOut",
		},
		"PrometheusShort": {
			reason: "GRM-HEALTH-5: one pod is missing", references: []gardenresourcesv1alpha1.ObjectReference{ofPrometheus},
			objects: prometheus(monitoring(1, 2, 2, "True")), health: "False PrometheusUnhealthy", progressing: "False ResourcesRolledOut",
		},
		"PrometheusDegraded": {
			reason: "GRM-HEALTH-5: its operator says so", references: []gardenresourcesv1alpha1.ObjectReference{ofPrometheus},
			objects: prometheus(monitoring(2, 2, 2, "Degraded")), health: "False PrometheusUnhealthy", progressing: "True PrometheusProgressing",
		},
		"PrometheusUnobserved": {
			reason: "GRM-HEALTH-5: the condition is about the spec before", references: []gardenresourcesv1alpha1.ObjectReference{ofPrometheus},
			objects: prometheus(monitoring(2, 2, 1, "True")), health: "False PrometheusUnhealthy", progressing: "True PrometheusProgressing",
		},
		"PrometheusUpdating": {
			reason: "GRM-PROG-1: one pod is old", references: []gardenresourcesv1alpha1.ObjectReference{ofPrometheus},
			objects: prometheus(monitoring(2, 1, 2, "True")), health: "True ResourcesHealthy", progressing: "True PrometheusProgressing",
		},
		"Certificate": {
			reason: "GRM-HEALTH-5: it is issued", references: []gardenresourcesv1alpha1.ObjectReference{ofCertificate},
			objects: certificate(2, "Ready"), health: "True ResourcesHealthy", progressing: "False ResourcesRolledOut",
		},
		"CertificatePending": {
			reason: "GRM-HEALTH-5: it is not issued", references: []gardenresourcesv1alpha1.ObjectReference{ofCertificate},
			objects: certificate(2, "Pending"), health: "False CertificateUnhealthy", progressing: "False ResourcesRolledOut",
		},
		"CertificateUnobserved": {
			reason: "GRM-HEALTH-5, GRM-PROG-1: another one is asked for", references: []gardenresourcesv1alpha1.ObjectReference{ofCertificate},
			objects: certificate(1, "Ready"), health: "False CertificateUnhealthy", progressing: "True CertificateProgressing",
		},
		"Skipped": {
			reason: "GRM-HEALTH-4: an object may ask not to be judged", objects: []client.Object{skipped}, references: []gardenresourcesv1alpha1.ObjectReference{ofDeployment},
			health: "True ResourcesHealthy", progressing: "False ResourcesRolledOut",
		},
	}
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := fake.NewClientBuilder().WithScheme(types).WithObjects(tc.objects...).Build()
			healthy, progressing, err := health.Judge(t.Context(), cluster, tc.references)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{string(healthy.Status) + " " + healthy.Reason, string(progressing.Status) + " " + progressing.Reason}
			if diff := cmp.Diff([]string{tc.health, tc.progressing}, got); diff != "" {
				t.Errorf("%s\nconditions (-want +got):\n%s\n%s; %s", tc.reason, diff, healthy.Message, progressing.Message)
			}
		})
	}
}

// TestWhatIsJudged is about ManagedResources whose objects are not meant to be judged, or not yet.
func TestWhatIsJudged(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(*gardenresourcesv1alpha1.ManagedResource)
		judged bool
	}{
		"Applied": {reason: "what is applied is judged", change: func(*gardenresourcesv1alpha1.ManagedResource) {}, judged: true},
		"Unknown": {reason: "nothing is known of what was never applied", change: func(mr *gardenresourcesv1alpha1.ManagedResource) { mr.Status.Conditions = nil }},
		"Failed": {reason: "what could not be applied is not what it should be", change: func(mr *gardenresourcesv1alpha1.ManagedResource) {
			mr.Status.Conditions[0].Status = "False"
		}},
		"Progressing": {reason: "what is being applied will change", change: func(mr *gardenresourcesv1alpha1.ManagedResource) {
			mr.Status.Conditions[0].Status = "Progressing"
		}},
		"Foreign": {reason: "others judge other classes", change: func(mr *gardenresourcesv1alpha1.ManagedResource) { mr.Spec.Class = new("other") }},
		"Ignored": {reason: "nothing is done about what is ignored", change: func(mr *gardenresourcesv1alpha1.ManagedResource) {
			mr.Annotations = map[string]string{"resources.gardener.cloud/ignore": "true"}
		}},
		"Deleted": {reason: "the deletion has conditions of its own", change: func(mr *gardenresourcesv1alpha1.ManagedResource) {
			mr.DeletionTimestamp, mr.Finalizers = new(metav1.Now()), []string{"a/b"}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mr := &gardenresourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m"}}
			mr.Spec.Class = new("seed")
			mr.Status.Conditions = []gardencorev1beta1.Condition{{Type: "ResourcesApplied", Status: "True", Reason: "ApplySucceeded"}}
			tc.change(mr)
			types, err := scheme.New()
			if err != nil {
				t.Fatal(err)
			}
			c := fake.NewClientBuilder().WithScheme(types).WithObjects(mr).WithStatusSubresource(mr).Build()
			r := &health.Reconciler{Base: kit.Base{Client: c, Clock: clock.RealClock{}}, Targets: target.Finder{Seed: c}, SyncPeriod: time.Minute}
			result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(mr)})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(mr), mr); err != nil {
				t.Fatal(err)
			}
			if got := query.FindCondition(mr.Status.Conditions, "ResourcesHealthy") != nil; got != tc.judged {
				t.Errorf("GRM-HEALTH-2: %s: health was judged: %t", tc.reason, got)
			}
			if got := query.FindCondition(mr.Status.Conditions, "ResourcesProgressing") != nil; got != tc.judged {
				t.Errorf("GRM-PROG-3: %s: progress was judged: %t", tc.reason, got)
			}
			if got := result.RequeueAfter == time.Minute; got != tc.judged {
				t.Errorf("%s: the next look is in %s", tc.reason, result.RequeueAfter)
			}
		})
	}
}
