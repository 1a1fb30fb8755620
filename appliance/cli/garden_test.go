// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// garden answers the few questions that the commands ask, over TLS and with the certificates of a real identity. That
// the commands work with the product's own server is shown by the integration tests.
type garden struct {
	*identity.Garden

	url string

	mu      sync.Mutex
	secrets map[string]*corev1.Secret
	clashes int // how many creations are refused because of the name
	// lifetime is how long the garden wants tokens to be valid; it does not tell if empty.
	lifetime string
	// rotations are the bodies of all requests to change certificates and keys.
	rotations []string
	// refusal answers all requests of known users, if it is set.
	refusal http.HandlerFunc
}

const (
	secretsPath = "/api/v1/namespaces/kube-system/secrets"
	infoPath    = "/api/v1/namespaces/gardener-system-public/configmaps/gardener-info"
	shootsPath  = "/apis/core.gardener.cloud/v1beta1/namespaces/garden/shoots"
)

func startGarden(t *testing.T) *garden {
	t.Helper()
	id, err := identity.Ensure(filepath.Join(t.TempDir(), "data"), identity.Names{}, clock.RealClock{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = id.Close() })
	g := &garden{Garden: id, secrets: map[string]*corev1.Secret{}}

	cert, err := tls.X509KeyPair(id.Certificates.Serving.CertPEM, id.Certificates.Serving.KeyPEM)
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AddCert(id.Authorities.Client.Cert)
	s := httptest.NewUnstartedServer(g.handler())
	s.TLS = &tls.Config{
		Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12,
		ClientCAs: clients, ClientAuth: tls.VerifyClientCertIfGiven,
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	g.url = s.URL
	if err := id.Certificates.WriteAdminKubeconfig(g.url); err != nil {
		t.Fatal(err)
	}
	return g
}

// world is that of a user on the machine of the garden.
func (g *garden) world() *world {
	w := newWorld()
	u, _ := url.Parse(g.url)
	w.names[u.Host] = "127.0.0.1:<port>" // The digits of the port alone may be part of a hash.
	w.names[g.Authorities.CAHash()] = "<hash>"
	w.names[g.Dir] = "<data>"
	return w
}

func (g *garden) handler() http.Handler {
	admin := http.NewServeMux()
	admin.HandleFunc("GET /api", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, metav1.APIVersions{ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{
			{ClientCIDR: "0.0.0.0/0", ServerAddress: "garden.example.org:6443"},
		}})
	})
	admin.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, version.Info{GitVersion: "v1.30.1", Platform: "plan9/mips"})
	})
	admin.HandleFunc("GET "+infoPath, func(w http.ResponseWriter, _ *http.Request) {
		info := corev1.ConfigMap{Data: map[string]string{"gardenerAPIServer": "version: v1.120.3\n"}}
		if g.lifetime != "" {
			info.Data["joinTokenLifetime"] = g.lifetime
		}
		reply(w, http.StatusOK, info)
	})
	admin.HandleFunc("POST /ui/links", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusCreated, map[string]string{"code": "CODE", "expires": "2026-01-01T00:00:00Z"})
	})
	admin.HandleFunc("POST /appliance/certificates", g.rotate)
	admin.HandleFunc("GET "+secretsPath, g.list)
	admin.HandleFunc("POST "+secretsPath, g.create)
	admin.HandleFunc("DELETE "+secretsPath+"/{name}", g.remove)
	admin.HandleFunc("GET "+shootsPath+"/{name}", getShoot)

	all := http.NewServeMux()
	all.HandleFunc("GET /cacerts", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(g.Authorities.CABundle()) })
	all.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) == 0 {
			refuse(w, apierrors.NewUnauthorized("Unauthorized"))
			return
		}
		if g.refusal != nil {
			g.refusal(w, r)
			return
		}
		admin.ServeHTTP(w, r)
	})
	return all
}

// getShoot answers with the only shoots of the garden: root is self-hosted, hosted is not.
func getShoot(w http.ResponseWriter, r *http.Request) {
	shoot := gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: r.PathValue("name")}}
	shoot.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "pool"}}
	switch shoot.Name {
	case "root":
		shoot.Spec.Provider.Workers[0].ControlPlane = &gardencorev1beta1.WorkerControlPlane{}
	case "hosted":
	default:
		refuse(w, apierrors.NewNotFound(gardencorev1beta1.Resource("shoots"), shoot.Name))
		return
	}
	reply(w, http.StatusOK, shoot)
}

func (g *garden) list(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	wanted := strings.TrimPrefix(r.URL.Query().Get("fieldSelector"), "type=")
	list := corev1.SecretList{}
	for _, s := range g.secrets {
		if string(s.Type) == wanted {
			list.Items = append(list.Items, *s)
		}
	}
	reply(w, http.StatusOK, list)
}

func (g *garden) create(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	s := &corev1.Secret{}
	if err := runtime.DecodeInto(scheme.Codecs.UniversalDeserializer(), body, s); err != nil {
		refuse(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	if g.clashes > 0 {
		g.clashes--
		refuse(w, apierrors.NewAlreadyExists(schema.GroupResource{Resource: "secrets"}, s.Name))
		return
	}
	g.put(s)
	reply(w, http.StatusCreated, s)
}

// put stores s as the API server would: with its texts as bytes.
func (g *garden) put(s *corev1.Secret) {
	s.Namespace = metav1.NamespaceSystem
	if s.Data == nil {
		s.Data = map[string][]byte{}
	}
	for k, v := range s.StringData {
		s.Data[k] = []byte(v)
	}
	s.StringData = nil
	g.secrets[s.Name] = s
}

func (g *garden) remove(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	name := r.PathValue("name")
	if g.secrets[name] == nil {
		refuse(w, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, name))
		return
	}
	delete(g.secrets, name)
	reply(w, http.StatusOK, metav1.Status{Status: metav1.StatusSuccess})
}

func (g *garden) rotate(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	g.rotations = append(g.rotations, string(body))
	reply(w, http.StatusOK, struct{}{})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	data, err := json.Marshal(v)
	if err != nil {
		status = http.StatusInternalServerError
	}
	w.WriteHeader(status)
	_, _ = w.Write(data)
}

func refuse(w http.ResponseWriter, err *apierrors.StatusError) {
	status := err.Status()
	status.Kind, status.APIVersion = "Status", "v1"
	reply(w, int(status.Code), status)
}
