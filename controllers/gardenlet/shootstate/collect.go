// SPDX-License-Identifier: Apache-2.0

package shootstate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	// mostBytes is the size of a state at most. An etcd takes requests of 1.5 MiB, and the metadata of the state is not counted.
	mostBytes = 1400 << 10
	// entryBytes is what an entry has at least beside its content.
	entryBytes = 128

	secretsAtOnce = 20
)

// Collect reads the state of a shoot from the namespace of its control plane (GLET-STATE-1, GLET-STATE-3). What is in deletion is left out, and
// so are objects of extensions that have nothing to say.
func Collect(ctx context.Context, seed client.Reader, s *gardencorev1beta1.Shoot) (gardencorev1beta1.ShootStateSpec, error) {
	c := &collector{seed: seed, namespace: s.Status.TechnicalID, left: mostBytes, seen: map[autoscalingv1.CrossVersionObjectReference]bool{}}
	if err := c.secrets(ctx); err != nil {
		return gardencorev1beta1.ShootStateSpec{}, err
	}
	if len(c.state.Gardener) == 0 {
		return gardencorev1beta1.ShootStateSpec{}, incomplete("namespace %q has none of the Secrets that every control plane has", c.namespace)
	}
	if !query.Workerless(&s.Spec) {
		if err := c.machines(ctx); err != nil {
			return gardencorev1beta1.ShootStateSpec{}, err
		}
	}
	// The kinds that a gardenlet makes for shoots. It makes no BackupEntries.
	for _, kind := range extensions.KindsWhere(func(k extensions.Kind) bool { return k.OfShoots }) {
		if err := c.extensions(ctx, kind); err != nil {
			return gardencorev1beta1.ShootStateSpec{}, err
		}
	}
	return c.state, c.whole()
}

// collector puts a state together, in an order that does not change as long as nothing else does.
type collector struct {
	seed      client.Reader
	namespace string
	state     gardencorev1beta1.ShootStateSpec

	// left is how much of the state there may still be.
	left int
	// largest is what takes most of it, with its size.
	largest string
	size    int
	// seen are the objects that are in the state because extensions refer to them.
	seen map[autoscalingv1.CrossVersionObjectReference]bool
}

// take counts an entry, so that no more is read than can be stored.
func (c *collector) take(content int, kind, name string) error {
	if content > c.size {
		c.largest, c.size = fmt.Sprintf("%s %q", kind, name), content
	}
	if c.left -= content + entryBytes; c.left < 0 {
		return c.tooLarge()
	}
	return nil
}

// whole measures the state as it is stored, with labels and names.
func (c *collector) whole() error {
	data, err := json.Marshal(c.state)
	if err != nil {
		return fmt.Errorf("encode the state: %w", err)
	}
	if len(data) > mostBytes {
		return c.tooLarge()
	}
	return nil
}

func (c *collector) tooLarge() error {
	return tooLarge("it has more than %d KiB; what takes most of it is %s with %d KiB", mostBytes>>10, c.largest, c.size>>10)
}

// secrets reads the Secrets that were generated once and cannot be made again.
func (c *collector) secrets(ctx context.Context) error {
	pages := kit.Pages[*corev1.SecretList]{
		Reader: c.seed, New: func() *corev1.SecretList { return &corev1.SecretList{} }, Size: secretsAtOnce,
		Options: []client.ListOption{client.InNamespace(c.namespace), client.MatchingLabels{
			gardencorev1beta1.LabelSecretManagedBy: gardencorev1beta1.LabelSecretManagedByValue, gardencorev1beta1.LabelSecretPersist: "true",
		}},
	}
	err := pages.Each(ctx, func(page *corev1.SecretList) error {
		for i := range page.Items {
			secret := &page.Items[i]
			if secret.DeletionTimestamp != nil {
				continue
			}
			data, err := json.Marshal(secret.Data)
			if err != nil {
				return fmt.Errorf("encode Secret %q: %w", secret.Name, err)
			}
			if err := c.take(len(data), "Secret", secret.Name); err != nil {
				return err
			}
			c.state.Gardener = append(c.state.Gardener, gardencorev1beta1.GardenerResourceData{
				Name: secret.Name, Type: gardencorev1beta1.ShootStateTypeSecret, Labels: secret.Labels, Data: runtime.RawExtension{Raw: data},
			})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the Secrets of namespace %q: %w", c.namespace, err)
	}
	return nil
}

// extensions reads what the extensions have said about their objects of a kind.
func (c *collector) extensions(ctx context.Context, kind extensions.Kind) error {
	list := kind.NewList()
	if err := c.seed.List(ctx, list, client.InNamespace(c.namespace)); err != nil {
		return fmt.Errorf("list objects of kind %s: %w", kind.Name, err)
	}
	return meta.EachListItem(list, func(item runtime.Object) error {
		object, ok := item.(gardenextensionsv1alpha1.Object)
		if !ok || object.GetDeletionTimestamp() != nil {
			return nil
		}
		return c.extension(ctx, kind.Name, object)
	})
}

func (c *collector) extension(ctx context.Context, kind string, object gardenextensionsv1alpha1.Object) error {
	status, name := object.GetExtensionStatus(), object.GetName()
	entry := gardencorev1beta1.ExtensionResourceState{Kind: kind, Name: &name, Purpose: purpose(object), Resources: status.Resources}
	size := len(status.Resources) * entryBytes
	if said(status.State) {
		entry.State = &runtime.RawExtension{Raw: status.State.Raw}
		size += len(status.State.Raw)
	}
	if entry.State == nil && len(entry.Resources) == 0 {
		return nil
	}
	if err := c.take(size, kind, name); err != nil {
		return err
	}
	for _, resource := range status.Resources {
		if err := c.resource(ctx, resource.ResourceRef); err != nil {
			return fmt.Errorf("read what %s %q refers to in status.resources: %w", kind, name, err)
		}
	}
	c.state.Extensions = append(c.state.Extensions, entry)
	return nil
}

// said reports whether there is a state.
func said(state *runtime.RawExtension) bool {
	return state != nil && len(bytes.TrimSpace(state.Raw)) > 0 && !bytes.Equal(bytes.TrimSpace(state.Raw), []byte("null"))
}

// purpose distinguishes objects of the same kind; only some kinds have one.
func purpose(object gardenextensionsv1alpha1.Object) *string {
	if config, ok := object.(*gardenextensionsv1alpha1.OperatingSystemConfig); ok && config.Spec.Purpose != "" {
		return new(string(config.Spec.Purpose))
	}
	return nil
}
