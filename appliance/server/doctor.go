// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"net/http"

	"github.com/terrarium-garden/terrarium/appliance/gateway"
)

// doctorPath is the path at which the server reports its findings about itself.
const doctorPath = "/appliance/doctor"

// examinations is how many reports are made at the same time: each reads all objects in the cache.
const examinations = 4

// doctorPage is the mount of the findings, for those whom RBAC permits.
func (e *examiner) doctorPage() gateway.Mount {
	return gateway.Mount{
		Path: doctorPath, Who: gateway.Authorized, Limits: gateway.Limits{Parallel: examinations},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			report, err := e.examine(r.Context())
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)

				return
			}
			writeJSON(w, report)
		}),
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	json.NewEncoder(w).Encode(v) //nolint:errcheck,errchkjson,gosec // The client has gone; there is nobody to tell.
}
