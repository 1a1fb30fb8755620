// SPDX-License-Identifier: Apache-2.0

// Package dnszones brings the DNS records of extensions to the DNS server of the cluster: it writes them into zone files, which the server
// reads anew when they change.
package dnszones

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"github.com/terrarium-garden/terrarium/controllers/provider/local/nameserver"
)

// Reconciler keeps the zone files.
type Reconciler struct {
	ConfigMaps corev1listers.ConfigMapLister
	Files      Files
}

// Reconcile writes what the records say now. Without the object that they are in there are none.
func (r *Reconciler) Reconcile(context.Context) error {
	config, err := r.ConfigMaps.ConfigMaps(nameserver.Namespace).Get(nameserver.Name)
	if apierrors.IsNotFound(err) {
		config, err = &corev1.ConfigMap{}, nil
	}
	if err != nil {
		return fmt.Errorf("get the DNS records: %w", err)
	}
	return r.Files.Write(nameserver.Records(config))
}

// Files are the zone files of a DNS server. The zero value has none.
type Files struct {
	Dir   string
	Zones []string
}

// FileName is the name of the file of a zone.
func FileName(zone string) string { return "db." + zone }

// Begin makes the files that do not exist yet. The server cannot start without them.
func (f Files) Begin() error {
	return f.each(nil, func(exists bool) bool { return !exists })
}

// Write puts records into the files of their zones. A server that reads a file finds it whole. What has not changed is left alone.
func (f Files) Write(records []nameserver.Record) error {
	return f.each(records, func(bool) bool { return true })
}

// each writes the files for which that is wanted.
func (f Files) each(records []nameserver.Record, wanted func(exists bool) bool) error {
	for _, zone := range f.Zones {
		path := filepath.Join(f.Dir, FileName(zone))
		before, err := os.ReadFile(path) //nolint:gosec // The caller names the folder.
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read zone file: %w", err)
		}
		content := []byte(nameserver.File(zone, records))
		if exists := err == nil; !wanted(exists) || (exists && bytes.Equal(before, content)) {
			continue
		}
		if err := os.WriteFile(path+".new", content, 0o600); err != nil {
			return fmt.Errorf("write zone file: %w", err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			return fmt.Errorf("put zone file in place: %w", err)
		}
	}
	return nil
}
