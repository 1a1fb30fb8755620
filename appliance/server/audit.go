// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/terrarium-garden/terrarium/appliance/auditlog"
	"github.com/terrarium-garden/terrarium/appliance/gateway"
	"github.com/terrarium-garden/terrarium/appliance/identity"
)

// auditPath is the path at which the audit log is searched.
const auditPath = "/appliance/audit"

// The number of events of an answer, and of searches at the same time: each may read all files.
const (
	auditLimit    = 200
	maxAuditLimit = 5000
	auditSearches = 2
)

func auditDir(keys *identity.Garden) string { return filepath.Join(keys.Dir, "audit") }

// runAudit opens the audit log. It stops after the API server, so that it has the end of all requests.
func (s *server) runAudit(ctx context.Context, keys *identity.Garden, ready func(*auditlog.Log)) error {
	if s.Config.Audit.Disabled {
		ready(nil)
		<-ctx.Done()

		return nil
	}
	log, err := auditlog.Open(auditlog.Config{
		Dir: auditDir(keys), MaxBytes: s.Config.Audit.MaxSize.Value(), MaxAge: s.Config.Audit.MaxAge.Duration,
		Clock: s.Clock, Log: s.Log.WithName("audit"),
	})
	if err != nil {
		return err
	}
	ready(log)
	<-ctx.Done()

	return log.Close()
}

// auditPage is the mount of searches in the audit log, for those whom RBAC permits.
func auditPage(dir string, disabled bool) gateway.Mount {
	return gateway.Mount{
		Path: auditPath, Who: gateway.Authorized, Limits: gateway.Limits{Parallel: auditSearches},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			filter, err := auditFilter(r.URL.Query().Get)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)

				return
			}
			found, err := auditlog.Search(r.Context(), dir, filter)
			if err != nil && !disabled {
				http.Error(w, err.Error(), http.StatusInternalServerError)

				return
			}
			if found == nil {
				found = []auditlog.Event{}
			}
			writeJSON(w, struct {
				Items    []auditlog.Event `json:"items"`
				Disabled bool             `json:"disabled,omitempty"`
			}{found, disabled})
		}),
	}
}

var (
	errLimit   = errors.New("limit: must be a number from 1 to 5000")
	errOutcome = errors.New("outcome: must be succeeded, failed or denied")
)

func auditFilter(get func(name string) string) (auditlog.Filter, error) {
	f := auditlog.Filter{
		User: get("user"), Verb: get("verb"), Resource: get("resource"), Namespace: get("namespace"), Name: get("name"), Limit: auditLimit,
		Outcome: auditlog.Outcome(get("outcome")),
	}
	if !f.Outcome.Valid() {
		return f, errOutcome
	}
	for name, into := range map[string]*time.Time{"since": &f.Since, "until": &f.Until} {
		text := get(name)
		if text == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return f, fmt.Errorf("%s: must be a time in RFC 3339 format: %w", name, err)
		}
		*into = at
	}
	if text := get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxAuditLimit {
			return f, errLimit
		}
		f.Limit = n
	}

	return f, nil
}
