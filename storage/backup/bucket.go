// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/minio/minio-go/v7"
)

// Bucket keeps files in a bucket of an S3-compatible object store.
type Bucket struct {
	config BucketConfig
	client *minio.Core
	prefix string
	host   string
}

var _ Store = &Bucket{}

// NewBucket is for the one process that writes to a bucket. It removes what was not finished in it.
func NewBucket(ctx context.Context, c BucketConfig) (*Bucket, error) {
	b, err := ReadBucket(c)
	if err != nil {
		return nil, err
	}
	b.abandon(ctx)

	return b, nil
}

// ReadBucket reads a bucket, and changes nothing in it by itself. Nothing is asked of the object store yet.
func ReadBucket(c BucketConfig) (*Bucket, error) {
	client, host, err := c.connect()
	if err != nil {
		return nil, fmt.Errorf("bucket %q: %w", c.Bucket, err)
	}
	b := &Bucket{config: c, client: client, host: host}
	if prefix := strings.Trim(c.Prefix, "/"); prefix != "" {
		b.prefix = prefix + "/"
	}

	return b, nil
}

// String is the bucket, its prefix and the object store.
func (b *Bucket) String() string {
	return fmt.Sprintf("s3://%s/%s at %s", b.config.Bucket, b.prefix, b.host)
}

func (b *Bucket) key(name string) string { return b.prefix + name + Extension }

// abandon removes uploads that were not finished: they cost money and are never seen. A bucket where this is not permitted can be used
// all the same.
func (b *Bucket) abandon(ctx context.Context) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	for upload := range b.client.ListIncompleteUploads(ctx, b.config.Bucket, b.prefix, true) {
		if upload.Err != nil {
			return
		}
		if _, ours := parseName(strings.TrimPrefix(upload.Key, b.prefix)); ours {
			b.client.AbortMultipartUpload(ctx, b.config.Bucket, upload.Key, upload.UploadID) //nolint:errcheck,gosec // See above.
		}
	}
}

// Put implements Store. What is written is first kept in a local file: it is read from databases that cannot be made smaller meanwhile, and an
// upload takes as long as it takes. A file that is shorter than a part is one request. A longer one is uploaded in parts, and becomes an object
// only with the request that follows them.
func (b *Bucket) Put(ctx context.Context, name string, write func(io.Writer) error) (err error) {
	waiting, err := newSpool(b.config.Spool)
	if err != nil {
		return fmt.Errorf("write snapshot %q: %w", name, err)
	}
	defer func() { err = errors.Join(err, waiting.Close()) }()
	size, err := fill(waiting, write)
	if err != nil {
		return fmt.Errorf("write snapshot %q: %w", name, err)
	}
	options := minio.PutObjectOptions{ContentType: "application/octet-stream", PartSize: uint64(b.config.partBytes()), NumThreads: 1} //nolint:gosec // It is positive.
	if _, err := b.client.Client.PutObject(ctx, b.config.Bucket, b.key(name), waiting, size, options); err != nil {
		return b.explain("write", name, err)
	}

	return nil
}

// Open implements Store.
func (b *Bucket) Open(ctx context.Context, name string) (File, error) {
	// A name is one of List, never a path.
	if strings.Contains(name, "/") {
		return nil, fmt.Errorf("snapshot %q: %w", name, ErrNotFound)
	}
	is, err := b.client.StatObject(ctx, b.config.Bucket, b.key(name), minio.StatObjectOptions{})
	if err != nil {
		return nil, b.explain("open", name, err)
	}

	return &remoteFile{size: is.Size, open: func(from int64) (io.ReadCloser, error) {
		var options minio.GetObjectOptions
		// A file that is replaced meanwhile is not read as if it were one.
		err := errors.Join(options.SetMatchETag(is.ETag), options.SetRange(from, is.Size-1))
		if err != nil {
			return nil, b.explain("read", name, err)
		}
		body, now, _, err := b.client.GetObject(ctx, b.config.Bucket, b.key(name), options)
		if err != nil {
			return nil, b.explain("read", name, err)
		}
		// Not all object stores know the condition.
		if now.ETag != is.ETag {
			return nil, errors.Join(fmt.Errorf("read snapshot %q in %s: it was replaced meanwhile", name, b), body.Close())
		}

		return body, nil
	}}, nil
}

// List implements Store. An upload that is not complete is not in it.
func (b *Bucket) List(ctx context.Context) ([]Entry, error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	var all []Entry
	for object := range b.client.Client.ListObjects(ctx, b.config.Bucket, minio.ListObjectsOptions{Prefix: b.prefix}) {
		if object.Err != nil {
			return nil, b.explain("list", "", object.Err)
		}
		if e, ok := parseName(strings.TrimPrefix(object.Key, b.prefix)); ok {
			e.Bytes = object.Size
			all = append(all, e)
		}
	}

	return all, nil
}

// Delete implements Store.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	f, err := b.Open(ctx, name)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := b.client.RemoveObject(ctx, b.config.Bucket, b.key(name), minio.RemoveObjectOptions{}); err != nil {
		return b.explain("delete", name, err)
	}

	return nil
}

// explain says what was tried where, and what to do about the answer of the object store.
func (b *Bucket) explain(verb, name string, err error) error {
	what := verb + " snapshots"
	if name != "" {
		what = fmt.Sprintf("%s snapshot %q", verb, name)
	}
	advice := ""
	switch minio.ToErrorResponse(err).Code {
	case minio.NoSuchKey:
		return fmt.Errorf("snapshot %q: %w", name, ErrNotFound)
	case minio.NoSuchBucket:
		advice = ": create the bucket, or correct its name in the configuration"
	case minio.AccessDenied, "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken":
		advice = ": check the credentials, and that they may list, read, write and delete objects of the bucket"
	}

	return fmt.Errorf("%s in %s: %w%s", what, b, err, advice)
}
