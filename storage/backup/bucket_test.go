// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/minio/minio-go/v7"

	"github.com/terrarium-garden/terrarium/tests/objectstore"
)

const (
	oneName = "snapshot-20261122-120000-7-3"
	twoName = "increment-20261122-120030-7-9-3-3"
)

// content is what cannot be compressed, of a size.
func content(size int) []byte {
	text := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(text)

	return text
}

func (s *objectStore) bucket(tb testing.TB) *Bucket {
	tb.Helper()
	b, err := NewBucket(tb.Context(), s.config)
	if err != nil {
		tb.Fatal(err)
	}

	return b
}

func put(tb testing.TB, to Store, name string, text []byte) error {
	tb.Helper()

	return to.Put(tb.Context(), name, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(text))

		return err
	})
}

func namesIn(tb testing.TB, of Store) (found []string) {
	tb.Helper()
	all, err := of.List(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range all {
		found = append(found, e.Name)
	}

	return found
}

// TestBucket writes, lists, reads and deletes files of one request and of several parts.
func TestBucket(t *testing.T) {
	t.Parallel()
	s := newObjectStore(t)
	b := s.bucket(t)
	for name, size := range map[string]int{oneName: 12 << 20, twoName: 1000} {
		if err := put(t, b, name, content(size)); err != nil {
			t.Fatal(err)
		}
	}
	// Another garden and other files are not its own.
	other := s.config
	other.Prefix = "/two/"
	if two, err := NewBucket(t.Context(), other); err != nil || put(t, two, "snapshot-20261122-120000-8-3", nil) != nil {
		t.Fatal(err)
	}
	if _, err := b.client.Client.PutObject(t.Context(), objectstore.Bucket, "one/readme.txt", strings.NewReader("x"), 1, minio.PutObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	all, err := b.List(t.Context())
	if err != nil || len(all) != 2 || all[0].Name != twoName || all[1].Bytes != 12<<20 || all[1].Objects.To != 7 {
		t.Fatalf("List: %+v, %v", all, err)
	}
	for name, size := range map[string]int{oneName: 12 << 20, twoName: 1000} {
		f, err := b.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		before := s.Requests()
		read, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
		if err != nil || !bytes.Equal(read, content(size)) {
			t.Errorf("%q was written with %d bytes, and %d were read: %v", name, size, len(read), err)
		}
		if n := s.Requests() - before; n != 1 {
			t.Errorf("%q was read with %d requests, want 1", name, n)
		}
		end := make([]byte, 100)
		if n, err := f.ReadAt(end, f.Size()-10); n != 10 || !errors.Is(err, io.EOF) || !bytes.Equal(end[:10], content(size)[size-10:]) {
			t.Errorf("The end of %q: %d bytes, %v", name, n, err)
		}
		if err := errors.Join(f.Close(), b.Delete(t.Context(), name)); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{oneName, "../two/snapshot-20261122-120000-8-3"} {
		if err := b.Delete(t.Context(), name); !errors.Is(err, ErrNotFound) {
			t.Errorf("Delete %q: %v", name, err)
		}
		if _, err := b.Open(t.Context(), name); !errors.Is(err, ErrNotFound) {
			t.Errorf("Open %q: %v", name, err)
		}
	}
	if found := namesIn(t, b); len(found) > 0 {
		t.Errorf("What was deleted is listed: %v", found)
	}
}

// TestBucketRefused says what is wrong, and nothing of the credentials.
func TestBucketRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(t *testing.T, c *BucketConfig)
		want   string
	}{
		"Bucket": {func(_ *testing.T, c *BucketConfig) { c.Bucket = "missing" }, "create the bucket"},
		"Secret": {func(t *testing.T, c *BucketConfig) {
			t.Helper()
			writeTest(t, c.CredentialsFile, objectstore.Profile("not-to-tell"))
		}, "check the credentials"},
		"Key": {func(_ *testing.T, c *BucketConfig) {
			c.CredentialsFile, c.Getenv = "", func(string) string { return "not-to-tell" }
		}, "check the credentials"},
		"NoCredentials": {func(_ *testing.T, c *BucketConfig) {
			c.CredentialsFile, c.Getenv = "", func(string) string { return "" }
		}, "AWS_ACCESS_KEY_ID"},
		"NoProfile": {func(t *testing.T, c *BucketConfig) {
			t.Helper()
			writeTest(t, c.CredentialsFile, "[other]\naws_secret_access_key = not-to-tell\n")
		}, "profile default"},
		"NoFile":    {func(_ *testing.T, c *BucketConfig) { c.CredentialsFile += "-missing" }, "no such file"},
		"Authority": {func(_ *testing.T, c *BucketConfig) { c.CAFile = "" }, "certificate"},
		"NoServer":  {func(_ *testing.T, c *BucketConfig) { c.Endpoint = "https://127.0.0.1:1" }, "connection refused"},
		"Endpoint":  {func(_ *testing.T, c *BucketConfig) { c.Endpoint = "https://a:not-to-tell@b" }, "must have no credentials"},
		"NoCA":      {func(_ *testing.T, c *BucketConfig) { c.CAFile = c.CredentialsFile }, "has no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newObjectStore(t).config
			tc.change(t, &c)
			b, err := NewBucket(t.Context(), c)
			if err == nil {
				_, err = b.List(t.Context())
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("List: %v, want an error that says %q", err, tc.want)
			}
			for _, secret := range []string{objectstore.Secret, "not-to-tell"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("The error tells a secret: %v", err)
				}
			}
			if b != nil {
				if err := put(t, b, oneName, []byte("x")); err == nil {
					t.Error("A write is acknowledged.")
				}
			}
		})
	}
}

