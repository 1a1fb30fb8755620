// SPDX-License-Identifier: Apache-2.0

package controllerinstallation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/chart"
	"github.com/terrarium-garden/terrarium/controllers/chart/repository"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// readChart gets the chart and its values (EXT-REG-1). A deployment that has none has to be changed, which starts another pass.
func (r *Reconciler) readChart(ctx context.Context, s *scope) (kit.Outcome, error) {
	helm := s.deployment.Helm
	var err error
	if helm.Values != nil {
		err = json.Unmarshal(helm.Values.Raw, &s.values)
	}
	switch {
	case err != nil:
		err = fmt.Errorf("values of controller deployment %q: %w", s.deployment.Name, err)
	case len(helm.RawChart) > 0:
		s.chart = helm.RawChart
		return kit.Continue(), nil
	case helm.OCIRepository != nil:
		return r.pullChart(ctx, s, *helm.OCIRepository)
	default:
		err = fmt.Errorf("controller deployment %q has no chart, neither itself nor in a registry", s.deployment.Name)
	}
	return r.invalid(s, gardencorev1beta1.ReasonChartInformationInvalid, kit.UserMustFix(gardencorev1beta1.ReasonChartInformationInvalid, err))
}

// pullChart gets the chart from its registry (EXT-REG-7). Changed Secrets are not watched, so it is tried again until it works.
func (r *Reconciler) pullChart(ctx context.Context, s *scope, from gardencorev1.OCIRepository) (kit.Outcome, error) {
	source := repository.Source{Repository: from}
	var err error
	if ref := from.PullSecretRef; ref != nil {
		source.Credentials, err = r.secretData(ctx, ref.Name, gardencorev1beta1.RoleHelmPullSecret, corev1.DockerConfigJsonKey)
	}
	if ref := from.CABundleSecretRef; ref != nil && err == nil {
		source.Authorities, err = r.secretData(ctx, ref.Name, gardencorev1beta1.RoleOCICABundle, gardencorev1beta1.DataKeyCertificateBundle)
	}
	if err == nil {
		s.chart, err = r.charts.Pull(ctx, source)
	}
	switch {
	case err == nil:
		return kit.Continue(), nil
	case errors.Is(err, repository.ErrInvalid):
		err = kit.UserMustFix(gardencorev1beta1.ReasonOCIChartCannotBePulled, err)
	}
	return r.invalid(s, gardencorev1beta1.ReasonOCIChartCannotBePulled, err)
}

// secretData returns the data of a key of a Secret that has the given role.
func (r *Reconciler) secretData(ctx context.Context, name, role, key string) ([]byte, error) {
	secret := &corev1.Secret{}
	if err := r.readRole(ctx, secret, name, role); err != nil {
		return nil, err
	}
	data, ok := secret.Data[key]
	if !ok {
		return nil, fmt.Errorf("no key %q in Secret %q in namespace %q of the garden", key, name, gardencorev1beta1.NamespaceGarden)
	}
	return data, nil
}

// readRole reads an object that has to have a role: without it, nothing shows that its data is meant for extensions.
func (r *Reconciler) readRole(ctx context.Context, object client.Object, name, role string) error {
	kind, err := r.GardenClient.GroupVersionKindFor(object)
	if err != nil {
		return fmt.Errorf("find the kind of %T: %w", object, err)
	}
	what := fmt.Sprintf("%s %q in namespace %q of the garden", kind.Kind, name, gardencorev1beta1.NamespaceGarden)
	err = r.GardenClient.Get(ctx, client.ObjectKey{Namespace: gardencorev1beta1.NamespaceGarden, Name: name}, object)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s does not exist", what)
	case err != nil:
		return fmt.Errorf("get %s: %w", what, err)
	case object.GetLabels()[gardencorev1beta1.LabelRole] != role:
		return fmt.Errorf("%s is not meant for this: it needs the label %s=%s", what, gardencorev1beta1.LabelRole, role)
	default:
		return nil
	}
}

// render makes the objects. The values of the deployment get the data of resources before the block gardener is put over them, so what is
// known about the seed is not looked into.
func (r *Reconciler) render(ctx context.Context, s *scope) (kit.Outcome, error) {
	garden := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: gardencorev1beta1.ConfigMapClusterIdentity}
	if err := r.GardenClient.Get(ctx, key, garden); err != nil {
		return kit.Stop(), fmt.Errorf("get ConfigMap %q of the garden: %w", key, err)
	}
	filled, err := r.fill(ctx, s)
	if err != nil {
		return r.invalid(s, gardencorev1beta1.ReasonRenderingHelmValuesFailed, err)
	}
	version, err := r.KubernetesVersion()
	if err != nil {
		return kit.Stop(), err
	}
	facts := Facts{
		Version: r.Version, FeatureGates: r.FeatureGates, Seed: s.seed,
		GardenIdentity: garden.Data[gardencorev1beta1.ConfigMapClusterIdentity], Kubeconfig: s.kubeconfig,
	}
	release := chart.Release{Name: s.installation.Name, Namespace: Namespace(s.installation.Name), KubernetesVersion: version}
	var reason string
	if s.objects, reason, err = objectsOf(s.chart, release, filled, facts); err != nil {
		if s.confidential {
			err = withoutData(s, release, facts)
		}
		return r.unrenderable(s, reason, err)
	}
	r.set(s, gardencorev1beta1.ConditionTypeValid, gardencorev1beta1.ConditionTrue, gardencorev1beta1.ReasonRegistrationValid,
		"The registration is valid, and its chart can be rendered")
	return kit.Continue(), nil
}

// objectsOf renders a packed chart. If that fails, it says which reason the condition has.
func objectsOf(packed []byte, release chart.Release, own map[string]any, facts Facts) ([]client.Object, string, error) {
	values, err := Values(own, facts)
	if err != nil {
		return nil, gardencorev1beta1.ReasonRenderingHelmValuesFailed, err
	}
	loaded, err := chart.Load(packed)
	if err != nil {
		return nil, gardencorev1beta1.ReasonChartInformationInvalid, err
	}
	rendered, err := loaded.Render(release, values)
	if err != nil {
		return nil, gardencorev1beta1.ReasonChartCannotBeRendered, err
	}
	objects := make([]client.Object, 0, len(rendered))
	for _, object := range rendered {
		objects = append(objects, object)
	}
	return objects, "", nil
}

// withoutData says why a chart gives no objects whose values have data of Secrets, which its own error may quote: it is what is wrong
// with the references in place of the data.
func withoutData(s *scope, release chart.Release, facts Facts) error {
	if _, _, err := objectsOf(s.chart, release, s.values, facts); err != nil {
		return err
	}
	return fmt.Errorf("%w: it cannot be rendered with the data of the Secrets that the values refer to; why is not told here, because that could show the data", chart.ErrInvalid)
}

// unrenderable reports a chart that gives no objects. If it is of the deployment itself, together with all values, the deployment has to be
// changed, which starts another pass. A tag may get another chart, and a resource other data, so these are tried again.
func (r *Reconciler) unrenderable(s *scope, reason string, err error) (kit.Outcome, error) {
	itself := s.deployment.Helm.OCIRepository == nil && len(s.deployment.Resources) == 0
	if errors.Is(err, chart.ErrInvalid) && itself {
		err = kit.UserMustFix(reason, err)
	}
	return r.invalid(s, reason, err)
}
