// SPDX-License-Identifier: Apache-2.0

// Package gardenresource guards the Garden, which describes the server itself: only the server makes it, nobody deletes it, and a
// change that the server would not act upon is rejected with the reason. So nothing is accepted and then not done (OPER-WH-1 to 3, 5).
package gardenresource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/operator/validation"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// Name is the name of the plugin. It cannot be disabled.
const Name = "GardenResource"

// Server says what the server cannot do now.
type Server struct {
	// Operation returns why an operation cannot be carried out; nil if it can.
	Operation func(ctx context.Context, name string) error
	// Setting returns why a field of the spec that acts in other gardens does not in this one; empty if it does.
	Setting func(path string) string
	// LongestKubeconfig is the bound of kubeconfigs for shoots in the configuration, which the spec can only make shorter.
	LongestKubeconfig func() time.Duration
}

type rule struct {
	*admission.Handler

	server Server
}

// New returns the maker of the plugin for a server.
func New(server Server) func(*world.World) admission.Interface {
	return func(*world.World) admission.Interface {
		return &rule{Handler: admission.NewHandler(admission.Create, admission.Update, admission.Delete), server: server}
	}
}

var _ admission.ValidationInterface = &rule{}

var (
	errMade = errors.New("the server makes the Garden itself, and there is only one; change that one: kubectl edit garden " +
		gardenoperatorv1alpha1.GardenName)
	errDeleted = errors.New("the Garden describes this server and exists as long as the server; to delete the garden with all that is in it, " +
		"run terrarium uninstall --purge on its machine")
)

// Validate rejects what the server would not do. What the server writes itself is not looked at.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetKind().GroupKind() != gardenoperatorv1alpha1.Kind("Garden") || a.GetUserInfo().GetName() == user.APIServerUser {
		return nil
	}
	switch a.GetOperation() {
	case admission.Create:
		return world.Answer(a, errMade)
	case admission.Delete:
		return world.Answer(a, errDeleted)
	default:
	}
	now, ok := a.GetObject().(*gardenoperatorv1alpha1.Garden)
	was, known := a.GetOldObject().(*gardenoperatorv1alpha1.Garden)
	if !ok || !known {
		return world.Answer(a, fmt.Errorf("update of a %T", a.GetObject()))
	}

	return world.Answer(a, errors.Join(r.spec(now, was), r.operations(ctx, now, was)))
}

func (r *rule) spec(now, was *gardenoperatorv1alpha1.Garden) error {
	paths, err := changed(&now.Spec, &was.Spec)
	if err != nil {
		return err
	}
	var errs field.ErrorList
	for _, path := range paths {
		row := find(path)
		reason := row.Refused
		if reason == "" {
			reason = r.server.Setting(row.Field)
		}
		if reason == "" && path == "virtualCluster.gardener."+kubeconfigField {
			reason = r.longer(&now.Spec)
		}
		if reason != "" {
			errs = append(errs, field.Forbidden(field.NewPath("spec").Child(path), "this cannot be changed here: "+reason))
		}
	}
	if len(errs) == 0 {
		return nil
	}

	return &world.InvalidError{Errors: errs}
}

// longer returns why the bound of kubeconfigs in a spec would not count; empty if it does.
func (r *rule) longer(s *gardenoperatorv1alpha1.GardenSpec) string {
	c := s.VirtualCluster.Gardener.APIServer
	if c == nil || c.ShootAdminKubeconfigMaxExpiration == nil {
		return ""
	}
	if longest := r.server.LongestKubeconfig(); c.ShootAdminKubeconfigMaxExpiration.Duration > longest {
		return fmt.Sprintf("it can only be shortened to less than %s; for more, %s", longest, file("shoots.maxKubeconfigLifetime"))
	}

	return ""
}

func (r *rule) operations(ctx context.Context, now, was *gardenoperatorv1alpha1.Garden) error {
	before := validation.Operations(was)
	path := field.NewPath("metadata", "annotations").Key(gardencorev1beta1.AnnotationOperation)
	var errs field.ErrorList
	for _, name := range validation.Operations(now) {
		if slices.Contains(before, name) {
			continue
		}
		if err := r.server.Operation(ctx, name); err != nil {
			errs = append(errs, field.Forbidden(path, name+": "+err.Error()))
		}
	}
	if len(errs) == 0 {
		return nil
	}

	return &world.InvalidError{Errors: errs}
}

// namespaceRule guards the namespace of the garden.
type namespaceRule struct{ *admission.Handler }

// NewNamespace returns the plugin that rejects the deletion of the namespace garden, which has the Secrets of the garden itself. There is
// always a Garden, so it can never be deleted (OPER-WH-19).
func NewNamespace(*world.World) admission.Interface {
	return &namespaceRule{Handler: admission.NewHandler(admission.Delete)}
}

var _ admission.ValidationInterface = &namespaceRule{}

var errNamespace = errors.New("it has the Secrets of the garden itself, which needs them as long as it exists")

// Validate rejects the deletion of the namespace, by whomever.
func (*namespaceRule) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetResource().GroupResource() != corev1.Resource("namespaces") || a.GetSubresource() != "" || a.GetName() != gardencorev1beta1.NamespaceGarden {
		return nil
	}

	return world.Answer(a, errNamespace)
}
