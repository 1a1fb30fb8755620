// SPDX-License-Identifier: Apache-2.0

package operatingsystemconfig

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/containerruntime"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

// Actor writes the user data of each OperatingSystemConfig for new machines to a Secret.
type Actor struct{ engine.Access }

// Reconcile renders and publishes the user data of new machines. For those that run, it says what a local machine has in addition, and
// the agent of each machine adds it (EXT-OSC-4).
func (a *Actor) Reconcile(ctx context.Context, object *gardenextensionsv1alpha1.OperatingSystemConfig, cluster *engine.Cluster) error {
	if err := cluster.Unconfigured(object.Spec.ProviderConfig, "spec.provider.workers[].machine.image.providerConfig"); err != nil {
		return err
	}
	own := gardenextensionsv1alpha1.OperatingSystemConfigSpec{}
	if cluster != nil {
		own.Files = containerruntime.Files(cluster.Shoot, object.Labels[gardencorev1beta1.LabelWorkerPool])
		addSSH(&own, cluster)
	}
	spec := object.Spec.DeepCopy()
	spec.Files, spec.Units = append(spec.Files, own.Files...), append(spec.Units, own.Units...)
	if err := addStart(spec); err != nil {
		return engine.ConfigurationProblem(err)
	}
	userData, err := Render(spec, a.secretContent(ctx, object.Namespace))
	if apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
		return err
	}
	if err != nil {
		return engine.ConfigurationProblem(err)
	}
	if object.Spec.Purpose == gardenextensionsv1alpha1.OperatingSystemConfigPurposeReconcile {
		object.Status.ExtensionFiles, object.Status.ExtensionUnits = own.Files, own.Units
		return nil
	}
	secret := resultSecret(object)
	secret.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(object, gardenextensionsv1alpha1.GroupVersion.WithKind(kind.OperatingSystemConfig))}
	secret.Data = map[string][]byte{gardencorev1beta1.DataKeyCloudConfig: []byte(userData)}
	if err := a.Seed.Apply(ctx, secret); err != nil {
		return fmt.Errorf("publish user data: %w", err)
	}
	object.Status.CloudConfig = &gardenextensionsv1alpha1.CloudConfig{
		SecretRef: corev1.SecretReference{Namespace: secret.Namespace, Name: secret.Name},
	}
	return nil
}

// Delete removes the user data. After a migration the other seed renders it again.
func (a *Actor) Delete(ctx context.Context, object *gardenextensionsv1alpha1.OperatingSystemConfig, _ *engine.Cluster) error {
	return a.Seed.Delete(ctx, resultSecret(object))
}

func (a *Actor) secretContent(ctx context.Context, namespace string) SecretContent {
	return func(ref gardenextensionsv1alpha1.FileContentSecretRef) ([]byte, error) {
		secret := &corev1.Secret{}
		if err := a.Reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, secret); err != nil {
			return nil, fmt.Errorf("read secret %q: %w", ref.Name, err)
		}
		content, found := secret.Data[ref.DataKey]
		if !found {
			return nil, fmt.Errorf("secret %q has no key %q", ref.Name, ref.DataKey)
		}
		return content, nil
	}
}

func resultSecret(object *gardenextensionsv1alpha1.OperatingSystemConfig) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: object.Namespace, Name: "osc-result-" + object.Name},
		Type:       corev1.SecretTypeOpaque,
	}
}
