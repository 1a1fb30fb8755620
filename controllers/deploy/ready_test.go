// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/deploy"
)

// verdict is the answer of Ready and Healthy.
type verdict struct {
	OK     bool
	Reason string
}

func deployment(observed int64, updated, available, total int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Generation: 3},
		Spec:       appsv1.DeploymentSpec{Replicas: new(int32(2))},
		Status:     appsv1.DeploymentStatus{ObservedGeneration: observed, UpdatedReplicas: updated, AvailableReplicas: available, Replicas: total},
	}
}

func definition(conditions ...apiextensionsv1.CustomResourceDefinitionCondition) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		Status:   apiextensionsv1.CustomResourceDefinitionStatus{Conditions: conditions},
	}
}

func TestReady_GRM_HEALTH_5(t *testing.T) {
	t.Parallel()
	accepted := apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue}
	established := apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}
	terminating := apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionTrue}
	pod := metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	service := metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}
	job := metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}
	set := metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"}
	replicas := metav1.TypeMeta{APIVersion: "v1", Kind: "ReplicationController"}
	daemons := metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}
	cases := map[string]struct {
		obj    client.Object
		ready  bool
		reason string
	}{
		"DeploymentRolledOut":    {obj: deployment(3, 2, 2, 2), ready: true},
		"DeploymentNotObserved":  {obj: deployment(2, 2, 2, 2), reason: "the last change is not observed yet"},
		"DeploymentUpdating":     {obj: deployment(3, 1, 2, 3), reason: "1 of 2 pods are updated"},
		"DeploymentUnavailable":  {obj: deployment(3, 2, 1, 2), reason: "1 of 2 pods are available"},
		"DeploymentOldPodsThere": {obj: deployment(3, 2, 2, 3), reason: "1 old pods are still there"},
		"DeploymentQuota": {obj: &appsv1.Deployment{
			TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
			Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{{
				Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded quota",
			}}},
		}, reason: "pods cannot be created: exceeded quota"},
		"StatefulSetReady": {obj: &appsv1.StatefulSet{TypeMeta: set, Status: appsv1.StatefulSetStatus{ReadyReplicas: 1}}, ready: true},
		"StatefulSetUpdating": {
			obj: &appsv1.StatefulSet{TypeMeta: set, Status: appsv1.StatefulSetStatus{
				ReadyReplicas: 1, CurrentRevision: "a", UpdateRevision: "b",
			}}, reason: "0 of 1 pods are updated",
		},
		"StatefulSetStarting": {obj: &appsv1.StatefulSet{TypeMeta: set}, reason: "0 of 1 pods are ready"},
		"DaemonSetReady": {
			obj: &appsv1.DaemonSet{TypeMeta: daemons, Status: appsv1.DaemonSetStatus{
				DesiredNumberScheduled: 2, UpdatedNumberScheduled: 2, NumberAvailable: 2,
			}}, ready: true,
		},
		"DaemonSetUpdating": {
			obj: &appsv1.DaemonSet{TypeMeta: daemons, Status: appsv1.DaemonSetStatus{
				DesiredNumberScheduled: 2, UpdatedNumberScheduled: 1, NumberAvailable: 2,
			}}, reason: "1 of 2 pods are updated",
		},
		"JobRunning": {obj: &batchv1.Job{TypeMeta: job}, reason: "the job is not complete"},
		"JobComplete": {
			obj:   &batchv1.Job{TypeMeta: job, Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}}},
			ready: true,
		},
		"ServiceClusterIP":      {obj: &corev1.Service{TypeMeta: service}, ready: true},
		"ServiceWithoutAddress": {obj: &corev1.Service{TypeMeta: service, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}}, reason: "the load balancer has no address yet"},
		"ServiceWithAddress": {
			obj: &corev1.Service{
				TypeMeta: service, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer},
				Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: "10.99.1.1"}}}},
			}, ready: true,
		},
		"PodReady": {
			obj:   &corev1.Pod{TypeMeta: pod, Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}},
			ready: true,
		},
		"PodSucceeded":     {obj: &corev1.Pod{TypeMeta: pod, Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}, ready: true},
		"PodStarting":      {obj: &corev1.Pod{TypeMeta: pod, Status: corev1.PodStatus{Phase: corev1.PodRunning}}, reason: "the pod is not ready"},
		"ControllerReady":  {obj: &corev1.ReplicationController{TypeMeta: replicas, Status: corev1.ReplicationControllerStatus{ReadyReplicas: 1}}, ready: true},
		"ControllerStarts": {obj: &corev1.ReplicationController{TypeMeta: replicas}, reason: "0 of 1 pods are ready"},
		"ControllerStale": {
			obj:    &corev1.ReplicationController{TypeMeta: replicas, ObjectMeta: metav1.ObjectMeta{Generation: 2}, Status: corev1.ReplicationControllerStatus{ReadyReplicas: 1}},
			reason: "the last change is not observed yet",
		},
		"CRDServed":        {obj: definition(accepted, established), ready: true},
		"CRDNew":           {obj: definition(accepted), reason: "it is not served yet"},
		"CRDBeingDeleted":  {obj: definition(accepted, established, terminating), reason: "it is being deleted"},
		"OtherKindsExists": {obj: &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}}, ready: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(tc.obj)
			if err != nil {
				t.Fatal(err)
			}
			for form, obj := range map[string]client.Object{"typed": tc.obj, "unstructured": &unstructured.Unstructured{Object: content}} {
				ready, reason := deploy.Ready(obj)
				if diff := cmp.Diff(verdict{tc.ready, tc.reason}, verdict{ready, reason}); diff != "" {
					t.Errorf("Ready(%s %T) (-want +got):\n%s", form, tc.obj, diff)
				}
			}
		})
	}
}

