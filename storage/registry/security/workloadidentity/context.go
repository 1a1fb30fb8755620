// SPDX-License-Identifier: Apache-2.0

package workloadidentity

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
)

// reader reads objects of the core group, and bindings of credentials, from their stores.
type reader struct{ stores map[string]rest.Storage }

// describe adds the context object, and the objects that it belongs to, to the claims. It has to belong to the seed that asks:
// the object that was read is the one that is judged, so that no change in between makes a difference. The answer is the same
// whether the object is missing, belongs to others or has another UID (API-TOKEN-1). An object of the seed has to refer to the identity,
// which is in the claims already.
func (r reader) describe(ctx context.Context, asked *gardensecurityv1alpha1.ContextObject, seed string, into *gardenClaims) error {
	path := field.NewPath("spec", "contextObject")
	if _, known := contextKinds()[asked.Kind]; !known || asked.APIVersion != gardencorev1beta1.GroupVersion.String() {
		return invalid(field.NotSupported(path.Child("kind"), asked.APIVersion+", "+asked.Kind, slices.Sorted(maps.Keys(contextKinds()))))
	}
	obj, err := r.contextObject(ctx, asked)
	if err == nil && obj.GetUID() == asked.UID && belongs(obj, seed) {
		used, failure := r.uses(ctx, obj, types.NamespacedName{Namespace: into.WorkloadIdentity.Namespace, Name: into.WorkloadIdentity.Name}, seed)
		if failure == nil && !used {
			return invalid(field.Invalid(path, asked.Name, "it does not refer to the workload identity"))
		}
		if err = failure; err == nil {
			err = r.add(ctx, obj, seed, into)
		}
		if err == nil {
			return nil
		}
	}
	// The stores refuse names and namespaces that no object can have as bad requests.
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsBadRequest(err) {
		return apierrors.NewInternalError(err)
	}
	return invalid(field.Invalid(path, strings.TrimPrefix(namespaceOf(asked)+"/"+asked.Name, "/"),
		fmt.Sprintf("seed %q has no %s with this name and UID", seed, asked.Kind)))
}

// contextKinds are the kinds that a context object can have, and their resources.
func contextKinds() map[string]string {
	return map[string]string{"Shoot": "shoots", "Seed": "seeds", "BackupBucket": "backupbuckets", "BackupEntry": "backupentries"}
}

func invalid(err *field.Error) error {
	return apierrors.NewInvalid(gardensecurityv1alpha1.Kind("TokenRequest"), "", field.ErrorList{err})
}

func (r reader) contextObject(ctx context.Context, asked *gardensecurityv1alpha1.ContextObject) (metav1.Object, error) {
	namespace := namespaceOf(asked)
	if asked.Kind == "Seed" || asked.Kind == "BackupBucket" {
		namespace = ""
	}
	return get[metav1.Object](ctx, r, contextKinds()[asked.Kind], namespace, asked.Name)
}

// belongs reports whether an object belongs to a seed. One that moves belongs to both of its seeds, as for the seed authorizer.
func belongs(obj metav1.Object, seed string) bool {
	var seeds []*string
	switch o := obj.(type) {
	case *gardencorev1beta1.Shoot:
		seeds = []*string{o.Spec.SeedName, o.Status.SeedName}
	case *gardencorev1beta1.Seed:
		seeds = []*string{&o.Name}
	case *gardencorev1beta1.BackupBucket:
		seeds = []*string{o.Spec.SeedName}
	case *gardencorev1beta1.BackupEntry:
		seeds = []*string{o.Spec.SeedName, o.Status.SeedName}
	}
	return slices.ContainsFunc(seeds, func(name *string) bool { return name != nil && *name == seed })
}

// add adds an object of a seed to the claims. The claim of the seed is always that of the seed that asks, also for an object that
// moves to another one.
func (r reader) add(ctx context.Context, obj metav1.Object, seed string, into *gardenClaims) error {
	switch o := obj.(type) {
	case *gardencorev1beta1.Shoot:
		if err := r.addShoot(ctx, o, into); err != nil {
			return err
		}
	case *gardencorev1beta1.BackupBucket:
		into.BackupBucket = refer(o)
	case *gardencorev1beta1.BackupEntry:
		if err := r.addEntry(ctx, o, seed, into); err != nil {
			return err
		}
	}
	asking, err := get[*gardencorev1beta1.Seed](ctx, r, "seeds", "", seed)
	if err != nil {
		return err
	}
	into.Seed = refer(asking)
	return nil
}

// addEntry adds a backup entry with its bucket and its shoot. Gardenlets write the owner references of their entries, so a shoot
// is added only if it is the one that was meant and belongs to the seed. It may be gone: its backup is kept for a while.
func (r reader) addEntry(ctx context.Context, entry *gardencorev1beta1.BackupEntry, seed string, into *gardenClaims) error {
	into.BackupEntry = refer(entry)
	bucket, err := get[*gardencorev1beta1.BackupBucket](ctx, r, "backupbuckets", "", entry.Spec.BucketName)
	if err != nil {
		return err
	}
	into.BackupBucket = refer(bucket)
	for _, owner := range entry.OwnerReferences {
		if owner.Kind != "Shoot" {
			continue
		}
		shoot, err := get[*gardencorev1beta1.Shoot](ctx, r, "shoots", entry.Namespace, owner.Name)
		if apierrors.IsNotFound(err) || apierrors.IsBadRequest(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if shoot.UID != owner.UID || !belongs(shoot, seed) {
			return nil
		}
		return r.addShoot(ctx, shoot, into)
	}
	return nil
}

func (r reader) addShoot(ctx context.Context, shoot *gardencorev1beta1.Shoot, into *gardenClaims) error {
	into.Shoot = refer(shoot)
	lister, ok := r.stores["projects"].(rest.Lister)
	if !ok {
		return fmt.Errorf("list projects: %T is not a list", r.stores["projects"])
	}
	list, err := lister.List(ctx, &metainternalversion.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(gardencorev1beta1.FieldProjectNamespace, shoot.Namespace),
	})
	if err != nil {
		return fmt.Errorf("find project of namespace %q: %w", shoot.Namespace, err)
	}
	if projects, ok := list.(*gardencorev1beta1.ProjectList); ok && len(projects.Items) > 0 {
		into.Project = refer(&projects.Items[0])
	}
	return nil
}

func namespaceOf(asked *gardensecurityv1alpha1.ContextObject) string {
	if asked.Namespace == nil {
		return ""
	}
	return *asked.Namespace
}

// get reads one object, independent of the namespace of the request.
func get[T metav1.Object](ctx context.Context, r reader, resource, namespace, name string) (T, error) {
	var none T
	getter, ok := r.stores[resource].(rest.Getter)
	if !ok {
		return none, fmt.Errorf("read %s %q: the resource is not served", resource, name)
	}
	obj, err := getter.Get(genericapirequest.WithNamespace(ctx, namespace), name, &metav1.GetOptions{})
	if err != nil {
		return none, err
	}
	found, ok := obj.(T)
	if !ok {
		return none, fmt.Errorf("read %s %q: it is %T", resource, name, obj)
	}
	return found, nil
}
