// SPDX-License-Identifier: Apache-2.0

package workloadidentity

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
)

// reader reads objects of the core group from their stores.
type reader struct{ stores map[string]rest.Storage }

// describe adds the context object, and the objects that it belongs to, to the claims.
func (r reader) describe(ctx context.Context, asked *gardensecurityv1alpha1.ContextObject, into *gardenClaims) error {
	path := field.NewPath("spec", "contextObject")
	kinds := map[string]func(context.Context, *gardensecurityv1alpha1.ContextObject, *gardenClaims) (metav1.Object, error){
		"Shoot": r.describeShoot, "Seed": r.describeSeed, "BackupBucket": r.describeBucket, "BackupEntry": r.describeEntry,
	}
	describe, found := kinds[asked.Kind]
	if !found || asked.APIVersion != gardencorev1beta1.GroupVersion.String() {
		return invalid(field.NotSupported(path.Child("kind"), asked.APIVersion+", "+asked.Kind,
			[]string{"Shoot", "Seed", "BackupBucket", "BackupEntry"}))
	}
	obj, err := describe(ctx, asked, into)
	switch {
	case apierrors.IsNotFound(err):
		return invalid(field.NotFound(path.Child("name"), asked.Name))
	case err != nil:
		return apierrors.NewInternalError(err)
	case obj.GetUID() != asked.UID:
		return invalid(field.Invalid(path.Child("uid"), string(asked.UID), "the object with this name has another UID"))
	default:
		return nil
	}
}

func invalid(err *field.Error) error {
	return apierrors.NewInvalid(gardensecurityv1alpha1.Kind("TokenRequest"), "", field.ErrorList{err})
}

func (r reader) describeShoot(
	ctx context.Context, asked *gardensecurityv1alpha1.ContextObject, into *gardenClaims,
) (metav1.Object, error) {
	shoot, err := get[*gardencorev1beta1.Shoot](ctx, r, "shoots", namespaceOf(asked), asked.Name)
	if err != nil {
		return nil, err
	}
	return shoot, r.addShoot(ctx, shoot, shoot.Spec.SeedName, into)
}

func (r reader) describeSeed(
	ctx context.Context, asked *gardensecurityv1alpha1.ContextObject, into *gardenClaims,
) (metav1.Object, error) {
	seed, err := get[*gardencorev1beta1.Seed](ctx, r, "seeds", "", asked.Name)
	if err != nil {
		return nil, err
	}
	into.Seed = refer(seed)
	return seed, nil
}

func (r reader) describeBucket(
	ctx context.Context, asked *gardensecurityv1alpha1.ContextObject, into *gardenClaims,
) (metav1.Object, error) {
	bucket, err := get[*gardencorev1beta1.BackupBucket](ctx, r, "backupbuckets", "", asked.Name)
	if err != nil {
		return nil, err
	}
	into.BackupBucket = refer(bucket)
	return bucket, r.addSeed(ctx, bucket.Spec.SeedName, into)
}

func (r reader) describeEntry(
	ctx context.Context, asked *gardensecurityv1alpha1.ContextObject, into *gardenClaims,
) (metav1.Object, error) {
	entry, err := get[*gardencorev1beta1.BackupEntry](ctx, r, "backupentries", namespaceOf(asked), asked.Name)
	if err != nil {
		return nil, err
	}
	into.BackupEntry = refer(entry)
	bucket, err := get[*gardencorev1beta1.BackupBucket](ctx, r, "backupbuckets", "", entry.Spec.BucketName)
	if err != nil {
		return nil, err
	}
	into.BackupBucket = refer(bucket)
	for _, owner := range entry.OwnerReferences {
		if owner.Kind != "Shoot" {
			continue
		}
		shoot, err := get[*gardencorev1beta1.Shoot](ctx, r, "shoots", entry.Namespace, owner.Name)
		if err != nil {
			return nil, err
		}
		return entry, r.addShoot(ctx, shoot, entry.Spec.SeedName, into)
	}
	return entry, r.addSeed(ctx, entry.Spec.SeedName, into)
}

func (r reader) addShoot(ctx context.Context, shoot *gardencorev1beta1.Shoot, seed *string, into *gardenClaims) error {
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
	return r.addSeed(ctx, seed, into)
}

func (r reader) addSeed(ctx context.Context, name *string, into *gardenClaims) error {
	if name == nil {
		return nil
	}
	seed, err := get[*gardencorev1beta1.Seed](ctx, r, "seeds", "", *name)
	if err != nil {
		return err
	}
	into.Seed = refer(seed)
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
