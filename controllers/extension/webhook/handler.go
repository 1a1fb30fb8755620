// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// handler answers for one webhook.
type handler struct {
	mutate Mutate
	// empty makes an object of a kind that it is asked about.
	empty map[schema.GroupVersionKind]func() client.Object
}

// Handler answers requests as the webhook does (EXT-WH-7).
func (w Webhook) Handler(types *runtime.Scheme) (admission.Handler, error) {
	h := &handler{mutate: w.Mutate, empty: map[schema.GroupVersionKind]func() client.Object{}}
	for _, object := range w.Objects {
		kind, err := apiutil.GVKForObject(object, types)
		if err != nil {
			return nil, fmt.Errorf("webhook %q: find the kind of %T: %w", w.Name, object, err)
		}
		h.empty[kind] = func() client.Object {
			copied, _ := object.DeepCopyObject().(client.Object)
			return copied
		}
	}
	return h, nil
}

// Handle changes the object of a request. One that is being deleted is left as it is. The answer is the difference between two encodings of
// the types that this program knows, so that fields which only the API server knows stay.
func (h *handler) Handle(ctx context.Context, request admission.Request) admission.Response {
	kind := schema.GroupVersionKind{Group: request.Kind.Group, Version: request.Kind.Version, Kind: request.Kind.Kind}
	empty, known := h.empty[kind]
	if !known {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("the webhook is not for objects of kind %s", kind))
	}
	if request.Operation != admissionv1.Create && request.Operation != admissionv1.Update {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("the webhook is for objects that are created or updated, not for operation %q", request.Operation))
	}
	object := empty()
	if err := json.Unmarshal(request.Object.Raw, object); err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("decode the object: %w", err))
	}
	var old client.Object
	if request.Operation == admissionv1.Update {
		old = empty()
		if err := json.Unmarshal(request.OldObject.Raw, old); err != nil {
			return admission.Errored(http.StatusBadRequest, fmt.Errorf("decode the object as it was: %w", err))
		}
	}
	if object.GetDeletionTimestamp() != nil {
		return admission.Allowed("the object is being deleted")
	}
	return h.answer(ctx, object, old)
}

func (h *handler) answer(ctx context.Context, object, old client.Object) admission.Response {
	before, err := json.Marshal(object)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, fmt.Errorf("encode the object: %w", err))
	}
	if err := h.mutate(ctx, object, old); err != nil {
		return admission.Errored(http.StatusUnprocessableEntity, err)
	}
	after, err := json.Marshal(object)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, fmt.Errorf("encode the object: %w", err))
	}
	if bytes.Equal(before, after) {
		return admission.Allowed("nothing to change")
	}
	return admission.PatchResponseFromRaw(before, after)
}
