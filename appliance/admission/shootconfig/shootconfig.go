// SPDX-License-Identifier: Apache-2.0

package shootconfig

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// document is a piece of configuration that an API server reads.
type document struct {
	// what is the name of the document, key its key in the ConfigMap, and path the field of the Shoot that refers to it.
	what, key string
	path      *field.Path
	// reason is the reason of rejections in the metrics.
	reason string
	// name returns the name of the ConfigMap that a Shoot refers to, or an empty string.
	name func(s *gardencorev1beta1.KubeAPIServerConfig) string
	// read returns an error if no Shoot can use the content, which is not empty, and else what says whether one can. All that takes long
	// is done once, however many Shoots use the content.
	read func(ctx context.Context, content string) (fits, error)
	// other reports whether another field that the content depends on has changed.
	other func(now, before *gardencorev1beta1.KubeAPIServerConfig) bool
}

// fits returns an error if a Shoot cannot use a content.
type fits func(s *gardencorev1beta1.KubeAPIServerConfig) error

// maxContent is how long a content may be. An API server has to read it, and so has this one for each change.
const maxContent = 256 << 10

// wrong returns an error if a Shoot cannot use the content.
func (d document) wrong(ctx context.Context, content string, s *gardencorev1beta1.KubeAPIServerConfig) error {
	fits, err := d.readBounded(ctx, content)
	if err != nil {
		return err
	}
	return fits(s)
}

func (d document) readBounded(ctx context.Context, content string) (fits, error) {
	if len(content) > maxContent {
		return nil, fmt.Errorf("it has %d bytes, at most %d are allowed", len(content), maxContent)
	}
	return d.read(ctx, content)
}

type rule struct {
	*admission.Handler
	document

	world *world.World
}

func (d document) rule(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), document: d, world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate checks a Shoot that refers to a ConfigMap, and a ConfigMap that Shoots refer to.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if a.GetSubresource() != "" {
		return nil
	}
	switch {
	case a.GetKind().GroupKind() == gardencorev1beta1.Kind("Shoot"):
		shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
		if !ok {
			return nil
		}
		return r.shoot(ctx, a, shoot)
	case a.GetResource().GroupResource() == corev1.Resource("configmaps") && a.GetOperation() == admission.Update:
		now, before, err := world.Objects[corev1.ConfigMap](a, o)
		if err != nil {
			return world.Answer(a, err)
		}
		if now.Data[r.key] == before.Data[r.key] {
			return nil
		}
		return r.configMap(ctx, a, now)
	}
	return nil
}

// shoot checks the ConfigMap of a Shoot if the reference, the version of Kubernetes or a dependent field has changed.
func (r *rule) shoot(ctx context.Context, a admission.Attributes, shoot *gardencorev1beta1.Shoot) error {
	server := apiServer(shoot)
	name := r.name(server)
	if name == "" || shoot.DeletionTimestamp != nil {
		return nil
	}
	if old, ok := a.GetOldObject().(*gardencorev1beta1.Shoot); ok && r.same(shoot, old) {
		return nil
	}
	config, err := r.world.Fresh().ConfigMap(ctx, shoot.Namespace, name)
	if apierrors.IsNotFound(err) {
		return r.refuse(a, field.NotFound(r.path, fmt.Sprintf("ConfigMap %s/%s", shoot.Namespace, name)))
	}
	if err != nil {
		return world.Answer(a, fmt.Errorf("read ConfigMap %q: %w", name, err))
	}
	content := config.Data[r.key]
	if content == "" {
		return r.refuse(a, field.Invalid(r.path, name, fmt.Sprintf("the ConfigMap must have the %s under the key %q", r.what, r.key)))
	}
	if err := r.wrong(ctx, content, server); err != nil {
		return r.refuse(a, field.Invalid(r.path, name, fmt.Sprintf("data[%s] is not a valid %s: %v", r.key, r.what, err)))
	}
	return nil
}

func (r *rule) same(shoot, old *gardencorev1beta1.Shoot) bool {
	now, before := apiServer(shoot), apiServer(old)
	return r.name(now) == r.name(before) && shoot.Spec.Kubernetes.Version == old.Spec.Kubernetes.Version && !r.other(now, before)
}

// configMap checks a ConfigMap for each Shoot that refers to it.
func (r *rule) configMap(ctx context.Context, a admission.Attributes, config *corev1.ConfigMap) error {
	of, err := r.world.Cached().OfProject(ctx, a.GetNamespace())
	if err != nil || !of {
		return world.Answer(a, err)
	}
	shoots, err := r.world.Fresh().Shoots(ctx, a.GetNamespace(), fields.Everything())
	if err != nil {
		return world.Answer(a, fmt.Errorf("list shoots in namespace %q: %w", a.GetNamespace(), err))
	}
	path, content := field.NewPath("data").Key(r.key), config.Data[r.key]
	var fits fits
	for i := range shoots {
		server := apiServer(&shoots[i])
		if r.name(server) != config.Name || shoots[i].DeletionTimestamp != nil {
			continue
		}
		if content == "" {
			return r.refuse(a, field.Required(path, fmt.Sprintf("shoot %q uses this %s", shoots[i].Name, r.what)))
		}
		if fits == nil {
			fits, err = r.readBounded(ctx, content)
		}
		if err == nil {
			err = fits(server)
		}
		if err != nil {
			return r.refuse(a, field.Invalid(path, field.OmitValueType{}, fmt.Sprintf("it is not a valid %s for shoot %q: %v",
				r.what, shoots[i].Name, err)))
		}
	}
	return nil
}

func (r *rule) refuse(a admission.Attributes, err *field.Error) error {
	return r.world.Rejected(a, r.reason, apierrors.NewInvalid(a.GetKind().GroupKind(), a.GetName(), field.ErrorList{err}))
}

// apiServer returns the configuration of a Shoot's API server, which is empty by default.
func apiServer(s *gardencorev1beta1.Shoot) *gardencorev1beta1.KubeAPIServerConfig {
	if server := s.Spec.Kubernetes.KubeAPIServer; server != nil {
		return server
	}
	return &gardencorev1beta1.KubeAPIServerConfig{}
}

func inServer(path ...string) *field.Path {
	return field.NewPath("spec", "kubernetes", "kubeAPIServer").Child(path[0], path[1:]...)
}
