// SPDX-License-Identifier: Apache-2.0

// Package shootquotavalidator enforces the Quotas of the credentials of Shoots, which limit what they use together and how
// long each may exist (API-QUOTA-1 to 5).
package shootquotavalidator

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/terrarium-garden/terrarium/apis/check"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/holdings"
	"github.com/terrarium-garden/terrarium/appliance/admission/outcome"
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

var _ admission.ValidationInterface = &rule{}

// Validate rejects a Shoot that would use more or exist longer than one of its Quotas allows. A write to shoots/binding changes annotations
// too.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	if !ok || a.GetSubresource() == "status" || shoot.DeletionTimestamp != nil {
		return nil
	}
	old, _ := a.GetOldObject().(*gardencorev1beta1.Shoot)
	uses, lives := grows(shoot, old), expiration(shoot) != "" && (old == nil || expiration(shoot) != expiration(old) || rebound(a, shoot, old))
	if !uses && !lives {
		return nil
	}
	limited := false
	err := r.world.Decide(a, func(v world.View) error {
		quotas, err := quotasOf(ctx, v, shoot)
		if limited = len(quotas) > 0; err != nil || !limited || !lives {
			return err
		}
		return lifetime(shoot, quotas, r.world.Clock.Now())
	})
	if err != nil || !limited || !uses {
		return err
	}
	if err := r.fits(ctx, shoot, asked(ctx, a, shoot, old)); err != nil {
		return world.Answer(a, err)
	}
	return nil
}

// rebound reports whether somebody gives a shoot another binding, whose quotas may let it live for a shorter time. The garden itself only
// exchanges one for another with the same quotas.
func rebound(a admission.Attributes, shoot, old *gardencorev1beta1.Shoot) bool {
	if a.GetUserInfo().GetName() == user.APIServerUser {
		return false
	}

	return !check.Equal(shoot.Spec.SecretBindingName, old.Spec.SecretBindingName) || !check.Equal(shoot.Spec.CredentialsBindingName, old.Spec.CredentialsBindingName)
}

// asked is the request as the holdings of shoots see it.
func asked(ctx context.Context, a admission.Attributes, shoot, old *gardencorev1beta1.Shoot) holdings.Request {
	r := holdings.Request{Owner: shoot.Namespace + "/" + shoot.Name, DryRun: a.IsDryRun(), Outcome: outcome.From(ctx)}
	if old != nil {
		r.Version = old.ResourceVersion
	}
	return r
}

// fits checks that the usage of a shoot and of the other shoots together is within each quota, and claims it. It lists the other
// shoots from the fresh view: one that the cached view lacks would not be counted.
func (r *rule) fits(ctx context.Context, shoot *gardencorev1beta1.Shoot, ask holdings.Request) error {
	v := r.world.Fresh()
	quotas, err := quotasOf(ctx, v, shoot)
	if err != nil {
		return err
	}
	wanted, err := usage(ctx, v, shoot)
	if err != nil {
		return err
	}
	uses := make([]holdings.Use, 0, len(quotas))
	for i := range quotas {
		name, namespace := shared(&quotas[i], shoot)
		others, err := allocated(ctx, v, &quotas[i], namespace)
		if err != nil {
			return err
		}
		uses = append(uses, holdings.Use{Quota: name, Wanted: wanted, Listed: others})
	}
	held, err := v.Holdings(ctx)
	if err != nil {
		return err
	}
	return held.Use(ask, uses, func(i int, others corev1.ResourceList) error { return exceeded(&quotas[i], wanted, others) })
}

func expiration(s *gardencorev1beta1.Shoot) string {
	return s.Annotations[gardencorev1beta1.AnnotationShootExpirationTimestamp]
}

// lifetime rejects a shoot that would exist longer than the strictest of its quotas allows (API-QUOTA-5).
func lifetime(shoot *gardencorev1beta1.Shoot, quotas []gardencorev1beta1.Quota, now time.Time) error {
	const path = "metadata.annotations[" + gardencorev1beta1.AnnotationShootExpirationTimestamp + "]"
	days := int32(0)
	for _, q := range quotas {
		if d := q.Spec.ClusterLifetimeDays; d != nil && (days == 0 || *d < days) {
			days = *d
		}
	}
	if days == 0 {
		return nil
	}
	end, err := time.Parse(time.RFC3339, expiration(shoot))
	if err != nil {
		return fmt.Errorf("%s: %q is not a time in RFC 3339 format", path, expiration(shoot))
	}
	if latest := now.AddDate(0, 0, int(days)); end.After(latest) {
		return fmt.Errorf("%s: its quota allows the shoot to exist for at most %d days, until %s", path, days, latest.UTC().Format(time.RFC3339))
	}
	return nil
}
