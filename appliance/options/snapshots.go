// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/backup"
)

// checkSnapshots checks how the garden is saved.
func checkSnapshots(c *gardenconfigv1alpha1.SnapshotConfiguration, check func(flag, path string, err error)) {
	check("", "snapshots.interval", within(c.Interval, 10*time.Minute, 30*24*time.Hour))
	if c.IncrementInterval != nil && c.IncrementInterval.Duration != 0 {
		check("", "snapshots.incrementInterval", within(c.IncrementInterval, 5*time.Second, time.Hour))
	}
	check("", "snapshots.keep", positive(c.Keep))
	check("", "snapshots.window", within(c.Window, 0, 366*24*time.Hour))
	if c.Directory != "" && !filepath.IsAbs(c.Directory) {
		check("", "snapshots.directory", errors.New("must be an absolute path"))
	}
	checkBucket(c, check)
	for i, key := range c.Recipients {
		if _, err := backup.ParseRecipients([]string{key}); err != nil {
			check("", fmt.Sprintf("snapshots.recipients[%d]", i), err)
		}
	}
}

// checkBucket checks the bucket in which snapshots are kept.
func checkBucket(c *gardenconfigv1alpha1.SnapshotConfiguration, check func(flag, path string, err error)) {
	is := c.S3
	if is == nil {
		return
	}
	if c.Directory != "" {
		check("", "snapshots.s3", errors.New("cannot be used together with snapshots.directory"))
	}
	check("", "snapshots.s3.endpoint", backup.CheckEndpoint(is.Endpoint))
	check("", "snapshots.s3.bucket", backup.CheckBucketName(is.Bucket))
	for path, file := range map[string]string{"snapshots.s3.credentialsFile": is.CredentialsFile, "snapshots.s3.caFile": is.CAFile} {
		if file != "" && !filepath.IsAbs(file) {
			check("", path, errors.New("must be an absolute path"))
		}
	}
}
