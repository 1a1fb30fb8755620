// SPDX-License-Identifier: Apache-2.0

package csr

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const blockType = "CERTIFICATE REQUEST"

var errNoRequest = errors.New("no PEM block of type " + blockType)

// Open reports whether nobody has approved or denied the request yet (GCM-CSR-1).
func Open(request *certificatesv1.CertificateSigningRequest) bool {
	if len(request.Status.Certificate) > 0 {
		return false
	}
	return !slices.ContainsFunc(request.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool {
		return c.Type == certificatesv1.CertificateApproved || c.Type == certificatesv1.CertificateDenied
	})
}

// Asked returns what is requested if that is the client certificate of a gardenlet and nothing else (GCM-CSR-2), and nil
// otherwise. A request that cannot be parsed is an error (GCM-CSR-3).
func Asked(request *certificatesv1.CertificateSigningRequest) (*Ask, error) {
	parsed, err := opened(request)
	if err != nil || parsed == nil || !isSeed(parsed.Subject.CommonName) || !slices.Equal(parsed.Subject.Organization, []string{gardencorev1beta1.GroupSeeds}) {
		return nil, err
	}
	return asking(request, parsed, strings.TrimPrefix(parsed.Subject.CommonName, gardencorev1beta1.UserPrefixSeed)), nil
}

func asking(request *certificatesv1.CertificateSigningRequest, parsed *x509.CertificateRequest, who string) *Ask {
	key := sha256.Sum256(parsed.RawSubjectPublicKeyInfo)
	return &Ask{Seed: who, Request: request.Name, UID: request.UID, Key: hex.EncodeToString(key[:])}
}

// opened returns what is in a request if that is the certificate of a client with a common name, an organization and nothing else, and nil
// otherwise. The garden ignores other attributes, but other servers that trust the certificate may not.
func opened(request *certificatesv1.CertificateSigningRequest) (*x509.CertificateRequest, error) {
	if request.Spec.SignerName != certificatesv1.KubeAPIServerClientSignerName {
		return nil, nil //nolint:nilnil // not a request of a gardenlet
	}
	block, _ := pem.Decode(request.Spec.Request)
	if block == nil || block.Type != blockType {
		return nil, errNoRequest
	}
	parsed, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parse certificate request: %w", err)
	}
	others := len(parsed.DNSNames) + len(parsed.EmailAddresses) + len(parsed.IPAddresses) + len(parsed.URIs)
	if others > 0 || len(parsed.Subject.Names) != 2 || !hasClientUsages(request.Spec.Usages) {
		return nil, nil //nolint:nilnil // not a request of a gardenlet
	}
	return parsed, nil
}

// Impersonates reports whether a gardenlet that has a certificate requests that of another seed. It may only renew its own; a
// new seed joins with a token.
func Impersonates(request *certificatesv1.CertificateSigningRequest, seed string) bool {
	return fromSeed(request) && request.Spec.Username != gardencorev1beta1.UserPrefixSeed+seed
}

// fromSeed reports whether the author of a request is a gardenlet with a certificate, valid name or not.
func fromSeed(request *certificatesv1.CertificateSigningRequest) bool {
	return strings.HasPrefix(request.Spec.Username, gardencorev1beta1.UserPrefixSeed)
}

func isSeed(user string) bool {
	seed, found := strings.CutPrefix(user, gardencorev1beta1.UserPrefixSeed)
	return found && len(validation.IsDNS1123Label(seed)) == 0
}

func hasClientUsages(usages []certificatesv1.KeyUsage) bool {
	set := map[certificatesv1.KeyUsage]bool{}
	for _, usage := range usages {
		set[usage] = true
	}
	return maps.Equal(set, map[certificatesv1.KeyUsage]bool{
		certificatesv1.UsageKeyEncipherment:  true,
		certificatesv1.UsageDigitalSignature: true,
		certificatesv1.UsageClientAuth:       true,
	})
}

// Review returns the question whether the author of the request may create clients of a kind, which is a subresource (GCM-CSR-4).
func Review(request *certificatesv1.CertificateSigningRequest, clients string) *authorizationv1.SubjectAccessReview {
	extra := make(map[string]authorizationv1.ExtraValue, len(request.Spec.Extra))
	for key, values := range request.Spec.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	return &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:   request.Spec.Username,
		UID:    request.Spec.UID,
		Groups: request.Spec.Groups,
		Extra:  extra,
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb:        "create",
			Group:       certificatesv1.GroupName,
			Version:     "*",
			Resource:    "certificatesigningrequests",
			Subresource: clients,
		},
	}}
}
