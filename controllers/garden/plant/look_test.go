// SPDX-License-Identifier: Apache-2.0

package plant_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/terrarium-garden/terrarium/controllers/garden/plant"
	"github.com/terrarium-garden/terrarium/controllers/guard"
)

// brief are limits that a test can wait for.
func brief() plant.Limits {
	return plant.Limits{Call: 2 * time.Second, Look: 5 * time.Second, Page: 64 << 10}
}

const unlisted = "the API server is not available"

func TestLook(t *testing.T) {
	t.Parallel()
	well := plant.Finding{Version: "v1.36.3", Cloud: "cloud", Region: "north"}
	for name, tc := range map[string]struct {
		reason string
		// answers are those that differ from the ones of a well cluster.
		answers map[string]http.HandlerFunc
		// patient looks have as much time as a busy machine needs.
		patient bool
		change  func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)
		want    plant.Finding
	}{
		"GCM-PLANT-3 well":    {reason: "everything is well", want: well},
		"GCM-PLANT-3 version": {reason: "a version is no condition", answers: map[string]http.HandlerFunc{"/version": status(403)}, want: plant.Finding{Cloud: "cloud", Region: "north"}},
		"GCM-PLANT-3 sick": {
			reason: "it says that it is not well", answers: map[string]http.HandlerFunc{"/healthz": status(500)},
			want: plant.Finding{Down: "GET /healthz is answered with status 500", Answered: true, Unlisted: unlisted},
		},
		"GCM-PLANT-3 denied": {
			reason: "the credentials are wrong", change: func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.Token = "other" },
			want: plant.Finding{Down: "GET /healthz is answered with status 401", Answered: true, Unlisted: unlisted},
		},
		"GCM-PLANT-3 forbidden": {
			reason: "the nodes may not be read", answers: map[string]http.HandlerFunc{"/api/v1/nodes": status(403)},
			want: plant.Finding{Version: "v1.36.3", Unlisted: "the nodes cannot be listed: GET /api/v1/nodes is answered with status 403"},
		},
		"GCM-PLANT-3 nodes": {
			reason: "the first bad node is named, the first of all tells where it is",
			answers: map[string]http.HandlerFunc{"/api/v1/nodes": says(nodes(
				machine("a", "aws:///eu-1/i-1", "eu"), machine("b", "gce://x", "us", with("DiskPressure", "True")), machine("c", "", "", with("Ready", "False")),
			))},
			want: plant.Finding{Version: "v1.36.3", Cloud: "aws", Region: "eu", Trouble: `node "b" has condition DiskPressure`},
		},
		"GCM-PLANT-3 later page": {
			reason: "all pages are read",
			answers: map[string]http.HandlerFunc{"/api/v1/nodes": func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Get("continue") == "more&more" {
					says(nodes(machine("b", "", "", with("Ready", "Unknown"))))(w, r)
					return
				}
				says(page("more&more", machine("a", "", "", labelled(map[string]string{"failure-domain.beta.kubernetes.io/zone": "z"}))))(w, r)
			}},
			want: plant.Finding{Version: "v1.36.3", Cloud: "<unknown>", Region: "z", Trouble: `node "b" is not ready`},
		},
		"GCM-PLANT-3 no nodes":  {reason: "no node is bad", answers: map[string]http.HandlerFunc{"/api/v1/nodes": says(nodes())}, want: plant.Finding{Version: "v1.36.3"}},
		"GCM-PLANT-3 other api": {reason: "what answers is no API server", answers: map[string]http.HandlerFunc{"/api/v1/nodes": says(`{"kind":"PodList"}`)}, want: plant.Finding{Version: "v1.36.3", Unlisted: "the nodes cannot be listed: its answer is not that of Kubernetes"}},
		"GCM-PLANT-2 untrusted": {
			reason: "the kubeconfig trusts somebody else", change: func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.CertificateAuthorityData = nil },
			want: plant.Finding{Down: "the API server: its certificate is not trusted by the kubeconfig", Unlisted: unlisted},
		},
		"GCM-PLANT-2 gone": {
			reason: "nobody is there", change: func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.Server = "https://plant.invalid:6443" },
			want: plant.Finding{Down: "the API server: it cannot be reached", Unlisted: unlisted},
		},
		"GCM-PLANT-2 silent": {
			reason: "nobody waits for ever", answers: map[string]http.HandlerFunc{"/healthz": never},
			want: plant.Finding{Down: "the API server: it does not answer in time", Unlisted: unlisted},
		},
		"hostile trickle": {
			reason: "nor for one byte after the other", answers: map[string]http.HandlerFunc{"/healthz": trickle},
			want: plant.Finding{Down: "the API server: it does not answer in time", Unlisted: unlisted},
		},
		"hostile flood": {
			reason: "an answer that never ends is not read to its end", patient: true, answers: map[string]http.HandlerFunc{"/api/v1/nodes": flood},
			want: plant.Finding{Version: "v1.36.3", Unlisted: "the nodes cannot be listed: its answer is too large"},
		},
		"hostile headers": {
			reason: "nor are headers", answers: map[string]http.HandlerFunc{"/healthz": func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
			}},
			want: plant.Finding{Down: "the API server: it cannot be reached", Unlisted: unlisted},
		},
		"hostile pages": {
			reason: "a list that never ends is not read to its end", patient: true, answers: map[string]http.HandlerFunc{"/api/v1/nodes": says(page("again", many(50)...))},
			want: plant.Finding{Version: "v1.36.3", Unlisted: "the nodes cannot be listed: its answer is too large"},
		},
		"hostile empty pages": {
			reason: "nor one of nothing", patient: true, answers: map[string]http.HandlerFunc{"/api/v1/nodes": says(page("again"))},
			want: plant.Finding{Version: "v1.36.3", Unlisted: "the nodes cannot be listed: its answer is not that of Kubernetes"},
		},
		"hostile names": {
			reason: "what a cluster says is cut, and shows what it is",
			answers: map[string]http.HandlerFunc{
				"/version":      says(`{"gitVersion":"v1\u0000\u001b[31m` + strings.Repeat("9", 1000) + `"}`),
				"/api/v1/nodes": says(nodes(machine("\u202ea\n\"b", "\u0007x://", "r\u200b", with("Ready", "False")))),
			},
			want: plant.Finding{Version: "v1[31m" + strings.Repeat("9", 57) + "…", Cloud: "x", Region: "r", Trouble: `node "a\"b" is not ready`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := grow(t)
			for path, answer := range tc.answers {
				c.answer(path, answer)
			}
			raw := c.kubeconfig(t)
			if tc.change != nil {
				raw = c.kubeconfig(t, tc.change)
			}
			limits := brief()
			if tc.patient {
				limits.Call, limits.Look = time.Minute, time.Minute
			}
			if diff := cmp.Diff(tc.want, c.look(t, raw, limits)); diff != "" {
				t.Errorf("%s\nlook(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPlainRequests looks at a server that would rather use HTTP/2 and compress its answers: both have no limits here.
func TestPlainRequests(t *testing.T) {
	t.Parallel()
	c := grow(t, func(s *httptest.Server) { s.EnableHTTP2 = true })
	asked := make(chan string, 1)
	c.answer("/healthz", func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Proto + " " + r.Header.Get("Accept-Encoding")
		says("ok")(w, r)
	})
	if found := c.look(t, c.kubeconfig(t), brief()); found.Unusable+found.Down != "" {
		t.Fatalf("%+v", found)
	}
	if got := <-asked; got != "HTTP/1.1 " {
		t.Errorf("the request is %q", got)
	}
}

// TestClassify says the same of who drops connections and of who refuses them.
func TestClassify(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{os.ErrDeadlineExceeded, syscall.ECONNREFUSED, &net.DNSError{IsTimeout: true}} {
		err := plant.Classify(fmt.Errorf("get: %w", &net.OpError{Op: "dial", Err: cause}))
		if got := err.Error(); got != "it cannot be reached" {
			t.Errorf("%v is told as %q", cause, got)
		}
	}
}

// TestNoProxy asks for no proxy, which the environment of the process may name: it would be dialed in place of the cluster, and who
// reaches a proxy reaches what the proxy reaches.
func TestNoProxy(t *testing.T) {
	t.Parallel()
	if plant.Proxied() {
		t.Error("a session uses a proxy")
	}
}

// TestEachLimit has a server that is slow for one of the limits only.
func TestEachLimit(t *testing.T) {
	t.Parallel()
	c := grow(t)
	slow := func(answer http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(100 * time.Millisecond):
				answer(w, r)
			case <-r.Context().Done():
			}
		}
	}
	c.answer("/api/v1/nodes", slow(says(page("again", many(50)...))))
	found := c.look(t, c.kubeconfig(t), plant.Limits{Call: time.Minute, Look: time.Second, Page: 64 << 10})
	if want := "the nodes cannot be listed: it does not answer in time"; found.Unlisted != want {
		t.Errorf("a look ends, whatever each of its requests takes: %q, want %q", found.Unlisted, want)
	}
	c.answer("/healthz", never)
	begin := time.Now()
	found = c.look(t, c.kubeconfig(t), plant.Limits{Call: 500 * time.Millisecond, Look: time.Minute, Page: 64 << 10})
	if took := time.Since(begin); found.Down != "the API server: it does not answer in time" || took > 30*time.Second {
		t.Errorf("a request ends, whatever is left of the look: %q after %s", found.Down, took)
	}
}

// TestPressures has nodes that are ready and not well.
func TestPressures_GCM_PLANT_3(t *testing.T) {
	t.Parallel()
	c := grow(t)
	for _, kind := range []corev1.NodeConditionType{"DiskPressure", "MemoryPressure", "PIDPressure", "NetworkUnavailable"} {
		c.answer("/api/v1/nodes", says(nodes(machine("a", "", "", func(n *corev1.Node) {
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: kind, Status: "True"})
		}))))
		if got := c.look(t, c.kubeconfig(t), brief()).Trouble; got != fmt.Sprintf("node %q has condition %s", "a", kind) {
			t.Errorf("a node under %s has trouble %q", kind, got)
		}
	}
}

