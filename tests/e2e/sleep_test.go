// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"testing"
	"time"
)

// night puts the shoot to sleep and wakes it up: what its users have made is still there, and runs again.
func night(t *testing.T, w *world) {
	t.Helper()
	w.must(t, w.shoot("create", "configmap", "diary", "--from-literal=page=1")...)
	server := w.must(t, w.shoot("config", "view", "-o", "jsonpath={.clusters[0].cluster.server}")...)
	state := w.garden("-n", namespace, "get", "shoot", shootName, "-o", "jsonpath={.status.hibernated} {.status.lastOperation.state}")
	possible := w.garden("-n", namespace, "get", "shoot", shootName, "-o", `jsonpath={.status.constraints[?(@.type=="HibernationPossible")].status}`)
	w.says(t, 2*time.Minute, "True", possible...)
	began := time.Now()
	w.must(t, w.garden("-n", namespace, "patch", "shoot", shootName, "--type=merge", "-p", `{"spec":{"hibernation":{"enabled":true}}}`)...)
	w.says(t, 3*time.Minute, "true Succeeded", state...)
	t.Logf("asleep after %s", time.Since(began).Round(time.Second))

	plane := "shoot--meadow--" + shootName
	// A pod whose programs have ended stays until its node has tidied up after it.
	if pods := w.must(t, w.seed("-n", plane, "get", "pods", "--field-selector=status.phase!=Succeeded,status.phase!=Failed", "-o", "name")...); pods != "" {
		t.Errorf("GLET-HIB-2: in a sleeping shoot there still runs %s", pods)
	}
	w.eventually(t, time.Minute, "no pods of a sleeping shoot are left", func() (bool, string) {
		pods := w.must(t, w.seed("-n", plane, "get", "pods", "-o", "name")...)
		return pods == "", pods
	})
	w.must(t, w.seed("-n", plane, "get", "persistentvolumeclaim", "data-etcd-main-0")...)
	if records := w.must(t, w.seed("-n", plane, "get", "dnsrecords.extensions.gardener.cloud", "-o", "name")...); records != "" {
		t.Errorf("GLET-HIB-6: a sleeping shoot still has %s", records)
	}
	if left := w.must(t, w.balancers("-o", "name")...); left != "" {
		t.Errorf("a sleeping shoot still has load balancers: %s", left)
	}
	conditions := w.garden("-n", namespace, "get", "shoot", shootName, "-o", `jsonpath={.status.conditions[?(@.type=="EveryNodeReady")].reason}`)
	w.says(t, time.Minute, "ConditionNotChecked", conditions...)

	began = time.Now()
	w.must(t, w.garden("-n", namespace, "patch", "shoot", shootName, "--type=merge", "-p", `{"spec":{"hibernation":{"enabled":false}}}`)...)
	w.says(t, 4*time.Minute, "false Succeeded", state...)
	t.Logf("awake after %s", time.Since(began).Round(time.Second))
	if now := w.must(t, w.shoot("config", "view", "-o", "jsonpath={.clusters[0].cluster.server}")...); now != server {
		t.Errorf("the shoot is at %s, and was at %s", now, server)
	}
	w.must(t, w.shoot("get", "configmap", "diary")...)
	w.must(t, w.shoot("rollout", "status", "deployment/hello", "--timeout=120s")...)
	w.says(t, time.Minute, "Hello from hello-", w.shoot("exec", "deployment/hello", "--", "hello", "http://hello")...)
	w.eventually(t, 2*time.Minute, "the load balancer leads into the shoot again", func() (bool, string) {
		said, answers := answer(t, "http://"+w.addressOf(t, "outside"))
		return answers, said
	})
}