// TestBucketNewCredentials uses credentials that were replaced while the server runs.
func TestBucketNewCredentials(t *testing.T) {
	t.Parallel()
	s := newObjectStore(t)
	b := s.bucket(t)
	if err := put(t, b, oneName, []byte("x")); err != nil {
		t.Fatal(err)
	}
	s.Accept("another")
	if _, err := b.List(t.Context()); err == nil {
		t.Error("The old secret is accepted.")
	}
	writeTest(t, s.config.CredentialsFile, objectstore.Profile("another"))
	if err := os.Chtimes(s.config.CredentialsFile, time.Time{}, start.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if found := namesIn(t, b); len(found) != 1 {
		t.Errorf("With the new secret: %v", found)
	}
}

// TestBucketBrokenUpload breaks an upload in several ways. Nothing of it is listed, what was there before stays, and the next server
// removes what is left.
func TestBucketBrokenUpload(t *testing.T) {
	t.Parallel()
	errBoom := errors.New("boom")
	whole := func(w io.Writer) error {
		_, err := w.Write(content(12 << 20))

		return err
	}
	ended := func(err error, size int) func(io.Writer) error {
		return func(w io.Writer) error {
			_, failed := w.Write(content(size))

			return errors.Join(failed, err)
		}
	}
	part := func(number string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPut || r.URL.Query().Get("partNumber") != number {
				return false
			}
			_, _ = io.CopyN(io.Discard, r.Body, 1<<20)

			return cutOff(w)
		}
	}
	for name, tc := range map[string]struct {
		fault func(http.ResponseWriter, *http.Request) bool
		write func(io.Writer) error
		is    error
	}{
		"Part": {fault: part("2"), write: whole},
		"Complete": {fault: func(w http.ResponseWriter, r *http.Request) bool {
			return r.Method == http.MethodPost && r.URL.Query().Get("uploadId") != "" && cutOff(w)
		}, write: whole},
		"Everything": {fault: func(w http.ResponseWriter, r *http.Request) bool {
			return r.URL.Query().Get("uploadId") != "" && cutOff(w)
		}, write: whole},
		"Small":       {fault: func(w http.ResponseWriter, r *http.Request) bool { return r.Method == http.MethodPut && cutOff(w) }, write: ended(nil, 1000)},
		"Writer":      {write: ended(errBoom, 12<<20), is: errBoom},
		"WriterEarly": {write: ended(errBoom, 10), is: errBoom},
		"WriterEnd":   {write: func(w io.Writer) error { return errors.Join(ended(nil, 6<<20)(w), io.ErrUnexpectedEOF) }, is: io.ErrUnexpectedEOF},
		"WriterBare": {write: func(w io.Writer) error {
			_, _ = w.Write(content(10))

			return io.EOF
		}, is: io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newObjectStore(t)
			b := s.bucket(t)
			if err := put(t, b, twoName, []byte("before")); err != nil {
				t.Fatal(err)
			}
			if tc.fault != nil {
				s.On(tc.fault)
			}
			err := b.Put(t.Context(), oneName, tc.write)
			if err == nil || tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("Put: %v, want an error that is %v", err, tc.is)
			}
			s.On(nil)
			if diff := cmp.Diff([]string{twoName}, namesIn(t, b)); diff != "" {
				t.Errorf("Afterwards there is (-want +got):\n%s", diff)
			}
			again := s.bucket(t)
			for left := range again.client.ListIncompleteUploads(t.Context(), objectstore.Bucket, "", true) {
				// Without any upload, this server says that there is no such one.
				if minio.ToErrorResponse(left.Err).Code != minio.NoSuchUpload {
					t.Errorf("An upload is left: %+v", left)
				}
			}
			if err := again.Put(t.Context(), oneName, whole); err != nil {
				t.Errorf("The next one: %v", err)
			}
		})
	}
}

