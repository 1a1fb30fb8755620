// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"net/http"
	"os"
	"testing"

	"github.com/terrarium-garden/terrarium/tests/objectstore"
)

// objectStore is a server of S3 over TLS, which checks signatures.
type objectStore struct {
	*objectstore.Server

	config BucketConfig
}

func newObjectStore(tb testing.TB) *objectStore {
	tb.Helper()
	s := objectstore.New(tb)

	return &objectStore{s, BucketConfig{
		Endpoint: s.URL, Bucket: objectstore.Bucket, Prefix: "one", Region: "eu-1", CredentialsFile: s.CredentialsFile, CAFile: s.CAFile, PartBytes: 5 << 20,
	}}
}

func writeTest(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// cutOff ends the connection of a request.
func cutOff(http.ResponseWriter) bool {
	panic(http.ErrAbortHandler)
}
