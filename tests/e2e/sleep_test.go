// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// night puts the shoot to sleep and wakes it up: what its users have made is still there, and runs again. A database has its data.
func night(t *testing.T, w *world) {
	t.Helper()
	startDatabase(t, w)
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
	w.must(t, w.seed("-n", plane, "get", "persistentvolumeclaim", "data-etcd-main-0", "machine-volumes")...)
	left := map[string]string{
		"DNS records":    w.must(t, w.seed("-n", plane, "get", "dnsrecords.extensions.gardener.cloud", "-o", "name")...),
		"load balancers": w.must(t, w.balancers("-o", "name")...),
	}
	if diff := cmp.Diff(map[string]string{"DNS records": "", "load balancers": ""}, left); diff != "" {
		t.Errorf("GLET-HIB-6: what a sleeping shoot still has (-want +got):\n%s", diff)
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
	stopDatabase(t, w)
}

// database is an etcd of an owner of a shoot, which runs as nobody in particular, and a claim that no pod uses.
const database = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: database, namespace: default}
spec:
  serviceName: database
  selector: {matchLabels: {app: database}}
  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Retain}
  template:
    metadata: {labels: {app: database}}
    spec:
      securityContext: {runAsUser: 4711, runAsGroup: 4711}
      containers:
        - name: etcd
          image: %s
          imagePullPolicy: IfNotPresent
          command: [/usr/local/bin/etcd, --data-dir=/data/etcd, "--listen-client-urls=http://0.0.0.0:2379", "--advertise-client-urls=http://127.0.0.1:2379"]
          volumeMounts: [{name: data, mountPath: /data}]
  volumeClaimTemplates:
    - metadata: {name: data}
      spec:
        accessModes: [ReadWriteOnce]
        resources: {requests: {storage: 1Gi}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: keepsake, namespace: default}
spec:
  accessModes: [ReadWriteMany]
  resources: {requests: {storage: 1Mi}}
`

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// ask sends a request to the database, through the API server of the shoot.
func (w *world) ask(t *testing.T, method, body string) result {
	t.Helper()
	return w.try(t, body, w.shoot("create", "--raw", "/api/v1/namespaces/default/pods/http:database-0:2379/proxy/v3/kv/"+method, "-f", "-")...)
}

// remembers waits until the database answers with what was written into it.
func (w *world) remembers(t *testing.T) {
	t.Helper()
	w.eventually(t, 2*time.Minute, "the database has its data", func() (bool, string) {
		r := w.ask(t, "range", `{"key":"`+encoded("flower")+`"}`)
		return r.code == 0 && strings.Contains(r.stdout, encoded("chrysanthemum")), r.all()
	})
}

// startDatabase starts one on the default class, writes into it, and starts its pod anew.
func startDatabase(t *testing.T, w *world) {
	t.Helper()
	image := w.must(t, w.shoot("-n", "kube-system", "get", "daemonset", "local-network", "-o", "jsonpath={.spec.template.spec.containers[0].image}")...)
	w.mustWith(t, fmt.Sprintf(database, image), w.shoot("apply", "-f", "-")...)
	w.must(t, w.shoot("rollout", "status", "statefulset/database", "--timeout=120s")...)
	w.eventually(t, time.Minute, "the database takes data", func() (bool, string) {
		r := w.ask(t, "put", `{"key":"`+encoded("flower")+`","value":"`+encoded("chrysanthemum")+`"}`)
		return r.code == 0, r.all()
	})
	w.must(t, w.shoot("delete", "pod", "database-0", "--timeout=60s")...)
	w.remembers(t)
}

// stopDatabase sees that data are gone when their claim is, and that those of others stay.
func stopDatabase(t *testing.T, w *world) {
	t.Helper()
	w.remembers(t)
	plane := "shoot--meadow--" + shootName
	machine := w.must(t, w.seed("-n", plane, "get", "pods", "-l", "app=machine", "-o", "jsonpath={.items[0].metadata.name}")...)
	folders := w.seed("-n", plane, "exec", machine, "--", "ls", "/var/lib/machine/volumes")
	kept := w.must(t, w.shoot("get", "persistentvolumeclaim", "keepsake", "-o", "jsonpath={.spec.volumeName}")...)
	if got := strings.Fields(w.must(t, folders...)); len(got) != 2 {
		t.Errorf("the machine has the volumes %q, want two", got)
	}
	w.must(t, w.shoot("delete", "statefulset", "database")...)
	w.gone(t, time.Minute, w.shoot("get", "persistentvolumeclaim", "data-database-0")...)
	w.eventually(t, time.Minute, "the data of the database are gone", func() (bool, string) {
		left := w.must(t, folders...) + w.must(t, w.shoot("get", "persistentvolumes", "-o", "jsonpath={.items[*].metadata.name}")...)
		return left == kept+"\n"+kept, left
	})
}
