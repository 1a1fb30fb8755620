// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"encoding/json"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// TypeHelm is the type of deployments in v1beta1 that have a chart.
const TypeHelm = "helm"

// addConversions registers the conversions between both versions. Values that a version has no field for are kept in its
// annotations, so that a round trip loses nothing (API-RES-6).
func addConversions(scheme *runtime.Scheme) error {
	for _, pair := range []struct {
		from, to any
		convert  conversion.ConversionFunc
	}{
		{(*gardencorev1beta1.ControllerDeployment)(nil), (*ControllerDeployment)(nil), converter(fromV1beta1)},
		{(*ControllerDeployment)(nil), (*gardencorev1beta1.ControllerDeployment)(nil), converter(toV1beta1)},
		{(*gardencorev1beta1.ControllerDeploymentList)(nil), (*ControllerDeploymentList)(nil), converter(listFromV1beta1)},
		{(*ControllerDeploymentList)(nil), (*gardencorev1beta1.ControllerDeploymentList)(nil), converter(listToV1beta1)},
	} {
		if err := scheme.AddConversionFunc(pair.from, pair.to, pair.convert); err != nil {
			return fmt.Errorf("register conversion from %T to %T: %w", pair.from, pair.to, err)
		}
	}
	return nil
}

func converter[From, To any](convert func(from *From, to *To) error) conversion.ConversionFunc {
	return func(a, b any, _ conversion.Scope) error {
		from, to := a.(*From), b.(*To) //nolint:forcetypeassert // the scheme calls it with the types it was registered for
		return convert(from, to)
	}
}

func fromV1beta1(from *gardencorev1beta1.ControllerDeployment, to *ControllerDeployment) error {
	*to = ControllerDeployment{InjectGardenKubeconfig: from.InjectGardenKubeconfig}
	to.ObjectMeta = from.ObjectMeta
	resources, kept := from.Annotations[gardencorev1beta1.AnnotationMigrationControllerDeploymentResources]
	if kept {
		if err := json.Unmarshal([]byte(resources), &to.Resources); err != nil {
			return fmt.Errorf("read annotation %q: %w", gardencorev1beta1.AnnotationMigrationControllerDeploymentResources, err)
		}
	}
	config, err := raw(from.ProviderConfig)
	if err != nil {
		return err
	}
	added := map[string]string{}
	if from.Type == TypeHelm {
		if to.Helm, err = helmFrom(config); err != nil {
			return err
		}
	} else {
		added[gardencorev1beta1.AnnotationMigrationControllerDeploymentType] = from.Type
		if len(config) > 0 {
			added[gardencorev1beta1.AnnotationMigrationControllerDeploymentProviderConfig] = string(config)
		}
	}
	to.Annotations = annotations(from.Annotations, added)
	return nil
}

func toV1beta1(from *ControllerDeployment, to *gardencorev1beta1.ControllerDeployment) error {
	*to = gardencorev1beta1.ControllerDeployment{InjectGardenKubeconfig: from.InjectGardenKubeconfig}
	to.ObjectMeta = from.ObjectMeta
	if err := typeTo(from, to); err != nil {
		return err
	}
	added := map[string]string{}
	if len(from.Resources) > 0 {
		resources, err := json.Marshal(from.Resources)
		if err != nil {
			return fmt.Errorf("write resources: %w", err)
		}
		added[gardencorev1beta1.AnnotationMigrationControllerDeploymentResources] = string(resources)
	}
	to.Annotations = annotations(from.Annotations, added)
	return nil
}

