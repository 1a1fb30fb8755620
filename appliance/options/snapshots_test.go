// SPDX-License-Identifier: Apache-2.0

package options_test

import (
	"errors"
	"strings"
	"testing"
)

// TestSnapshotBucket checks the bucket of snapshots before the server starts.
func TestSnapshotBucket(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, s3 string
		want       []string
	}{
		"Good": {reason: "A bucket needs two fields.", s3: "{endpoint: 'https://s3.example.com', bucket: gardens}"},
		"Files": {
			reason: "Files are found wherever the server is started.", s3: "{endpoint: 'https://s3.example.com:9000/', bucket: gardens, credentialsFile: a, caFile: b}",
			want: []string{"snapshots.s3.credentialsFile: must be an absolute path", "snapshots.s3.caFile: must be an absolute path"},
		},
		"Endpoint": {reason: "An endpoint is a URL.", s3: "{endpoint: s3.example.com, bucket: gardens}", want: []string{"snapshots.s3.endpoint: must be the URL"}},
		"Path":     {reason: "A bucket is not in the URL.", s3: "{endpoint: 'https://s3.example.com/a', bucket: gardens}", want: []string{"must have no path"}},
		"Secret": {
			reason: "Credentials are not in the configuration.", s3: "{endpoint: 'https://me:hidden@s3.example.com', bucket: gardens}",
			want: []string{"must have no credentials"},
		},
		"Bucket": {reason: "A bucket has a name.", s3: "{endpoint: 'https://s3.example.com'}", want: []string{"snapshots.s3.bucket: "}},
		"Both": {
			reason: "Files are kept in one place.", s3: "{endpoint: 'https://s3.example.com', bucket: gardens}\n  directory: /mnt",
			want: []string{"snapshots.s3: cannot be used together with snapshots.directory"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, err := complete(t, "snapshots:\n  s3: "+tc.s3+"\n", "--config=server.yaml")
			if err == nil {
				flags, file := o.Validate()
				err = errors.Join(append(flags, file...)...)
			}
			if (err != nil) != (len(tc.want) > 0) {
				t.Fatalf("%s\nValidate: %v, want %q", tc.reason, err, tc.want)
			}
			for _, text := range tc.want {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%s\nValidate: %v, want %q", tc.reason, err, text)
				}
			}
			if err != nil && strings.Contains(err.Error(), "hidden") {
				t.Errorf("%s\nThe error tells a secret: %v", tc.reason, err)
			}
		})
	}
}
