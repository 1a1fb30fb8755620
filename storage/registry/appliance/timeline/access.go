// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/terrarium-garden/terrarium/storage/local/timeline"
)

// mayRead reports whether the user of a request may read an object, or without a name all objects of a kind in a namespace.
func (e *Entries) mayRead(ctx context.Context, namespace, kind, name string) (bool, error) {
	who, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return false, nil
	}
	// Clients of seeds may list objects of which they get only those of their seed, which a timeline does not know.
	if name == "" && e.ofSeed(ctx) {
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

// ofSeed reports whether the user of a request is a client of a seed.
func (e *Entries) ofSeed(ctx context.Context) bool {
	who, ok := genericapirequest.UserFrom(ctx)
	if !ok {
		return false
	}
	_, of := e.settings.Client(who)

	return of
}

// tells returns whether the user of a request may know an entry of an object that he may read by its name. A user of a project may know what
// became of an earlier object of the same name. A client of a seed may not: that one may have been on another seed. Of an object that does
// not exist, a client of a seed may know nothing, as nobody can say whose it was.
func (e *Entries) tells(ctx context.Context, namespace, kind, name string) (func(*timeline.Entry) bool, error) {
	if !e.ofSeed(ctx) {
		return func(*timeline.Entry) bool { return true }, nil
	}
	uid, err := e.uidOf(ctx, namespace, kind, name)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}

	return func(entry *timeline.Entry) bool { return uid != "" && entry.Subject.UID == uid }, nil
}

// uidOf returns the UID of an object, and none if it does not exist.
func (e *Entries) uidOf(ctx context.Context, namespace, kind, name string) (types.UID, error) {
	objects, ok := e.settings.Objects[kind]
	if !ok {
		return "", nil
	}
	found, err := objects.Get(genericapirequest.WithNamespace(ctx, namespace), name, &metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the object of a timeline: %w", err)
	}
	object, err := meta.Accessor(found)
	if err != nil {
		return "", fmt.Errorf("read the object of a timeline: %w", err)
	}

	return object.GetUID(), nil
}
