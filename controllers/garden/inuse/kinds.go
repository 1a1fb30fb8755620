// SPDX-License-Identifier: Apache-2.0

package inuse

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// CloudProfiles are used by the NamespacedCloudProfiles that extend them and by Shoots (GCM-CLOUDPROFILE-1).
func CloudProfiles() Protection {
	return Protection{
		Name: "cloudprofile", Object: &gardencorev1beta1.CloudProfile{}, Finalizer: gardencorev1beta1.FinalizerGardener,
		UsedBy: []Users{
			By(&gardencorev1beta1.NamespacedCloudProfile{}, &gardencorev1beta1.NamespacedCloudProfileList{},
				func(child *gardencorev1beta1.NamespacedCloudProfile) []types.NamespacedName {
					return kit.Keys("", &child.Spec.Parent.Name)
				}),
			ByShoots(func(shoot *gardencorev1beta1.Shoot) []types.NamespacedName {
				if ref := query.ProfileReference(&shoot.Spec); ref != nil && ref.Kind != gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile {
					return kit.Keys("", &ref.Name)
				}
				return nil
			}),
		},
	}
}

// NamespacedCloudProfiles are used by the Shoots of their namespace (GCM-NCP-1).
func NamespacedCloudProfiles() Protection {
	return Protection{
		Name: "namespacedcloudprofile", Object: &gardencorev1beta1.NamespacedCloudProfile{}, Finalizer: gardencorev1beta1.FinalizerGardener,
		UsedBy: []Users{ByShoots(func(shoot *gardencorev1beta1.Shoot) []types.NamespacedName {
			if ref := query.ProfileReference(&shoot.Spec); ref != nil && ref.Kind == gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile {
				return kit.Keys(shoot.Namespace, &ref.Name)
			}
			return nil
		})},
	}
}

// ExposureClasses are used by Shoots (GCM-EXPOSURECLASS-1).
func ExposureClasses() Protection {
	return Protection{
		Name: "exposureclass", Object: &gardencorev1beta1.ExposureClass{}, Finalizer: gardencorev1beta1.FinalizerGardener,
		UsedBy: []Users{ByShoots(func(shoot *gardencorev1beta1.Shoot) []types.NamespacedName {
			return kit.Keys("", shoot.Spec.ExposureClassName)
		})},
	}
}

// Quotas are used by the bindings of all namespaces (GCM-QUOTA-1).
func Quotas() Protection {
	secrets := By(&gardencorev1beta1.SecretBinding{}, &gardencorev1beta1.SecretBindingList{},
		func(binding *gardencorev1beta1.SecretBinding) []types.NamespacedName { return quotas(binding.Quotas) })
	credentials := By(&gardensecurityv1alpha1.CredentialsBinding{}, &gardensecurityv1alpha1.CredentialsBindingList{},
		func(binding *gardensecurityv1alpha1.CredentialsBinding) []types.NamespacedName {
			return quotas(binding.Quotas)
		})
	secrets.Everywhere, credentials.Everywhere = true, true
	return Protection{
		Name: "quota", Object: &gardencorev1beta1.Quota{}, Finalizer: gardencorev1beta1.FinalizerGardener, UsedBy: []Users{secrets, credentials},
	}
}

func quotas(references []corev1.ObjectReference) []types.NamespacedName {
	var keys []types.NamespacedName
	for _, ref := range references {
		keys = append(keys, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
	}
	return keys
}

// ControllerDeployments are used by ControllerRegistrations (GCM-CONTROLLERDEPLOYMENT-1).
func ControllerDeployments() Protection {
	return Protection{
		Name: "controllerdeployment", Object: &gardencorev1beta1.ControllerDeployment{}, Finalizer: gardencorev1beta1.FinalizerControllerDeployment,
		UsedBy: []Users{By(&gardencorev1beta1.ControllerRegistration{}, &gardencorev1beta1.ControllerRegistrationList{},
			func(registration *gardencorev1beta1.ControllerRegistration) []types.NamespacedName {
				var keys []types.NamespacedName
				if registration.Spec.Deployment != nil {
					for _, ref := range registration.Spec.Deployment.DeploymentRefs {
						keys = append(keys, types.NamespacedName{Name: ref.Name})
					}
				}
				return keys
			})},
	}
}

// ControllerRegistrations are used by the ControllerInstallations that install them (GCM-CRFIN-1).
func ControllerRegistrations() Protection {
	return Protection{
		Name: "controllerregistration-finalizer", Object: &gardencorev1beta1.ControllerRegistration{}, Finalizer: gardencorev1beta1.FinalizerControllerRegistration,
		UsedBy: []Users{byInstallations(func(installation *gardencorev1beta1.ControllerInstallation) []types.NamespacedName {
			return kit.Keys("", &installation.Spec.RegistrationRef.Name)
		})},
	}
}

// Seeds are used by the extensions that are installed on them (GCM-CRFIN-2) and by the Shoots that name them.
func Seeds() Protection {
	return Protection{
		Name: "seed-finalizer", Object: &gardencorev1beta1.Seed{}, Finalizer: gardencorev1beta1.FinalizerControllerRegistration,
		UsedBy: []Users{
			byInstallations(func(installation *gardencorev1beta1.ControllerInstallation) []types.NamespacedName {
				if installation.Spec.SeedRef == nil {
					return nil
				}
				return kit.Keys("", &installation.Spec.SeedRef.Name)
			}),
			ByShoots(func(shoot *gardencorev1beta1.Shoot) []types.NamespacedName {
				return kit.Keys("", shoot.Spec.SeedName, shoot.Status.SeedName)
			}),
		},
	}
}

// SelfHostedShoots are used by the extensions that are installed in them (GCM-CR-10). Other Shoots have none, and are left alone.
func SelfHostedShoots() Protection {
	installations := byInstallations(func(installation *gardencorev1beta1.ControllerInstallation) []types.NamespacedName {
		if ref := installation.Spec.ShootRef; ref != nil {
			return kit.Keys(ref.Namespace, &ref.Name)
		}
		return nil
	})
	installations.Everywhere = true // An installation has no namespace.
	return Protection{
		Name: "shoot-finalizer", Object: &gardencorev1beta1.Shoot{}, Finalizer: gardencorev1beta1.FinalizerControllerRegistration,
		Only: func(object client.Object) bool {
			shoot, ok := object.(*gardencorev1beta1.Shoot)
			return ok && query.SelfHosted(&shoot.Spec)
		},
		UsedBy: []Users{installations},
	}
}

// ByShoots makes Users of the references that a Shoot holds.
func ByShoots(of func(*gardencorev1beta1.Shoot) []types.NamespacedName) Users {
	return By(&gardencorev1beta1.Shoot{}, &gardencorev1beta1.ShootList{}, of)
}

func byInstallations(of func(*gardencorev1beta1.ControllerInstallation) []types.NamespacedName) Users {
	return By(&gardencorev1beta1.ControllerInstallation{}, &gardencorev1beta1.ControllerInstallationList{}, of)
}
