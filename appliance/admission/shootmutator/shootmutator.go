// SPDX-License-Identifier: Apache-2.0

// Package shootmutator completes Shoots: it chooses versions, images and networks that are not given from the offer of their
// profile and seed, and adds the annotations by which a change requests tasks from the gardenlet (API-SMUT-1 to 5,
// API-SHOOTSTRAT-9, API-DEF-19).
package shootmutator

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	"github.com/terrarium-garden/terrarium/apis/check"
	"github.com/terrarium-garden/terrarium/apis/core/offer"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var _ admission.MutationInterface = &rule{}

// request is a request with the new shoot and the old one, which is empty on create.
type request struct {
	shoot, old  *gardencorev1beta1.Shoot
	create      bool
	specChanged bool
}

// Admit completes a Shoot that is not in deletion. It also runs for shoots/binding, because networks depend on the seed.
func (r *rule) Admit(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	if !ok || shoot.DeletionTimestamp != nil || a.GetSubresource() != "" && a.GetSubresource() != "binding" {
		return nil
	}
	q := request{shoot: shoot, old: &gardencorev1beta1.Shoot{}, create: a.GetOperation() == admission.Create}
	if old, ok := a.GetOldObject().(*gardencorev1beta1.Shoot); ok {
		q.old = old
	}
	q.specChanged = q.create || !check.Equal(&shoot.Spec, &q.old.Spec)
	if q.specChanged {
		if q.create && shoot.Spec.CloudProfile != nil && shoot.Spec.CloudProfileName != nil {
			return world.Answer(a, errors.New("spec.cloudProfileName: cannot be set together with spec.cloudProfile; use only the latter"))
		}
		if a.GetSubresource() == "" { // A binding changes nothing but the seed (API-BIND-2).
			referProfile(&shoot.Spec)
		}
		if err := r.world.Decide(a, func(v world.View) error { return fill(ctx, v, q) }); err != nil {
			return err
		}
	}
	if q.create {
		rotateEncryptionKey(&shoot.Spec)
	}
	annotate(q)
	return nil
}

func fill(ctx context.Context, v world.View, q request) error {
	if err := completeNetworks(ctx, v, q.shoot); err != nil {
		return err
	}
	profile, err := v.ProfileOf(ctx, &q.shoot.Spec, q.shoot.Namespace)
	if err == nil && profile != nil {
		complete(&q.shoot.Spec, &q.old.Spec, offer.Offer{Profile: &profile.Spec, Now: v.Clock.Now()})
	}
	return err
}

// rotateEncryptionKey enables the automatic rotation of the etcd encryption key in new shoots (API-DEF-19).
func rotateEncryptionKey(s *gardencorev1beta1.ShootSpec) {
	m := ensure(&s.Maintenance)
	period := ensure(&ensure(&ensure(&m.AutoRotation).Credentials).ETCDEncryptionKey)
	if period.RotationPeriod == nil {
		period.RotationPeriod = &metav1.Duration{Duration: encryptionKeyPeriod}
	}
}

func ensure[T any](at **T) *T {
	if *at == nil {
		*at = new(T)
	}
	return *at
}
