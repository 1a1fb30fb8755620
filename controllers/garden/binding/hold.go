// SPDX-License-Identifier: Apache-2.0

package binding

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const marked = "true"

// errNamedAgain says that a binding was created while what it names was being released.
var errNamedAgain = errors.New("another binding names the same objects by now")

type binding = gardensecurityv1alpha1.CredentialsBinding

// hold puts the finalizer and the labels on what a binding names. Only metadata is read and written, because this controller
// does not need the credentials themselves.
func (k Kind) hold(ctx context.Context, garden *kit.Base, object client.Object) error {
	b := Of(object)
	if b == nil {
		return nil
	}
	err := change(ctx, garden, b.CredentialsRef, func(found *metav1.PartialObjectMetadata) { k.Mark(found, b) })
	if err != nil {
		return err
	}
	for _, quota := range b.Quotas {
		err := change(ctx, garden, quota, func(found *metav1.PartialObjectMetadata) { label(found, k.Label) })
		// The credentials are protected even if a quota does not exist.
		if client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// free undoes hold where no other binding of the kind that stays names the same. Objects that do not exist are ignored.
func (k Kind) free(ctx context.Context, garden *kit.Base, object client.Object) error {
	b := Of(object)
	if b == nil {
		return nil
	}
	rest, err := staying(ctx, garden.Reader, k.List, b)
	if err != nil {
		return err
	}
	if err := k.freeCredentials(ctx, garden, b, rest); err != nil {
		return err
	}
	for _, quota := range b.Quotas {
		unmark := func(found *metav1.PartialObjectMetadata) { delete(found.Labels, k.Label) }
		if slices.ContainsFunc(rest, func(other *binding) bool { return slices.Contains(other.Quotas, quota) }) {
			unmark = func(found *metav1.PartialObjectMetadata) { label(found, k.Label) }
		}
		if err := change(ctx, garden, quota, unmark); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	// A binding that was created in between found everything marked and wrote nothing. The next pass marks it again.
	now, err := staying(ctx, garden.Reader, k.List, b)
	if err != nil {
		return err
	}
	for _, other := range now {
		if !slices.ContainsFunc(rest, func(r *binding) bool { return r.UID == other.UID }) && share(other, b) {
			return fmt.Errorf("release what binding %q names: %w", object.GetName(), errNamedAgain)
		}
	}
	return nil
}

func (k Kind) freeCredentials(ctx context.Context, garden *kit.Base, b *binding, rest []*binding) error {
	others, err := staying(ctx, garden.Reader, k.Others, b)
	if err != nil {
		return err
	}
	unmark := func(found *metav1.PartialObjectMetadata) { k.Unmark(found, providersOf(b.CredentialsRef, others)) }
	if i := slices.IndexFunc(rest, func(other *binding) bool { return other.CredentialsRef == b.CredentialsRef }); i >= 0 {
		unmark = func(found *metav1.PartialObjectMetadata) { k.Mark(found, rest[i]) }
	}
	return client.IgnoreNotFound(change(ctx, garden, b.CredentialsRef, unmark))
}

func share(a, b *binding) bool {
	return a.CredentialsRef == b.CredentialsRef ||
		slices.ContainsFunc(a.Quotas, func(quota corev1.ObjectReference) bool { return slices.Contains(b.Quotas, quota) })
}

// providers lists the types of the providers that accept the credentials of a binding. A SecretBinding can have several.
func providers(b *binding) []string {
	var all []string
	for provider := range strings.SplitSeq(b.Provider.Type, ",") {
		if provider = strings.TrimSpace(provider); provider != "" {
			all = append(all, provider)
		}
	}
	return all
}

// providersOf lists the providers for which some bindings name credentials.
func providersOf(credentials corev1.ObjectReference, bindings []*binding) []string {
	var all []string
	for _, b := range bindings {
		if b.CredentialsRef == credentials {
			all = append(all, providers(b)...)
		}
	}
	return all
}

// Mark holds the credentials of a binding and labels them for each of its providers. Objects that are being deleted get no
// finalizer, because the server would reject it; those that have only the one of older releases are held by that until the end.
func (k Kind) Mark(credentials *metav1.PartialObjectMetadata, b *gardensecurityv1alpha1.CredentialsBinding) {
	if credentials.DeletionTimestamp == nil {
		controllerutil.AddFinalizer(credentials, k.Finalizer)
	}
	if controllerutil.ContainsFinalizer(credentials, k.Finalizer) {
		k.dropFormer(credentials)
	}
	label(credentials, k.Label)
	for _, provider := range providers(b) {
		label(credentials, gardencorev1beta1.LabelPrefixShootProvider+provider)
	}
}

// Unmark undoes Mark, but leaves the labels of providers that others need.
func (k Kind) Unmark(credentials *metav1.PartialObjectMetadata, needed []string) {
	controllerutil.RemoveFinalizer(credentials, k.Finalizer)
	k.dropFormer(credentials)
	delete(credentials.Labels, k.Label)
	maps.DeleteFunc(credentials.Labels, func(key, _ string) bool {
		provider, found := strings.CutPrefix(key, gardencorev1beta1.LabelPrefixShootProvider)
		return found && !slices.Contains(needed, provider)
	})
}

// dropFormer removes the finalizer of older releases. In the namespace garden it is that of gardenlets, which remove it themselves
// (GLET-BB-2).
func (k Kind) dropFormer(credentials *metav1.PartialObjectMetadata) {
	if k.Former != "" && credentials.Namespace != gardencorev1beta1.NamespaceGarden {
		controllerutil.RemoveFinalizer(credentials, k.Former)
	}
}

func label(object *metav1.PartialObjectMetadata, key string) {
	metav1.SetMetaDataLabel(&object.ObjectMeta, key, marked)
}

// change patches the metadata of an object if mutate changes it.
func change(ctx context.Context, garden *kit.Base, ref corev1.ObjectReference, mutate func(*metav1.PartialObjectMetadata)) error {
	key := client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}
	found := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: ref.APIVersion, Kind: ref.Kind}}
	if err := garden.Reader.Get(ctx, key, found); err != nil {
		return fmt.Errorf("read %s %q: %w", ref.Kind, key, err)
	}
	commit := kit.Begin(garden.Client, found)
	mutate(found)
	if err := commit.WriteObject(ctx); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("mark %s %q: %w", ref.Kind, key, err)
	}
	return nil
}
