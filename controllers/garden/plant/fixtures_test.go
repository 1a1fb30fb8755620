// SPDX-License-Identifier: Apache-2.0

package plant_test

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/terrarium-garden/terrarium/controllers/garden/plant"
	"github.com/terrarium-garden/terrarium/controllers/guard"
)

// token is a credential that must not be seen anywhere but in a request.
const token = "t0ken-of-the-plant"

// cluster is a server that answers like the API server of a cluster.
type cluster struct {
	*httptest.Server

	// asked counts the requests, reached the connections.
	asked, reached atomic.Int64

	mutex   sync.Mutex
	answers map[string]http.HandlerFunc
}

// grow starts a cluster that answers what a well one does.
func grow(t *testing.T, change ...func(*httptest.Server)) *cluster {
	t.Helper()
	c := &cluster{answers: map[string]http.HandlerFunc{
		"/healthz":      says("ok"),
		"/version":      says(`{"major":"1","minor":"36","gitVersion":"v1.36.3"}`),
		"/api/v1/nodes": says(nodes(machine("a", "cloud:///zone/a", "north"))),
	}}
	c.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.asked.Add(1)
		c.mutex.Lock()
		answer := c.answers[r.URL.Path]
		c.mutex.Unlock()
		switch {
		case r.Header.Get("Authorization") != "Bearer "+token:
			w.WriteHeader(http.StatusUnauthorized)
		case answer == nil:
			http.NotFound(w, r)
		default:
			answer(w, r)
		}
	}))
	listener := &counting{Listener: c.Listener, accepted: &c.reached}
	c.Listener = listener
	for _, f := range change {
		f(c.Server)
	}
	c.StartTLS()
	t.Cleanup(c.Close)
	return c
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// never answers as long as somebody waits.
func never(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// answer changes what a path is answered with.
func (c *cluster) answer(path string, with http.HandlerFunc) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.answers[path] = with
}

func (c *cluster) address() netip.AddrPort {
	return netip.MustParseAddrPort(c.Listener.Addr().String())
}

// certificate is that of the server, which has signed it itself.
func (c *cluster) certificate() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate().Raw})
}

// kubeconfig leads to the cluster.
func (c *cluster) kubeconfig(t *testing.T, change ...func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)) []byte {
	t.Helper()
	config := clientcmdapi.NewConfig()
	to, user := clientcmdapi.NewCluster(), clientcmdapi.NewAuthInfo()
	to.Server, to.CertificateAuthorityData, user.Token = c.URL, c.certificate(), token
	for _, f := range change {
		f(to, user)
	}
	config.Clusters["it"], config.AuthInfos["me"] = to, user
	config.Contexts["mine"], config.CurrentContext = &clientcmdapi.Context{Cluster: "it", AuthInfo: "me"}, "mine"
	raw, err := clientcmd.Write(*config)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// look looks at a cluster whose address a test may allow.
func (c *cluster) look(t *testing.T, raw []byte, limits plant.Limits) plant.Finding {
	t.Helper()
	return plant.Look(t.Context(), guard.Guard{Allowed: c.address()}, limits, raw)
}

// machine is a node that is ready.
func machine(name, provider, region string, change ...func(*corev1.Node)) corev1.Node {
	n := corev1.Node{}
	n.Name, n.Spec.ProviderID = name, provider
	n.Status.Conditions = []corev1.NodeCondition{{Type: "Ready", Status: "True"}, {Type: "MemoryPressure", Status: "False"}}
	if region != "" {
		n.Labels = map[string]string{"topology.kubernetes.io/region": region}
	}
	for _, c := range change {
		c(&n)
	}
	return n
}

func with(kind corev1.NodeConditionType, is corev1.ConditionStatus) func(*corev1.Node) {
	return func(n *corev1.Node) {
		for i := range n.Status.Conditions {
			if n.Status.Conditions[i].Type == kind {
				n.Status.Conditions[i].Status = is
				return
			}
		}
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: kind, Status: is})
	}
}

func labelled(labels map[string]string) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Labels = labels }
}

func nodes(all ...corev1.Node) string { return page("", all...) }

// page is a part of a list of nodes.
func page(next string, all ...corev1.Node) string {
	items, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"kind":"NodeList","apiVersion":"v1","metadata":{"continue":%q},"items":%s}`, next, strings.ReplaceAll(string(items), "null", "[]"))
}

// counting counts the connections that a listener accepts.
type counting struct {
	net.Listener

	accepted *atomic.Int64
}

func (c *counting) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.accepted.Add(1)
	}
	return conn, err
}

// trickle sends a byte now and then, for as long as somebody reads.
func trickle(w http.ResponseWriter, r *http.Request) {
	ticks := time.NewTicker(50 * time.Millisecond)
	defer ticks.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-ticks.C:
			_, _ = w.Write([]byte("o"))
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// flood sends nodes for as long as somebody reads.
func flood(w http.ResponseWriter, _ *http.Request) {
	_, err := w.Write([]byte(`{"kind":"NodeList","items":[`))
	for err == nil {
		_, err = w.Write([]byte(`{"metadata":{"name":"` + strings.Repeat("x", 4096) + `"}},`))
	}
}

// many makes nodes.
func many(count int) []corev1.Node {
	all := make([]corev1.Node, 0, count)
	for i := range count {
		all = append(all, machine(fmt.Sprintf("n%d", i), "", ""))
	}
	return all
}
