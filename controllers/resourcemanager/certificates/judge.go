// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/terrarium-garden/terrarium/apis/keysize"
)

const (
	nodeUserPrefix = "system:node:"
	nodeGroup      = "system:nodes"
)

// Judge returns why a request for the serving certificate of a kubelet has to be denied, or nil if it may be approved. nodes are all of
// the cluster.
func Judge(request *certificatesv1.CertificateSigningRequest, nodes []corev1.Node) error {
	name, found := strings.CutPrefix(request.Spec.Username, nodeUserPrefix)
	if !found || name == "" || !slices.Contains(request.Spec.Groups, nodeGroup) {
		return fmt.Errorf("it is not from a node: the user is %q", request.Spec.Username)
	}
	content, err := parse(request.Spec.Request)
	if err != nil {
		return err
	}
	if err := errors.Join(checkSubject(content, request.Spec.Username), checkUsages(request.Spec.Usages)); err != nil {
		return err
	}
	return checkNames(namesIn(content), name, nodes)
}

// longest is the length of the longest request that is read, in bytes. One for an RSA key of 8192 bits has less than 4 KiB.
const longest = 16 << 10

// parse decodes a request, which has to be signed with its own key. What its signature takes to verify grows with the square of the length of
// the key, so it is bounded before.
func parse(encoded []byte) (*x509.CertificateRequest, error) {
	if len(encoded) > longest {
		return nil, fmt.Errorf("it has %d bytes, more than the %d that are read", len(encoded), longest)
	}
	block, rest := pem.Decode(encoded)
	if block == nil || block.Type != "CERTIFICATE REQUEST" || len(strings.TrimSpace(string(rest))) > 0 {
		return nil, errors.New("it does not hold exactly one block CERTIFICATE REQUEST")
	}
	content, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	if keysize.Large(content.PublicKey) {
		return nil, keysize.ErrOutsized
	}
	if err := content.CheckSignature(); err != nil {
		return nil, fmt.Errorf("its signature is wrong: %w", err)
	}
	return content, nil
}

func checkSubject(content *x509.CertificateRequest, user string) error {
	if content.Subject.CommonName != user {
		return fmt.Errorf("its common name is %q, must be the user %q", content.Subject.CommonName, user)
	}
	if !slices.Equal(content.Subject.Organization, []string{nodeGroup}) {
		return fmt.Errorf("its organizations are %q, must be exactly %q", content.Subject.Organization, nodeGroup)
	}
	if len(content.EmailAddresses) > 0 || len(content.URIs) > 0 {
		return errors.New("it asks for e-mail addresses or URIs, which nodes do not have")
	}
	if len(content.DNSNames)+len(content.IPAddresses) == 0 {
		return errors.New("it asks for no name and no address")
	}
	return nil
}

// checkUsages allows what a server needs.
func checkUsages(usages []certificatesv1.KeyUsage) error {
	allowed := []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment, certificatesv1.UsageServerAuth}
	for _, usage := range usages {
		if !slices.Contains(allowed, usage) {
			return fmt.Errorf("it asks for the usage %q, which a server does not need", usage)
		}
	}
	if !slices.Contains(usages, certificatesv1.UsageServerAuth) {
		return fmt.Errorf("it does not ask for the usage %q", certificatesv1.UsageServerAuth)
	}
	return nil
}

// names are DNS names and addresses under which a node can be reached.
type names map[string]bool

// add adds a name, or an address in its usual form.
func (n names) add(given string) {
	if ip := net.ParseIP(given); ip != nil {
		given = ip.String()
	}
	if given != "" {
		n[strings.ToLower(given)] = true
	}
}

func (n names) String() string {
	return strings.Join(slices.Sorted(maps.Keys(n)), ", ")
}

func namesIn(content *x509.CertificateRequest) names {
	all := names{}
	for _, name := range content.DNSNames {
		all.add(name)
	}
	for _, ip := range content.IPAddresses {
		all.add(ip.String())
	}
	return all
}

// namesOf are those of a node, as kubelets ask for them: a host name that is an address counts as one.
func namesOf(node *corev1.Node) names {
	all := names{}
	for _, address := range node.Status.Addresses {
		all.add(address.Address)
	}
	return all
}

// checkNames compares what is asked for with the addresses of the node itself, and makes sure that no other node has one of them.
func checkNames(asked names, name string, nodes []corev1.Node) error {
	own := slices.IndexFunc(nodes, func(n corev1.Node) bool { return n.Name == name })
	if own < 0 {
		return fmt.Errorf("there is no Node %q", name)
	}
	if want := namesOf(&nodes[own]); !maps.Equal(asked, want) {
		return fmt.Errorf("it asks for %s, but the addresses of Node %q are %s", asked, name, want)
	}
	for i := range nodes {
		if i == own {
			continue
		}
		of := namesOf(&nodes[i])
		of.add(nodes[i].Name)
		for one := range asked {
			if of[one] {
				return fmt.Errorf("it asks for %s, which belongs to Node %q", one, nodes[i].Name)
			}
		}
	}
	return nil
}
