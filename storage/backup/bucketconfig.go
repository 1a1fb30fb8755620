// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
	"k8s.io/utils/clock"
)

const (
	// bucketPart is the size of the parts of an upload, of which one is in memory. There are at most 10,000 in a file.
	bucketPart = 16 << 20
	// bucketStall is how long a connection may carry nothing before it is given up.
	bucketStall = time.Minute
	// bucketTries is how often a request is sent; a keeper tries again later.
	bucketTries = 3
)

// BucketConfig says which bucket is used, and how it is reached.
type BucketConfig struct {
	// Endpoint is the URL of the object store.
	Endpoint string
	// Bucket is its name, and Prefix precedes the names of files in it.
	Bucket, Prefix string
	// Region is that of the bucket; if empty, the object store is asked.
	Region string
	// CredentialsFile has the credentials; if empty, they are in the environment.
	CredentialsFile string
	// CAFile has the authorities of the object store; if empty, they are those of the system.
	CAFile string
	// PathStyle has the bucket in the path of URLs, or in their host name; nil means what is usual for the endpoint.
	PathStyle *bool

	// Spool is the directory for the files of uploads; if empty, it is that of the system for temporary files.
	Spool string

	// Getenv reads the environment; nil means that of the process.
	Getenv func(string) string
	// PartBytes and Stall replace the usual size of a part, and the usual time for which a connection may carry nothing.
	PartBytes int64
	Stall     time.Duration
}

func (c *BucketConfig) partBytes() int64 {
	if c.PartBytes > 0 {
		return c.PartBytes
	}

	return bucketPart
}

// CheckEndpoint returns an error if a text is not the URL of an object store.
func CheckEndpoint(text string) error {
	_, err := parseEndpoint(text)

	return err
}

// parseEndpoint never says what is in the URL: it may hold a password.
func parseEndpoint(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "" {
		return nil, errors.New("must be the URL of an object store, such as https://s3.eu-central-1.amazonaws.com")
	}
	if u.User != nil {
		return nil, errors.New("must have no credentials: they belong into a file or the environment")
	}
	if (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("must have no path: bucket and prefix have fields of their own")
	}

	return u, nil
}

// CheckBucketName returns an error if a bucket cannot have a name.
func CheckBucketName(name string) error { return s3utils.CheckValidBucketNameStrict(name) }

// connect returns a client and the host of the object store.
func (c *BucketConfig) connect() (*minio.Core, string, error) {
	endpoint, err := parseEndpoint(c.Endpoint)
	if err != nil {
		return nil, "", fmt.Errorf("endpoint: %w", err)
	}
	transport, err := c.transport()
	if err != nil {
		return nil, "", err
	}
	lookup := minio.BucketLookupAuto
	if c.PathStyle != nil {
		lookup = minio.BucketLookupDNS
		if *c.PathStyle {
			lookup = minio.BucketLookupPath
		}
	}
	getenv := c.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	client, err := minio.NewCore(endpoint.Host, &minio.Options{
		Creds:  credentials.New(&bucketCredentials{file: c.CredentialsFile, getenv: getenv}),
		Secure: endpoint.Scheme == "https", Transport: transport, Region: c.Region, BucketLookup: lookup, MaxRetries: bucketTries,
	})
	if err != nil {
		return nil, "", fmt.Errorf("connect to object store: %w", err)
	}

	return client, endpoint.Host, nil
}

// transport gives a connection up that carries nothing: a snapshot would wait for it for ever, and all later ones for the snapshot.
func (c *BucketConfig) transport() (*http.Transport, error) {
	t, err := minio.DefaultTransport(true)
	if err != nil {
		return nil, fmt.Errorf("connect to object store: %w", err)
	}
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CAFile != "" {
		bundle, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read authorities of the object store: %w", err)
		}
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(bundle) {
			return nil, fmt.Errorf("read authorities of the object store: %q has no certificate", c.CAFile)
		}
	}
	stall := c.Stall
	if stall == 0 {
		stall = bucketStall
	}
	dialer := &net.Dialer{Timeout: min(stall, 10*time.Second)} //nolint:mnd // The time to connect.
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}

		return impatient{Conn: conn, stall: stall}, nil
	}

	return t, nil
}

// impatient is a connection on which no read and no write takes longer than a limit.
type impatient struct {
	net.Conn

	stall time.Duration
}

// Read implements io.Reader.
func (c impatient) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(clock.RealClock{}.Now().Add(c.stall)); err != nil {
		return 0, err
	}

	return c.Conn.Read(p)
}

// Write implements io.Writer.
func (c impatient) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(clock.RealClock{}.Now().Add(c.stall)); err != nil {
		return 0, err
	}

	return c.Conn.Write(p)
}
