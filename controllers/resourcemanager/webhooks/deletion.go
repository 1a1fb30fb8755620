// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// protectDeletion refuses to delete objects without a confirmation (GRM-WH-DEL-1). An API server asks once for each object of a
// collection, so one that is not confirmed stops the rest (GRM-WH-DEL-2). The answer is about the object that the server is about to
// delete, and not about one that was read before.
func protectDeletion(*Decider) admission.Handler {
	return admission.HandlerFunc(func(_ context.Context, request admission.Request) admission.Response {
		if request.Operation != admissionv1.Delete {
			return admission.Allowed("nothing is deleted")
		}
		if len(request.OldObject.Raw) == 0 {
			return admission.Denied("the API server does not say which object is deleted")
		}
		object := &metav1.PartialObjectMetadata{}
		if err := json.Unmarshal(request.OldObject.Raw, object); err != nil {
			return admission.Errored(http.StatusBadRequest, fmt.Errorf("decode the object: %w", err))
		}
		if confirmed, err := strconv.ParseBool(object.Annotations[gardencorev1beta1.AnnotationConfirmationDeletion]); err == nil && confirmed {
			return admission.Allowed("the deletion is confirmed")
		}
		return admission.Denied(fmt.Sprintf("%s %q is protected: annotate it with %s=true before you delete it",
			request.Kind.Kind, object.Name, gardencorev1beta1.AnnotationConfirmationDeletion))
	})
}
