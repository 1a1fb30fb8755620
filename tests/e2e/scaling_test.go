// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// scaling lets the pool grow: a deployment of which two pods do not fit on one node brings a machine, which goes with the deployment.
func scaling(t *testing.T, w *world) {
	t.Helper()
	const plane = "shoot--meadow--" + shootName
	machines := w.seed("-n", plane, "get", "machines", "-o", "jsonpath={range .items[*]}{.status.currentStatus.phase};{end}")
	pool := func(maximum int, settings string) {
		patch := fmt.Sprintf(`[{"op":"replace","path":"/spec/provider/workers/0/maximum","value":%d},{"op":"add","path":"/spec/kubernetes/clusterAutoscaler","value":%s}]`, maximum, settings)
		w.must(t, w.garden("-n", namespace, "patch", "shoot", shootName, "--type=json", "-p", patch)...)
		generation := w.must(t, w.garden("-n", namespace, "get", "shoot", shootName, "-o", "jsonpath={.metadata.generation}")...)
		w.says(t, 4*time.Minute, generation+" Succeeded", w.garden("-n", namespace, "get", "shoot", shootName, "-o",
			"jsonpath={.status.observedGeneration} {.status.lastOperation.state} {.status.lastOperation.description} {.status.lastErrors}")...)
	}
	pool(2, `{"scanInterval":"2s","scaleDownDelayAfterAdd":"1s","scaleDownUnneededTime":"5s"}`)
	w.must(t, w.seed("-n", plane, "rollout", "status", "deployment/cluster-autoscaler", "--timeout=60s")...)
	w.mustWith(t, big(t, w), w.shoot("apply", "-f", "-")...)
	w.says(t, 2*time.Minute, "Running;Running;", machines...)
	w.must(t, w.shoot("rollout", "status", "deployment/big", "--timeout=2m")...)
	w.says(t, time.Minute, "TriggeredScaleUp", w.shoot("get", "events", "-o", "jsonpath={.items[*].reason}")...)
	w.says(t, time.Minute, "cloudProviderTarget: 2", w.shoot("-n", "kube-system", "get", "configmap", "cluster-autoscaler-status", "-o", "jsonpath={.data.status}")...)

	w.must(t, w.shoot("delete", "deployment", "big")...)
	w.eventually(t, 3*time.Minute, "one machine is left", func() (bool, string) {
		now := strings.TrimSpace(w.must(t, machines...))
		return now == "Running;", now
	})
	pool(1, "null")
	w.gone(t, time.Minute, w.seed("-n", plane, "get", "deployment", "cluster-autoscaler")...)
	w.says(t, time.Minute, "Hello from hello-", w.shoot("exec", "deployment/hello", "--", "hello", "http://hello")...)
}

