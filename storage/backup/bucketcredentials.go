// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// bucketCredentials reads the credentials of an object store from a file of the AWS tools, and again when the file has changed; without
// a file, from the environment. Nothing of them is ever in an error, and no program is run to get them.
type bucketCredentials struct {
	file   string
	getenv func(string) string

	mu sync.Mutex
	// read is the time of the file when it was read.
	read time.Time
}

// RetrieveWithCredContext implements credentials.Provider.
func (b *bucketCredentials) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	if b.file != "" {
		return b.fromFile()
	}
	is := credentials.Value{
		AccessKeyID: b.getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: b.getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: b.getenv("AWS_SESSION_TOKEN"),
	}
	if is.AccessKeyID == "" || is.SecretAccessKey == "" {
		return credentials.Value{}, errors.New("there are no credentials: specify a credentials file in the configuration, " +
			"or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment")
	}

	return is, nil
}

// Retrieve implements credentials.Provider.
func (b *bucketCredentials) Retrieve() (credentials.Value, error) {
	return b.RetrieveWithCredContext(nil)
}

func (b *bucketCredentials) fromFile() (credentials.Value, error) {
	changed, err := changedAt(b.file)
	if err != nil {
		return credentials.Value{}, err
	}
	text, err := os.ReadFile(b.file)
	if err != nil {
		return credentials.Value{}, fmt.Errorf("read credentials of the object store: %w", err)
	}
	is := parseCredentials(string(text))
	if is.AccessKeyID == "" || is.SecretAccessKey == "" {
		return credentials.Value{}, fmt.Errorf("credentials file %q: the profile default has no aws_access_key_id and aws_secret_access_key", b.file)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.read = changed

	return is, nil
}

// IsExpired implements credentials.Provider.
func (b *bucketCredentials) IsExpired() bool {
	if b.file == "" {
		return true
	}
	changed, err := changedAt(b.file)
	b.mu.Lock()
	defer b.mu.Unlock()

	// A file that is being replaced does not take the credentials away that are known.
	return err == nil && !changed.Equal(b.read)
}

func changedAt(path string) (time.Time, error) {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}, fmt.Errorf("read credentials of the object store: %w", err)
	}

	return info.ModTime(), nil
}

// parseCredentials reads the profile default.
func parseCredentials(text string) (is credentials.Value) {
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			section = strings.TrimSpace(strings.TrimSuffix(name, "]"))

			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || section != "default" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "aws_access_key_id":
			is.AccessKeyID = value
		case "aws_secret_access_key":
			is.SecretAccessKey = value
		case "aws_session_token":
			is.SessionToken = value
		}
	}

	return is
}