// TestHostileKubeconfigs hands in kubeconfigs that want something else than a look at a cluster. The server that they are about
// would be reached if they were obeyed.
func TestHostileKubeconfigs(t *testing.T) {
	t.Parallel()
	type (
		to  = clientcmdapi.Cluster
		who = clientcmdapi.AuthInfo
	)
	for name, tc := range map[string]struct {
		change func(*to, *who)
		want   string
	}{
		"exec": {
			change: func(_ *to, u *who) {
				u.Exec = &clientcmdapi.ExecConfig{Command: "/bin/sh", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: "Never"}
			},
			want: "the kubeconfig has fields that are not allowed: exec",
		},
		"auth provider": {
			change: func(_ *to, u *who) { u.AuthProvider = &clientcmdapi.AuthProviderConfig{Name: "gcp"} },
			want:   "the kubeconfig has fields that are not allowed: auth-provider",
		},
		"token file":   {change: func(_ *to, u *who) { u.TokenFile = "/etc/passwd" }, want: "the kubeconfig has fields that are not allowed: tokenFile"},
		"certificate":  {change: func(_ *to, u *who) { u.ClientCertificate = "/a" }, want: "the kubeconfig has fields that are not allowed: client-certificate"},
		"key":          {change: func(_ *to, u *who) { u.ClientKey = "/a" }, want: "the kubeconfig has fields that are not allowed: client-key"},
		"somebody":     {change: func(_ *to, u *who) { u.Impersonate = "root" }, want: "the kubeconfig has fields that are not allowed: act-as"},
		"group":        {change: func(_ *to, u *who) { u.ImpersonateGroups = []string{"system:masters"} }, want: "the kubeconfig has fields that are not allowed: act-as-groups"},
		"authority":    {change: func(c *to, _ *who) { c.CertificateAuthority = "/a" }, want: "the kubeconfig has fields that are not allowed: certificate-authority"},
		"proxy":        {change: func(c *to, _ *who) { c.ProxyURL = "http://127.0.0.1:1" }, want: "the kubeconfig has fields that are not allowed: proxy-url"},
		"plain":        {change: func(c *to, _ *who) { c.Server = "http://example.org" }, want: serverError},
		"socket":       {change: func(c *to, _ *who) { c.Server = "unix:///run/a.sock" }, want: serverError},
		"no server":    {change: func(c *to, _ *who) { c.Server = "" }, want: serverError},
		"credentials":  {change: func(c *to, _ *who) { c.Server = "https://a:b@example.org" }, want: serverError},
		"fragment":     {change: func(c *to, _ *who) { c.Server = "https://example.org/#a" }, want: serverError},
		"no host":      {change: func(c *to, _ *who) { c.Server = "https://:6443" }, want: serverError},
		"query":        {change: func(c *to, _ *who) { c.Server = "https://example.org/?a=b" }, want: serverError},
		"no authority": {change: func(c *to, _ *who) { c.CertificateAuthorityData = []byte("x") }, want: "certificate-authority-data in the kubeconfig holds no certificate"},
		"half a pair":  {change: func(_ *to, u *who) { u.ClientKeyData = []byte("secret") }, want: "client-certificate-data and client-key-data in the kubeconfig do not fit"},
		"large key":    {change: func(_ *to, u *who) { u.ClientKeyData = bytes.Repeat([]byte("x"), 8<<10+1) }, want: keyError},
		"large bundle": {change: func(c *to, _ *who) { c.CertificateAuthorityData = bytes.Repeat([]byte("\n"), 256<<10+1) }, want: keyError},
		"large certificate": {change: func(c *to, _ *who) {
			c.CertificateAuthorityData = append(c.CertificateAuthorityData, certified(t, 8193)...)
		}, want: keyError},
		"large client certificate": {change: func(_ *to, u *who) { u.ClientCertificateData = certified(t, 1<<16) }, want: keyError},
		"header":                   {change: func(_ *to, u *who) { u.Token = "a\r\nX-Other: b" }, want: "the token, username or password in the kubeconfig has characters that no header can have"},
	} {
		t.Run("GCM-PLANT-2 "+name, func(t *testing.T) {
			t.Parallel()
			c := grow(t)
			found := c.look(t, c.kubeconfig(t, tc.change), brief())
			if diff := cmp.Diff(plant.Finding{Unusable: tc.want}, found); diff != "" {
				t.Errorf("look(...) (-want +got):\n%s", diff)
			}
			if c.reached.Load() != 0 {
				t.Error("the server was reached")
			}
		})
	}
	for name, tc := range map[string]struct{ text, want string }{
		"nothing":    {want: "the Secret has no kubeconfig under the key kubeconfig"},
		"garbage":    {text: "users: [" + token, want: "the kubeconfig cannot be read"},
		"other kind": {text: "apiVersion: v1\nkind: Secret\ndata: {a: " + token + "}", want: "the kubeconfig cannot be read"},
		"deletion": {
			text: "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: it, user: me}}]\n" +
				"clusters: [{name: it, cluster: {server: \"https://api.example.com\"}}]\nusers: [{name: me, user: {token: \"a\\x7fb\"}}]\n",
			want: "the token, username or password in the kubeconfig has characters that no header can have",
		},
		"no user": {
			text: "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: it, user: me}}]\nclusters: [{name: it, cluster: {server: \"https://api.example.com\"}}]\n",
			want: "the current context of the kubeconfig does not name a cluster and a user that it has",
		},
		"no context": {text: "apiVersion: v1\nkind: Config\n", want: "the current context of the kubeconfig does not name a cluster and a user that it has"},
		"no cluster": {
			text: "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: b, user: c}}]\nusers: [{name: c, user: {token: " + token + "}}]\n",
			want: "the current context of the kubeconfig does not name a cluster and a user that it has",
		},
	} {
		if diff := cmp.Diff(plant.Finding{Unusable: tc.want}, plant.Look(t.Context(), guard.Guard{}, brief(), []byte(tc.text))); diff != "" {
			t.Errorf("GCM-PLANT-2 %s: look(...) (-want +got):\n%s", name, diff)
		}
	}
}

