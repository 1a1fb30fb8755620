// SPDX-License-Identifier: Apache-2.0

package volumes

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/cloud"
)

const (
	// ClaimName is the name of the claim in the namespace of the machines.
	ClaimName = "machine-volumes"

	// size is what the claim asks for. The class decides what that means.
	size = "20Gi"

	// patience is how long a claim that is not bound is waited for. Without it, the shoot has no volumes.
	patience = 30 * time.Second
	recheck  = 200 * time.Millisecond

	annotationDefault = "storageclass.kubernetes.io/is-default-class"
)

// Claim holds the volumes of a shoot. Machines may be on several nodes, so all of them have to be able to write.
func Claim(namespace, class string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: ClaimName},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class,
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)},
			},
		},
	}
}

// Ensure makes the claim where the machines will be, if there is a class for it, and waits a while until it is bound. A claim that exists
// stays as it is, whatever becomes of the class.
func Ensure(ctx context.Context, in cloud.Cloud, now time.Time) error {
	claim, err := find(ctx, in)
	if err != nil {
		return err
	}
	if claim == nil {
		class, err := findClass(ctx, in)
		if err != nil || class == "" {
			return err
		}
		claim = Claim(in.Namespace, class)
		err = in.Create(ctx, claim)
		if unlessRefused(in, err) != nil {
			return fmt.Errorf("claim a volume for the volumes of the shoot: %w", err)
		}
		if err != nil {
			return nil //nolint:nilerr // Without the right to claim a volume, the shoot has none.
		}
	}
	if bound(claim) || now.Sub(claim.CreationTimestamp.Time) > patience {
		return nil
	}
	return kit.Wait(recheck, fmt.Sprintf("Waiting until claim %q is bound", claim.Name))
}

// Mounted is the name of the claim that new machines have; empty if there is none that can be used.
func Mounted(ctx context.Context, in cloud.Cloud) (string, error) {
	claim, err := find(ctx, in)
	if err != nil || claim == nil || !bound(claim) {
		return "", err
	}
	return claim.Name, nil
}

func bound(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Status.Phase == corev1.ClaimBound && claim.DeletionTimestamp == nil
}

// find returns nil if there is no claim.
func find(ctx context.Context, in cloud.Cloud) (*corev1.PersistentVolumeClaim, error) {
	claim := &corev1.PersistentVolumeClaim{}
	err := in.Get(ctx, client.ObjectKey{Namespace: in.Namespace, Name: ClaimName}, claim)
	switch {
	case err == nil:
		return claim, nil
	case apierrors.IsNotFound(err) || unlessRefused(in, err) == nil:
		return nil, nil //nolint:nilnil // nil says that there is none
	default:
		return nil, fmt.Errorf("read claim %q of the volumes: %w", ClaimName, err)
	}
}

// findClass returns the name of the default class, if a claim of it can be bound before there is a machine; otherwise nothing. Whether it
// allows several writers says only the claim.
func findClass(ctx context.Context, in cloud.Cloud) (string, error) {
	list := &storagev1.StorageClassList{}
	err := in.List(ctx, list)
	if unlessRefused(in, err) != nil {
		return "", fmt.Errorf("list the storage classes for the volumes of the shoot: %w", err)
	}
	class := defaultClass(list.Items)
	if class == nil || ptr.Deref(class.VolumeBindingMode, storagev1.VolumeBindingImmediate) != storagev1.VolumeBindingImmediate {
		return "", nil
	}
	return class.Name, nil
}

// defaultClass is the one that the API server chooses for claims without a class: of several, the youngest.
func defaultClass(classes []storagev1.StorageClass) *storagev1.StorageClass {
	var found *storagev1.StorageClass
	for i := range classes {
		class := &classes[i]
		if class.Annotations[annotationDefault] != "true" {
			continue
		}
		younger := found != nil && found.CreationTimestamp.Before(&class.CreationTimestamp)
		sameAge := found != nil && found.CreationTimestamp.Equal(&class.CreationTimestamp)
		if found == nil || younger || (sameAge && class.Name < found.Name) {
			found = class
		}
	}
	return found
}

// unlessRefused drops the error of another cluster that does not let its user have claims: volumes are an offer there.
func unlessRefused(in cloud.Cloud, err error) error {
	if in.Apart() && apierrors.IsForbidden(err) {
		return nil
	}
	return err
}
