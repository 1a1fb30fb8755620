// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	gardenauthenticationv1alpha1 "github.com/terrarium-garden/terrarium/apis/authentication/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// access is a type of access to a shoot: the kind of its request, and the user and groups of its certificate.
type access struct {
	// kind is the kind of the request, newRequest an empty one.
	kind       string
	newRequest func() runtime.Object
	// open returns the parts of a request, or false for an object of another kind.
	open func(obj runtime.Object) (parts, bool)
	// userPrefix is the prefix of the requester's name in the certificate.
	userPrefix string
	// A requester with the privilege gets the group gardenGroup, others get projectGroup.
	privilege                 authorizer.AttributesRecord
	gardenGroup, projectGroup string
}

// parts are the fields that all requests for access have: the requested lifetime and the fields of the status.
type parts struct {
	seconds    **int64
	kubeconfig *[]byte
	expiration *metav1.Time
}

// admin is access with full rights (API-KUBE-1 to 6).
func admin() access {
	return access{
		kind:       "AdminKubeconfigRequest",
		newRequest: func() runtime.Object { return &gardenauthenticationv1alpha1.AdminKubeconfigRequest{} },
		open: func(obj runtime.Object) (parts, bool) {
			r, ok := obj.(*gardenauthenticationv1alpha1.AdminKubeconfigRequest)
			if !ok {
				return parts{}, false
			}
			return parts{&r.Spec.ExpirationSeconds, &r.Status.Kubeconfig, &r.Status.ExpirationTimestamp}, true
		},
		userPrefix:   gardencorev1beta1.UserPrefixShootAdmin,
		privilege:    authorizer.AttributesRecord{APIVersion: "v1", Resource: "secrets"},
		gardenGroup:  gardencorev1beta1.GroupShootSystemAdmins,
		projectGroup: gardencorev1beta1.GroupShootProjectAdmins,
	}
}

// viewer is read-only access (API-KUBE-7).
func viewer() access {
	return access{
		kind:       "ViewerKubeconfigRequest",
		newRequest: func() runtime.Object { return &gardenauthenticationv1alpha1.ViewerKubeconfigRequest{} },
		open: func(obj runtime.Object) (parts, bool) {
			r, ok := obj.(*gardenauthenticationv1alpha1.ViewerKubeconfigRequest)
			if !ok {
				return parts{}, false
			}
			return parts{&r.Spec.ExpirationSeconds, &r.Status.Kubeconfig, &r.Status.ExpirationTimestamp}, true
		},
		userPrefix: gardencorev1beta1.UserPrefixShootViewer,
		privilege: authorizer.AttributesRecord{
			APIGroup: gardencorev1beta1.GroupName, APIVersion: gardencorev1beta1.GroupVersion.Version, Resource: "projects",
		},
		gardenGroup:  gardencorev1beta1.GroupShootSystemViewers,
		projectGroup: gardencorev1beta1.GroupShootProjectViewers,
	}
}