// TestLargestKey accepts what package tls does.
func TestLargestKey(t *testing.T) {
	t.Parallel()
	c := grow(t)
	raw := c.kubeconfig(t, func(to *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
		to.CertificateAuthorityData = append(to.CertificateAuthorityData, certified(t, 8192)...)
	})
	if found := c.look(t, raw, brief()); found.Unusable+found.Down != "" {
		t.Errorf("a key of 8192 bits is not too large: %+v", found)
	}
}

// certified is a certificate for an RSA key with some bits, which nobody has.
func certified(t *testing.T, bits uint) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	modulus := new(big.Int).Lsh(big.NewInt(1), bits-1)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &rsa.PublicKey{N: modulus.SetBit(modulus, 0, 1), E: 65537}, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
}

const keyError = "certificate-authority-data, client-certificate-data or client-key-data in the kubeconfig has a key of more than 8192 bits, or is too large"

const serverError = "the server in the kubeconfig is not a URL such as https://api.example.com:6443"

// TestOwnAddresses names this machine in all ways. Its server, which would answer, is not even connected to.
func TestOwnAddresses(t *testing.T) {
	t.Parallel()
	c := grow(t)
	port := c.address().Port()
	own := []string{
		"127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0.0.0.0", "0", "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[::ffff:7f00:1]",
		"[::]", "[::1]", "[64:ff9b::127.0.0.1]", "localhost", "LOCALHOST.",
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		network, ok := address.(*net.IPNet)
		switch {
		case !ok:
		case network.IP.To4() != nil:
			own = append(own, network.IP.String())
		default:
			own = append(own, "["+network.IP.String()+"]")
		}
	}
	for _, host := range own {
		raw := c.kubeconfig(t, func(to *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
			to.Server, to.InsecureSkipTLSVerify, to.CertificateAuthorityData = "https://"+net.JoinHostPort(host, strconv.Itoa(int(port))), true, nil
		})
		found := plant.Look(t.Context(), guard.Guard{}, brief(), raw)
		if found.Unusable == "" && found.Down == "" || strings.Contains(found.Unusable+found.Down, "127.") {
			t.Errorf("%s: found %+v", host, found)
		}
	}
	if reached := c.reached.Load(); reached != 0 {
		t.Errorf("this machine was reached %d times", reached)
	}
	if found := c.look(t, c.kubeconfig(t), brief()); found.Unusable+found.Down != "" || c.reached.Load() != 1 {
		t.Errorf("an address that is allowed is reached, over one connection: %+v, %d connections", found, c.reached.Load())
	}
}

