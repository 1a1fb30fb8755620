// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/backup"
)

const (
	// Downloading is the name of the subresource. Requests to it may take long.
	Downloading = "download"
	// downloads is how many run at the same time: each keeps a file open, and requests that take long are not limited otherwise.
	downloads = 4
	// again is after how many seconds one more may be tried.
	again = 10
)

// Download serves the subresource with the file of a snapshot, as it is stored: encrypted.
type Download struct {
	store  *Store
	places chan struct{}
}

var (
	_ rest.Storage   = &Download{}
	_ rest.Connecter = &Download{}
)

// NewDownload returns the storage of the subresource.
func NewDownload(of *Store) *Download {
	return &Download{store: of, places: make(chan struct{}, downloads)}
}

// New returns an empty snapshot.
func (*Download) New() runtime.Object { return &gardenappliancev1alpha1.Snapshot{} }

// Destroy does nothing.
func (*Download) Destroy() {}

// NewConnectOptions returns that there are no options.
func (*Download) NewConnectOptions() (options runtime.Object, withPath bool, path string) {
	return nil, false, ""
}

// ConnectMethods returns the methods of requests.
func (*Download) ConnectMethods() []string { return []string{http.MethodGet} }

// Connect returns what sends the file.
func (d *Download) Connect(ctx context.Context, name string, _ runtime.Object, tell rest.Responder) (http.Handler, error) {
	if d.store.keeper == nil {
		return nil, none()
	}

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case d.places <- struct{}{}:
			defer func() { <-d.places }()
		default:
			tell.Error(apierrors.NewTooManyRequests(fmt.Sprintf("%d snapshots are being downloaded", downloads), again))

			return
		}
		file, err := d.store.keeper.Open(ctx, name)
		if err != nil {
			tell.Error(problem(name, err))

			return
		}
		defer file.Close() //nolint:errcheck // Nothing is written.
		send(w, r, name, file)
	}), nil
}

// send sends a file, or the part of it that is asked for.
func send(w http.ResponseWriter, r *http.Request, name string, file backup.File) {
	header := w.Header()
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name+backup.Extension))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	// A file never changes under its name, so a download that was cut off can be resumed.
	header.Set("ETag", fmt.Sprintf("%q", name))
	modified, _ := backup.TimeOf(name)
	http.ServeContent(w, r, "", modified, io.NewSectionReader(file, 0, file.Size()))
}
