// SPDX-License-Identifier: Apache-2.0

package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	corevalidation "github.com/terrarium-garden/terrarium/apis/core/validation"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
)

// ValidateGardenlet checks a new Gardenlet (API-RES-5).
func ValidateGardenlet(g *gardenseedmanagementv1alpha1.Gardenlet) field.ErrorList {
	return append(check.Metadata(g, true, apivalidation.NameIsDNSLabel), gardenletObject(g, "")...)
}

// ValidateGardenletUpdate checks an updated Gardenlet.
func ValidateGardenletUpdate(g, old *gardenseedmanagementv1alpha1.Gardenlet) field.ErrorList {
	errs := check.MetadataUpdate(g, old)
	path := field.NewPath("spec", "config")
	is, wrong := configuration(g.Spec.Config, path)
	was, wrongBefore := configuration(old.Spec.Config, path)
	if len(wrong) == 0 && len(wrongBefore) == 0 {
		errs = append(errs, seedUpdate(is, was, path)...)
	}
	return append(errs, gardenletObject(g, old.Annotations[gardencorev1beta1.AnnotationOperation])...)
}

func gardenletObject(g *gardenseedmanagementv1alpha1.Gardenlet, pending string) field.ErrorList {
	var errs field.ErrorList
	if g.Namespace != gardencorev1beta1.NamespaceGarden {
		errs = append(errs, field.Forbidden(field.NewPath("metadata", "namespace"), "must be "+gardencorev1beta1.NamespaceGarden))
	}
	const annotation = gardencorev1beta1.AnnotationOperation
	errs = append(errs, operation(g.Annotations[annotation], pending, field.NewPath("metadata", "annotations").Key(annotation),
		gardencorev1beta1.OperationForceRedeploy, gardencorev1beta1.OperationReconcile, gardencorev1beta1.OperationRenewKubeconfig)...)
	path := field.NewPath("spec")
	errs = append(errs, deployment(&g.Spec.Deployment.GardenletDeployment, path.Child("deployment"))...)
	errs = append(errs, corevalidation.ValidateOCIRepository(&g.Spec.Deployment.Helm.OCIRepository, path.Child("deployment", "helm", "ociRepository"))...)
	if ref := g.Spec.KubeconfigSecretRef; ref != nil {
		here := path.Child("kubeconfigSecretRef", "name")
		errs = append(errs, check.Required(ref.Name, here, "the Secret with a kubeconfig for the seed")...)
		if ref.Name != "" {
			errs = append(errs, named(ref.Name, here, apivalidation.NameIsDNSSubdomain)...)
		}
	}
	config, wrong := configuration(g.Spec.Config, path.Child("config"))
	if len(wrong) > 0 {
		return append(errs, wrong...)
	}
	return append(errs, settings{config: config, bootstrap: gardenseedmanagementv1alpha1.BootstrapToken}.check(path.Child("config"))...)
}
