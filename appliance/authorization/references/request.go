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
)

const requestBlock = "CERTIFICATE REQUEST"

// ErrNoRequest says that a CertificateSigningRequest holds no request.
var ErrNoRequest = errors.New("spec.request: holds no PEM block of type " + requestBlock)

// SeedOfRequest returns the seed whose gardenlet would get the certificate, if the request asks for the client
// certificate of a gardenlet and for nothing more (GLET-CSR-1, GLET-CSR-2), and nothing otherwise.
func SeedOfRequest(r *certificatesv1.CertificateSigningRequestSpec) (string, error) {
	block, _ := pem.Decode(r.Request)
	if block == nil || block.Type != requestBlock {
		return "", ErrNoRequest
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return "", fmt.Errorf("spec.request: %w", err)
	}
	seed, ok := strings.CutPrefix(request.Subject.CommonName, gardencorev1beta1.UserPrefixSeed)
	names := len(request.DNSNames) + len(request.EmailAddresses) + len(request.IPAddresses) + len(request.URIs)
	if !ok || len(validation.IsDNS1123Label(seed)) > 0 || len(request.Subject.Names) != 2 || names > 0 || !slices.Equal(request.Subject.Organization, []string{gardencorev1beta1.GroupSeeds}) ||
		r.SignerName != certificatesv1.KubeAPIServerClientSignerName || !clientUsages(r.Usages) {
		return "", nil
	}

	return seed, nil
}

func clientUsages(usages []certificatesv1.KeyUsage) bool {
	usages = slices.Clone(usages)
	slices.Sort(usages)

	return slices.Equal(slices.Compact(usages), []certificatesv1.KeyUsage{
		certificatesv1.UsageClientAuth, certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment,
	})
}
