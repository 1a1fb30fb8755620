// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// mayRead reports whether the user of a request may read an object, or without a name all objects of a kind in a namespace.
func (e *Entries) mayRead(ctx context.Context, namespace, kind, name string) (bool, error) {
	who, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return false, nil
	}
	// Clients of seeds may list objects of which they get only those of their seed, which a timeline does not know.
	if _, ofSeed := e.settings.Client(who); ofSeed && name == "" {
		return false, nil
	}
	verb := "list"
	if name != "" {
		verb = "get"
	}
	resource := kinds()[kind]
	decision, _, err := e.settings.Authorizer.Authorize(ctx, authorizer.AttributesRecord{
		User: who, Verb: verb, Namespace: namespace, APIGroup: resource.Group, APIVersion: "*", Resource: resource.Resource, Name: name,
		ResourceRequest: true,
	})
	if err != nil && decision != authorizer.DecisionAllow {
		return false, apierrors.NewInternalError(err)
	}

	return decision == authorizer.DecisionAllow, nil
}
