// SPDX-License-Identifier: Apache-2.0

// Package referred copies into a seed what an object of the garden refers to, for extensions: credentials, other Secrets, ConfigMaps,
// and tokens of workload identities.
//
// A copy has only the data of its source, because labels, annotations and types mean something to controllers in a seed.
package referred

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/workloadidentity"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

// Kinds of objects that are copied.
const (
	KindSecret           = "Secret"
	KindInternalSecret   = "InternalSecret"
	KindConfigMap        = "ConfigMap"
	KindWorkloadIdentity = "WorkloadIdentity"
)

// MissingError says that there is nothing to copy: what is referred to does not exist, cannot be read, or is of a wrong kind. Every
// other error may pass by itself.
type MissingError struct{ error }

func (e *MissingError) Unwrap() error { return e.error }

// NoneError marks an error as one of something that is missing.
func NoneError(err error) error { return &MissingError{error: err} }

// Missing marks errors of objects that do not exist. A gardenlet is forbidden to read what nothing refers to.
func Missing(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return NoneError(err)
	}
	return err
}

// Copier makes copies. It does not write them.
type Copier struct {
	// Garden requests tokens, Reader reads from the garden around any cache, Seed reads the copies of earlier runs.
	Garden client.Client
	Reader client.Reader
	Seed   client.Reader
	// Clock tells the time, Validity how long tokens are to be valid.
	Clock    clock.PassiveClock
	Validity time.Duration
	// Namespace is that of the copies in the seed.
	Namespace string
	// Behalf is the object of the garden on behalf of which workload identities are used.
	Behalf gardensecurityv1alpha1.ContextObject
}

// Secret returns the Secret of that name that is to be in the seed. The reference is to a Secret if it has no kind.
func (c Copier) Secret(ctx context.Context, name string, ref corev1.ObjectReference) (*corev1.Secret, error) {
	key, kind := client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, cmp.Or(ref.Kind, KindSecret)
	source := map[string]client.Object{
		KindSecret: &corev1.Secret{}, KindInternalSecret: &gardencorev1beta1.InternalSecret{}, KindWorkloadIdentity: &gardensecurityv1alpha1.WorkloadIdentity{},
	}[kind]
	if source == nil {
		return nil, unsuitable(fmt.Errorf("credentials %q: of kind %q, must be a %s, %s or %s", key, kind, KindSecret, KindInternalSecret, KindWorkloadIdentity))
	}
	if err := c.Reader.Get(ctx, key, source); err != nil {
		return nil, Missing(fmt.Errorf("get credentials: %s %q: %w", kind, key, err))
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name}, Type: corev1.SecretTypeOpaque}
	switch source := source.(type) {
	case *corev1.Secret:
		secret.Data = source.Data
	case *gardencorev1beta1.InternalSecret:
		secret.Data = source.Data
	case *gardensecurityv1alpha1.WorkloadIdentity:
		if err := c.fillIdentity(ctx, secret, source); err != nil {
			return nil, err
		}
	}
	return secret, nil
}

func unsuitable(err error) error {
	return operation.WithCodes(NoneError(err), gardencorev1beta1.ErrorCodeConfigurationProblem)
}

// fillIdentity makes a Secret that lets extensions act as a workload identity. The token of an earlier run is kept while it is valid;
// package workloadidentity renews it between the runs.
func (c Copier) fillIdentity(ctx context.Context, secret *corev1.Secret, identity *gardensecurityv1alpha1.WorkloadIdentity) error {
	if err := workloadidentity.Describe(secret, identity, c.Behalf); err != nil {
		return err
	}
	live := &corev1.Secret{}
	key := client.ObjectKeyFromObject(secret)
	if err := c.Seed.Get(ctx, key, live); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get secret %q: %w", key, err)
	}
	issuer := workloadidentity.Issuer{Garden: c.Garden, Validity: c.Validity, Clock: c.Clock}
	if issuer.Keep(secret, live) {
		return nil
	}
	return Missing(issuer.Renew(ctx, secret))
}

// Resources returns the copies of what spec.resources of an object refers to in a namespace of the garden, each once. A copy is named
// for its source, not for the name that the object gives to it (EXT-CONV-3).
func (c Copier) Resources(ctx context.Context, namespace string, all []gardencorev1beta1.NamedResourceReference) ([]client.Object, error) {
	var copies []client.Object
	for i := range all {
		one, err := c.resource(ctx, namespace, &all[i])
		if err != nil {
			return nil, fmt.Errorf("resource %q of spec.resources: %w", all[i].Name, err)
		}
		key := client.ObjectKeyFromObject(one)
		if !slices.ContainsFunc(copies, func(c client.Object) bool {
			return client.ObjectKeyFromObject(c) == key && reflect.TypeOf(c) == reflect.TypeOf(one)
		}) {
			copies = append(copies, one)
		}
	}
	return copies, nil
}

func (c Copier) resource(ctx context.Context, namespace string, one *gardencorev1beta1.NamedResourceReference) (client.Object, error) {
	from := corev1.ObjectReference{Kind: one.ResourceRef.Kind, Namespace: namespace, Name: one.ResourceRef.Name}
	// The version counts as well: whether the owner may read an object was checked for the kind of that group.
	switch one.ResourceRef.APIVersion + "/" + from.Kind {
	case "v1/" + KindSecret:
		return c.Secret(ctx, gardencorev1beta1.SecretPrefixReference+from.Name, from)
	case gardensecurityv1alpha1.GroupVersion.String() + "/" + KindWorkloadIdentity:
		return c.Secret(ctx, gardencorev1beta1.SecretPrefixWorkloadIdentityReference+from.Name, from)
	case "v1/" + KindConfigMap:
		key, source := client.ObjectKey{Namespace: from.Namespace, Name: from.Name}, &corev1.ConfigMap{}
		if err := c.Reader.Get(ctx, key, source); err != nil {
			return nil, Missing(fmt.Errorf("get config map %q: %w", key, err))
		}
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: gardencorev1beta1.SecretPrefixReference + from.Name},
			Data:       source.Data, BinaryData: source.BinaryData,
		}, nil
	default:
		return nil, unsuitable(fmt.Errorf("of kind %s %q, must be a %s, %s or %s", one.ResourceRef.APIVersion, from.Kind, KindSecret, KindConfigMap, KindWorkloadIdentity))
	}
}