// TestRedirect sends the look on to another server, which must not see the token.
func TestRedirect(t *testing.T) {
	t.Parallel()
	c := grow(t)
	var seen int
	elsewhere := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen++ }))
	defer elsewhere.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		c.answer("/healthz", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL+"/healthz", code) })
		want := plant.Finding{Down: fmt.Sprintf("GET /healthz is answered with status %d", code), Answered: true, Unlisted: unlisted}
		if diff := cmp.Diff(want, c.look(t, c.kubeconfig(t), brief())); diff != "" {
			t.Errorf("look(...) (-want +got):\n%s", diff)
		}
	}
	if seen != 0 {
		t.Errorf("the other server was asked %d times", seen)
	}
}

// TestSecrecy looks for the credentials in what is found whenever something goes wrong.
func TestSecrecy(t *testing.T) {
	t.Parallel()
	c := grow(t)
	for name, answer := range map[string]http.HandlerFunc{
		"an echo": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_ = r.Header.Write(w)
		},
		"a hangup": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		c.answer("/healthz", answer)
		if found := fmt.Sprintf("%+v", c.look(t, c.kubeconfig(t), brief())); strings.Contains(found, token) || !strings.Contains(found, "Down:") {
			t.Errorf("%s: %s", name, found)
		}
	}
}
