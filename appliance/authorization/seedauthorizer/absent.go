// SPDX-License-Identifier: Apache-2.0

package seedauthorizer

import (
	"context"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/terrarium-garden/terrarium/appliance/authorization/seedclient"
)

// A gardenlet deletes what may be gone already, and goes on once it is told so. When it is gone, nothing is known any more
// that makes it the gardenlet's own. To tell a gardenlet that an object is gone, but not that the object of another seed is
// there, both are answered alike: a deletion by a client of a seed of what is not its own finds nothing. It never reaches a
// store, so it deletes nothing either, whatever is created in the meantime.
//
// An authorizer can only allow or refuse. So that one which stands after all others leaves a note in the context of the
// request and lets it pass; the handler behind it answers in place of the API. Without a place for the note, as for
// questions of who may do what, the answer is the refusal.

type noteKey struct{}

// note says that the request that it belongs to is to be answered as one for what does not exist.
type note struct{ absent bool }

// Absent is the last of a chain of authorizers.
type Absent struct {
	// Authorizer knows what clients of a seed delete.
	Authorizer *Authorizer
	// Others are those before it.
	Others authorizer.Authorizer
	// Ready reports whether it is known what belongs to which seed. Before, nothing is absent.
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
	// Who may read an object knows whether it is there, and is told that it is not its own.
	if decision, _, err := z.Others.Authorize(ctx, reading(a)); err != nil || decision == authorizer.DecisionAllow {
		return authorizer.DecisionNoOpinion, "", nil //nolint:nilerr // The refusal stands.
	}
	left.absent = true

	return authorizer.DecisionAllow, "", nil
}

// deletes reports whether a request is one that a client of a seed makes for its own objects.
func (z *Absent) deletes(a authorizer.Attributes) bool {
	client, ok := seedclient.Of(a.GetUser())
	if !ok || !a.IsResourceRequest() || verbOf(a.GetVerb()) != remove || a.GetName() == "" || a.GetSubresource() != "" {
		return false
	}
	rule, ok := z.Authorizer.rules[schema.GroupResource{Group: a.GetAPIGroup(), Resource: a.GetResource()}]

	return ok && (rule.path.has(remove) || rule.deletes) && (!rule.readOnly || !client.Extension)
}

// is reports whether attributes are those of the request itself, and not of something that is asked about on its way.
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

// WithPlace gives deletions a place for the note. It stands before authorization.
func WithPlace(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			r = r.WithContext(context.WithValue(r.Context(), noteKey{}, &note{}))
		}
		next.ServeHTTP(w, r)
	})
}

// WithAbsent answers requests with a note. It stands right behind authorization.
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
