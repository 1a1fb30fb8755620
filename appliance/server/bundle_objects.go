// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

// bundledKinds are the kinds of which a support bundle has a list. None of them contains credentials by design; of each object only
// the fields below are taken all the same.
func bundledKinds() []schema.GroupVersionKind {
	var all []schema.GroupVersionKind
	add := func(group schema.GroupVersion, kinds ...string) {
		for _, name := range kinds {
			all = append(all, group.WithKind(name))
		}
	}
	add(gardencorev1beta1.GroupVersion, "Seed", "Shoot", "Project", kind.BackupBucket, kind.BackupEntry, "CloudProfile", "ControllerInstallation", "ControllerRegistration")
	add(gardenseedmanagementv1alpha1.GroupVersion, "ManagedSeed", "Gardenlet")
	add(gardenoperationsv1alpha1.GroupVersion, kind.Bastion)
	add(corev1.SchemeGroupVersion, "Namespace", "Event")
	add(certificatesv1.SchemeGroupVersion, "CertificateSigningRequest")

	return all
}

// bundledFields are the fields of an object that are taken.
func bundledFields() [][]string {
	return [][]string{
		{"metadata", "name"},
		{"metadata", "namespace"},
		{"metadata", "uid"},
		{"metadata", "generation"},
		{"metadata", "resourceVersion"},
		{"metadata", "creationTimestamp"},
		{"metadata", "deletionTimestamp"},
		{"metadata", "finalizers"},
		{"spec", "seedName"},
		{"spec", "seedRef"},
		{"spec", "registrationRef"},
		{"spec", "shoot"},
		{"spec", "purpose"},
		{"spec", "region"},
		{"spec", "signerName"},
		{"spec", "username"},
		{"status", "phase"},
		{"status", "observedGeneration"},
		{"status", "conditions"},
		{"status", "constraints"},
		{"status", "lastOperation"},
		{"status", "lastErrors"},
		{"status", "lastError"},
		{"status", "gardener"},
		{"status", "technicalID"},
		{"status", "seedName"},
		{"status", "hibernated"},
		{"status", "migrationStartTime"},
		{"status", "kubernetesVersion"},
		{"involvedObject"},
		{"reason"},
		{"message"},
		{"type"},
		{"count"},
		{"firstTimestamp"},
		{"lastTimestamp"},
		{"eventTime"},
		{"reportingComponent"},
		{"source"},
	}
}

// bundlePageSize is the number of objects that are read at a time.
const bundlePageSize = 500

var errStarting = errors.New("the server is still starting")

// writeObjects writes a list of the objects of a kind.
func (b *supportBundle) writeObjects(ctx context.Context, w io.Writer, kind schema.GroupVersionKind) error {
	reader := b.live()
	if reader == nil {
		return errStarting
	}
	shown := []map[string]any{}
	options := &client.ListOptions{Limit: bundlePageSize}
	for {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := (*reader).List(ctx, list, options); err != nil {
			return fmt.Errorf("list %s: %w", kind.Kind, err)
		}
		for i := range list.Items {
			shown = append(shown, outline(list.Items[i].Object))
		}
		if options.Continue = list.GetContinue(); options.Continue == "" {
			return encode(w, map[string]any{"kind": kind.Kind + "List", "items": shown})
		}
	}
}

// outline takes the fields of an object, and the keys of its labels and annotations without their values.
func outline(object map[string]any) map[string]any {
	taken := map[string]any{}
	for _, path := range bundledFields() {
		value, ok, err := unstructured.NestedFieldNoCopy(object, path...)
		if !ok || err != nil {
			continue
		}
		at := taken
		for _, step := range path[:len(path)-1] {
			if at[step] == nil {
				at[step] = map[string]any{}
			}
			at, _ = at[step].(map[string]any)
		}
		at[path[len(path)-1]] = value
	}
	if meta, ok := taken["metadata"].(map[string]any); ok {
		for _, name := range []string{"labels", "annotations"} {
			if values, ok, err := unstructured.NestedMap(object, "metadata", name); ok && err == nil {
				meta[name+"Keys"] = slices.Sorted(maps.Keys(values))
			}
		}
	}

	return taken
}
