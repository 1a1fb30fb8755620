// SPDX-License-Identifier: Apache-2.0

// Package badge has the webhooks of a small extension, "provider-badge", which exists for tests and as an example. It is about shoots of
// the provider type badge: the API server gets a flag and an annotation, the machines get a file, and the ConfigMaps of system components
// in the shoot get a label. docs/extensions.md explains it.
package badge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/extension/webhook"
)

const (
	// Extension is its name.
	Extension = "provider-badge"
	// Type is the provider type that it is for.
	Type = "badge"
	// Worn is the key of the annotation of API servers, and of the label of ConfigMaps.
	Worn = "badge.example.org/worn"
	// Refuse is the key of an annotation that makes the extension refuse an object.
	Refuse = "badge.example.org/refuse"
	// Flag is the flag that API servers get.
	Flag = "--goaway-chance=0.001"
	// File is the file that machines get.
	File = "/etc/badge"
)

// Webhooks are what the extension is asked about.
func Webhooks() webhook.Set {
	return webhook.Set{
		Extension: Extension,
		Seed: []webhook.Webhook{{
			Name: "controlplane", Kind: webhook.KindShoot, Type: Type, Mutate: controlPlane,
			Objects: []client.Object{&appsv1.Deployment{}, &gardenextensionsv1alpha1.OperatingSystemConfig{}},
		}},
		Shoot: []webhook.Webhook{{Name: "system", Objects: []client.Object{&corev1.ConfigMap{}}, Mutate: system}},
	}
}

// controlPlane changes what the gardenlet writes. Done twice, it is as if done once.
func controlPlane(_ context.Context, object, _ client.Object) error {
	if reason := object.GetAnnotations()[Refuse]; reason != "" {
		return fmt.Errorf("no badge for it: %s", reason)
	}
	switch o := object.(type) {
	case *appsv1.Deployment:
		if o.Name == "kube-apiserver" {
			return apiServer(o)
		}
	case *gardenextensionsv1alpha1.OperatingSystemConfig:
		machine(o)
	}
	return nil
}

// apiServer relies on the name of the container (EXT-WH-2).
func apiServer(d *appsv1.Deployment) error {
	containers := d.Spec.Template.Spec.Containers
	i := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == "kube-apiserver" })
	if i < 0 {
		return errors.New("the Deployment has no container kube-apiserver")
	}
	if !slices.Contains(containers[i].Args, Flag) {
		containers[i].Args = append(containers[i].Args, Flag)
	}
	metav1.SetMetaDataAnnotation(&d.ObjectMeta, Worn, "true")
	return nil
}

func machine(o *gardenextensionsv1alpha1.OperatingSystemConfig) {
	if slices.ContainsFunc(o.Spec.Files, func(f gardenextensionsv1alpha1.File) bool { return f.Path == File }) {
		return
	}
	o.Spec.Files = append(o.Spec.Files, gardenextensionsv1alpha1.File{
		Path: File, Content: gardenextensionsv1alpha1.FileContent{Inline: &gardenextensionsv1alpha1.FileContentInline{Data: "worn\n"}},
	})
}

func system(_ context.Context, object, _ client.Object) error {
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[Worn] = "true"
	object.SetLabels(labels)
	return nil
}
