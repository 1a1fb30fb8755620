// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"net/http"

	"github.com/go-logr/logr"

	"github.com/terrarium-garden/terrarium/appliance/gateway"
	"github.com/terrarium-garden/terrarium/appliance/telemetry"
)

// logLevelPath is the path at which the level of the log is read (get) and changed (put), until the next start.
const logLevelPath = "/appliance/log-level"

const maxLogLevelBody = 256

type logLevel struct {
	Level telemetry.Level `json:"level"`
}

func logLevelPage(logs *telemetry.Control, log logr.Logger) gateway.Mount {
	return gateway.Mount{
		Path: logLevelPath, Who: gateway.Authorized,
		Limits: gateway.Limits{Methods: []string{http.MethodGet, http.MethodPut}, Body: maxLogLevelBody},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				var want logLevel
				err := json.NewDecoder(r.Body).Decode(&want)
				if err == nil {
					err = logs.SetLevel(want.Level)
				}
				if err != nil {
					http.Error(w, "level: "+err.Error(), http.StatusBadRequest)

					return
				}
				log.Info("Log level changed", "level", want.Level)
			}
			writeJSON(w, logLevel{Level: logs.Level()})
		}),
	}
}
