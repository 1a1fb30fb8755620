// SPDX-License-Identifier: Apache-2.0

package controllerinstallation

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
)

// accessVolume is the volume with the kubeconfig and the token.
const accessVolume = "garden-kubeconfig"

// Inject gives all workloads of a chart the kubeconfig for the garden and the name of the seed (EXT-GARDEN-1). A workload with the label
// for it and another value than true gets nothing; one that names a kubeconfig itself keeps it.
func Inject(objects []client.Object, kubeconfig *corev1.Secret, seed string) error {
	volume, err := runtime.DefaultUnstructuredConverter.ToUnstructured(volumeOf(kubeconfig))
	if err != nil {
		return fmt.Errorf("encode volume %q: %w", accessVolume, err)
	}
	i := injection{kubeconfig: kubeconfig, volume: volume, seed: seed}
	for _, object := range objects {
		workload, ok := object.(*unstructured.Unstructured)
		if !ok {
			continue
		}
		if wish := workload.GetLabels()[gardencorev1beta1.LabelInjectGardenKubeconfig]; wish != "" && wish != "true" {
			continue
		}
		if template := templateOf(workload); template != nil {
			if err := i.into(workload, template); err != nil {
				return fmt.Errorf("%s %q: %w", workload.GetKind(), workload.GetName(), err)
			}
		}
	}
	return nil
}

// volumeOf has both files. It can be read by whatever user the containers have: the pod is the limit.
func volumeOf(kubeconfig *corev1.Secret) *corev1.Volume {
	file := func(secret, key string) corev1.VolumeProjection {
		return corev1.VolumeProjection{Secret: &corev1.SecretProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Items: []corev1.KeyToPath{{Key: key, Path: key}}, Optional: new(false),
		}}
	}
	return &corev1.Volume{Name: accessVolume, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		DefaultMode: new(int32(0o444)),
		Sources: []corev1.VolumeProjection{
			file(kubeconfig.Name, gardencorev1beta1.DataKeyKubeconfig), file(accessSecret, gardenresourcesv1alpha1.DataKeyToken),
		},
	}}}
}

// templateOf is the path to the template of pods, nil for what is no workload.
func templateOf(object *unstructured.Unstructured) []string {
	switch object.GroupVersionKind().GroupKind() {
	case appsv1.SchemeGroupVersion.WithKind("Deployment").GroupKind(), appsv1.SchemeGroupVersion.WithKind("StatefulSet").GroupKind(),
		appsv1.SchemeGroupVersion.WithKind("DaemonSet").GroupKind(), appsv1.SchemeGroupVersion.WithKind("ReplicaSet").GroupKind(),
		batchv1.SchemeGroupVersion.WithKind("Job").GroupKind():
		return []string{"spec", "template"}
	case batchv1.SchemeGroupVersion.WithKind("CronJob").GroupKind():
		return []string{"spec", "jobTemplate", "spec", "template"}
	default:
		return nil
	}
}

type injection struct {
	kubeconfig *corev1.Secret
	volume     map[string]any
	seed       string
}

// into changes one workload. Fields that this version of the API does not know are kept.
func (i injection) into(workload *unstructured.Unstructured, template []string) error {
	pod := slices.Concat(template, []string{"spec"})
	lists := map[string][]any{}
	own := false
	for _, field := range []string{"initContainers", "containers"} {
		containers, _, err := unstructured.NestedSlice(workload.Object, slices.Concat(pod, []string{field})...)
		if err != nil {
			return fmt.Errorf("read %s: %w", field, err)
		}
		lists[field] = containers
		own = own || slices.ContainsFunc(containers, func(c any) bool { return hasNamed(c, "env", gardencorev1beta1.EnvGardenKubeconfig) })
	}
	for field, containers := range lists {
		for _, container := range containers {
			if err := i.container(container, own); err != nil {
				return fmt.Errorf("%s: %w", field, err)
			}
		}
		if len(containers) == 0 {
			continue
		}
		if err := unstructured.SetNestedSlice(workload.Object, containers, slices.Concat(pod, []string{field})...); err != nil {
			return fmt.Errorf("write %s: %w", field, err)
		}
	}
	if own {
		return nil
	}
	return i.mount(workload, template)
}

// container adds the environment and, unless the workload brings its own kubeconfig, the mount.
func (i injection) container(container any, own bool) error {
	fields, ok := container.(map[string]any)
	if !ok {
		return fmt.Errorf("a container is a %T instead of an object", container)
	}
	if err := addNamed(fields, "env", map[string]any{"name": gardencorev1beta1.EnvSeedName, "value": i.seed}); err != nil || own {
		return err
	}
	file := accessDir + "/" + gardencorev1beta1.DataKeyKubeconfig
	if err := addNamed(fields, "env", map[string]any{"name": gardencorev1beta1.EnvGardenKubeconfig, "value": file}); err != nil {
		return err
	}
	return addNamed(fields, "volumeMounts", map[string]any{"name": accessVolume, "mountPath": accessDir, "readOnly": true})
}

// mount adds the volume, and tells the garbage collector that the kubeconfig is used (GRM-GC-5).
func (i injection) mount(workload *unstructured.Unstructured, template []string) error {
	pod, found, err := unstructured.NestedMap(workload.Object, slices.Concat(template, []string{"spec"})...)
	if err == nil && found {
		if err = addNamed(pod, "volumes", runtime.DeepCopyJSON(i.volume)); err == nil {
			err = unstructured.SetNestedMap(workload.Object, pod, slices.Concat(template, []string{"spec"})...)
		}
	}
	if err != nil {
		return fmt.Errorf("add volume %q: %w", accessVolume, err)
	}
	key, name := component.Reference(i.kubeconfig)
	for _, at := range [][]string{{"metadata"}, slices.Concat(template, []string{"metadata"})} {
		if err := unstructured.SetNestedField(workload.Object, name, slices.Concat(at, []string{"annotations", key})...); err != nil {
			return fmt.Errorf("refer to Secret %q: %w", name, err)
		}
	}
	return nil
}

// hasNamed reports whether a list of an object has an entry of that name.
func hasNamed(object any, list, name string) bool {
	fields, ok := object.(map[string]any)
	if !ok {
		return false
	}
	entries, _, _ := unstructured.NestedSlice(fields, list)
	return slices.ContainsFunc(entries, func(e any) bool {
		entry, ok := e.(map[string]any)
		return ok && entry["name"] == name
	})
}

// addNamed adds an entry to a list of an object, unless there is one of that name.
func addNamed(fields map[string]any, list string, entry map[string]any) error {
	name, _ := entry["name"].(string)
	if hasNamed(fields, list, name) {
		return nil
	}
	entries, _, err := unstructured.NestedSlice(fields, list)
	if err != nil {
		return fmt.Errorf("read %s: %w", list, err)
	}
	fields[list] = append(entries, entry)
	return nil
}
