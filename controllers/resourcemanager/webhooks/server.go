// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/terrarium-garden/terrarium/apis/bounds"
)

// Certificates returns the certificate for the shoot of a namespace.
type Certificates func(ctx context.Context, namespace string) (*tls.Certificate, error)

// NewServer returns a server for the API server of the seed at an address, with tls.crt and tls.key of a folder. It reads them again when
// they change.
func NewServer(address, folder string) (webhook.Server, error) {
	return newServer(address, folder)
}

// NewShootServer returns a server for the API servers of shoots. It has another address than that of the seed, so that network policies can
// tell them apart. A caller that names no shoot gets the certificate of the folder, and no answer.
func NewShootServer(address, folder string, shoots Certificates) (webhook.Server, error) {
	return newServer(address, folder, forShoots(shoots))
}

func newServer(address, folder string, options ...func(*tls.Config)) (webhook.Server, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("address of webhooks: %w", err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return nil, fmt.Errorf("address of webhooks: %q is not a port", port)
	}
	return webhook.NewServer(webhook.Options{Host: host, Port: int(number), CertDir: folder, TLSOpts: options}), nil
}

// Register makes a server answer for the webhooks of the seed.
func (d *Decider) Register(server webhook.Server, log logr.Logger) {
	for path, handler := range d.handlers(hooks(d.Scheduler), log) {
		server.Register(path, handler)
	}
}

// RegisterShoots makes a server answer for the webhooks of shoots, and of nothing that is in the seed.
func (d *Decider) RegisterShoots(server webhook.Server, door *Door, log logr.Logger) {
	for path, handler := range d.handlers(inShoots(), log) {
		guarded := door.Guard(handler)
		server.Register(path, guarded)
		server.Register(keyed+path, guarded)
	}
}

// handlers are those of webhooks, by their paths.
func (d *Decider) handlers(hooks []hook, log logr.Logger) map[string]http.Handler {
	found := map[string]http.Handler{}
	for _, h := range hooks {
		if found[h.path] != nil {
			continue
		}
		found[h.path] = &admission.Webhook{Handler: h.decide(d), LogConstructor: func(_ logr.Logger, request *admission.Request) logr.Logger {
			if request == nil {
				return log
			}
			return log.WithValues("webhook", h.name, "object", request.Namespace+"/"+request.Name, "user", request.UserInfo.Username)
		}}
	}
	return found
}

// invalidError is an error that the writer of the object made.
type invalidError struct{ error }

// Unwrap returns the error itself.
func (e invalidError) Unwrap() error { return e.error }

// mutation changes an object of a request, or refuses the request.
type mutation[T any] func(ctx context.Context, request admission.Request, object *T) error

// limits are those of an object that the API server of a shoot sends: its owner can have any object sent.
func limits() bounds.Limits { return bounds.Limits{Entries: 5000, Total: 50_000, InText: 5000} }

// mutate answers with the difference that a change makes. The difference is that of two encodings of the kind that this program
// knows, so that fields which only the API server knows stay.
func mutate[T any](change mutation[T]) admission.Handler {
	return admission.HandlerFunc(func(ctx context.Context, request admission.Request) admission.Response {
		object := new(T)
		if err := bounds.Check(request.Object.Raw, "application/json", limits()); err != nil {
			return admission.Errored(http.StatusBadRequest, err)
		}
		if err := json.Unmarshal(request.Object.Raw, object); err != nil {
			return admission.Errored(http.StatusBadRequest, fmt.Errorf("decode the object: %w", err))
		}
		before, err := json.Marshal(object)
		if err != nil {
			return admission.Errored(http.StatusInternalServerError, fmt.Errorf("encode the object: %w", err))
		}
		if err := change(ctx, request, object); err != nil {
			if invalid, ok := errors.AsType[invalidError](err); ok {
				return admission.Errored(http.StatusUnprocessableEntity, invalid)
			}
			return admission.Errored(http.StatusInternalServerError, err)
		}
		after, err := json.Marshal(object)
		if err != nil {
			return admission.Errored(http.StatusInternalServerError, fmt.Errorf("encode the object: %w", err))
		}
		return admission.PatchResponseFromRaw(before, after)
	})
}
