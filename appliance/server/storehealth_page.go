// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/terrarium-garden/terrarium/appliance/doctor"
	"github.com/terrarium-garden/terrarium/appliance/gateway"
	"github.com/terrarium-garden/terrarium/storage/kine"
	"github.com/terrarium-garden/terrarium/storage/log"
)

// storePath is the path of what can be done with the databases: vacuum and check.
const storePath = "/appliance/store/"

// page is the mount of what operators do with the databases, for those whom RBAC permits.
func (h *storeHealth) page() gateway.Mount {
	return gateway.Mount{
		Path: storePath, Who: gateway.Authorized, Limits: gateway.Limits{Methods: []string{http.MethodPost}, Parallel: 1},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if h.stores.External != nil {
				http.Error(w, fmt.Sprintf("the objects are in %s: check it, and give space back, by its own means", h.stores.External), http.StatusConflict)

				return
			}
			var err error
			// A client that does not wait does not end the work half way.
			ctx := context.WithoutCancel(r.Context())
			switch r.URL.Path {
			case storePath + "vacuum":
				err = vacuum(ctx, h.stores)
			case storePath + "check":
				err = h.check(ctx, true)
			default:
				http.NotFound(w, r)

				return
			}
			h.look(ctx)
			if err != nil {
				status := http.StatusInternalServerError
				if errors.Is(err, log.ErrNoSpace) {
					status = http.StatusInsufficientStorage
				}
				http.Error(w, err.Error(), status)

				return
			}
			writeJSON(w, struct {
				Items []storeItem `json:"items"`
			}{h.items()})
		}),
	}
}

func vacuum(ctx context.Context, stores *kine.Stores) error {
	var errs []error
	for _, l := range stores.Logs() {
		errs = append(errs, l.Vacuum(ctx))
	}

	return errors.Join(errs...)
}

// storeItem is what is said about a database.
type storeItem struct {
	Name        string     `json:"name"`
	SizeBytes   int64      `json:"sizeBytes"`
	WALBytes    int64      `json:"walBytes"`
	UnusedBytes int64      `json:"unusedBytes"`
	Checked     *time.Time `json:"checked,omitempty"`
	Problems    []string   `json:"problems,omitempty"`
}

func (h *storeHealth) items() []storeItem {
	all := []storeItem{}
	for _, db := range h.stores.Files() {
		is := doctor.Store{Name: db.Name}
		h.describe(&is)
		i := storeItem{Name: db.Name, SizeBytes: db.SizeBytes, WALBytes: db.WALBytes, UnusedBytes: is.FreeBytes, Problems: is.Problems}
		if !is.Checked.IsZero() {
			i.Checked = new(is.Checked.UTC())
		}
		all = append(all, i)
	}

	return all
}
