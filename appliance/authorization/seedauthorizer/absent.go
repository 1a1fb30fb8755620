// SPDX-License-Identifier: Apache-2.0

package seedauthorizer

import (
	"context"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/terrarium-garden/terrarium/appliance/authorization/rules"
	"github.com/terrarium-garden/terrarium/appliance/authorization/seedclient"
)

// A gardenlet deletes objects that may not exist any more, and continues if they are not found. The graph does not know
// whether a missing object belonged to the gardenlet. So that a gardenlet sees that an object is missing, but not that an
// object of another seed exists, both get the same response: if a client of a seed deletes an object that does not belong to
// the seed, the object is not found. The request never reaches a store, so it never deletes anything, even if the object is
// created in the meantime.
//
// An authorizer can only allow or deny. So the last authorizer writes a note into the context of the request and allows it,
// and the handler after it responds instead of the API. If the context has no place for the note, as in access reviews, the
// request is denied.

type noteKey struct{}

// note says that the object of its request has to be reported as not found.
type note struct{ absent bool }

// Absent is the last authorizer of a chain.
type Absent struct {
	// Authorizer is the authorizer of seeds, which knows what they may delete.
	Authorizer *Authorizer
	// Others are the authorizers before it.
	Others authorizer.Authorizer
	// Ready reports whether the graph is complete. Until then, requests are denied.
	Ready func() bool
}

var _ authorizer.Authorizer = (*Absent)(nil)

// Authorize implements authorizer.Authorizer.
func (z *Absent) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	request, ok := genericapirequest.RequestInfoFrom(ctx)
	left, place := ctx.Value(noteKey{}).(*note)
	if !ok || !place || !z.deletes(a) || !is(request, a) || !z.Ready() {
		return authorizer.DecisionNoOpinion, "", nil
	}
	// A client that may read an object knows whether it exists, and gets the denial.
	if decision, _, err := z.Others.Authorize(ctx, reading(a)); err != nil || decision == authorizer.DecisionAllow {
		return authorizer.DecisionNoOpinion, "", nil //nolint:nilerr // The denial stands.
	}
	left.absent = true

	return authorizer.DecisionAllow, "", nil
}

// deletes reports whether a request is a deletion that a client of a seed may make for objects of the seed. The rule for ConfigMaps allows it
// by its check.
func (z *Absent) deletes(a authorizer.Attributes) bool {
	client, ok := seedclient.Of(a.GetUser())
	if !ok || !a.IsResourceRequest() || rules.VerbOf(a.GetVerb()) != rules.Delete || a.GetName() == "" || a.GetSubresource() != "" {
		return false
	}
	resource := schema.GroupResource{Group: a.GetAPIGroup(), Resource: a.GetResource()}
	rule, ok := z.Authorizer.engine.Rule(resource)

	return ok && (rule.Path.Has(rules.Delete) || resource == corev1.Resource("configmaps")) &&
		(rule.Limit == nil || rule.Limit(client).Has(rules.Delete))
}

// is reports whether attributes are those of the request itself, and not of another authorization check during its processing.
func is(r *genericapirequest.RequestInfo, a authorizer.Attributes) bool {
	return r.IsResourceRequest && r.Verb == a.GetVerb() && r.APIGroup == a.GetAPIGroup() && r.Resource == a.GetResource() &&
		r.Subresource == a.GetSubresource() && r.Namespace == a.GetNamespace() && r.Name == a.GetName()
}

func reading(a authorizer.Attributes) authorizer.Attributes {
	return authorizer.AttributesRecord{
		User: a.GetUser(), Verb: "get", APIGroup: a.GetAPIGroup(), APIVersion: a.GetAPIVersion(), Resource: a.GetResource(),
		Namespace: a.GetNamespace(), Name: a.GetName(), ResourceRequest: true,
	}
}

// WithPlace adds a place for the note to the context of deletions. It runs before authorization.
func WithPlace(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			r = r.WithContext(context.WithValue(r.Context(), noteKey{}, &note{}))
		}
		next.ServeHTTP(w, r)
	})
}

// WithAbsent responds to requests with a note. It runs directly after authorization.
func WithAbsent(next http.Handler, s runtime.NegotiatedSerializer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		left, _ := r.Context().Value(noteKey{}).(*note)
		if left == nil || !left.absent {
			next.ServeHTTP(w, r)

			return
		}
		about, ok := genericapirequest.RequestInfoFrom(r.Context())
		if !ok {
			about = &genericapirequest.RequestInfo{}
		}
		gone := apierrors.NewNotFound(schema.GroupResource{Group: about.APIGroup, Resource: about.Resource}, about.Name)
		responsewriters.ErrorNegotiated(gone, s, schema.GroupVersion{Group: about.APIGroup, Version: about.APIVersion}, w, r)
	})
}
