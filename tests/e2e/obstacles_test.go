// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"strings"
	"testing"
	"time"
)

// obstacleManifest is what stands in the way of a deletion: objects of several kinds with finalizers of somebody who is not there, an API that does
// not answer, a namespace that cannot be emptied, and webhooks that refuse everything that anybody does because nobody answers for them.
const obstacleManifest = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: obstacles.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Obstacle, listKind: ObstacleList, plural: obstacles, singular: obstacle}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.nobody.example.com}
spec: {group: nobody.example.com, version: v1, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true, service: {namespace: default, name: nobody}}
---
apiVersion: v1
kind: Namespace
metadata: {name: stuck}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: held, namespace: stuck, finalizers: [example.com/held]}
---
apiVersion: v1
kind: Service
metadata: {name: held, namespace: default, finalizers: [example.com/held]}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: Pod
metadata: {name: held, namespace: stuck, finalizers: [example.com/held]}
spec: {terminationGracePeriodSeconds: 0, containers: [{name: hello, image: "terrarium.garden/hello:v1", imagePullPolicy: IfNotPresent}]}
`

const obstacleObject = `
apiVersion: example.com/v1
kind: Obstacle
metadata: {name: held, namespace: stuck, finalizers: [example.com/held]}
`

// obstacleWebhook comes last: after it nothing is created any more.
const obstacleWebhook = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: broken, finalizers: [example.com/held]}
webhooks:
  - name: broken.example.com
    failurePolicy: Fail
    sideEffects: None
    admissionReviewVersions: [v1]
    clientConfig: {service: {namespace: default, name: nobody}}
    rules: [{apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], operations: ["*"], scope: "*"}]
`

// obstacles puts into the shoot what must not hold up its deletion, which is the next chapter. Its owner does not want to wait for as long as
// these objects would otherwise have time.
func obstacles(t *testing.T, w *world) {
	t.Helper()
	for _, part := range []string{"webhooks", "extended-apis", "kubernetes-resources"} {
		w.must(t, w.garden("-n", namespace, "annotate", "shoot", shootName, "shoot.gardener.cloud/cleanup-"+part+"-finalize-grace-period-seconds=5")...)
	}
	w.mustWith(t, obstacleManifest, w.shoot("create", "-f", "-")...)
	w.must(t, w.shoot("wait", "crd/obstacles.example.com", "--for=condition=Established", "--timeout=30s")...)
	w.mustWith(t, obstacleObject, w.shoot("create", "-f", "-")...)
	w.mustWith(t, obstacleWebhook, w.shoot("create", "-f", "-")...)
	w.eventually(t, 30*time.Second, "the webhook refuses everything", func() (bool, string) {
		r := w.try(t, "", w.shoot("-n", "stuck", "delete", "configmap", "held", "--dry-run=server")...)
		return r.code != 0 && strings.Contains(r.stderr, "broken.example.com"), r.all()
	})
}