// TestBucketBrokenDownload goes on where a response has ended too early, and fails when none comes.
func TestBucketBrokenDownload(t *testing.T) {
	t.Parallel()
	s := newObjectStore(t)
	b := s.bucket(t)
	want := content(3 << 20)
	if err := put(t, b, oneName, want); err != nil {
		t.Fatal(err)
	}
	f, err := b.Open(t.Context(), oneName)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // It was read.
	is, err := b.client.StatObject(t.Context(), objectstore.Bucket, b.key(oneName), minio.StatObjectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var cuts atomic.Int64
	s.On(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || cuts.Add(1) > 2 {
			return false
		}
		w.Header().Set("Content-Length", "3145728")
		w.Header().Set("Etag", `"`+is.ETag+`"`)
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusPartialContent)
		begin := 0
		if from, _, ok := strings.Cut(strings.TrimPrefix(r.Header.Get("Range"), "bytes="), "-"); ok && from != "0" {
			begin = 1 << 20
		}
		_, _ = w.Write(want[begin : begin+1<<20])
		_ = http.NewResponseController(w).Flush()

		return cutOff(w)
	})
	read, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
	if err != nil || !bytes.Equal(read, want) {
		t.Errorf("Of %d bytes %d were read: %v", len(want), len(read), err)
	}
	s.On(func(w http.ResponseWriter, _ *http.Request) bool { return cutOff(w) })
	if _, err := f.ReadAt(make([]byte, 10), 5); err == nil {
		t.Error("Nobody answers, and the read does not fail.")
	}
}

// TestBucketReplaced does not read two files as one.
func TestBucketReplaced(t *testing.T) {
	t.Parallel()
	b := newObjectStore(t).bucket(t)
	if err := put(t, b, oneName, content(1<<20)); err != nil {
		t.Fatal(err)
	}
	f, err := b.Open(t.Context(), oneName)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // It was read.
	if err := put(t, b, oneName, make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if n, err := f.ReadAt(make([]byte, 10), 0); err == nil {
		t.Errorf("%d bytes of another file were read.", n)
	}
}

// TestBucketSlow gives up on a server that accepts connections and says nothing.
func TestBucketSlow(t *testing.T) {
	t.Parallel()
	s := newObjectStore(t)
	s.config.Stall = 200 * time.Millisecond
	b := s.bucket(t)
	silent := make(chan struct{})
	t.Cleanup(func() { close(silent) })
	s.On(func(http.ResponseWriter, *http.Request) bool {
		<-silent

		return true
	})
	failed := make(chan error, 2)
	go func() {
		_, err := b.List(context.WithoutCancel(t.Context()))
		failed <- err
	}()
	go func() { failed <- put(t, b, oneName, content(6<<20)) }()
	for range 2 {
		select {
		case err := <-failed:
			if err == nil {
				t.Error("Nobody has answered.")
			}
		case <-time.After(time.Minute):
			t.Fatal("It waits for ever.")
		}
	}
}

// TestKeeperInBucket saves a garden in a bucket and restores it from there.
func TestKeeperInBucket(t *testing.T) {
	t.Parallel()
	s, g := newObjectStore(t), newGarden(t, nil)
	k := g.keeper(func(c *Config) {
		c.Open = func(ctx context.Context) (Store, error) { return NewBucket(ctx, s.config) }
	})
	g.put(g.objects, "/registry/a", "1")
	g.work(k, time.Minute)
	g.put(g.objects, "/registry/a", "2")
	g.work(k, time.Minute)
	is := k.Health()
	if is.Snapshot == nil || is.Failing || !strings.HasPrefix(is.Destination, "s3://gardens/one/ at 127.0.0.1:") {
		t.Errorf("Health: %+v", is)
	}
	b, err := ReadBucket(s.config)
	if err != nil {
		t.Fatal(err)
	}
	_, done, err := g.restore(func(r *Restore) { r.Store = b })
	if err != nil || done.Increments != 1 || done.Revision != g.objects.Revision() {
		t.Errorf("Restored: %+v, %v; want an increment and revision %d", done, err, g.objects.Revision())
	}
	// Another garden does not write there.
	other := newGarden(t, nil).keeper(func(c *Config) {
		c.Source.Garden = func() string { return "garden-other" }
		c.Open = func(ctx context.Context) (Store, error) { return NewBucket(ctx, s.config) }
	})
	if _, err := other.Take(t.Context()); err == nil || !strings.Contains(err.Error(), "another garden") {
		t.Errorf("Another garden: %v", err)
	}
	// A bucket that is gone is an error that says so, until it is there again.
	s.On(func(w http.ResponseWriter, _ *http.Request) bool { return cutOff(w) })
	if _, err := k.Take(t.Context()); err == nil || !k.Health().Failing {
		t.Errorf("Nobody answers: %v, %+v", err, k.Health())
	}
	s.On(nil)
	if _, err := k.Take(t.Context()); err != nil || k.Health().Failing {
		t.Errorf("It is there again: %v, %+v", err, k.Health())
	}
}