// typeTo writes how the extension is installed.
func typeTo(from *ControllerDeployment, to *gardencorev1beta1.ControllerDeployment) error {
	if from.Helm != nil {
		config, err := json.Marshal(helmTo(from.Helm))
		if err != nil {
			return fmt.Errorf("write chart: %w", err)
		}
		to.Type, to.ProviderConfig.Raw = TypeHelm, config
		return nil
	}
	to.Type = from.Annotations[gardencorev1beta1.AnnotationMigrationControllerDeploymentType]
	config := from.Annotations[gardencorev1beta1.AnnotationMigrationControllerDeploymentProviderConfig]
	if config == "" {
		return nil
	}
	if !json.Valid([]byte(config)) {
		return fmt.Errorf("annotation %q is not JSON", gardencorev1beta1.AnnotationMigrationControllerDeploymentProviderConfig)
	}
	to.ProviderConfig.Raw = []byte(config)
	return nil
}

func helmFrom(config []byte) (*HelmControllerDeployment, error) {
	older := gardencorev1beta1.HelmControllerDeployment{}
	if len(config) > 0 {
		if err := json.Unmarshal(config, &older); err != nil {
			return nil, fmt.Errorf("read providerConfig of type %q: %w", TypeHelm, err)
		}
	}
	helm := &HelmControllerDeployment{RawChart: older.Chart, Values: older.Values}
	if o := older.OCIRepository; o != nil {
		helm.OCIRepository = &OCIRepository{
			Ref: o.Ref, Repository: o.Repository, Tag: o.Tag, Digest: o.Digest,
			PullSecretRef: o.PullSecretRef, CABundleSecretRef: o.CABundleSecretRef,
		}
	}
	return helm, nil
}

func helmTo(helm *HelmControllerDeployment) gardencorev1beta1.HelmControllerDeployment {
	older := gardencorev1beta1.HelmControllerDeployment{Chart: helm.RawChart, Values: helm.Values}
	if o := helm.OCIRepository; o != nil {
		older.OCIRepository = &gardencorev1beta1.OCIRepository{
			Ref: o.Ref, Repository: o.Repository, Tag: o.Tag, Digest: o.Digest,
			PullSecretRef: o.PullSecretRef, CABundleSecretRef: o.CABundleSecretRef,
		}
	}
	return older
}

func raw(config runtime.RawExtension) ([]byte, error) {
	if config.Raw != nil || config.Object == nil {
		return config.Raw, nil
	}
	data, err := json.Marshal(config.Object)
	if err != nil {
		return nil, fmt.Errorf("write providerConfig: %w", err)
	}
	return data, nil
}

// annotations returns all annotations together with added, without those that keep values that the target has fields for.
func annotations(all, added map[string]string) map[string]string {
	kept := maps.Clone(all)
	maps.DeleteFunc(kept, func(key, _ string) bool {
		switch key {
		case gardencorev1beta1.AnnotationMigrationControllerDeploymentType,
			gardencorev1beta1.AnnotationMigrationControllerDeploymentProviderConfig,
			gardencorev1beta1.AnnotationMigrationControllerDeploymentResources:
			return true
		default:
			return false
		}
	})
	if len(added) == 0 {
		if len(kept) == 0 {
			return nil
		}
		return kept
	}
	if kept == nil {
		kept = map[string]string{}
	}
	maps.Copy(kept, added)
	return kept
}

func listFromV1beta1(from *gardencorev1beta1.ControllerDeploymentList, to *ControllerDeploymentList) error {
	items, err := convertAll(from.Items, fromV1beta1)
	*to = ControllerDeploymentList{ListMeta: from.ListMeta, Items: items}
	return err
}

func listToV1beta1(from *ControllerDeploymentList, to *gardencorev1beta1.ControllerDeploymentList) error {
	items, err := convertAll(from.Items, toV1beta1)
	*to = gardencorev1beta1.ControllerDeploymentList{ListMeta: from.ListMeta, Items: items}
	return err
}

func convertAll[From, To any](all []From, convert func(from *From, to *To) error) ([]To, error) {
	if all == nil {
		return nil, nil
	}
	converted := make([]To, len(all))
	for i := range all {
		if err := convert(&all[i], &converted[i]); err != nil {
			return nil, fmt.Errorf("convert item %d: %w", i, err)
		}
	}
	return converted, nil
}
