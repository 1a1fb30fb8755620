// SPDX-License-Identifier: Apache-2.0

package reference

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Holder is a kind whose objects refer to others.
type Holder struct {
	// Name is the name of the controller.
	Name string
	// Object is an empty object of the kind, List an empty list.
	Object client.Object
	List   client.ObjectList
	// Namespace is where the objects are that it refers to; if empty, it is that of the holder itself.
	Namespace string
	// Until is the finalizer that an object in deletion has as long as it needs what it refers to.
	Until string
	// Of returns what an object of the kind refers to, sorted, each object once.
	Of func(client.Object) []Reference
}

// Holders are all kinds whose objects refer to others. They share one finalizer, so an object is released only if none of them
// needs it.
func Holders() []Holder { return []Holder{Shoots(), Seeds(), ControllerDeployments()} }

// Shoots refer to objects of their namespace (GCM-SHOOTREF-2). Their gardenlet needs them until it has removed its own finalizer
// (GCM-SHOOTREF-4).
func Shoots() Holder {
	return Holder{
		Name: "shoot-reference", Object: &gardencorev1beta1.Shoot{}, List: &gardencorev1beta1.ShootList{},
		Until: gardencorev1beta1.FinalizerGardener, Of: of(ofShoot),
	}
}

// Seeds refer to objects in the namespace garden (GCM-SEEDREF-1).
func Seeds() Holder {
	return Holder{
		Name: "seed-reference", Object: &gardencorev1beta1.Seed{}, List: &gardencorev1beta1.SeedList{},
		Namespace: gardencorev1beta1.NamespaceGarden, Until: gardencorev1beta1.FinalizerGardener, Of: of(ofSeed),
	}
}

// ControllerDeployments refer to objects in the namespace garden (GCM-CONTROLLERDEPLOYMENT-2).
func ControllerDeployments() Holder {
	return Holder{
		Name: "controllerdeployment-reference", Object: &gardencorev1beta1.ControllerDeployment{}, List: &gardencorev1beta1.ControllerDeploymentList{},
		Namespace: gardencorev1beta1.NamespaceGarden, Until: gardencorev1beta1.FinalizerControllerDeployment, Of: of(ofControllerDeployment),
	}
}

func of[O client.Object](references func(O) references) func(client.Object) []Reference {
	return func(object client.Object) []Reference {
		typed, ok := object.(O)
		if !ok {
			return nil
		}
		return references(typed).sorted()
	}
}

// Holds reports whether an object still needs what it refers to.
func (h Holder) Holds(object client.Object) bool {
	return object.GetDeletionTimestamp() == nil || slices.Contains(object.GetFinalizers(), h.Until)
}

// Held returns what the objects of a list need (GCM-SHOOTREF-3).
func (h Holder) Held(list client.ObjectList) (map[Reference]bool, error) {
	held := map[Reference]bool{}
	err := meta.EachListItem(list, func(item runtime.Object) error {
		if object, ok := item.(client.Object); ok && h.Holds(object) {
			for _, reference := range h.Of(object) {
				held[reference] = true
			}
		}
		return nil
	})
	return held, err
}

// namespace is where the objects are that an object refers to.
func (h Holder) namespace(object client.Object) string {
	if h.Namespace != "" {
		return h.Namespace
	}
	return object.GetNamespace()
}

func ofShoot(shoot *gardencorev1beta1.Shoot) references {
	var all references
	if dns := shoot.Spec.DNS; dns != nil {
		for _, provider := range dns.Providers {
			if provider.SecretName != nil {
				all.add(kindSecret, *provider.SecretName)
			}
			if ref := provider.CredentialsRef; ref != nil {
				all.add(ref.Kind, ref.Name)
			}
		}
	}
	all.addAPIServer(shoot.Spec.Kubernetes.KubeAPIServer)
	for _, resource := range shoot.Spec.Resources {
		all.add(resource.ResourceRef.Kind, resource.ResourceRef.Name)
	}
	return all
}

func (r *references) addAPIServer(server *gardencorev1beta1.KubeAPIServerConfig) {
	if server == nil {
		return
	}
	for _, plugin := range server.AdmissionPlugins {
		if plugin.KubeconfigSecretName != nil {
			r.add(kindSecret, *plugin.KubeconfigSecretName)
		}
	}
	if audit := server.AuditConfig; audit != nil && audit.AuditPolicy != nil && audit.AuditPolicy.ConfigMapRef != nil {
		r.add(kindConfigMap, audit.AuditPolicy.ConfigMapRef.Name)
	}
	if authentication := server.StructuredAuthentication; authentication != nil {
		r.add(kindConfigMap, authentication.ConfigMapName)
	}
	if authorization := server.StructuredAuthorization; authorization != nil {
		r.add(kindConfigMap, authorization.ConfigMapName)
		for _, kubeconfig := range authorization.Kubeconfigs {
			r.add(kindSecret, kubeconfig.SecretName)
		}
	}
}

func ofSeed(seed *gardencorev1beta1.Seed) references {
	var all references
	for _, resource := range seed.Spec.Resources {
		all.add(resource.ResourceRef.Kind, resource.ResourceRef.Name)
	}
	return all
}

// ofControllerDeployment reads the parts of a deployment that name objects, but not its chart, which can be large. What cannot be
// read names nothing.
func ofControllerDeployment(deployment *gardencorev1beta1.ControllerDeployment) references {
	var all references
	var resources []gardencorev1.NamedResourceReference
	kept := deployment.Annotations[gardencorev1beta1.AnnotationMigrationControllerDeploymentResources]
	if kept != "" && json.Unmarshal([]byte(kept), &resources) == nil {
		for _, resource := range resources {
			all.add(resource.ResourceRef.Kind, resource.ResourceRef.Name)
		}
	}
	var helm struct {
		OCIRepository *gardencorev1beta1.OCIRepository `json:"ociRepository"`
	}
	if deployment.Type == gardencorev1.TypeHelm && json.Unmarshal(deployment.ProviderConfig.Raw, &helm) == nil && helm.OCIRepository != nil {
		for _, ref := range []*corev1.LocalObjectReference{helm.OCIRepository.PullSecretRef, helm.OCIRepository.CABundleSecretRef} {
			if ref != nil {
				all.add(kindSecret, ref.Name)
			}
		}
	}
	return all
}
