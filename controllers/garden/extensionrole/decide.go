// SPDX-License-Identifier: Apache-2.0

package extensionrole

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	labelled = "true"
	// seedPrefix begins the names of the namespaces that seeds have in the garden.
	seedPrefix = "seed-"
)

// SelectorOf reads whom the role is for (GCM-CREXT-2).
func SelectorOf(role *rbacv1.ClusterRole) (labels.Selector, error) {
	parsed := &metav1.LabelSelector{}
	if err := json.Unmarshal([]byte(role.Annotations[gardencorev1beta1.AnnotationExtensionServiceAccountSelector]), parsed); err != nil {
		return nil, fmt.Errorf("read annotation %q of cluster role %q: %w", gardencorev1beta1.AnnotationExtensionServiceAccountSelector, role.Name, err)
	}
	selector, err := metav1.LabelSelectorAsSelector(parsed)
	if err != nil {
		return nil, fmt.Errorf("read annotation %q of cluster role %q: %w", gardencorev1beta1.AnnotationExtensionServiceAccountSelector, role.Name, err)
	}
	return selector, nil
}

// Eligible tells whether a service account may belong to an extension: those in the namespaces of seeds, which gardenlets
// make. A label in another namespace gives nothing, whatever the name of the account: members of a project make accounts
// there under any name. Accounts of extensions on self-hosted shoots come with the identity that will make them.
func Eligible(namespace string) bool {
	return strings.HasPrefix(namespace, seedPrefix)
}

// Subjects lists the eligible accounts, sorted.
func Subjects(accounts []metav1.PartialObjectMetadata) []rbacv1.Subject {
	var subjects []rbacv1.Subject
	for i := range accounts {
		if Eligible(accounts[i].Namespace) {
			subjects = append(subjects, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: accounts[i].Namespace, Name: accounts[i].Name})
		}
	}
	slices.SortFunc(subjects, func(a, b rbacv1.Subject) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return subjects
}
