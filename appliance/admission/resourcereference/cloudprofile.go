// SPDX-License-Identifier: Apache-2.0

package resourcereference

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/fields"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// cloudProfile rejects the removal of what shoots use, directly or through a profile of their project, and additions that
// such profiles already have (API-RRM-10).
func cloudProfile(ctx context.Context, v world.View, p, old *gardencorev1beta1.CloudProfile) error {
	if old.Name == "" {
		return nil
	}
	t := taken{versions: subtract(offers(&old.Spec), offers(&p.Spec)), limit: lowered(p.Spec.Limits, old.Spec.Limits)}
	added := subtract(offers(&p.Spec), offers(&old.Spec))
	stripping := subtract(capabilities(&old.Spec), capabilities(&p.Spec))
	if t.nothing() && len(added) == 0 && len(stripping) == 0 {
		return nil
	}
	heirs, err := heirs(ctx, v, p.Name)
	if err != nil {
		return err
	}
	errs := []error{t.missed(ctx, v, gardencorev1beta1.CloudProfileReference{
		Kind: gardencorev1beta1.CloudProfileReferenceKindCloudProfile, Name: p.Name,
	}, "")}
	for i := range heirs {
		errs = append(errs, stripped(&heirs[i], stripping)...)
		own := offers(specOf(&heirs[i]))
		for _, version := range slices.Sorted(maps.Keys(t.versions)) {
			if extended(&heirs[i])[version] {
				errs = append(errs, fmt.Errorf("%s cannot be removed: NamespacedCloudProfile %s/%s extends it", version, heirs[i].Namespace, heirs[i].Name))
			}
		}
		for _, version := range slices.Sorted(maps.Keys(own)) {
			if added[version] && isImage(version) {
				errs = append(errs, fmt.Errorf("%s cannot be added: NamespacedCloudProfile %s/%s already has it", version, heirs[i].Namespace, heirs[i].Name))
			}
		}
		errs = append(errs, t.of(&heirs[i], own).missed(ctx, v, gardencorev1beta1.CloudProfileReference{
			Kind: gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile, Name: heirs[i].Name,
		}, heirs[i].Namespace))
	}
	return errors.Join(errs...)
}

// namespacedProfile rejects the removal of what shoots use from a profile of a project, except for what the parent offers as
// well and has not expired there (API-RRM-10, API-RRM-11). Types of machines and volumes count as well: the quotas that a shoot shares
// with those of other projects could not be added up without them, and an admin of one project could keep all others from growing.
func namespacedProfile(ctx context.Context, v world.View, p, old *gardencorev1beta1.NamespacedCloudProfile) error {
	if old.Name == "" {
		return nil
	}
	t := taken{versions: subtract(offers(specOf(old)), offers(specOf(p))), limit: lowered(p.Spec.Limits, old.Spec.Limits)}
	maps.Copy(t.versions, subtract(types(old.Spec.MachineTypes, old.Spec.VolumeTypes), types(p.Spec.MachineTypes, p.Spec.VolumeTypes)))
	if t.nothing() {
		return nil
	}
	parent, err := v.CloudProfile(ctx, p.Spec.Parent.Name)
	if err != nil {
		return world.Missing(err, "spec.parent", gardencorev1beta1.CloudProfileReferenceKindCloudProfile, p.Spec.Parent.Name)
	}
	t.versions = subtract(t.versions, living(&parent.Spec, v.Clock.Now()))
	t.versions = subtract(t.versions, types(parent.Spec.MachineTypes, parent.Spec.VolumeTypes))
	return t.missed(ctx, v, gardencorev1beta1.CloudProfileReference{
		Kind: gardencorev1beta1.CloudProfileReferenceKindNamespacedCloudProfile, Name: p.Name,
	}, p.Namespace)
}

// taken is what is removed from a profile.
type taken struct {
	// versions are those of Kubernetes and of images, and in the profile of a project the types of machines and volumes.
	versions map[string]bool
	// limit is the new limit of nodes if it is lower than before, else nil.
	limit *int32
}

func (t taken) nothing() bool { return len(t.versions) == 0 && t.limit == nil }

// of returns what a profile of a project loses with its parent: everything except the images that it has itself, and the
// limit unless it has its own.
func (t taken) of(heir *gardencorev1beta1.NamespacedCloudProfile, own map[string]bool) taken {
	own = maps.Clone(own)
	maps.DeleteFunc(own, func(version string, _ bool) bool { return !isImage(version) })
	out := taken{versions: subtract(t.versions, own), limit: t.limit}
	if heir.Spec.Limits != nil {
		out.limit = nil
	}
	return out
}

// missed rejects removals from the profile of shoots that use them.
func (t taken) missed(
	ctx context.Context, v world.View, profile gardencorev1beta1.CloudProfileReference, namespace string,
) error {
	if t.nothing() {
		return nil
	}
	selector := fields.OneTermEqualSelector(gardencorev1beta1.FieldShootCloudProfileRefName, profile.Name)
	shoots, err := v.Shoots(ctx, namespace, selector)
	if err != nil {
		return fmt.Errorf("list shoots of the profile: %w", err)
	}
	var errs []error
	for i := range shoots {
		s := &shoots[i]
		if s.DeletionTimestamp != nil || s.Spec.CloudProfile == nil || *s.Spec.CloudProfile != profile {
			continue
		}
		for _, used := range uses(s) {
			if t.versions[used.version] {
				errs = append(errs, fmt.Errorf("%s cannot be removed from %s %q: shoot %s/%s%s uses it",
					used.version, profile.Kind, profile.Name, s.Namespace, s.Name, used.pool))
			}
		}
		if least := minima(&s.Spec); t.limit != nil && least > int64(*t.limit) {
			errs = append(errs, fmt.Errorf("spec.limits.maxNodesTotal: shoot %s/%s has at least %d machines", s.Namespace, s.Name, least))
		}
	}
	return errors.Join(errs...)
}

