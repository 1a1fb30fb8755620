// SPDX-License-Identifier: Apache-2.0

package hollow

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

// patience is how long a connection may take to close.
const patience = 10 * time.Second

// Counts is what has reached a server since it started.
type Counts struct {
	// Connections were accepted, Open of them are not closed yet.
	Connections, Open int64
	// Requests were answered, Discoveries of them were for discovery documents.
	Requests, Discoveries int64
	// Refused of them came without the token of the server.
	Refused int64
}

// Server is the API server of a shoot without anything behind it.
type Server struct {
	// Nodes are what it answers when asked for nodes.
	Nodes []corev1.Node

	server                                     *httptest.Server
	ca                                         []byte
	token                                      atomic.Pointer[string]
	accepted, open, answered, discovered, shut atomic.Int64
}

// Start runs a server on a free port. Only requests with the token are served.
func Start(token string, nodes ...corev1.Node) (*Server, error) {
	certificate, ca, err := newCertificate()
	if err != nil {
		return nil, err
	}
	s := &Server{Nodes: nodes, ca: ca}
	s.Accept(token)
	s.server = httptest.NewUnstartedServer(s)
	s.server.EnableHTTP2 = true
	s.server.TLS = certificate
	s.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			s.accepted.Add(1)
			s.open.Add(1)
		case http.StateClosed, http.StateHijacked:
			s.open.Add(-1)
		default:
		}
	}
	s.server.StartTLS()
	return s, nil
}

// Run is Start for a test; the server ends with it.
func Run(tb testing.TB, token string, nodes ...corev1.Node) *Server {
	tb.Helper()
	s, err := Start(token, nodes...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// Close stops the server and cuts its connections.
func (s *Server) Close() {
	s.server.CloseClientConnections()
	s.server.Close()
}

// Accept makes the server accept this token and no other.
func (s *Server) Accept(token string) { s.token.Store(&token) }

// Counts returns what has reached the server so far.
func (s *Server) Counts() Counts {
	return Counts{
		Connections: s.accepted.Load(), Open: s.open.Load(),
		Requests: s.answered.Load(), Discoveries: s.discovered.Load(), Refused: s.shut.Load(),
	}
}

// AwaitOpen waits until that many connections are open.
func (s *Server) AwaitOpen(ctx context.Context, want int64) error {
	err := wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		return s.open.Load() == want, nil
	})
	if err != nil {
		return fmt.Errorf("%d connections are open, not %d: %w", s.open.Load(), want, err)
	}
	return nil
}

// Add returns the sum of two counts.
func (c Counts) Add(o Counts) Counts {
	return Counts{c.Connections + o.Connections, c.Open + o.Open, c.Requests + o.Requests, c.Discoveries + o.Discoveries, c.Refused + o.Refused}
}

// Since returns what was added to the counts since they were earlier.
func (c Counts) Since(earlier Counts) Counts {
	return Counts{
		c.Connections - earlier.Connections, c.Open - earlier.Open, c.Requests - earlier.Requests,
		c.Discoveries - earlier.Discoveries, c.Refused - earlier.Refused,
	}
}

// Kubeconfig is one that reaches the server with this token.
func (s *Server) Kubeconfig(token string) ([]byte, error) {
	return secrets.Kubeconfig(secrets.KubeconfigSpec{Context: "hollow", Server: s.server.URL, CA: s.ca, Token: token})
}

// ServeHTTP answers what the gardenlet asks a shoot.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.answered.Add(1)
	if r.Header.Get("Authorization") != "Bearer "+*s.token.Load() {
		s.shut.Add(1)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	switch path := r.URL.Path; {
	case path == "/healthz":
		_, _ = fmt.Fprint(w, "ok")
	case path == "/api" || path == "/apis":
		s.discovered.Add(1)
		w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		reply(w, discovery(path == "/api"))
	case path == "/api/v1/nodes":
		w.Header().Set("Content-Type", "application/json")
		reply(w, corev1.NodeList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NodeList"}, Items: s.Nodes})
	case path == "/api/v1/namespaces/kube-system/pods" && r.URL.Query().Get("labelSelector") == "type=tunnel":
		w.Header().Set("Content-Type", "application/json")
		reply(w, tunnel())
	case strings.HasSuffix(path, "/proxy/healthz"):
		_, _ = fmt.Fprint(w, "ok")
	case nothing()[path] != "":
		w.Header().Set("Content-Type", "application/json")
		group, kind, _ := strings.Cut(nothing()[path], " ")
		reply(w, metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: group, Kind: kind}, Items: []metav1.PartialObjectMetadata{}})
	case strings.HasPrefix(path, "/api"):
		s.discovered.Add(1) // the document of one group or version, or an object, of which there are none
		w.WriteHeader(http.StatusNotFound)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// tunnel is the one pod that runs.
func tunnel() corev1.PodList {
	return corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []corev1.Pod{{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "konnectivity-agent-0"}, Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}}}
}

// nothing are the lists that are empty, with their versions and kinds.
func nothing() map[string]string {
	return map[string]string{
		"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations": "admissionregistration.k8s.io/v1 ValidatingWebhookConfigurationList",
		"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations":   "admissionregistration.k8s.io/v1 MutatingWebhookConfigurationList",
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions":               "apiextensions.k8s.io/v1 CustomResourceDefinitionList",
		"/api/v1/namespaces/kube-system/pods":                                   "v1 PodList",
	}
}

func reply(w http.ResponseWriter, body any) {
	if err := json.NewEncoder(w).Encode(body); err != nil {
		panic(http.ErrAbortHandler) // the client has gone
	}
}
