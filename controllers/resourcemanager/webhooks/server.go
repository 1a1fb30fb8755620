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

// NewServer returns a server at an address, with tls.crt and tls.key of a folder for the seed. It reads them again when they change. API
// servers of shoots get the certificate of their shoot.
func NewServer(address, folder string, shoots Certificates) (webhook.Server, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("address of webhooks: %w", err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return nil, fmt.Errorf("address of webhooks: %q is not a port", port)
	}
	return webhook.NewServer(webhook.Options{Host: host, Port: int(number), CertDir: folder, TLSOpts: []func(*tls.Config){forShoots(shoots)}}), nil
}

// Register makes a server answer for all webhooks.
func (d *Decider) Register(server webhook.Server, log logr.Logger) {
	known := map[string]bool{}
	for _, h := range append(hooks(d.Scheduler), inShoots()...) {
		if known[h.path] {
			continue
		}
		known[h.path] = true
		server.Register(h.path, &admission.Webhook{Handler: h.decide(d), WithContextFunc: withShoot, LogConstructor: func(_ logr.Logger, request *admission.Request) logr.Logger {
			if request == nil {
				return log
			}
			return log.WithValues("webhook", h.name, "object", request.Namespace+"/"+request.Name, "user", request.UserInfo.Username)
		}})
	}
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
