// SPDX-License-Identifier: Apache-2.0

package shootstate

import (
	"context"
	"encoding/json"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	names "k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// resource reads an object to which the state of an extension refers (EXT-MIG-3). It is a Secret or a ConfigMap in the namespace of the control
// plane: the gardenlet may read everything in the seed, and must not do so for somebody who may not.
func (c *collector) resource(ctx context.Context, ref autoscalingv1.CrossVersionObjectReference) error {
	if c.seen[ref] {
		return nil
	}
	object, err := empty(ref)
	if err != nil {
		return err
	}
	err = c.seed.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: ref.Name}, object)
	if apierrors.IsNotFound(err) || err == nil && object.GetDeletionTimestamp() != nil {
		return incomplete("%s %q does not exist", ref.Kind, ref.Name)
	}
	if err != nil {
		return fmt.Errorf("get %s %q: %w", ref.Kind, ref.Name, err)
	}
	data, err := json.Marshal(content(object))
	if err != nil {
		return fmt.Errorf("encode %s %q: %w", ref.Kind, ref.Name, err)
	}
	if err := c.take(len(data), ref.Kind, ref.Name); err != nil {
		return err
	}
	c.seen[ref] = true
	c.state.Resources = append(c.state.Resources, gardencorev1beta1.ResourceData{CrossVersionObjectReference: ref, Data: runtime.RawExtension{Raw: data}})
	return nil
}

// empty returns an object of the kind of a reference.
func empty(ref autoscalingv1.CrossVersionObjectReference) (client.Object, error) {
	switch {
	case ref.Name == "":
		return nil, incomplete("a reference has no name")
	case len(names.IsPathSegmentName(ref.Name)) > 0: // The client would not even ask.
		return nil, incomplete("a reference is to %q, which no object can be named", ref.Name)
	case ref.APIVersion != "v1":
	case ref.Kind == "Secret":
		return &corev1.Secret{}, nil
	case ref.Kind == "ConfigMap":
		return &corev1.ConfigMap{}, nil
	}
	return nil, incomplete("a reference is to kind %q of version %q, and may be to a Secret or a ConfigMap of version v1", ref.Kind, ref.APIVersion)
}

// content returns an object without what belongs to the cluster that it is in.
func content(object client.Object) client.Object {
	kept := bare(object)
	switch o := object.(type) {
	case *corev1.Secret:
		return &corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: kept, Type: o.Type, Immutable: o.Immutable, Data: o.Data}
	case *corev1.ConfigMap:
		return &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: kept, Immutable: o.Immutable, Data: o.Data, BinaryData: o.BinaryData}
	default:
		return object
	}
}
