// SPDX-License-Identifier: Apache-2.0

package project

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	annotated = "true"
	// suffixLength is the number of hexadecimal digits that make a computed namespace name unique.
	suffixLength = 5
)

// NamespaceName computes the name of the namespace of a project that does not name one (API-NAME-8). It depends on the
// UID, so that a project that is created again with the same name does not get the namespace of the old one.
func NamespaceName(project *gardencorev1beta1.Project) string {
	sum := sha256.Sum256([]byte(project.UID))
	return gardencorev1beta1.NamespacePrefixProject + project.Name + "-" + hex.EncodeToString(sum[:])[:suffixLength]
}

// NewNamespace returns the namespace that is created for the project (GCM-PROJECT-2).
func NewNamespace(project *gardencorev1beta1.Project) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: *project.Spec.Namespace,
		Labels: map[string]string{
			gardencorev1beta1.LabelRole:        gardencorev1beta1.RoleProject,
			gardencorev1beta1.LabelProjectName: project.Name,
		},
		Annotations: map[string]string{
			gardencorev1beta1.AnnotationNamespaceProject:                    string(project.UID),
			gardencorev1beta1.AnnotationNamespaceCreatedByProjectController: annotated,
		},
	}}
}

// Adopt marks an existing namespace as that of the project if it is labelled for it (GCM-PROJECT-3). A namespace that existed
// before the project is kept after it, unless an operator decided otherwise (GCM-PROJECT-4).
func Adopt(namespace *corev1.Namespace, project *gardencorev1beta1.Project) error {
	if !labelledFor(namespace, project) {
		return fmt.Errorf("use namespace %q: it exists and is not labelled %s=%s and %s=%s", namespace.Name,
			gardencorev1beta1.LabelRole, gardencorev1beta1.RoleProject, gardencorev1beta1.LabelProjectName, project.Name)
	}
	if takenByOther(namespace, project) {
		return fmt.Errorf("use namespace %q: it is in use by another project", namespace.Name)
	}
	metav1.SetMetaDataAnnotation(&namespace.ObjectMeta, gardencorev1beta1.AnnotationNamespaceProject, string(project.UID))
	if wasThere(namespace) {
		namespace.Annotations[gardencorev1beta1.AnnotationNamespaceKeepAfterProjectDeletion] = annotated
	}
	return nil
}

// Fate is what becomes of the namespace of a deleted project.
type Fate int

const (
	// Foreign namespaces stay as they are.
	Foreign Fate = iota
	// Kept namespaces stay and lose the marks of the project.
	Kept
	// Doomed namespaces are deleted.
	Doomed
)

// FateOf decides what becomes of the namespace of a deleted project (GCM-PROJECT-11). One that the project would have taken over, but
// has not yet, is kept as if it had.
func FateOf(namespace *corev1.Namespace, project *gardencorev1beta1.Project) Fate {
	if !labelledFor(namespace, project) || takenByOther(namespace, project) {
		return Foreign
	}
	_, adopted := namespace.Annotations[gardencorev1beta1.AnnotationNamespaceProject]
	if isTrue(namespace, gardencorev1beta1.AnnotationNamespaceKeepAfterProjectDeletion) || !adopted && wasThere(namespace) {
		return Kept
	}
	return Doomed
}

// Disown removes what assigns a namespace to its project: labels, annotations, and the owner reference, which a namespace does not have
// that was not adopted yet, or has lost (GCM-PROJECT-11).
func Disown(namespace *corev1.Namespace, project *gardencorev1beta1.Project) {
	delete(namespace.Labels, gardencorev1beta1.LabelRole)
	delete(namespace.Labels, gardencorev1beta1.LabelProjectName)
	delete(namespace.Annotations, gardencorev1beta1.AnnotationNamespaceProject)
	delete(namespace.Annotations, gardencorev1beta1.AnnotationNamespaceKeepAfterProjectDeletion)
	delete(namespace.Annotations, gardencorev1beta1.AnnotationNamespaceCreatedByProjectController)
	Disclaim(namespace, project)
}

// Disclaim removes the owner reference from a namespace. The garbage collector would delete it with the project otherwise.
func Disclaim(namespace *corev1.Namespace, project *gardencorev1beta1.Project) {
	namespace.OwnerReferences = slices.DeleteFunc(namespace.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == project.UID })
}

func labelledFor(namespace *corev1.Namespace, project *gardencorev1beta1.Project) bool {
	return namespace.Labels[gardencorev1beta1.LabelRole] == gardencorev1beta1.RoleProject &&
		namespace.Labels[gardencorev1beta1.LabelProjectName] == project.Name
}

func takenByOther(namespace *corev1.Namespace, project *gardencorev1beta1.Project) bool {
	uid, found := namespace.Annotations[gardencorev1beta1.AnnotationNamespaceProject]
	return found && uid != string(project.UID)
}

// wasThere reports whether a namespace is older than its project, and no operator has said whether to keep it.
func wasThere(namespace *corev1.Namespace) bool {
	_, decided := namespace.Annotations[gardencorev1beta1.AnnotationNamespaceKeepAfterProjectDeletion]
	return !decided && !isTrue(namespace, gardencorev1beta1.AnnotationNamespaceCreatedByProjectController)
}

func isTrue(namespace *corev1.Namespace, annotation string) bool {
	value, _ := strconv.ParseBool(namespace.Annotations[annotation])
	return value
}
