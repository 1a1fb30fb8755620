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

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/chart"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// findDeployment reads the deployment that the installation names. There is none if somebody else installs the extension.
func (r *Reconciler) findDeployment(ctx context.Context, s *scope) error {
	reference := s.installation.Spec.DeploymentRef
	if reference == nil {
		return nil
	}
	deployment := &gardencorev1beta1.ControllerDeployment{}
	if err := r.GardenClient.Get(ctx, client.ObjectKey{Name: reference.Name}, deployment); err != nil {
		return fmt.Errorf("get controller deployment %q: %w", reference.Name, err)
	}
	s.deployment = deployment
	return nil
}

func (r *Reconciler) findRegistration(ctx context.Context, s *scope) (kit.Outcome, error) {
	name := s.installation.Spec.RegistrationRef.Name
	s.registration = &gardencorev1beta1.ControllerRegistration{}
	err := r.GardenClient.Get(ctx, client.ObjectKey{Name: name}, s.registration)
	return r.found(s, fmt.Sprintf("controller registration %q", name), err,
		gardencorev1beta1.ReasonRegistrationNotFound, gardencorev1beta1.ReasonRegistrationReadError)
}

func (r *Reconciler) findSeed(ctx context.Context, s *scope) (kit.Outcome, error) {
	s.seed = &gardencorev1beta1.Seed{}
	err := r.GardenClient.Get(ctx, client.ObjectKey{Name: r.SeedName}, s.seed)
	outcome, err := r.found(s, fmt.Sprintf("seed %q", r.SeedName), err,
		gardencorev1beta1.ReasonSeedNotFound, gardencorev1beta1.ReasonSeedReadError)
	if err != nil {
		return outcome, err
	}
	if s.seed.Status.ClusterIdentity == nil {
		return kit.Stop(), kit.Wait(identityPause, fmt.Sprintf("the identity of seed %q is not known yet", r.SeedName))
	}
	return kit.Continue(), nil
}

// found reports an object that could not be read as a condition.
func (r *Reconciler) found(s *scope, what string, err error, missing, unreadable string) (kit.Outcome, error) {
	switch {
	case err == nil:
		return kit.Continue(), nil
	case apierrors.IsNotFound(err):
		return r.invalid(s, missing, fmt.Errorf("%s does not exist", what))
	default:
		r.set(s, gardencorev1beta1.ConditionTypeValid, gardencorev1beta1.ConditionUnknown, unreadable, "Cannot read "+what)
		return kit.Stop(), fmt.Errorf("get %s: %w", what, err)
	}
}

// release is what a ControllerDeployment of type helm holds.
type release struct {
	Chart         []byte                           `json:"chart,omitempty"`
	Values        map[string]any                   `json:"values,omitempty"`
	OCIRepository *gardencorev1beta1.OCIRepository `json:"ociRepository,omitempty"`
}

func (r *Reconciler) readChart(_ context.Context, s *scope) (kit.Outcome, error) {
	err := json.Unmarshal(s.deployment.ProviderConfig.Raw, &s.chart)
	switch {
	case err != nil:
		err = fmt.Errorf("providerConfig of controller deployment %q: %w", s.deployment.Name, err)
	case len(s.chart.Chart) == 0 && s.chart.OCIRepository != nil:
		err = fmt.Errorf("controller deployment %q has its chart in a registry, which this version cannot pull from: put the packed chart into providerConfig.chart", s.deployment.Name)
	case len(s.chart.Chart) == 0:
		err = fmt.Errorf("controller deployment %q has no chart in providerConfig.chart", s.deployment.Name)
	default:
		return kit.Continue(), nil
	}
	return r.invalid(s, gardencorev1beta1.ReasonChartInformationInvalid, kit.UserMustFix(gardencorev1beta1.ReasonChartInformationInvalid, err))
}

// render makes the objects. A chart that cannot be rendered has to be replaced, which starts another pass.
func (r *Reconciler) render(ctx context.Context, s *scope) (kit.Outcome, error) {
	garden := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: gardencorev1beta1.ConfigMapClusterIdentity}
	if err := r.GardenClient.Get(ctx, key, garden); err != nil {
		return kit.Stop(), fmt.Errorf("get ConfigMap %q of the garden: %w", key, err)
	}
	values, err := Values(s.chart.Values, Facts{
		Version: r.Version, FeatureGates: r.FeatureGates, Seed: s.seed,
		GardenIdentity: garden.Data[gardencorev1beta1.ConfigMapClusterIdentity], Kubeconfig: s.kubeconfig,
	})
	if err != nil {
		return r.invalid(s, gardencorev1beta1.ReasonRenderingHelmValuesFailed, err)
	}
	version, err := r.KubernetesVersion()
	if err != nil {
		return kit.Stop(), err
	}
	loaded, err := chart.Load(s.chart.Chart)
	if err != nil {
		return r.unrenderable(s, gardencorev1beta1.ReasonChartInformationInvalid, err)
	}
	rendered, err := loaded.Render(chart.Release{
		Name: s.installation.Name, Namespace: Namespace(s.installation.Name), KubernetesVersion: version,
	}, values)
	if err != nil {
		return r.unrenderable(s, gardencorev1beta1.ReasonChartCannotBeRendered, err)
	}
	for _, object := range rendered {
		s.objects = append(s.objects, object)
	}
	r.set(s, gardencorev1beta1.ConditionTypeValid, gardencorev1beta1.ConditionTrue, gardencorev1beta1.ReasonRegistrationValid,
		"The registration is valid, and its chart can be rendered")
	return kit.Continue(), nil
}

func (r *Reconciler) unrenderable(s *scope, reason string, err error) (kit.Outcome, error) {
	if errors.Is(err, chart.ErrInvalid) {
		err = kit.UserMustFix(reason, err)
	}
	return r.invalid(s, reason, err)
}