func TestHealthyToleratesARollout_GRM_HEALTH_5(t *testing.T) {
	t.Parallel()
	condition := func(kind appsv1.DeploymentConditionType, status corev1.ConditionStatus) appsv1.DeploymentCondition {
		return appsv1.DeploymentCondition{Type: kind, Status: status, Message: "told"}
	}
	autoscaler := func(apiVersion, kind, status string) client.Object {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": apiVersion, "kind": "VerticalPodAutoscaler",
			"status": map[string]any{"conditions": []any{
				map[string]any{"type": "RecommendationProvided", "status": "True"},
				map[string]any{"type": kind, "status": status, "message": "told"},
			}},
		}}
	}
	cases := map[string]struct {
		why    string
		obj    client.Object
		ok     bool
		reason string
	}{
		"RollingDeployment": {
			why: "an update under way keeps enough pods",
			obj: &appsv1.Deployment{Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{
				condition(appsv1.DeploymentAvailable, corev1.ConditionTrue), condition(appsv1.DeploymentProgressing, corev1.ConditionTrue),
			}}}, ok: true,
		},
		"StuckDeployment": {
			why: "a rollout past its deadline is a fault even if old pods serve",
			obj: &appsv1.Deployment{Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{
				condition(appsv1.DeploymentAvailable, corev1.ConditionTrue), condition(appsv1.DeploymentProgressing, corev1.ConditionFalse),
			}}}, reason: "it makes no progress: told",
		},
		"UnavailableDeployment": {
			why: "Available is required", obj: &appsv1.Deployment{}, reason: "0 of 1 pods are available",
		},
		"DaemonSetUpdatingWithinItsLimit": {
			why: "one of five may be away while the update runs",
			obj: &appsv1.DaemonSet{
				Spec: appsv1.DaemonSetSpec{UpdateStrategy: appsv1.DaemonSetUpdateStrategy{RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromString("25%"))}}},
				Status: appsv1.DaemonSetStatus{
					DesiredNumberScheduled: 5, CurrentNumberScheduled: 5, UpdatedNumberScheduled: 2, NumberUnavailable: 1,
				},
			}, ok: true,
		},
		"DaemonSetBroken": {
			why: "without an update none may be away",
			obj: &appsv1.DaemonSet{Status: appsv1.DaemonSetStatus{
				DesiredNumberScheduled: 5, CurrentNumberScheduled: 5, UpdatedNumberScheduled: 5, NumberUnavailable: 1,
			}}, reason: "1 of 5 pods are unavailable",
		},
		"StatefulSetUpdating": {
			why: "ready counts, not updated",
			obj: &appsv1.StatefulSet{Status: appsv1.StatefulSetStatus{ReadyReplicas: 1, CurrentRevision: "a", UpdateRevision: "b"}}, ok: true,
		},
		"ReplicaSet": {why: "its pods are there", obj: &appsv1.ReplicaSet{Status: appsv1.ReplicaSetStatus{ReadyReplicas: 1}}, ok: true},
		"ReplicaSetShort": {
			why: "one pod is missing", reason: "1 of 2 pods are ready",
			obj: &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(2))}, Status: appsv1.ReplicaSetStatus{ReadyReplicas: 1}},
		},
		"ReplicaSetUnstructured": {
			why: "objects are read without their types", reason: "0 of 1 pods are ready",
			obj: &unstructured.Unstructured{Object: map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSet"}},
		},
		"ReplicaSetNotObserved": {why: "its status is old", obj: &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Generation: 2}}, reason: "the last change is not observed yet"},
		"JobRunning":            {why: "a job that runs is no fault", obj: &batchv1.Job{}, ok: true},
		"JobFailed": {
			why: "one that failed is", reason: "the job failed: told",
			obj: &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Message: "told"}}}},
		},
		"Autoscaler":            {why: "it acts", obj: autoscaler("autoscaling.k8s.io/v1", "ConfigUnsupported", "False"), ok: true},
		"AutoscalerNew":         {why: "nobody has looked at it yet", obj: autoscaler("autoscaling.k8s.io/v1", "LowConfidence", "True"), ok: true},
		"AutoscalerUnsupported": {why: "it never acts", obj: autoscaler("autoscaling.k8s.io/v1", "ConfigUnsupported", "True"), reason: "its configuration is not supported: told"},
		"AutoscalerUnknown":     {why: "only False says that it is supported", obj: autoscaler("autoscaling.k8s.io/v1beta2", "ConfigUnsupported", "Unknown"), reason: "its configuration is not supported: told"},
		"AutoscalerOfOthers":    {why: "a kind of another group has other conditions", obj: autoscaler("example.org/v1", "ConfigUnsupported", "True"), ok: true},
		"PodRunning":            {why: "running is enough", obj: &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning}}, ok: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ok, reason := deploy.Healthy(tc.obj)
			if diff := cmp.Diff(verdict{tc.ok, tc.reason}, verdict{ok, reason}); diff != "" {
				t.Errorf("%s\nHealthy(%T) (-want +got):\n%s", tc.why, tc.obj, diff)
			}
		})
	}
}
