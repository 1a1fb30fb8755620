// SPDX-License-Identifier: Apache-2.0

// Package objectstore runs an object store with the protocol of S3 inside a test: over TLS, with one bucket, and it checks the
// signatures of requests.
package objectstore

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

const (
	// Bucket is the bucket that there is.
	Bucket = "gardens"
	// Secret is the secret key that is accepted at first.
	Secret = "do-not-tell"

	accessKey = "access"
)

// Server is a running object store. It ends with the test.
type Server struct {
	// URL is its endpoint. CAFile has its certificate, and CredentialsFile its credentials, as the tools of AWS keep them.
	URL, CAFile, CredentialsFile string

	secret   atomic.Pointer[string]
	fault    atomic.Pointer[func(w http.ResponseWriter, r *http.Request) bool]
	requests atomic.Int64
}

// New runs an object store.
func New(tb testing.TB) *Server {
	tb.Helper()
	s := &Server{}
	s.Accept(Secret)
	memory := s3mem.New()
	if err := memory.CreateBucket(Bucket); err != nil {
		tb.Fatal(err)
	}
	backend := gofakes3.New(memory).Server()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		if code := s.refuse(r); code != "" {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>Forbidden</Message></Error>", code)

			return
		}
		if fault := s.fault.Load(); fault != nil && (*fault)(w, r) {
			return
		}
		backend.ServeHTTP(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	tb.Cleanup(server.Close)
	dir := tb.TempDir()
	s.URL, s.CAFile, s.CredentialsFile = server.URL, filepath.Join(dir, "ca.pem"), filepath.Join(dir, "credentials")
	for path, text := range map[string]string{
		s.CAFile:          string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})),
		s.CredentialsFile: Profile(Secret),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}

	return s
}

// Profile is the content of a file of credentials with a secret key.
func Profile(secret string) string {
	return "[other]\naws_access_key_id = no\n\n[default]\n# key\naws_access_key_id = " + accessKey + "\naws_secret_access_key=" + secret + "\n"
}

// Accept changes the secret key.
func (s *Server) Accept(secret string) { s.secret.Store(&secret) }

// Requests counts the requests that were answered.
func (s *Server) Requests() int64 { return s.requests.Load() }

// On has the next requests of a kind be answered by a fault, which answers a request in its own way and returns true, or does nothing and
// returns false; nil is none.
func (s *Server) On(fault func(w http.ResponseWriter, r *http.Request) bool) {
	if fault == nil {
		s.fault.Store(nil)

		return
	}
	s.fault.Store(&fault)
}

// refuse checks the signature of a request, version 4.
func (s *Server) refuse(r *http.Request) (code string) {
	fields := map[string]string{}
	text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return "AccessDenied"
	}
	for field := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		fields[name] = value
	}
	key, scope, _ := strings.Cut(fields["Credential"], "/")
	if key != accessKey {
		return "InvalidAccessKeyId"
	}
	names := strings.Split(fields["SignedHeaders"], ";")
	slices.Sort(names)
	lines := []string{r.Method, r.URL.EscapedPath(), strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20")}
	for _, name := range names {
		value := r.Header.Get(name)
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		lines = append(lines, name+":"+value)
	}
	lines = append(lines, "", fields["SignedHeaders"], r.Header.Get("X-Amz-Content-Sha256"))
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	signed := "AWS4-HMAC-SHA256\n" + r.Header.Get("X-Amz-Date") + "\n" + scope + "\n" + hex.EncodeToString(sum[:])
	by := []byte("AWS4" + *s.secret.Load())
	for _, part := range append(strings.Split(scope, "/"), signed) {
		mac := hmac.New(sha256.New, by)
		mac.Write([]byte(part))
		by = mac.Sum(nil)
	}
	if hex.EncodeToString(by) != fields["Signature"] {
		return "SignatureDoesNotMatch"
	}

	return ""
}
