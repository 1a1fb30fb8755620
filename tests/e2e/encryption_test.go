// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"testing"
	"time"
)

// encryption changes which objects of a running shoot are encrypted, and looks into the files of its etcd. These contain whatever was ever
// written in the clear, so each step writes words of its own.
func encryption(t *testing.T, w *world) {
	t.Helper()
	volume := w.must(t, w.seed("-n", "shoot--meadow--"+shootName, "get", "persistentvolumeclaim", "data-etcd-main-0", "-o", "jsonpath={.spec.volumeName}")...)
	folder := w.must(t, w.seed("get", "persistentvolume", volume, "-o", "jsonpath={.spec.hostPath.path}{.spec.local.path}")...)
	reported := w.garden("-n", namespace, "get", "shoot", shootName, "-o",
		"jsonpath={.status.lastOperation.state} {.status.credentials.encryptionAtRest.resources}.")
	for _, step := range []struct {
		word, resources, reported string
		inTheClear                bool
	}{
		{"dandelion", "null", "Succeeded .", true},
		{"buttercup", `["configmaps"]`, `Succeeded ["configmaps"].`, false},
		{"hollyhock", "null", "Succeeded .", true},
	} {
		began := time.Now()
		patch := fmt.Sprintf(`{"spec":{"kubernetes":{"kubeAPIServer":{"encryptionConfig":{"resources":%s}}}}}`, step.resources)
		w.must(t, w.garden("-n", namespace, "patch", "shoot", shootName, "--type=merge", "-p", patch)...)
		w.says(t, 8*time.Minute, step.reported, reported...)
		w.healthy(t, time.Minute, shootName)
		t.Logf("encrypted are %s after %s", step.resources, time.Since(began).Round(time.Second))
		w.must(t, w.shoot("create", "configmap", step.word, "--from-literal=word="+step.word+"-"+step.word)...)
		if found := w.try(t, "", "grep", "-rqF", step.word+"-"+step.word, folder); (found.code == 0) != step.inTheClear {
			t.Errorf("a ConfigMap that is written while %s are encrypted is in the clear: %t\n%s", step.resources, found.code == 0, found.all())
		}
		w.must(t, w.shoot("get", "configmaps", "-A")...)
	}
	for _, word := range []string{"dandelion", "buttercup", "hollyhock"} {
		w.says(t, time.Minute, word+"-"+word, w.shoot("get", "configmap", word, "-o", "jsonpath={.data.word}")...)
	}
}
