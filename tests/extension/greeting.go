// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// errConfiguration marks mistakes that only the owner of the shoot or seed can correct.
var errConfiguration = errors.New("the configuration of the extension is wrong")

// config is what a shoot or seed may say in spec.extensions[].providerConfig.
type config struct {
	metav1.TypeMeta `json:",inline"`

	// Text is the greeting.
	Text string `json:"text"`
	// Signature names an entry of the shoot's spec.resources, a Secret whose key name is signed with; for a seed, the Secret itself. It may
	// be empty.
	Signature string `json:"signature,omitempty"`
}

// cluster reads the shoot that the object is for (EXT-CLUSTER-3). It is nil if the object is for the seed.
func (r *reconciler) cluster(ctx context.Context, x *gardenextensionsv1alpha1.Extension) (*gardencorev1beta1.Shoot, error) {
	if ofSeed(x) {
		return nil, nil //nolint:nilnil // A seed has no shoot.
	}
	c := &gardenextensionsv1alpha1.Cluster{}
	if err := r.reader.Get(ctx, client.ObjectKey{Name: x.Namespace}, c); err != nil {
		return nil, fmt.Errorf("get cluster %q: %w", x.Namespace, err)
	}
	shoot := &gardencorev1beta1.Shoot{}
	if err := json.Unmarshal(c.Spec.Shoot.Raw, shoot); err != nil {
		return nil, fmt.Errorf("read the shoot of cluster %q: %w", c.Name, err)
	}
	return shoot, nil
}

// greet writes the greeting. A cluster that sleeps is greeted in a low voice.
func (r *reconciler) greet(ctx context.Context, x *gardenextensionsv1alpha1.Extension, shoot *gardencorev1beta1.Shoot) error {
	c, err := read(x)
	if err != nil {
		return err
	}
	data := map[string]string{"text": c.Text, "volume": "normal"}
	if shoot != nil && asleep(shoot) {
		data["volume"] = "low"
	}
	if c.Signature != "" {
		if data["signature"], err = r.signature(ctx, x.Namespace, c.Signature, shoot); err != nil {
			return err
		}
	}
	greeting := greetingOf(x)
	_, err = controllerutil.CreateOrUpdate(ctx, r.client, greeting, func() error {
		greeting.Data = data
		return nil
	})
	return err
}

func asleep(shoot *gardencorev1beta1.Shoot) bool {
	h := shoot.Spec.Hibernation
	return h != nil && h.Enabled != nil && *h.Enabled && shoot.DeletionTimestamp == nil
}

// forget removes the greeting. In a forced deletion it would also leave alone what is outside of the seed, if there were anything
// (EXT-DEL-4).
func (r *reconciler) forget(ctx context.Context, x *gardenextensionsv1alpha1.Extension, _ *gardencorev1beta1.Shoot) error {
	return client.IgnoreNotFound(r.client.Delete(ctx, greetingOf(x)))
}

func greetingOf(x *gardenextensionsv1alpha1.Extension) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: x.Namespace, Name: "extension-greeting"}}
}

// read reads the configuration; fields that nobody knows are mistakes (EXT-CONV-9).
func read(x *gardenextensionsv1alpha1.Extension) (*config, error) {
	c := &config{Text: "Good morning"}
	if x.Spec.ProviderConfig == nil {
		return c, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(x.Spec.ProviderConfig.Raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(c); err != nil {
		return nil, fmt.Errorf("%w: %w", errConfiguration, err)
	}
	return c, nil
}

// signature finds the copy of an object that the shoot refers to (EXT-CONV-3). The extension does not see the Seed: its configuration for
// a seed has the name of the Secret itself.
func (r *reconciler) signature(ctx context.Context, namespace, name string, shoot *gardencorev1beta1.Shoot) (string, error) {
	if shoot == nil {
		return r.signer(ctx, namespace, name)
	}
	for _, one := range shoot.Spec.Resources {
		if one.Name == name && one.ResourceRef.Kind == "Secret" {
			return r.signer(ctx, namespace, one.ResourceRef.Name)
		}
	}
	return "", fmt.Errorf("%w: spec.resources has no Secret %q", errConfiguration, name)
}

// signer reads the copy of a Secret of the garden.
func (r *reconciler) signer(ctx context.Context, namespace, of string) (string, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: namespace, Name: "ref-" + of}
	if err := r.reader.Get(ctx, key, secret); err != nil {
		return "", fmt.Errorf("get secret %q: %w", key, err)
	}
	return string(secret.Data["name"]), nil
}
