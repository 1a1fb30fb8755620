// SPDX-License-Identifier: Apache-2.0

package nodeagent_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/keyutil"

	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
)

const (
	kubeletFolder = "/var/lib/kubelet"
	clientCA      = kubeletFolder + "/ca.crt"
)

// authority is a certificate authority of a test.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	return authority{certificate: made(t, template, template, &key.PublicKey, key), key: key}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func made(t *testing.T, template, parent *x509.Certificate, public any, key *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	data, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(data)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func inPEM(c *x509.Certificate) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}))
}

func (a authority) sign(t *testing.T, subject pkix.Name, public any) string {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: subject, NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature}
	return inPEM(made(t, template, a.certificate, public, a.key))
}

// pooled is the configuration of a pool that is updated in place, for a state and with the authorities of that time.
func pooled(hash, setting string, clients authority) configuration {
	c := kubelet(setting)
	c.Files = append(c.Files, inline(clientCA, "clients of "+hash))
	c.Units = append(c.Units, unit{Name: nodeagent.Unit, Content: new("[Service]\nExecStart=/agent\n")})
	c.InPlaceUpdates = &nodeagent.InPlaceUpdates{
		Hash: hash, KubeletVersion: "1.36.3", ServerCA: "servers of " + hash, ClientCA: inPEM(clients.certificate), Trust: []string{clientCA},
	}
	return c
}

// joined gives a scene the credentials of a kubelet, and has the authority sign what is requested.
func (s *scene) joined(t *testing.T, first authority, signer *authority) {
	t.Helper()
	s.agent.Kubeconfig = kubeletFolder + "/kubeconfig-real"
	at := func(path string) string { return filepath.Join(s.agent.Machine.Root, path) }
	if err := os.MkdirAll(at(kubeletFolder+"/pki"), 0o700); err != nil {
		t.Fatal(err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: "https://api", CertificateAuthorityData: []byte("servers of first")}
	if err := clientcmd.WriteToFile(*config, at(s.agent.Kubeconfig)); err != nil {
		t.Fatal(err)
	}
	key := newKey(t)
	encoded, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		t.Fatal(err)
	}
	pair := first.sign(t, pkix.Name{CommonName: "system:node:machine-a"}, &key.PublicKey) + string(encoded)
	for path, data := range map[string]string{
		kubeletFolder + "/pki/kubelet-client-first.pem": pair, kubeletFolder + "/pki/kubelet-server-current.pem": pair,
		"/var/lib/agent/pki/gardener-node-agent-current.pem": pair, kubeletFolder + "/cpu_manager_state": "{}",
	} {
		if err := os.MkdirAll(filepath.Dir(at(path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(path), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at(kubeletFolder+"/pki/kubelet-client-first.pem"), at(kubeletFolder+"/pki/kubelet-client-current.pem")); err != nil {
		t.Fatal(err)
	}
	s.cluster.PrependReactor("create", "certificatesigningrequests", func(action clienttesting.Action) (bool, runtime.Object, error) {
		create, _ := action.(clienttesting.CreateAction)
		request, _ := create.GetObject().(*certificatesv1.CertificateSigningRequest)
		block, _ := pem.Decode(request.Spec.Request)
		asked, err := x509.ParseCertificateRequest(block.Bytes)
		if err != nil {
			return true, nil, err
		}
		request.Name, request.UID = "csr", "csr"
		request.Status.Certificate = []byte(signer.sign(t, asked.Subject, asked.PublicKey))
		request.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue}}
		return false, nil, nil
	})
}

func (s *scene) there(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(s.agent.Machine.Root, path))
	return err == nil
}

