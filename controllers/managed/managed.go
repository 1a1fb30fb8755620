// SPDX-License-Identifier: Apache-2.0

// Package managed writes ManagedResources: sets of objects that the resource manager of a seed keeps in the seed or in a shoot. A client
// that writes one says what there has to be, and needs neither access to the shoot nor rights in it.
package managed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/andybalholm/brotli"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/managedresource"
)

const (
	secretPrefix = "managedresource-"
	manifestKey  = "objects.yaml"
	// readable is the size up to which manifests are not compressed, so that people can read them. A Secret holds a MiB.
	readable = 256 << 10
)

// ErrPending says that the resource manager has not done its work yet.
var ErrPending = errors.New("the resource manager is not done yet")

// Set is a ManagedResource, and the Secret beside it that holds the manifests.
type Set struct {
	Namespace, Name string
	// Class says which cluster the objects are in; empty for the shoot whose control plane has the namespace.
	Class string
	// Labels are those of the ManagedResource.
	Labels map[string]string
	// InjectLabels are put on every object, and on the pods of workloads.
	InjectLabels map[string]string
}

func (s Set) resource() *gardenresourcesv1alpha1.ManagedResource {
	mr := &gardenresourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name, Labels: s.Labels}}
	mr.Spec.InjectLabels = s.InjectLabels
	mr.Spec.SecretRefs = []corev1.LocalObjectReference{{Name: s.secret().Name}}
	if s.Class != "" {
		mr.Spec.Class = &s.Class
	}

	return mr
}

func (s Set) secret() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: secretPrefix + s.Name, Labels: s.Labels}, Type: corev1.SecretTypeOpaque}
}

// Apply asks for the objects. Those of an earlier call that are not among them are deleted by the resource manager.
func (s Set) Apply(ctx context.Context, engine deploy.Engine, objs ...client.Object) error {
	secret, err := s.manifests(engine, objs)
	if err != nil {
		return err
	}

	return engine.Apply(ctx, secret, s.resource())
}

// Free returns nil if nothing of an earlier set of the name is in deletion. What is asked for before would go with it.
func (s Set) Free(ctx context.Context, seed client.Reader) error {
	mr := s.resource()
	err := seed.Get(ctx, client.ObjectKeyFromObject(mr), mr)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("get ManagedResource %q: %w", client.ObjectKeyFromObject(mr), err)
	case mr.DeletionTimestamp != nil:
		return fmt.Errorf("ManagedResource %q: %w: it is still being deleted", client.ObjectKeyFromObject(mr), ErrPending)
	default:
		return nil
	}
}

// Rewrite asks for other objects, if there is a call of Apply that was not followed by one of Delete. It creates nothing: a caller
// that keeps a set up to date in the background must not bring it back while another one removes it.
func (s Set) Rewrite(ctx context.Context, engine deploy.Engine, objs ...client.Object) error {
	wanted, err := s.manifests(engine, objs)
	if err != nil {
		return err
	}
	live, key := &corev1.Secret{}, client.ObjectKeyFromObject(wanted)
	if err := engine.Client.Get(ctx, key, live); err != nil {
		return client.IgnoreNotFound(err)
	}
	if maps.EqualFunc(live.Data, wanted.Data, bytes.Equal) {
		return nil
	}
	live.Data = wanted.Data
	if err := engine.Client.Update(ctx, live, client.FieldOwner(engine.Owner)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("rewrite the manifests in Secret %q: %w", key, err)
	}

	return nil
}

func (s Set) manifests(engine deploy.Engine, objs []client.Object) (*corev1.Secret, error) {
	manifest, err := engine.Manifest(objs...)
	if err != nil {
		return nil, err
	}
	secret, key := s.secret(), manifestKey
	if len(manifest) > readable {
		if manifest, err = compress(manifest); err != nil {
			return nil, fmt.Errorf("compress the manifests of ManagedResource %q: %w", s.Name, err)
		}
		key += gardenresourcesv1alpha1.CompressedSuffix
	}
	secret.Data = map[string][]byte{key: manifest}

	return secret, nil
}

func compress(plain []byte) ([]byte, error) {
	var buffer bytes.Buffer
	writer := brotli.NewWriter(&buffer)
	_, err := writer.Write(plain)
	err = errors.Join(err, writer.Close())

	return buffer.Bytes(), err
}

// Applied returns nil once all objects are as the last call of Apply asked for. Other errors than ErrPending say why they cannot be.
func (s Set) Applied(ctx context.Context, seed client.Reader) error {
	_, err := s.applied(ctx, seed)

	return err
}

// Healthy returns nil once all objects are applied and healthy.
func (s Set) Healthy(ctx context.Context, seed client.Reader) error {
	mr, err := s.applied(ctx, seed)
	if err != nil {
		return err
	}
	condition := query.FindCondition(mr.Status.Conditions, gardenresourcesv1alpha1.ConditionTypeResourcesHealthy)
	if condition == nil || condition.Status != gardencorev1beta1.ConditionTrue {
		return s.pending(condition)
	}

	return nil
}

func (s Set) applied(ctx context.Context, seed client.Reader) (*gardenresourcesv1alpha1.ManagedResource, error) {
	mr, secret := s.resource(), s.secret()
	for _, obj := range []client.Object{mr, secret} {
		if err := seed.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
			return nil, fmt.Errorf("get %T %q: %w", obj, client.ObjectKeyFromObject(obj), err)
		}
	}
	condition := query.FindCondition(mr.Status.Conditions, gardenresourcesv1alpha1.ConditionTypeResourcesApplied)
	if condition != nil && condition.Status == gardencorev1beta1.ConditionFalse {
		return nil, fmt.Errorf("ManagedResource %q: %s", client.ObjectKeyFromObject(mr), condition.Message)
	}
	sum := mr.Status.SecretsDataChecksum
	current := mr.Status.ObservedGeneration == mr.Generation && sum != nil && *sum == managedresource.Decode(secret).Checksum
	if !current || condition == nil || condition.Status != gardencorev1beta1.ConditionTrue {
		return nil, s.pending(condition)
	}

	return mr, nil
}

func (s Set) pending(condition *gardencorev1beta1.Condition) error {
	key := client.ObjectKey{Namespace: s.Namespace, Name: s.Name}
	if condition == nil {
		return fmt.Errorf("ManagedResource %q: %w", key, ErrPending)
	}

	return fmt.Errorf("ManagedResource %q: %w: %s", key, ErrPending, condition.Message)
}

// Delete deletes the objects. It reports whether all of them are gone, and is repeated until they are. The manifests go last, because
// the resource manager may still be at work.
func (s Set) Delete(ctx context.Context, engine deploy.Engine) (gone bool, err error) {
	mr := s.resource()
	if err := engine.Delete(ctx, mr); err != nil {
		return false, err
	}
	err = engine.Client.Get(ctx, client.ObjectKeyFromObject(mr), mr)
	if err == nil {
		return false, nil
	}
	if !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("get ManagedResource %q: %w", client.ObjectKeyFromObject(mr), err)
	}

	return true, engine.Delete(ctx, s.secret())
}

// Forget deletes the ManagedResource and leaves the objects where they are, because their cluster moves, goes, or is lost.
func (s Set) Forget(ctx context.Context, engine deploy.Engine) (gone bool, err error) {
	mr := s.resource()
	keep := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"keepObjects":true}}`))
	if err := engine.Client.Patch(ctx, mr, keep); client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("keep the objects of ManagedResource %q: %w", client.ObjectKeyFromObject(mr), err)
	}

	return s.Delete(ctx, engine)
}
