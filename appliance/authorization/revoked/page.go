// SPDX-License-Identifier: Apache-2.0

package revoked

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/terrarium-garden/terrarium/apis/revocation"
	"github.com/terrarium-garden/terrarium/appliance/gateway"
)

// Path is the path of the revocations; the name of a seed may follow.
const Path = "/appliance/revocations"

const (
	maxBody   = 4 << 10
	maxReason = 1000
	parallel  = 8
)

// item is what the page says about a seed.
type item struct {
	Seed    string     `json:"seed"`
	Revoked bool       `json:"revoked"`
	Reason  string     `json:"reason,omitempty"`
	By      string     `json:"by,omitempty"`
	At      *time.Time `json:"at,omitempty"`
	// CredentialsFrom is set if older credentials are refused.
	CredentialsFrom *time.Time `json:"credentialsFrom,omitempty"`
	// Open is the number of requests that have not ended yet.
	Open int `json:"open,omitempty"`
	// Exposed is what the seed can or could read.
	Exposed []Object `json:"exposed,omitempty"`
}

func itemOf(r *revocation.Record) item {
	i := item{Seed: r.Seed, Revoked: r.Revoked, Reason: r.Reason, By: r.By}
	if !r.At.IsZero() {
		i.At = new(r.At.UTC())
	}
	if !r.CredentialsFrom.IsZero() {
		i.CredentialsFrom = new(r.CredentialsFrom.UTC())
	}

	return i
}

// Mounts are the pages of the revocations, for those whom RBAC permits: get to read, post to shut a seed out, and delete to take that
// back.
func (o *Office) Mounts() gateway.Mounts {
	return gateway.Mounts{
		{Path: Path, Who: gateway.Authorized, Handler: http.HandlerFunc(o.list)},
		{
			Path: Path + "/", Who: gateway.Authorized, Handler: http.HandlerFunc(o.one),
			Limits: gateway.Limits{Methods: []string{http.MethodGet, http.MethodPost, http.MethodDelete}, Body: maxBody, Parallel: parallel},
		},
	}
}

func (o *Office) list(w http.ResponseWriter, r *http.Request) {
	if !o.known(w, r) {
		return
	}
	all := struct {
		Items []item `json:"items"`
	}{Items: []item{}}
	for _, r := range o.Set.List() {
		all.Items = append(all.Items, itemOf(&r))
	}
	answer(w, http.StatusOK, all)
}

// known waits for the records, and refuses the request if they do not come.
func (o *Office) known(w http.ResponseWriter, r *http.Request) bool {
	err := o.Set.Wait(r.Context())
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, "ServiceUnavailable", err.Error())
	}

	return err == nil
}

func (o *Office) one(w http.ResponseWriter, r *http.Request) {
	seed := strings.TrimPrefix(r.URL.Path, Path+"/")
	if len(validation.IsDNS1123Label(seed)) > 0 {
		refuse(w, http.StatusNotFound, "NotFound", "that is not the name of a seed")

		return
	}
	if !o.known(w, r) {
		return
	}
	var found item
	var err error
	switch r.Method {
	case http.MethodPost:
		found, err = o.post(r, seed)
	case http.MethodDelete:
		var was revocation.Record
		was, err = o.Forgive(r.Context(), seed, r.URL.Query().Get("credentials") == "new")
		was.Revoked = false
		found = itemOf(&was)
	default:
		found, err = o.get(r, seed)
	}
	switch {
	case errors.Is(err, errBody):
		refuse(w, http.StatusBadRequest, "BadRequest", err.Error())
	case errors.Is(err, ErrNoSeed), errors.Is(err, ErrNotRevoked):
		refuse(w, http.StatusNotFound, "NotFound", err.Error())
	case err != nil:
		refuse(w, http.StatusInternalServerError, "InternalError", err.Error())
	default:
		answer(w, http.StatusOK, found)
	}
}

func (o *Office) get(r *http.Request, seed string) (item, error) {
	record, known := o.Set.Get(seed)
	if !known {
		record = revocation.Record{Seed: seed}
		if err := o.exists(r.Context(), seed); err != nil {
			return item{}, err
		}
	}

	return o.withExposed(r, itemOf(&record))
}

func (o *Office) withExposed(r *http.Request, i item) (found item, err error) {
	i.Exposed, err = o.Exposed(r.Context(), i.Seed)

	return i, err
}

// errBody says that a body is not what is expected.
var errBody = errors.New(`the body must be {"reason": "…", "unknown": false} with at most 1000 characters as the reason`)

func (o *Office) post(r *http.Request, seed string) (item, error) {
	var body struct {
		Reason  string `json:"reason"`
		Unknown bool   `json:"unknown"`
	}
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); (err != nil && !errors.Is(err, io.EOF)) || len(body.Reason) > maxReason {
		return item{}, errBody
	}
	by := ""
	if who, ok := genericapirequest.UserFrom(r.Context()); ok {
		by = who.GetName()
	}
	record, open, err := o.Revoke(r.Context(), seed, Wish{Reason: body.Reason, By: by, Unknown: body.Unknown})
	if err != nil {
		return item{}, err
	}
	found := itemOf(&record)
	found.Open = open

	return o.withExposed(r, found)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) //nolint:errcheck,errchkjson,gosec // The client has gone; there is nobody to tell.
}

// refuse answers with a Status, which clients of the API understand.
func refuse(w http.ResponseWriter, status int, reason, message string) {
	answer(w, status, map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": struct{}{}, "status": "Failure", "reason": reason, "message": message, "code": status,
	})
}
