// SPDX-License-Identifier: Apache-2.0

package certificates_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"strings"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/certificates"
)

func node(name string, addresses ...corev1.NodeAddress) corev1.Node {
	return corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Addresses: addresses}}
}

func address(kind corev1.NodeAddressType, value string) corev1.NodeAddress {
	return corev1.NodeAddress{Type: kind, Address: value}
}

// nodes are two nodes. The second one can be reached by a name as well.
func nodes() []corev1.Node {
	return []corev1.Node{
		node("a", address(corev1.NodeInternalIP, "10.0.0.1"), address(corev1.NodeHostName, "a")),
		node("b", address(corev1.NodeInternalIP, "10.0.0.2"), address(corev1.NodeHostName, "b"), address(corev1.NodeExternalDNS, "b.example.org")),
	}
}

// asked is what a kubelet asks for.
type asked struct {
	user, group string
	content     x509.CertificateRequest
	usages      []certificatesv1.KeyUsage
	// spoil changes the encoded request.
	spoil func(encoded []byte) []byte
}

// withKey has a request ask for another public key. Its signature is wrong then, which nobody may find out.
func withKey(t *testing.T, bits uint, exponent int) func([]byte) []byte {
	t.Helper()
	modulus := new(big.Int).Lsh(big.NewInt(1), bits-1)
	key, err := x509.MarshalPKIXPublicKey(&rsa.PublicKey{N: modulus.SetBit(modulus, 0, 1), E: exponent})
	if err != nil {
		t.Fatal(err)
	}

	return func(encoded []byte) []byte {
		block, _ := pem.Decode(encoded)
		var request struct {
			Content struct {
				Version    int
				Subject    asn1.RawValue
				Key        asn1.RawValue
				Attributes asn1.RawValue
			}
			Algorithm asn1.RawValue
			Signature asn1.BitString
		}
		if _, err := asn1.Unmarshal(block.Bytes, &request); err != nil {
			t.Fatal(err)
		}
		request.Content.Key = asn1.RawValue{FullBytes: key}
		changed, err := asn1.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}

		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: changed})
	}
}

// long is a request behind which there is much space.
func long(encoded []byte) []byte { return append(encoded, bytes.Repeat([]byte("\n"), 16<<10)...) }

// fromA is what the node a asks for.
func fromA() *asked {
	return &asked{
		user: "system:node:a", group: "system:nodes",
		content: x509.CertificateRequest{
			Subject:  pkix.Name{CommonName: "system:node:a", Organization: []string{"system:nodes"}},
			DNSNames: []string{"a"}, IPAddresses: []net.IP{net.ParseIP("10.0.0.1")},
		},
		usages: []certificatesv1.KeyUsage{"digital signature", "server auth"},
	}
}

func (a *asked) request(t *testing.T) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.CreateCertificateRequest(rand.Reader, &a.content, key)
	if err != nil {
		t.Fatal(err)
	}
	encoded = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: encoded})
	if a.spoil != nil {
		encoded = a.spoil(encoded)
	}
	return &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "csr"},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request: encoded, SignerName: "kubernetes.io/kubelet-serving", Username: a.user, Groups: []string{a.group, "system:authenticated"}, Usages: a.usages,
		},
	}
}

