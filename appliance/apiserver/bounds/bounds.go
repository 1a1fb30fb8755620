// SPDX-License-Identifier: Apache-2.0

// Package bounds rejects requests whose bodies would be expensive to decode, or whose errors would be expensive to report.
package bounds

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/terrarium-garden/terrarium/apis/bounds"
)

const (
	// MaxEntries is the maximum number of entries of an object or array. The largest ones in use have some hundred.
	MaxEntries = 5000
	// MaxEntriesInText is the maximum for JSON in a protobuf message, which can also be a file in a ConfigMap.
	MaxEntriesInText = 20_000

	// MaxTotal is the maximum number of entries, objects and arrays in a body together. Each can be an error, and the library joins the
	// messages of errors one by one, in a time that grows with the square of their number: 20,000 take 14 s.
	MaxTotal = 20_000
	// MaxTotalInGarden is the maximum for kinds of the garden, whose errors are cut off. Profiles of clouds have the most entries,
	// some thousand.
	MaxTotalInGarden = 100_000
	// MaxTotalInDefinition is the maximum for CustomResourceDefinitions, which only administrators create.
	MaxTotalInDefinition = 400_000
	// MaxTotalInReview is the maximum for what every user may create: reviews of what tokens are and users may do.
	MaxTotalInReview = 1000

	// MaxCertificateRequest is the maximum length of a CertificateSigningRequest, in bytes. Its signature is verified before any rule sees
	// it, in a time that grows with the square of the length of the key; a request for a usual key has less than 4 KiB.
	MaxCertificateRequest = 16 << 10
)

// With passes requests for resources to a handler if their bodies are within bounds. It also passes bodies longer than
// limit, which the handler itself rejects.
func With(next http.Handler, limit int64, s runtime.NegotiatedSerializer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		about, ok := genericapirequest.RequestInfoFrom(r.Context())
		if !ok || !about.IsResourceRequest || r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)

			return
		}
		body, err := read(r, limit)
		switch {
		case err != nil:
		case len(body) > MaxCertificateRequest && requestsCertificate(about):
			err = fmt.Errorf("a CertificateSigningRequest of more than %d bytes; use an RSA key of at most 8192 bits, or one on an elliptic curve", MaxCertificateRequest)
		case int64(len(body)) <= limit:
			err = bounds.Check(body, r.Header.Get("Content-Type"), LimitsOf(about.APIGroup))
		}
		if err != nil {
			responsewriters.ErrorNegotiated(apierrors.NewBadRequest(err.Error()), s,
				schema.GroupVersion{Group: about.APIGroup, Version: about.APIVersion}, w, r)

			return
		}
		next.ServeHTTP(w, r)
	})
}

// LimitsOf returns the limits for bodies of an API group.
func LimitsOf(group string) bounds.Limits {
	limits := bounds.Limits{Entries: MaxEntries, InText: MaxEntriesInText, Total: MaxTotal}
	switch {
	case group == authenticationv1.GroupName || group == authorizationv1.GroupName:
		limits.Total = MaxTotalInReview
	case group == apiextensionsv1.GroupName:
		limits.Total = MaxTotalInDefinition
	case strings.HasSuffix(group, gardenDomain):
		limits.Total = MaxTotalInGarden
	}

	return limits
}

// gardenDomain is the end of the name of each group of the garden.
const gardenDomain = ".gardener.cloud"

// requestsCertificate reports whether the body of a request can be a CertificateSigningRequest that is created. Certificates and approvals
// are added by other parts of the API.
func requestsCertificate(about *genericapirequest.RequestInfo) bool {
	return about.APIGroup == certificatesv1.GroupName && about.Resource == "certificatesigningrequests" && about.Subresource == ""
}

// read returns the beginning of a body, at most one byte more than limit, and resets the body to its start.
func read(r *http.Request, limit int64) ([]byte, error) {
	var start bytes.Buffer
	if r.ContentLength > 0 && r.ContentLength <= limit {
		start.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	if _, err := io.Copy(&start, io.LimitReader(r.Body, limit+1)); err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(start.Bytes()), r.Body), r.Body}

	return start.Bytes(), nil
}
