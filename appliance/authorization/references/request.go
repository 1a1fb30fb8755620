// SPDX-License-Identifier: Apache-2.0

package references

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/shootclient"
)

const requestBlock = "CERTIFICATE REQUEST"

// ErrNoRequest says that a CertificateSigningRequest does not contain a request.
var ErrNoRequest = errors.New("spec.request: must contain a PEM block of type " + requestBlock)

// SeedOfRequest returns the seed of a request for the client certificate of a gardenlet, and an empty string for any other
// request (GLET-CSR-1, GLET-CSR-2).
func SeedOfRequest(r *certificatesv1.CertificateSigningRequestSpec) (string, error) {
	seed, err := clientOfRequest(r, gardencorev1beta1.UserPrefixSeed, gardencorev1beta1.GroupSeeds)
	if err != nil || len(validation.IsDNS1123Label(seed)) > 0 {
		return "", err
	}

	return seed, nil
}

// ShootOfRequest returns the self-hosted shoot of a request for the client certificate of its gardenlet, and no shoot for
// any other request.
func ShootOfRequest(r *certificatesv1.CertificateSigningRequestSpec) (shootclient.Client, error) {
	shoot, err := clientOfRequest(r, gardencorev1beta1.UserPrefixShoot, gardencorev1beta1.GroupShoots)

	return shootclient.Parse(shoot), err
}

// clientOfRequest returns the common name without its prefix of a request for the client certificate of a member of a group,
// and an empty string for any other request.
func clientOfRequest(r *certificatesv1.CertificateSigningRequestSpec, prefix, member string) (string, error) {
	block, _ := pem.Decode(r.Request)
	if block == nil || block.Type != requestBlock {
		return "", ErrNoRequest
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return "", fmt.Errorf("spec.request: %w", err)
	}
	name, ok := strings.CutPrefix(request.Subject.CommonName, prefix)
	names := len(request.DNSNames) + len(request.EmailAddresses) + len(request.IPAddresses) + len(request.URIs)
	if !ok || len(request.Subject.Names) != 2 || names > 0 || !slices.Equal(request.Subject.Organization, []string{member}) ||
		r.SignerName != certificatesv1.KubeAPIServerClientSignerName || !clientUsages(r.Usages) {
		return "", nil
	}

	return name, nil
}

func clientUsages(usages []certificatesv1.KeyUsage) bool {
	usages = slices.Clone(usages)
	slices.Sort(usages)

	return slices.Equal(slices.Compact(usages), []certificatesv1.KeyUsage{
		certificatesv1.UsageClientAuth, certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment,
	})
}
