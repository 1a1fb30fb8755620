// SPDX-License-Identifier: Apache-2.0

package csr

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const blockType = "CERTIFICATE REQUEST"

var errNoRequest = errors.New("no PEM block of type " + blockType)

// Open tells whether nobody has decided about the request yet (GCM-CSR-1).
func Open(request *certificatesv1.CertificateSigningRequest) bool {
	if len(request.Status.Certificate) > 0 {
		return false
	}
	return !slices.ContainsFunc(request.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool {
		return c.Type == certificatesv1.CertificateApproved || c.Type == certificatesv1.CertificateDenied
	})
}

// SeedClient returns the user that the certificate would be for, if the request asks for the client certificate of a
// gardenlet and nothing more (GCM-CSR-2), and the empty string otherwise. A request that cannot be parsed is an error
// (GCM-CSR-3).
func SeedClient(request *certificatesv1.CertificateSigningRequest) (string, error) {
	if request.Spec.SignerName != certificatesv1.KubeAPIServerClientSignerName {
		return "", nil
	}
	block, _ := pem.Decode(request.Spec.Request)
	if block == nil || block.Type != blockType {
		return "", errNoRequest
	}
	parsed, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return "", fmt.Errorf("parse certificate request: %w", err)
	}
	user := parsed.Subject.CommonName
	if !isSeed(user) || !slices.Equal(parsed.Subject.Organization, []string{gardencorev1beta1.GroupSeeds}) || !hasClientUsages(request.Spec.Usages) {
		return "", nil
	}
	if len(parsed.DNSNames)+len(parsed.EmailAddresses)+len(parsed.IPAddresses)+len(parsed.URIs) > 0 {
		return "", nil
	}
	return user, nil
}

// Impersonates tells whether a gardenlet that has a certificate already asks for that of another seed. It may only renew
// its own; a new seed joins with a token.
func Impersonates(request *certificatesv1.CertificateSigningRequest, user string) bool {
	return isSeed(request.Spec.Username) && request.Spec.Username != user
}

func isSeed(user string) bool {
	seed, found := strings.CutPrefix(user, gardencorev1beta1.UserPrefixSeed)
	return found && seed != ""
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

// Review asks whether the author of the request may create seed clients (GCM-CSR-4).
func Review(request *certificatesv1.CertificateSigningRequest) *authorizationv1.SubjectAccessReview {
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
			Subresource: "seedclient",
		},
	}}
}
