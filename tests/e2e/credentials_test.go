// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// rotation replaces all credentials of the shoot. Clients with the old ones are served until the owner says that none is left, and
// refused afterwards. The workload goes on.
func rotation(t *testing.T, w *world) {
	t.Helper()
	w.must(t, w.shoot("create", "secret", "generic", "letter", "--from-literal=text=hello")...)
	w.keepOldCredentials(t)
	user := append(w.kubectl("old"), "auth", "whoami")
	robot := append(w.kubectl("old-token"), "auth", "whoami")
	w.must(t, user...)
	w.must(t, robot...)
	node := w.must(t, w.shoot("get", "nodes", "-o", "name")...)
	stop := w.watchGaps(t)

	began := time.Now()
	w.operate(t, "rotate-credentials-start")
	w.says(t, 8*time.Minute, "Prepared Prepared Completed", w.phases()...) //nolint:dupword // These are phases.
	t.Logf("new and old credentials are accepted after %s", time.Since(began).Round(time.Second))
	w.healthy(t, time.Minute, shootName)
	if now := w.must(t, w.shoot("get", "nodes", "-o", "name")...); now == node {
		t.Error("the machines were not replaced")
	}
	// Between the two steps nobody is cut off.
	w.must(t, user...)
	w.must(t, robot...)
	w.fetchKubeconfig(t)
	w.must(t, w.shoot("get", "secret", "letter")...)
	w.must(t, user...)
	second := w.must(t, w.shoot("get", "nodes", "-o", "name")...)

	began = time.Now()
	w.operate(t, "rotate-credentials-complete")
	w.says(t, 8*time.Minute, "Completed Completed Completed", w.phases()...) //nolint:dupword // These are phases.
	t.Logf("only the new credentials are accepted after another %s", time.Since(began).Round(time.Second))
	w.healthy(t, time.Minute, shootName)
	stop()
	// The certificate of the server is not what is refused: the client is.
	for name, command := range map[string][]string{"certificate": user, "token": robot} {
		r := w.try(t, "", append(command, "--insecure-skip-tls-verify=true")...)
		if r.code == 0 || !strings.Contains(r.stderr, "Unauthorized") && !strings.Contains(r.stderr, "must be logged in") {
			t.Errorf("the old %s is not refused\n%s", name, r.all())
		}
	}
	if r := w.try(t, "", user...); r.code == 0 {
		t.Error("a client that trusts the old authority only still trusts the server")
	}
	w.fetchKubeconfig(t)
	if now := w.must(t, w.shoot("get", "nodes", "-o", "name")...); !strings.Contains(second, now) {
		t.Error("the machines were replaced a second time")
	}
	if got := w.must(t, w.shoot("get", "secret", "letter", "-o", "jsonpath={.data.text}")...); got != base64.StdEncoding.EncodeToString([]byte("hello")) {
		t.Errorf("the secret is %q now", got)
	}
	w.must(t, w.shoot("rollout", "status", "deployment/hello", "--timeout=120s")...)
	// Machines are not drained: pods of one that was replaced start elsewhere only when its Node is gone.
	w.says(t, 4*time.Minute, "Hello from hello-", w.shoot("exec", "deployment/hello", "--", "hello", "http://hello")...)
	w.says(t, time.Minute, "True", w.garden("-n", namespace, "get", "shoot", shootName, "-o", `jsonpath={.status.conditions[?(@.type=="SystemComponentsHealthy")].status}`)...)
}

func (w *world) operate(t *testing.T, operation string) {
	t.Helper()
	w.must(t, w.garden("-n", namespace, "annotate", "shoot", shootName, "gardener.cloud/operation="+operation)...)
}

// phases are those of authorities, service account key and encryption key.
func (w *world) phases() []string {
	const r = "{.status.credentials.rotation"

	return w.garden("-n", namespace, "get", "shoot", shootName, "-o",
		"jsonpath="+r+".certificateAuthorities.phase} "+r+".serviceAccountKey.phase} "+r+".etcdEncryptionKey.phase}")
}

// keepOldCredentials writes two kubeconfigs that stay as they are: one with a certificate, and one with a token.
func (w *world) keepOldCredentials(t *testing.T) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.state, shootName+".kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	server := w.must(t, w.shoot("config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}")...)
	ca := w.must(t, w.shoot("config", "view", "--minify", "--raw", "-o", "jsonpath={.clusters[0].cluster.certificate-authority-data}")...)
	token := strings.TrimSpace(w.must(t, w.shoot("create", "token", "default", "--duration=2h")...))
	withToken := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: old, cluster: {server: %q, certificate-authority-data: %q}}]
users: [{name: old, user: {token: %q}}]
contexts: [{name: old, context: {cluster: old, user: old}}]
current-context: old
`, server, ca, token)
	for name, data := range map[string][]byte{"old": raw, "old-token": []byte(withToken)} {
		if err := os.WriteFile(filepath.Join(w.state, name+".kubeconfig"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// fetchKubeconfig asks the garden for a new kubeconfig of an administrator, which takes the place of the last one.
func (w *world) fetchKubeconfig(t *testing.T) {
	t.Helper()
	if why := w.takeKubeconfig(t, shootName); why != "" {
		t.Fatal(why)
	}
}

// watchGaps asks the workload each second, through the API server and with the old credentials while they are valid, until the
// returned function is called. It logs for how long nobody answered.
func (w *world) watchGaps(t *testing.T) (stop func()) {
	t.Helper()
	var group sync.WaitGroup
	done := make(chan struct{})
	var asked, failed int
	var longest time.Duration
	group.Go(func() {
		last := time.Now()
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Second):
			}
			asked++
			r := w.try(t, "", w.shoot("exec", "deployment/hello", "--request-timeout=5s", "--", "hello", "http://hello")...)
			if r.code != 0 || !strings.Contains(r.stdout, "Hello from") {
				failed++
				continue
			}
			longest, last = max(longest, time.Since(last)), time.Now()
		}
	})

	return func() {
		close(done)
		group.Wait()
		t.Logf("the workload was asked %d times, %d times without an answer; the longest time between two answers was %s", asked, failed, longest.Round(time.Second))
		if longest > time.Minute {
			t.Errorf("the workload did not answer for %s", longest)
		}
	}
}