func TestJudge_GRM_CSR_1(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(*asked)
		nodes  func([]corev1.Node)
		// want is a part of the reason for a denial; empty if the request is approved.
		want string
	}{
		"Own": {reason: "its own name and address"},
		"Usages": {
			reason: "RSA keys also encipher", change: func(a *asked) { a.usages = append(a.usages, "key encipherment") },
		},
		"HostNameIsAddress": {
			reason: "kubelets ask for a host name that is an address as an address", change: func(a *asked) { a.content.DNSNames = nil },
			nodes: func(n []corev1.Node) { n[0].Status.Addresses[1].Address = "10.0.0.1" },
		},
		"OtherSpelling": {
			reason: "an IPv6 address has several spellings", change: func(a *asked) { a.content.IPAddresses = []net.IP{net.ParseIP("fd00::1")} },
			nodes: func(n []corev1.Node) { n[0].Status.Addresses[0].Address = "fd00:0:0::1" },
		},
		"User":         {reason: "not a node", change: func(a *asked) { a.user = "mallory" }, want: "it is not from a node"},
		"NoName":       {reason: "a node without a name", change: func(a *asked) { a.user = "system:node:" }, want: "it is not from a node"},
		"Group":        {reason: "the user of a node without its group", change: func(a *asked) { a.group = "mallories" }, want: "it is not from a node"},
		"CommonName":   {reason: "the name of another node", change: func(a *asked) { a.content.Subject.CommonName = "system:node:b" }, want: "common name"},
		"Organization": {reason: "another group", change: func(a *asked) { a.content.Subject.Organization = []string{"system:masters"} }, want: "organizations"},
		"MoreOrganizations": {
			reason: "a further group", change: func(a *asked) { a.content.Subject.Organization = []string{"system:nodes", "system:masters"} }, want: "organizations",
		},
		"NoOrganization": {reason: "no group", change: func(a *asked) { a.content.Subject.Organization = nil }, want: "organizations"},
		"ClientUsage": {
			reason: "a certificate that is also good for a client", change: func(a *asked) { a.usages = append(a.usages, "client auth") }, want: `usage "client auth"`,
		},
		"NoServerUsage": {reason: "nothing for a server", change: func(a *asked) { a.usages = a.usages[:1] }, want: `usage "server auth"`},
		"NoNames": {
			reason: "a certificate for nothing", change: func(a *asked) { a.content.DNSNames, a.content.IPAddresses = nil, nil }, want: "no name and no address",
		},
		"URI":   {reason: "nodes have no URIs", change: func(a *asked) { a.content.URIs = []*url.URL{{Scheme: "spiffe", Host: "b"}} }, want: "URIs"},
		"EMail": {reason: "nor mail", change: func(a *asked) { a.content.EmailAddresses = []string{"a@example.org"} }, want: "e-mail"},
		"ForeignName": {
			reason: "the name of another node", change: func(a *asked) { a.content.DNSNames = []string{"a", "b"} }, want: "it asks for 10.0.0.1, a, b, but",
		},
		"ForeignAddress": {
			reason: "the address of another node", change: func(a *asked) { a.content.IPAddresses = []net.IP{net.ParseIP("10.0.0.2")} }, want: "10.0.0.2",
		},
		"NameOfServer": {
			reason: "the name of the API server", change: func(a *asked) { a.content.DNSNames = append(a.content.DNSNames, "kubernetes.default.svc") }, want: "kubernetes.default.svc",
		},
		"FewerNames": {reason: "not all of its addresses", change: func(a *asked) { a.content.DNSNames = nil }, want: "but the addresses"},
		"ClaimedAddress": {
			reason: "a node that writes the address of another one into its own status first",
			change: func(a *asked) { a.content.IPAddresses = []net.IP{net.ParseIP("10.0.0.2")} },
			nodes:  func(n []corev1.Node) { n[0].Status.Addresses[0].Address = "10.0.0.2" }, want: `it asks for 10.0.0.2, which belongs to Node "b"`,
		},
		"ClaimedName": {
			reason: "a node that claims a name of another one", change: func(a *asked) { a.content.DNSNames = []string{"B.example.org"} },
			nodes: func(n []corev1.Node) { n[0].Status.Addresses[1].Address = "b.example.org" }, want: `b.example.org, which belongs to Node "b"`,
		},
		"ClaimedNodeName": {
			reason: "a node that claims the name of a Node that has no addresses yet", change: func(a *asked) { a.content.DNSNames = []string{"b"} },
			nodes: func(n []corev1.Node) { n[0].Status.Addresses[1].Address, n[1].Status.Addresses = "b", nil }, want: `b, which belongs to Node "b"`,
		},
		"NoNode":   {reason: "a node that has gone", change: func(*asked) {}, nodes: func(n []corev1.Node) { n[0].Name = "c" }, want: `there is no Node "a"`},
		"Garbage":  {reason: "no request at all", change: func(a *asked) { a.spoil = func([]byte) []byte { return []byte("hello") } }, want: "exactly one block"},
		"TwoOfIt":  {reason: "what follows could be read by others", change: func(a *asked) { a.spoil = func(e []byte) []byte { return append(e, e...) } }, want: "exactly one block"},
		"Tampered": {reason: "without the key", change: func(a *asked) { a.spoil = tamper }, want: "its signature is wrong"},
		"Long":     {reason: "to verify its signature would take long", change: func(a *asked) { a.spoil = long }, want: "more than the 16384 that are read"},
		"LargeKey": {reason: "so would that of one with a large key", change: func(a *asked) { a.spoil = withKey(t, 9000, 65537) }, want: "is too large"},
		"LargeExponent": {
			reason: "or with an exponent that nobody uses", change: func(a *asked) { a.spoil = withKey(t, 2048, 1<<31-1) }, want: "is too large",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, known := fromA(), nodes()
			if tc.change != nil {
				tc.change(a)
			}
			if tc.nodes != nil {
				tc.nodes(known)
			}
			err := certificates.Judge(a.request(t), known)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\nJudge(...) = %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

// tamper changes the last byte of the signature.
func tamper(encoded []byte) []byte {
	block, _ := pem.Decode(encoded)
	block.Bytes[len(block.Bytes)-1] ^= 1
	return pem.EncodeToMemory(block)
}
