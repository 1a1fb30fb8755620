// SPDX-License-Identifier: Apache-2.0

package backup

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
	bucketName   = "gardens"
	accessKey    = "access"
	accessSecret = "do-not-tell"
)

// objectStore is a server of S3 over TLS, which checks signatures.
type objectStore struct {
	config BucketConfig
	secret atomic.Pointer[string]
	// fault answers a request in its own way and returns true, or does nothing and returns false.
	fault atomic.Pointer[func(w http.ResponseWriter, r *http.Request) bool]
	// requests counts those that are answered.
	requests atomic.Int64
}

func newObjectStore(tb testing.TB) *objectStore {
	tb.Helper()
	s := &objectStore{}
	s.secret.Store(new(accessSecret))
	memory := s3mem.New()
	if err := memory.CreateBucket(bucketName); err != nil {
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
	ca, file := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "credentials")
	writeTest(tb, ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	writeTest(tb, file, profile(accessSecret))
	s.config = BucketConfig{
		Endpoint: server.URL, Bucket: bucketName, Prefix: "one", Region: "eu-1", CredentialsFile: file, CAFile: ca, PartBytes: 5 << 20,
	}

	return s
}

func profile(secret string) string {
	return "[other]\naws_access_key_id = no\n\n[default]\n# key\naws_access_key_id = " + accessKey + "\naws_secret_access_key=" + secret + "\n"
}

func writeTest(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// on has the next requests of a kind be answered by a fault.
func (s *objectStore) on(fault func(w http.ResponseWriter, r *http.Request) bool) {
	s.fault.Store(&fault)
}

// refuse checks the signature of a request, version 4.
func (s *objectStore) refuse(r *http.Request) (code string) {
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
	request := r.Method + "\n" + r.URL.EscapedPath() + "\n" + strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20") + "\n"
	for _, name := range names {
		value := r.Header.Get(name)
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		request += name + ":" + value + "\n"
	}
	request += "\n" + fields["SignedHeaders"] + "\n" + r.Header.Get("X-Amz-Content-Sha256")
	sum := sha256.Sum256([]byte(request))
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

// cutOff ends the connection of a request.
func cutOff(http.ResponseWriter) bool {
	panic(http.ErrAbortHandler)
}