// lowered returns a limit that is new or lower than before, else nil.
func lowered(now, before *gardencorev1beta1.Limits) *int32 {
	if now == nil || now.MaxNodesTotal == nil {
		return nil
	}
	if before != nil && before.MaxNodesTotal != nil && *before.MaxNodesTotal <= *now.MaxNodesTotal {
		return nil
	}
	return now.MaxNodesTotal
}

// specOf returns the own contents of a project's profile in the form of a CloudProfile.
func specOf(p *gardencorev1beta1.NamespacedCloudProfile) *gardencorev1beta1.CloudProfileSpec {
	s := &gardencorev1beta1.CloudProfileSpec{MachineImages: p.Spec.MachineImages}
	if p.Spec.Kubernetes != nil {
		s.Kubernetes = *p.Spec.Kubernetes
	}
	return s
}

// extended returns the versions of the parent for which a profile of a project sets another expiration date. Versions that
// the profile adds itself do not need the parent.
func extended(p *gardencorev1beta1.NamespacedCloudProfile) map[string]bool {
	all := map[string]bool{}
	if p.Spec.Kubernetes != nil {
		for _, v := range p.Spec.Kubernetes.Versions {
			all[kubernetesVersion+v.Version] = true
		}
	}
	for _, image := range p.Spec.MachineImages {
		for _, v := range image.Versions {
			if len(v.Architectures) == 0 && len(v.CapabilityFlavors) == 0 && len(v.CRI) == 0 {
				all[machineImage+image.Name+" "+v.Version] = true
			}
		}
	}
	return all
}

// heirs returns the profiles of projects that extend a CloudProfile.
func heirs(ctx context.Context, v world.View, parent string) ([]gardencorev1beta1.NamespacedCloudProfile, error) {
	place := world.Place{Group: gardencorev1beta1.GroupName, Resource: "namespacedcloudprofiles"}
	all, err := world.List[gardencorev1beta1.NamespacedCloudProfileList](ctx, v, place, fields.Everything())
	if err != nil {
		return nil, fmt.Errorf("list profiles of projects: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(all.Items), func(p gardencorev1beta1.NamespacedCloudProfile) bool {
		return p.Spec.Parent.Name != parent
	}), nil
}

const (
	kubernetesVersion = "Kubernetes version "
	machineImage      = "machine image "
	machineType       = "machine type "
	volumeType        = "volume type "
)

// types returns the types of machines and volumes that a profile has itself.
func types(machines []gardencorev1beta1.MachineType, volumes []gardencorev1beta1.VolumeType) map[string]bool {
	all := make(map[string]bool, len(machines)+len(volumes))
	for i := range machines {
		all[machineType+machines[i].Name] = true
	}
	for i := range volumes {
		all[volumeType+volumes[i].Name] = true
	}
	return all
}

func isImage(version string) bool { return strings.HasPrefix(version, machineImage) }

func offers(s *gardencorev1beta1.CloudProfileSpec) map[string]bool {
	return offered(s, func(gardencorev1beta1.ExpirableVersion) bool { return true })
}

// living returns the versions that have not expired.
func living(s *gardencorev1beta1.CloudProfileSpec, now time.Time) map[string]bool {
	return offered(s, func(v gardencorev1beta1.ExpirableVersion) bool { return !query.Expired(v, now) })
}

func offered(s *gardencorev1beta1.CloudProfileSpec, counts func(gardencorev1beta1.ExpirableVersion) bool) map[string]bool {
	all := map[string]bool{}
	for _, v := range s.Kubernetes.Versions {
		if counts(v) {
			all[kubernetesVersion+v.Version] = true
		}
	}
	for _, image := range s.MachineImages {
		for _, v := range image.Versions {
			if counts(v.ExpirableVersion) {
				all[machineImage+image.Name+" "+v.Version] = true
			}
		}
	}
	return all
}

// use is a version or a type that a shoot or one of its pools uses.
type use struct{ version, pool string }

func uses(s *gardencorev1beta1.Shoot) []use {
	all := []use{{version: kubernetesVersion + s.Spec.Kubernetes.Version}}
	for _, w := range s.Spec.Provider.Workers {
		pool := fmt.Sprintf(" (worker pool %q)", w.Name)
		all = append(all, use{machineType + w.Machine.Type, pool})
		if w.Volume != nil && w.Volume.Type != nil {
			all = append(all, use{volumeType + *w.Volume.Type, pool})
		}
		if w.Machine.Image != nil && w.Machine.Image.Version != nil {
			all = append(all, use{machineImage + w.Machine.Image.Name + " " + *w.Machine.Image.Version, pool})
		}
		if w.Kubernetes != nil && w.Kubernetes.Version != nil {
			all = append(all, use{kubernetesVersion + *w.Kubernetes.Version, pool})
		}
	}
	return all
}

func subtract(a, b map[string]bool) map[string]bool {
	rest := map[string]bool{}
	for k := range a {
		if !b[k] {
			rest[k] = true
		}
	}
	return rest
}

// minima returns the minimum number of machines of a shoot, in 64 bits: the sum of two pools could become negative in 32.
func minima(s *gardencorev1beta1.ShootSpec) int64 {
	sum := int64(0)
	for i := range s.Provider.Workers {
		sum += int64(s.Provider.Workers[i].Minimum)
	}
	return sum
}
