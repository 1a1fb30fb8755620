// SPDX-License-Identifier: Apache-2.0

// Package extensionrole binds the ClusterRoles that extensions bring for the garden to the service accounts that their
// parts on the seeds use (GCM-CREXT-1 to GCM-CREXT-3). A label selector in an annotation of the role selects the
// accounts; the binding of the same name is updated as seeds and installations come and go.
//
// Gardenlets make the accounts and their labels, so an account counts only while its extension is installed on its seed. What its label
// says about the extension is judged when a gardenlet writes it.
package extensionrole

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const controllerName = "extensionrole"

// Reconciler keeps the bindings.
type Reconciler struct {
	kit.Base

	// Config is the section of the configuration.
	Config gardenconfigv1alpha1.ConcurrencyConfiguration
}

// AddToManager implements kit.Adder. Service accounts are watched by their metadata (GCM-CREXT-1).
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs))
	eligible := func(account client.Object) bool { return Eligible(account.GetNamespace()) }
	b.For(&rbacv1.ClusterRole{}, builder.WithPredicates(kit.Touching(marked))).
		Owns(&rbacv1.ClusterRoleBinding{}).
		Watches(&gardencorev1beta1.ControllerInstallation{}, kit.EnqueueMatching(r.Client, &rbacv1.ClusterRoleList{}, isForAny), builder.WithPredicates(kit.Changed(onSeed))).
		WatchesMetadata(&corev1.ServiceAccount{}, kit.EnqueueMatching(r.Client, &rbacv1.ClusterRoleList{}, isFor), builder.WithPredicates(kit.Matching(eligible)))
	return kit.Complete(b, controllerName, reconcile.AsReconciler(r.Client, r))
}

func marked(role *rbacv1.ClusterRole) bool {
	return role.Labels[gardencorev1beta1.LabelCustomExtensionsPermissions] == labelled
}

// isFor reports whether the selector of a role matches an account (GCM-CREXT-3). An invalid selector is reported when the role
// is reconciled.
func isFor(account client.Object, role *rbacv1.ClusterRole) bool {
	selector, err := SelectorOf(role)
	return marked(role) && err == nil && selector.Matches(labels.Set(account.GetLabels()))
}

// onSeed is what is known of an installation, and never changes.
func onSeed(i *gardencorev1beta1.ControllerInstallation) any { return i.Spec.SeedRef }

// isForAny reports whether an extension that comes or goes may change who has a role.
func isForAny(_ client.Object, role *rbacv1.ClusterRole) bool { return marked(role) }

// Reconcile keeps the binding of one role.
func (r *Reconciler) Reconcile(ctx context.Context, role *rbacv1.ClusterRole) (reconcile.Result, error) {
	if role.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	if !marked(role) {
		return kit.Result(kit.Stop(), r.withdraw(ctx, role))
	}
	selector, err := SelectorOf(role)
	if err != nil {
		return kit.Result(kit.Stop(), kit.UserMustFix("InvalidSelector", err))
	}
	accounts := &metav1.PartialObjectMetadataList{}
	accounts.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ServiceAccountList"))
	if err := r.Client.List(ctx, accounts, client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return reconcile.Result{}, fmt.Errorf("list service accounts of cluster role %q: %w", role.Name, err)
	}
	installations := &gardencorev1beta1.ControllerInstallationList{}
	if err := r.Client.List(ctx, installations, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, fmt.Errorf("list controller installations for cluster role %q: %w", role.Name, err)
	}

	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: role.Name}}
	_, err = kit.Ensure(ctx, r.Client, binding, func() error {
		binding.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name}
		binding.Subjects = Subjects(accounts.Items, installations.Items)
		return controllerutil.SetControllerReference(role, binding, r.Client.Scheme())
	})
	return kit.Result(kit.Stop(), err)
}

// withdraw deletes the binding of a role that is not for extensions any more, so that they lose what it allows. A binding of the same name
// that this controller has not made stays.
func (r *Reconciler) withdraw(ctx context.Context, role *rbacv1.ClusterRole) error {
	binding := &rbacv1.ClusterRoleBinding{}
	if err := r.Client.Get(ctx, client.ObjectKeyFromObject(role), binding); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !metav1.IsControlledBy(binding, role) {
		return nil
	}
	// Somebody may have made another one of this name.
	if err := r.Client.Delete(ctx, binding, client.Preconditions{UID: &binding.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete ClusterRoleBinding %q: %w", binding.Name, err)
	}
	return nil
}

const (
	labelled = "true"
	// seedPrefix begins the names of the namespaces that seeds have in the garden.
	seedPrefix = "seed-"
)

// SelectorOf reads the label selector of the service accounts that get the role (GCM-CREXT-2).
func SelectorOf(role *rbacv1.ClusterRole) (labels.Selector, error) {
	const annotation = gardencorev1beta1.AnnotationExtensionServiceAccountSelector
	parsed := &metav1.LabelSelector{}
	err := json.Unmarshal([]byte(role.Annotations[annotation]), parsed)
	if err == nil {
		var selector labels.Selector
		if selector, err = metav1.LabelSelectorAsSelector(parsed); err == nil {
			return selector, nil
		}
	}
	return nil, fmt.Errorf("read annotation %q of cluster role %q: %w", annotation, role.Name, err)
}

// Eligible reports whether service accounts of a namespace may belong to extensions. Only those in the namespaces of seeds
// may, where gardenlets create them. Members of a project can create accounts with any name and label in their namespace.
func Eligible(namespace string) bool {
	return strings.HasPrefix(namespace, seedPrefix)
}

// Subjects lists the accounts that belong to extensions which are installed on their seeds, sorted.
func Subjects(accounts []metav1.PartialObjectMetadata, installations []gardencorev1beta1.ControllerInstallation) []rbacv1.Subject {
	installed := sets.New[types.NamespacedName]()
	for i := range installations {
		if seed := installations[i].Spec.SeedRef; seed != nil {
			installed.Insert(types.NamespacedName{Namespace: seedPrefix + seed.Name, Name: gardencorev1beta1.NamespacePrefixExtension + installations[i].Name})
		}
	}
	var subjects []rbacv1.Subject
	for i := range accounts {
		if installed.Has(client.ObjectKeyFromObject(&accounts[i])) {
			subjects = append(subjects, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: accounts[i].Namespace, Name: accounts[i].Name})
		}
	}
	slices.SortFunc(subjects, func(a, b rbacv1.Subject) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return subjects
}
