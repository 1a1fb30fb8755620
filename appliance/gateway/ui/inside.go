// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/appliance/gateway/session"
)

// passedHeaders returns the names of the headers of a browser that the API gets. Everything else is left out: credentials of other
// kinds, impersonation, headers of proxies, and upgrades of the connection, which can contain a credential too.
func passedHeaders() []string {
	return []string{
		"Accept", "Accept-Encoding", "Accept-Language", "Content-Encoding", "Content-Type", "If-Match", "If-None-Match", "User-Agent",
	}
}

// inside returns a request to the API from one of a browser, with the credential as the only one.
func inside(ctx context.Context, r *http.Request, credential session.Credential, target *url.URL) *http.Request {
	in := r.WithContext(ctx)
	in.URL, in.RequestURI, in.Trailer = target, target.RequestURI(), nil
	in.Header = http.Header{}
	for _, name := range passedHeaders() {
		if values := r.Header[name]; len(values) > 0 {
			in.Header[name] = values
		}
	}
	in.TLS = &tls.ConnectionState{HandshakeComplete: true}
	if r.TLS != nil {
		in.TLS.Version, in.TLS.CipherSuite, in.TLS.NegotiatedProtocol = r.TLS.Version, r.TLS.CipherSuite, r.TLS.NegotiatedProtocol
		in.TLS.ServerName = r.TLS.ServerName
	}
	if credential.Token != "" {
		in.Header.Set("Authorization", "Bearer "+credential.Token)
	}
	if credential.Certificate != nil {
		in.TLS.PeerCertificates = []*x509.Certificate{credential.Certificate}
	}

	return in
}

// reply collects the answer to a request of this package to the API.
type reply struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (p *reply) Header() http.Header { return p.header }

// WriteHeader implements http.ResponseWriter.
func (p *reply) WriteHeader(status int) {
	if p.status == 0 && status >= http.StatusOK {
		p.status = status
	}
}

// Write implements http.ResponseWriter.
func (p *reply) Write(data []byte) (int, error) {
	p.WriteHeader(http.StatusOK)

	return p.body.Write(data)
}

// review creates an object that is a question to the API, and returns the status and, if it is answered, the answer.
func review[T any](api http.Handler, r *http.Request, credential session.Credential, path string, question T) (answer T, status int, err error) {
	data, err := json.Marshal(question)
	if err != nil {
		return answer, 0, fmt.Errorf("encode %T: %w", question, err)
	}
	in := inside(r.Context(), r, credential, &url.URL{Path: path})
	in.Method, in.Body, in.ContentLength = http.MethodPost, io.NopCloser(bytes.NewReader(data)), int64(len(data))
	in.Header.Set("Content-Type", "application/json")
	in.Header.Set("Accept", "application/json")
	in.Header.Del("Accept-Encoding")
	in.Header.Del("Content-Encoding")
	out := &reply{header: http.Header{}}
	api.ServeHTTP(out, in)
	if out.status != http.StatusCreated {
		return answer, out.status, nil
	}
	if err := json.Unmarshal(out.body.Bytes(), &answer); err != nil {
		return answer, 0, fmt.Errorf("decode %T: %w", answer, err)
	}

	return answer, out.status, nil
}

// whoIs asks the API whom a credential belongs to. The status is that of the API, Created for a valid credential.
func whoIs(api http.Handler, r *http.Request, credential session.Credential) (session.User, int, error) {
	answer, status, err := review(api, r, credential, "/apis/authentication.k8s.io/v1/selfsubjectreviews", authenticationv1.SelfSubjectReview{
		TypeMeta: metav1.TypeMeta{APIVersion: authenticationv1.SchemeGroupVersion.String(), Kind: "SelfSubjectReview"},
	})
	found := answer.Status.UserInfo

	return session.User{Name: found.Username, Groups: found.Groups}, status, err
}

// isAdmin asks the API whether a credential has all permissions.
func isAdmin(api http.Handler, r *http.Request, credential session.Credential) bool {
	answer, status, err := review(api, r, credential, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", authorizationv1.SelfSubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SelfSubjectAccessReview"},
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: "*", Group: "*", Resource: "*",
		}},
	})

	return err == nil && status == http.StatusCreated && answer.Status.Allowed
}
