// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
)

// Place is a cluster on which extensions are installed: OnSeed or InShoot.
type Place interface {
	cluster() cluster
	// eligible returns the registrations that may be installed in such a cluster at all.
	eligible(all []gardencorev1beta1.ControllerRegistration) []gardencorev1beta1.ControllerRegistration
	// needs returns what the cluster and the shoots that it runs need, without backups, and the number of those shoots.
	needs(in Input) (offerSet, int)
	// keeps reports whether the shoot, or one of the seeds, is this cluster. Nil is none.
	keeps(shoot *corev1.ObjectReference, seeds ...*string) bool
	// refer sets the labels and the reference of an installation that name the cluster.
	refer(installation *gardencorev1beta1.ControllerInstallation) error
}

// cluster is what is known of a Place.
type cluster struct {
	// object is the cluster in the garden. A seed selector selects by its labels.
	object client.Object
	// kind is the kind of the cluster, and offerer what is eligible for it, in the words of a message.
	kind, offerer string
	// installations selects the installations of the cluster, and of no other one.
	installations client.MatchingFields
}

// OnSeed is a seed. The shoots that it runs are in Input.Shoots.
type OnSeed struct{ Seed *gardencorev1beta1.Seed }

func (p OnSeed) cluster() cluster {
	return cluster{
		object: p.Seed, kind: "seed", offerer: "controller registration",
		installations: client.MatchingFields{gardencorev1beta1.FieldSeedRefName: p.Seed.Name},
	}
}

func (OnSeed) eligible(all []gardencorev1beta1.ControllerRegistration) []gardencorev1beta1.ControllerRegistration {
	return all
}

func (p OnSeed) needs(in Input) (offerSet, int) {
	all, shoots := offerSet{}, 0
	all.add(extensions.NeededBySeed(p.Seed, in.Registrations))
	for i := range in.Shoots {
		if query.OnSeed(&in.Shoots[i], p.Seed.Name) {
			shoots++
			all.add(extensions.NeededByShoot(&in.Shoots[i], extensions.Surroundings{
				Seed: p.Seed, Registrations: in.Registrations, Domains: in.Domains,
			}))
		}
	}
	return all, shoots
}

func (p OnSeed) keeps(_ *corev1.ObjectReference, seeds ...*string) bool {
	return slices.ContainsFunc(seeds, func(seed *string) bool { return seed != nil && *seed == p.Seed.Name })
}

// refer updates the resource version of the seed only together with its hash, because a seed changes with every heartbeat and a changed
// installation is installed again.
func (p OnSeed) refer(installation *gardencorev1beta1.ControllerInstallation) error {
	installation.Labels[labelSeed] = p.Seed.Name
	changed, err := hash(installation, labelSeedHash, p.Seed.Spec)
	if err == nil && (installation.Spec.SeedRef == nil || changed) {
		installation.Spec.SeedRef = &corev1.ObjectReference{Name: p.Seed.Name, ResourceVersion: p.Seed.ResourceVersion}
	}
	return err
}

// InShoot is a self-hosted shoot, which runs only itself (GCM-CR-10).
type InShoot struct{ Shoot *gardencorev1beta1.Shoot }

func (p InShoot) cluster() cluster {
	return cluster{
		object: p.Shoot, kind: "shoot", offerer: "controller registration without a seed selector",
		installations: client.MatchingFields{
			gardencorev1beta1.FieldShootRefName: p.Shoot.Name, gardencorev1beta1.FieldShootRefNamespace: p.Shoot.Namespace,
		},
	}
}

// eligible leaves out registrations with a seed selector, unless that is empty and selects everything. With a selector, an operator has said on
// which Seeds an extension belongs, and the shoot is none of them. That holds for selectors that only exclude seeds too, which an object without
// labels would fulfil: an extension has rights in the cluster in which it is installed, so one that is there by mistake is worse than one that is
// missing, which an event of the Shoot names (GCM-CR-10).
func (InShoot) eligible(all []gardencorev1beta1.ControllerRegistration) []gardencorev1beta1.ControllerRegistration {
	return slices.DeleteFunc(slices.Clone(all), func(registration gardencorev1beta1.ControllerRegistration) bool {
		deployment := registration.Spec.Deployment
		if deployment == nil || deployment.SeedSelector == nil {
			return false
		}
		return len(deployment.SeedSelector.MatchLabels) > 0 || len(deployment.SeedSelector.MatchExpressions) > 0
	})
}

// needs returns nothing for a shoot in deletion: an extension that still has objects there is required, and stays until they are gone.
func (p InShoot) needs(in Input) (offerSet, int) {
	all := offerSet{}
	if p.Shoot.DeletionTimestamp != nil {
		return all, 0
	}
	all.add(extensions.NeededBySelfHosted(p.Shoot, in.Registrations))
	return all, 1
}

func (p InShoot) keeps(shoot *corev1.ObjectReference, _ ...*string) bool {
	return shoot != nil && shoot.Namespace == p.Shoot.Namespace && shoot.Name == p.Shoot.Name
}

// refer updates the resource version of the shoot only together with its hash, as on a seed. The label of seeds goes: what refers to a shoot
// belongs to that.
func (p InShoot) refer(installation *gardencorev1beta1.ControllerInstallation) error {
	delete(installation.Labels, labelSeed)
	changed, err := hash(installation, labelShootHash, p.Shoot.Spec)
	if err == nil && (installation.Spec.ShootRef == nil || changed) {
		installation.Spec.ShootRef = &corev1.ObjectReference{
			Namespace: p.Shoot.Namespace, Name: p.Shoot.Name, ResourceVersion: p.Shoot.ResourceVersion,
		}
	}
	return err
}
