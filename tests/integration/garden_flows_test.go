// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/terrarium-garden/terrarium/tests/harness"
)

const seedLeases = "/apis/coordination.k8s.io/v1/namespaces/gardener-system-seed-lease/leases"

// TestFlowsOfGardenlets asks as several roles, and the answers say with which others the request had to wait.
func TestFlowsOfGardenlets(t *testing.T) {
	t.Parallel()
	o := operate(t)
	kube, err := kubernetes.NewForConfig(o.Config)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		reason, path, flow, level string
		who                       role
	}{
		"heartbeat":        {"it waits for nothing but heartbeats", seedLeases + "/one", "gardenlet-heartbeats", "node-high", seedRole("one")},
		"other lease":      {"only those in the namespace are heartbeats", "/apis/coordination.k8s.io/v1/namespaces/garden/leases/one", "gardenlets", "gardenlets", seedRole("one")},
		"watches of seeds": {"no user waits for them", "/apis/core.gardener.cloud/v1beta1/seeds?watch=true&timeoutSeconds=1", "gardenlets", "gardenlets", seedRole("one")},
		"discovery":        {"all that a gardenlet asks", "/apis", "gardenlets", "gardenlets", seedRole("one")},
		"person":           {"people are apart", "/apis/core.gardener.cloud/v1beta1/projects", "global-default", "global-default", person("x")},
		"person's lease":   {"nobody else sends heartbeats", seedLeases + "/one", "global-default", "global-default", person("x")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			harness.Eventually(t, "the request of a "+name, func(ctx context.Context) error {
				flow, err := kube.FlowcontrolV1().FlowSchemas().Get(ctx, tc.flow, metav1.GetOptions{})
				if err != nil {
					return err
				}
				level, err := kube.FlowcontrolV1().PriorityLevelConfigurations().Get(ctx, tc.level, metav1.GetOptions{})
				if err != nil {
					return err
				}
				answer := o.header(ctx, t, tc.who, tc.path)
				got := []string{answer.Get(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID), answer.Get(flowcontrolv1.ResponseHeaderMatchedPriorityLevelConfigurationUID)}

				return has(got[0] == string(flow.UID) && got[1] == string(level.UID), "%s: it is of flow and level %v, want %q %s and %q %s",
					tc.reason, got, tc.flow, flow.UID, tc.level, level.UID)
			})
		})
	}
}

// header returns the header of the answer to a get.
func (o *operator) header(ctx context.Context, t *testing.T, who role, path string) http.Header {
	t.Helper()
	config := rest.CopyConfig(o.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: who.user, Groups: who.groups}
	peer, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(o.Config.Host, "/")+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := peer.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()

	return answer.Header
}

// TestWritesDoNotCountSelectingWatches has many watch leases by a label. A heartbeat does not reckon that it has to tell each of them.
func TestWritesDoNotCountSelectingWatches(t *testing.T) {
	t.Parallel()
	o := operate(t)
	kube, err := kubernetes.NewForConfig(o.Config)
	if err != nil {
		t.Fatal(err)
	}
	const watches = 40
	leases := kube.CoordinationV1().Leases("gardener-system-seed-lease")
	there, err := leases.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range watches {
		w, err := leases.Watch(t.Context(), metav1.ListOptions{LabelSelector: "n=" + strconv.Itoa(n), ResourceVersion: there.ResourceVersion})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
	}
	gardenlet := o.acting(seedRole("one"))
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "gardener-system-seed-lease", Name: "one"}}
	if err := gardenlet.Create(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	text, err := kube.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	counted, found := 0.0, false
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if sum, ok := strings.CutPrefix(lines.Text(), `apiserver_flowcontrol_watch_count_samples_sum{flow_schema="gardenlet-heartbeats"`); ok {
			_, value, _ := strings.Cut(sum, " ")
			if counted, err = strconv.ParseFloat(value, 64); err != nil {
				t.Fatal(err)
			}
			found = true
		}
	}
	if !found || counted >= watches {
		t.Errorf("a heartbeat counted %v watches (found %t), want fewer than the %d that do not select it", counted, found, watches)
	}
}