// big is a deployment of two pods, each of which wants a bit more than half of a node.
func big(t *testing.T, w *world) string {
	t.Helper()
	text := strings.TrimSpace(w.must(t, w.shoot("get", "nodes", "-o", "jsonpath={.items[0].status.allocatable.cpu}")...))
	milli, found := strings.CutSuffix(text, "m")
	cpu, err := strconv.Atoi(milli)
	if err != nil {
		t.Fatalf("the node has %q processors: %v", text, err)
	}
	if !found {
		cpu *= 1000
	}
	image := w.must(t, w.shoot("get", "deployment", "hello", "-o", "jsonpath={.spec.template.spec.containers[0].image}")...)
	return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"big","namespace":"default"},"spec":{"replicas":2,
"selector":{"matchLabels":{"app":"big"}},"template":{"metadata":{"labels":{"app":"big"}},"spec":{"terminationGracePeriodSeconds":1,
"containers":[{"name":"big","image":%q,"imagePullPolicy":"Never","resources":{"requests":{"cpu":"%dm"}}}]}}}}`, image, cpu*51/100)
}

// sizing lets the pods of the shoot be sized by their use. One that asks for less than it must have is replaced by one that gets it. While
// nobody answers the webhook, pods come all the same, and when the shoot does not want it any more, nothing of it is left.
func sizing(t *testing.T, w *world) {
	t.Helper()
	const plane = "shoot--meadow--" + shootName
	programs := []string{"vpa-recommender", "vpa-updater", "vpa-admission-controller"}
	want := func(settings string) {
		patch := fmt.Sprintf(`[{"op":"add","path":"/spec/kubernetes/verticalPodAutoscaler","value":%s}]`, settings)
		w.must(t, w.garden("-n", namespace, "patch", "shoot", shootName, "--type=json", "-p", patch)...)
		generation := w.must(t, w.garden("-n", namespace, "get", "shoot", shootName, "-o", "jsonpath={.metadata.generation}")...)
		w.says(t, 4*time.Minute, generation+" Succeeded", w.garden("-n", namespace, "get", "shoot", shootName, "-o",
			"jsonpath={.status.observedGeneration} {.status.lastOperation.state} {.status.lastOperation.description} {.status.lastErrors}")...)
	}
	want(`{"enabled":true,"recommenderInterval":"5s","updaterInterval":"5s"}`)
	for _, program := range programs {
		w.must(t, w.seed("-n", plane, "rollout", "status", "deployment/"+program, "--timeout=90s")...)
	}
	w.must(t, w.shoot("get", "mutatingwebhookconfiguration", "vpa-webhook-config-shoot")...)

	w.mustWith(t, small(t, w), w.shoot("apply", "-f", "-")...)
	w.says(t, 4*time.Minute, "RecommendationProvided=True", w.shoot("get", "vpa", "small", "-o", "jsonpath={range .status.conditions[*]}{.type}={.status} {end}")...)
	w.says(t, 4*time.Minute, "123m 45Mi", w.shoot("get", "pods", "-l", "app=small", "-o",
		"jsonpath={.items[0].spec.containers[0].resources.requests.cpu} {.items[0].spec.containers[0].resources.requests.memory}")...)

	w.must(t, w.seed("-n", plane, "scale", "deployment/vpa-admission-controller", "--replicas=0")...)
	w.must(t, w.seed("-n", plane, "wait", "pods", "-l", "role=vpa-admission-controller", "--for=delete", "--timeout=60s")...)
	began := time.Now()
	w.must(t, w.shoot("run", "unasked", "--image=terrarium.garden/hello:v1", "--image-pull-policy=Never")...)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("a pod is held up for %s while nobody answers the webhook", took)
	}
	w.must(t, w.shoot("delete", "pod", "unasked", "--now")...)

	want(`{"enabled":false}`)
	for _, program := range programs {
		w.gone(t, time.Minute, w.seed("-n", plane, "get", "deployment", program)...)
	}
	w.gone(t, time.Minute, w.shoot("get", "mutatingwebhookconfiguration", "vpa-webhook-config-shoot")...)
	w.gone(t, time.Minute, w.shoot("get", "crd", "verticalpodautoscalers.autoscaling.k8s.io")...)
	w.must(t, w.shoot("delete", "deployment", "small")...)
}

// small is a deployment that asks for next to nothing, and what says that it must have more.
func small(t *testing.T, w *world) string {
	t.Helper()
	image := w.must(t, w.shoot("get", "deployment", "hello", "-o", "jsonpath={.spec.template.spec.containers[0].image}")...)
	return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"small","namespace":"default"},"spec":{"replicas":1,
"selector":{"matchLabels":{"app":"small"}},"template":{"metadata":{"labels":{"app":"small"}},"spec":{"terminationGracePeriodSeconds":1,
"containers":[{"name":"small","image":%q,"imagePullPolicy":"Never","resources":{"requests":{"cpu":"1m","memory":"1Mi"}}}]}}}}
---
{"apiVersion":"autoscaling.k8s.io/v1","kind":"VerticalPodAutoscaler","metadata":{"name":"small","namespace":"default"},"spec":{
"targetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"small"},"updatePolicy":{"updateMode":"Recreate"},
"resourcePolicy":{"containerPolicies":[{"containerName":"small","minAllowed":{"cpu":"123m","memory":"45Mi"},"maxAllowed":{"cpu":"123m","memory":"45Mi"}}]}}}
`, image)
}
