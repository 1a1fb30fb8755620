// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/version"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	stuckAfter   = time.Hour
	pendingAfter = 10 * time.Minute
	newSeed      = 15 * time.Minute
	// skew is the number of minor versions that a gardenlet may be behind the server.
	skew = 1
)

func seeds(f *Facts) []Finding {
	var found []Finding
	for i := range f.Seeds {
		seed := &f.Seeds[i]
		if slices.Contains(f.Revoked, seed.Name) {
			found = append(found, Finding{
				ID: "seed-revoked", Severity: Warning, Object: &Object{Kind: "Seed", Name: seed.Name},
				What: fmt.Sprintf("Seed %q is shut out of the garden", seed.Name), Why: "nobody reconciles its shoots",
				Do: fmt.Sprintf("rotate what it could read (terrarium seed exposure %s), then forgive or delete the seed", seed.Name),
			})

			continue
		}
		found = append(found, health(seed, f.Now)...)
		if x, ok := Skewed(seed, f.Version); ok {
			found = append(found, x)
		}
	}

	return found
}

// health reports conditions of a seed that are not good. Those of a new seed take some time.
func health(seed *gardencorev1beta1.Seed, now time.Time) []Finding {
	if seed.DeletionTimestamp != nil || now.Sub(seed.CreationTimestamp.Time) < newSeed {
		return nil
	}
	var found []Finding
	for _, c := range seed.Status.Conditions {
		if c.Status == gardencorev1beta1.ConditionTrue || c.Status == gardencorev1beta1.ConditionProgressing {
			continue
		}
		x := Finding{
			ID: "seed-not-ready", Severity: Warning, Object: &Object{Kind: "Seed", Name: seed.Name},
			What: fmt.Sprintf("Seed %q: %s is %s since %s: %s", seed.Name, c.Type, c.Status, duration.HumanDuration(now.Sub(c.LastTransitionTime.Time)), c.Message),
			Why:  "no shoots are scheduled to the seed, and its shoots may not be reconciled",
			Do:   fmt.Sprintf("see what happened: terrarium timeline seed %s", seed.Name),
		}
		if c.Type == gardencorev1beta1.ConditionTypeGardenletReady {
			x.ID, x.Severity = "seed-no-heartbeat", Critical
			x.Do = "check that the gardenlet runs and reaches the garden; see its log. A gardenlet without a valid certificate needs a new token: terrarium token create --seed " + seed.Name
		}
		found = append(found, x)
	}

	return found
}

// Skewed compares the versions of gardenlet and server, and reports whether they are too far apart. Versions of development builds
// cannot be compared, nor can those of Gardener's own gardenlet.
func Skewed(seed *gardencorev1beta1.Seed, own string) (Finding, bool) {
	if seed.Status.Gardener == nil {
		return Finding{}, false
	}
	theirs, err := version.ParseSemantic(seed.Status.Gardener.Version)
	ours, ownErr := version.ParseSemantic(own)
	if err != nil || ownErr != nil || theirs.Major() != ours.Major() {
		return Finding{}, false
	}
	x := Finding{
		ID: "gardenlet-skew", Severity: Warning, Object: &Object{Kind: "Seed", Name: seed.Name},
		What: fmt.Sprintf("The gardenlet of seed %q has version %s, and the server %s", seed.Name, seed.Status.Gardener.Version, own),
		Why:  "a gardenlet may be one minor version behind its server, and not ahead of it",
	}
	switch {
	case theirs.Minor() > ours.Minor():
		x.Do = "upgrade the server first"
	case theirs.Minor()+skew < ours.Minor():
		x.Do = "upgrade the gardenlet"
	default:
		return Finding{}, false
	}

	return x, true
}

func shoots(f *Facts) []Finding {
	var found []Finding
	for i := range f.Shoots {
		shoot := &f.Shoots[i]
		last := shoot.Status.LastOperation
		if last == nil || last.State != gardencorev1beta1.LastOperationStateFailed {
			continue
		}
		found = append(found, Finding{
			ID: "shoot-failed", Severity: Warning,
			Object: &Object{Kind: "Shoot", Namespace: shoot.Namespace, Name: shoot.Name},
			What:   fmt.Sprintf("Operation %s of shoot %s/%s has failed", last.Type, shoot.Namespace, shoot.Name),
			Why:    "it is not tried again by itself",
			Do: fmt.Sprintf("see what happened: terrarium timeline shoot %s -n %s; then retry: kubectl -n %s annotate shoot %s gardener.cloud/operation=retry",
				shoot.Name, shoot.Namespace, shoot.Namespace, shoot.Name),
		})
	}

	return found
}

func requests(f *Facts) []Finding {
	var found []Finding
	for i := range f.Requests {
		r := &f.Requests[i]
		decided := slices.ContainsFunc(r.Status.Conditions, func(c certificatesv1.CertificateSigningRequestCondition) bool {
			return c.Type == certificatesv1.CertificateApproved || c.Type == certificatesv1.CertificateDenied
		})
		age := f.Now.Sub(r.CreationTimestamp.Time)
		if decided || age < pendingAfter {
			continue
		}
		found = append(found, Finding{
			ID: "request-pending", Severity: Info, Object: &Object{Kind: "CertificateSigningRequest", Name: r.Name},
			What: fmt.Sprintf("Certificate request %q of %q waits since %s", r.Name, r.Spec.Username, duration.HumanDuration(age)),
			Why:  "its requester has no certificate",
			Do:   fmt.Sprintf("decide: kubectl certificate approve %s, or deny it", r.Name),
		})
	}

	return found
}

func stuck(f *Facts) []Finding {
	all := slices.Clone(f.Deleting)
	for i := range f.Shoots {
		if s := &f.Shoots[i]; s.DeletionTimestamp != nil {
			all = append(all, Deleting{Object{"Shoot", s.Namespace, s.Name}, s.DeletionTimestamp.Time, s.Finalizers})
		}
	}
	for i := range f.Seeds {
		if s := &f.Seeds[i]; s.DeletionTimestamp != nil {
			all = append(all, Deleting{Object{"Seed", "", s.Name}, s.DeletionTimestamp.Time, s.Finalizers})
		}
	}
	var found []Finding
	for _, d := range all {
		age := f.Now.Sub(d.Since)
		if age < stuckAfter {
			continue
		}
		name := strings.TrimPrefix(d.Namespace+"/"+d.Name, "/")
		found = append(found, Finding{
			ID: "deletion-stuck", Severity: Warning, Object: &d.Object,
			What: fmt.Sprintf("%s %s is being deleted since %s; it waits for %s", d.Kind, name, duration.HumanDuration(age), strings.Join(d.Finalizers, ", ")),
			Why:  "what it stands for may still exist and cost money",
			Do:   "see its events and the log of the controller that owns the finalizer; remove a finalizer by hand only if what it protects is gone",
		})
	}

	return found
}
