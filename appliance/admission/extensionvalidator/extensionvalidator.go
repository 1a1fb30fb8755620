// SPDX-License-Identifier: Apache-2.0

// Package extensionvalidator rejects Shoots, Seeds, BackupBuckets and BackupEntries that need an extension which is not
// registered (API-EXTVAL-1 to 4).
package extensionvalidator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/warning"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

const kindSeed = "Seed"

type rule struct {
	*admission.Handler

	world *world.World
}

// New returns the plugin.
func New(w *world.World) admission.Interface {
	return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w}
}

var _ admission.ValidationInterface = &rule{}

// Validate reports every missing combination in one error (API-EXTVAL-4).
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetSubresource() != "" {
		return nil
	}
	return r.world.Decide(a, func(v world.View) error {
		needs, err := asked(ctx, v, a)
		if err != nil || len(needs) == 0 {
			return err
		}
		return offered(ctx, v, a.GetKind().Kind, needs)
	})
}

func offered(ctx context.Context, v world.View, of string, needs []extensions.Need) error {
	registrations, err := v.ControllerRegistrations(ctx)
	if err != nil {
		return fmt.Errorf("list registrations: %w", err)
	}
	var missing []string
	for _, n := range needs {
		if slices.ContainsFunc(registrations, n.OfferedBy) {
			continue
		}
		if until := until(of, n); until != "" {
			warning.AddWarning(ctx, "", fmt.Sprintf("%s: no ControllerRegistration offers %s yet; until one does, %s", n.Path, n.Offer, until))
		} else {
			missing = append(missing, fmt.Sprintf("%s: %s", n.Path, n.Offer))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("no ControllerRegistration offers what the %s needs (register the extension first): %s",
		strings.ToLower(of), strings.Join(missing, ", "))
}

// until describes what does not work as long as no extension offers what is needed, for needs that can be satisfied later: a
// seed can join before its extensions are registered, and shoots are scheduled to it only afterwards.
func until(of string, n extensions.Need) string {
	switch {
	case of != kindSeed:
		return ""
	case n.Kind == kind.ControlPlane:
		return "no shoot can be made there"
	case n.Kind == kind.DNSRecord:
		return "nobody makes the domain of its ingress known"
	default:
		return ""
	}
}

// asked lists what the object of a request needs, if its spec is new or changed (API-EXTVAL-1).
func asked(ctx context.Context, v world.View, a admission.Attributes) ([]extensions.Need, error) {
	switch o := a.GetObject().(type) {
	case *gardencorev1beta1.Shoot:
		old, ok := a.GetOldObject().(*gardencorev1beta1.Shoot)
		if o.DeletionTimestamp == nil && (!ok || !equality.Semantic.DeepEqual(old.Spec, o.Spec)) {
			return extensions.NamedByShoot(&o.Spec), nil
		}
	case *gardencorev1beta1.Seed:
		old, ok := a.GetOldObject().(*gardencorev1beta1.Seed)
		if o.DeletionTimestamp == nil && (!ok || !equality.Semantic.DeepEqual(old.Spec, o.Spec)) {
			return extensions.NamedBySeed(&o.Spec), nil
		}
	case *gardencorev1beta1.BackupBucket:
		old, ok := a.GetOldObject().(*gardencorev1beta1.BackupBucket)
		if o.DeletionTimestamp == nil && (!ok || !equality.Semantic.DeepEqual(old.Spec, o.Spec)) {
			return extensions.NeededByBucket(o), nil
		}
	case *gardencorev1beta1.BackupEntry:
		old, ok := a.GetOldObject().(*gardencorev1beta1.BackupEntry)
		if o.DeletionTimestamp == nil && (!ok || !equality.Semantic.DeepEqual(old.Spec, o.Spec)) {
			return entryNeeds(ctx, v, o)
		}
	}
	return nil, nil
}

// entryNeeds reads the bucket of an entry. Another plugin checks that the bucket exists.
func entryNeeds(ctx context.Context, v world.View, e *gardencorev1beta1.BackupEntry) ([]extensions.Need, error) {
	bucket, err := v.BackupBucket(ctx, e.Spec.BucketName)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read bucket %q: %w", e.Spec.BucketName, err)
	}
	return extensions.NeededByEntry(bucket), nil
}