func (s *scene) change(t *testing.T, change func(*corev1.Node)) *corev1.Node {
	t.Helper()
	node, err := s.cluster.CoreV1().Nodes().Get(t.Context(), "machine-a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if change == nil {
		return node
	}
	change(node)
	if node, err = s.cluster.CoreV1().Nodes().Update(t.Context(), node, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	return node
}

func ready(n *corev1.Node) {
	n.Status.Conditions = []corev1.NodeCondition{{
		Type: gardenmachinev1alpha1.NodeInPlaceUpdate, Status: corev1.ConditionTrue, Reason: gardenmachinev1alpha1.ReasonReadyForUpdate,
	}}
}

func (s *scene) client(t *testing.T) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode([]byte(read(t, s.agent.Machine, kubeletFolder+"/pki/kubelet-client-current.pem")))
	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// TestWaitsForTheUpdate: until its node is drained a machine stays as it is, also over a restart, but trusts the authorities of a rotation.
// Then it is updated: with the new settings, and new credentials of kubelet and agent.
func TestWaitsForTheUpdate_GLET_CRED_8(t *testing.T) {
	t.Parallel()
	first, second := newAuthority(t, "first"), newAuthority(t, "second")
	s := newScene(t, pooled("first", "1", first))
	s.joined(t, first, &second)
	s.pass(t)
	hash := func() string { return s.change(t, nil).Annotations[gardenmachinev1alpha1.AnnotationInPlaceApplied] }
	if hash() != "first" || s.client(t).CheckSignatureFrom(first.certificate) != nil {
		t.Fatalf("the first configuration is %q, want first", hash())
	}
	s.configure(t, pooled("second", "2", second))
	// A machine that starts again has the files of its creation.
	if err := os.WriteFile(filepath.Join(s.agent.Machine.Root, "/var/lib/kubelet/config"), []byte("maxPods: 0"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.units.take()
	s.pass(t)
	if diff := cmp.Diff(state{Reports: "first", Has: "maxPods: 1"}, state{Reports: hash(), Has: read(t, s.agent.Machine, "/var/lib/kubelet/config")}); diff != "" {
		t.Errorf("a node that is not drained stays as it was (-want +got):\n%s", diff)
	}
	if got := read(t, s.agent.Machine, clientCA); got != "clients of second" || s.client(t).CheckSignatureFrom(first.certificate) != nil {
		t.Errorf("it trusts %q, want the second ones, with its own certificate", got)
	}
	s.change(t, ready)
	s.units.take()
	s.pass(t)
	if diff := cmp.Diff(state{Reports: "second", Has: "maxPods: 2"}, state{Reports: hash(), Has: read(t, s.agent.Machine, "/var/lib/kubelet/config")}); diff != "" {
		t.Errorf("the drained node is updated (-want +got):\n%s", diff)
	}
	if did := s.units.take(); !slices.Contains(did, "restart kubelet.service") || did[len(did)-1] != "restart "+nodeagent.Unit {
		t.Errorf("units: %q, want the kubelet, and the agent last", did)
	}
	config, err := clientcmd.LoadFromFile(filepath.Join(s.agent.Machine.Root, s.agent.Kubeconfig))
	if err != nil {
		t.Fatal(err)
	}
	cluster := &clientcmdapi.Cluster{Server: "https://api", CertificateAuthorityData: []byte("servers of second")}
	if diff := cmp.Diff(cluster, config.Clusters["c"], cmpopts.IgnoreFields(clientcmdapi.Cluster{}, "LocationOfOrigin", "Extensions")); diff != "" {
		t.Errorf("what the kubelet connects to (-want +got):\n%s", diff)
	}
	if got := s.client(t); got.CheckSignatureFrom(second.certificate) != nil || got.Subject.CommonName != "system:node:machine-a" {
		t.Errorf("the certificate of the kubelet is that of %v by %v", got.Subject, got.Issuer)
	}
	for _, path := range []string{kubeletFolder + "/pki/kubelet-server-current.pem", "/var/lib/agent/pki/gardener-node-agent-current.pem", kubeletFolder + "/cpu_manager_state"} {
		if s.there(t, path) {
			t.Errorf("%s is still there", path)
		}
	}
	if got := s.change(t, nil).Labels[gardenmachinev1alpha1.LabelNodeUpdateResult]; got != gardenmachinev1alpha1.UpdateSuccessful {
		t.Errorf("the result is %q", got)
	}
	s.pass(t)
	if did := s.units.take(); did != nil {
		t.Errorf("when all is done: %q, want nothing", did)
	}
}

// TestOldSigner: a certificate of the old authority is not taken for a new one, and the old one stays in use.
func TestOldSigner_GLET_CRED_10(t *testing.T) {
	t.Parallel()
	first, second := newAuthority(t, "first"), newAuthority(t, "second")
	s := newScene(t, pooled("first", "1", first))
	s.joined(t, first, &first)
	s.pass(t)
	s.configure(t, pooled("second", "1", second))
	s.change(t, ready)
	if _, _, err := s.agent.Pass(t.Context()); err == nil {
		t.Error("Pass(...) succeeds, although the new authority has not signed")
	}
	if s.client(t).CheckSignatureFrom(first.certificate) != nil || !s.there(t, kubeletFolder+"/pki/kubelet-server-current.pem") {
		t.Error("the credentials of the kubelet have changed")
	}
	if got := s.change(t, nil).Labels[gardenmachinev1alpha1.LabelNodeUpdateResult]; got != gardenmachinev1alpha1.UpdateFailed {
		t.Errorf("the result is %q, want that it has failed", got)
	}
}

// TestVersionOfTheImage: an update to a version of the kubelet that the image of the machine does not bring fails with the reason, until it does.
func TestVersionOfTheImage(t *testing.T) {
	t.Parallel()
	first := newAuthority(t, "first")
	s := newScene(t, pooled("first", "1", first))
	s.joined(t, first, &first)
	s.change(t, func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = "v1.36.3" })
	s.pass(t)
	next := pooled("second", "1", first)
	next.InPlaceUpdates.KubeletVersion = "1.36.4"
	s.configure(t, next)
	s.change(t, ready)
	for range 2 {
		if _, _, err := s.agent.Pass(t.Context()); err == nil {
			t.Fatal("Pass(...) succeeds with another version")
		}
	}
	node := s.change(t, nil)
	want := "the machine image does not bring the version of the kubelet that is wanted: choose another version of the image: it is 1.36.3 and not 1.36.4"
	if diff := cmp.Diff(outcome{Result: "failed", Reason: want}, outcomeOf(node)); diff != "" {
		t.Errorf("with another version (-want +got):\n%s", diff)
	}
	s.change(t, func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = "v1.36.4" })
	s.pass(t)
	if diff := cmp.Diff(outcome{Result: "successful"}, outcomeOf(s.change(t, nil))); diff != "" {
		t.Errorf("with the version (-want +got):\n%s", diff)
	}
}

// outcome is what a node tells of its last update.
type outcome struct{ Result, Reason string }

func outcomeOf(node *corev1.Node) outcome {
	return outcome{Result: node.Labels[gardenmachinev1alpha1.LabelNodeUpdateResult], Reason: node.Annotations[gardenmachinev1alpha1.AnnotationNodeUpdateFailedReason]}
}
