// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// Input is everything that the installations of one cluster depend on.
type Input struct {
	// Place is the cluster.
	Place Place
	// Shoots are those of a seed; others do not count.
	Shoots []gardencorev1beta1.Shoot
	// Registrations are all registrations.
	Registrations []gardencorev1beta1.ControllerRegistration
	// Deployments are all deployments.
	Deployments []gardencorev1beta1.ControllerDeployment
	// Buckets and Entries are all backup buckets and entries.
	Buckets []gardencorev1beta1.BackupBucket
	Entries []gardencorev1beta1.BackupEntry
	// Domains are those of the garden. They count for seeds.
	Domains []extensions.Domain
	// Installations are those of this cluster.
	Installations []gardencorev1beta1.ControllerInstallation
}

// Plan is what has to be done for one cluster.
type Plan struct {
	// Install lists what has to be installed, with one entry for each registration, sorted by its name.
	Install []Target
	// Delete lists the installations that nobody needs.
	Delete []gardencorev1beta1.ControllerInstallation
	// Leaving names wanted registrations whose old installation is still being deleted.
	Leaving []string
	// NoBackups lists what the backups of the cluster need but nobody offers, sorted.
	NoBackups []string
}

// Target is a registration to be installed.
type Target struct {
	// Registration is what to install.
	Registration *gardencorev1beta1.ControllerRegistration
	// Deployment is how to install it, if the registration says how.
	Deployment *gardencorev1beta1.ControllerDeployment
	// Existing is the installation that already exists, if any.
	Existing *gardencorev1beta1.ControllerInstallation
}

// Decide plans the installations of a cluster. It is an error if nobody offers a needed extension (GCM-CR-5), or if the
// registration of an installation (GCM-CR-6) or a deployment (GCM-CR-8) does not exist. Nothing must be changed then.
func Decide(in Input) (Plan, error) {
	existing, err := group(in)
	if err != nil {
		return Plan{}, err
	}
	in.Registrations = in.Place.eligible(in.Registrations)
	wanted, noBackups, err := wantedRegistrations(in, existing)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{NoBackups: noBackups}
	for _, registration := range wanted {
		var have *gardencorev1beta1.ControllerInstallation
		if installations := existing[registration.Name]; len(installations) > 0 {
			have = installations[0]
		}
		delete(existing, registration.Name)
		if have != nil && have.DeletionTimestamp != nil {
			plan.Leaving = append(plan.Leaving, registration.Name)
			continue
		}
		if registration.DeletionTimestamp != nil {
			continue
		}
		deployment, err := deploymentOf(registration, in.Deployments)
		if err != nil {
			return Plan{}, err
		}
		plan.Install = append(plan.Install, Target{Registration: registration, Deployment: deployment, Existing: have})
	}
	for _, unwanted := range existing {
		for _, installation := range unwanted {
			if installation.DeletionTimestamp == nil {
				plan.Delete = append(plan.Delete, *installation)
			}
		}
	}
	slices.SortFunc(plan.Delete, func(a, b gardencorev1beta1.ControllerInstallation) int { return cmp.Compare(a.Name, b.Name) })
	return plan, nil
}

// group maps each registration to its installations, the oldest first. That one is kept up to date. Others, which somebody
// created manually, are left alone for as long as the registration is wanted.
func group(in Input) (map[string][]*gardencorev1beta1.ControllerInstallation, error) {
	known := make(map[string]bool, len(in.Registrations))
	for i := range in.Registrations {
		known[in.Registrations[i].Name] = true
	}
	sorted := slices.Clone(in.Installations)
	slices.SortStableFunc(sorted, func(a, b gardencorev1beta1.ControllerInstallation) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	existing := make(map[string][]*gardencorev1beta1.ControllerInstallation, len(sorted))
	for i := range sorted {
		registration := sorted[i].Spec.RegistrationRef.Name
		if !known[registration] {
			return nil, fmt.Errorf("controller installation %q is of controller registration %q, which does not exist", sorted[i].Name, registration)
		}
		existing[registration] = append(existing[registration], &sorted[i])
	}
	return existing, nil
}

// wantedRegistrations returns the registrations to be installed, sorted by name (GCM-CR-4), and what backups need but nobody
// offers.
func wantedRegistrations(
	in Input, existing map[string][]*gardencorev1beta1.ControllerInstallation,
) ([]*gardencorev1beta1.ControllerRegistration, []string, error) {
	needed, shoots := needed(in)
	missing, noBackups := unoffered(needed, in.Registrations)
	if len(missing) > 0 {
		return nil, nil, errors.New("no " + in.Place.cluster().offerer + " offers " + strings.Join(missing, ", "))
	}
	var wanted []*gardencorev1beta1.ControllerRegistration
	for i := range in.Registrations {
		registration := &in.Registrations[i]
		required := slices.ContainsFunc(existing[registration.Name], required)
		if !offers(registration, needed) && !byPolicy(registration, in.Place.cluster().object, shoots > 0) && !required {
			continue
		}
		matches, err := selects(registration, in.Place.cluster().object.GetLabels())
		if err != nil {
			return nil, nil, err
		}
		if matches {
			wanted = append(wanted, registration)
		}
	}
	slices.SortFunc(wanted, func(a, b *gardencorev1beta1.ControllerRegistration) int { return cmp.Compare(a.Name, b.Name) })
	return wanted, noBackups, nil
}

// unoffered returns the needed offers that no registration makes, with those for backups in a list of their own, both sorted. A
// seed for which nobody can make backups reports so in its condition BackupBucketsReady. Its shoots and all other extensions do
// not have to wait for that.
func unoffered(needed offerSet, registrations []gardencorev1beta1.ControllerRegistration) (missing, noBackups []string) {
	made := offerSet{}
	for i := range registrations {
		for _, resource := range registrations[i].Spec.Resources {
			made[extensions.OfferOf(resource)] = true
		}
	}
	for offer := range needed {
		switch {
		case made[offer]:
		case offer.ForBackups():
			noBackups = append(noBackups, offer.String())
		default:
			missing = append(missing, offer.String())
		}
	}
	slices.Sort(missing)
	slices.Sort(noBackups)
	return missing, noBackups
}

func offers(registration *gardencorev1beta1.ControllerRegistration, needed offerSet) bool {
	return slices.ContainsFunc(registration.Spec.Resources, func(resource gardencorev1beta1.ControllerResource) bool {
		return needed[extensions.OfferOf(resource)]
	})
}

func byPolicy(registration *gardencorev1beta1.ControllerRegistration, cluster client.Object, hasShoots bool) bool {
	deployment := registration.Spec.Deployment
	if deployment == nil || deployment.Policy == nil {
		return false
	}
	switch *deployment.Policy {
	case gardencorev1beta1.ControllerDeploymentPolicyAlways:
		return cluster.GetDeletionTimestamp() == nil && registration.DeletionTimestamp == nil
	case gardencorev1beta1.ControllerDeploymentPolicyAlwaysExceptNoShoots:
		return hasShoots
	default:
		return false
	}
}

func required(installation *gardencorev1beta1.ControllerInstallation) bool {
	return kit.ConditionIs(installation.Status.Conditions, gardencorev1beta1.ConditionTypeRequired, gardencorev1beta1.ConditionTrue)
}

func selects(registration *gardencorev1beta1.ControllerRegistration, of labels.Set) (bool, error) {
	if registration.Spec.Deployment == nil || registration.Spec.Deployment.SeedSelector == nil {
		return true, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(registration.Spec.Deployment.SeedSelector)
	if err != nil {
		return false, fmt.Errorf("read seed selector of controller registration %q: %w", registration.Name, err)
	}
	return selector.Matches(of), nil
}

func deploymentOf(registration *gardencorev1beta1.ControllerRegistration, deployments []gardencorev1beta1.ControllerDeployment) (*gardencorev1beta1.ControllerDeployment, error) {
	if registration.Spec.Deployment == nil || len(registration.Spec.Deployment.DeploymentRefs) == 0 {
		return nil, nil //nolint:nilnil // A registration may have no deployment.
	}
	name := registration.Spec.Deployment.DeploymentRefs[0].Name
	if i := slices.IndexFunc(deployments, func(d gardencorev1beta1.ControllerDeployment) bool { return d.Name == name }); i >= 0 {
		return &deployments[i], nil
	}
	return nil, fmt.Errorf("controller registration %q names controller deployment %q, which does not exist", registration.Name, name)
}

// offerSet is a set of offers.
type offerSet map[extensions.Offer]bool

func (s offerSet) add(needs []extensions.Need) {
	for _, n := range needs {
		s[n.Offer] = true
	}
}

// needed returns everything that the cluster, its backups and its shoots need (GCM-CR-2), and the number of shoots that it runs.
func needed(in Input) (offerSet, int) {
	all, shoots := in.Place.needs(in)
	all.add(neededByBackups(in.Place, in.Buckets, in.Entries))
	return all, shoots
}

// neededByBackups returns what the buckets and entries of a cluster need (GCM-CR-2 a and b).
func neededByBackups(place Place, buckets []gardencorev1beta1.BackupBucket, entries []gardencorev1beta1.BackupEntry) []extensions.Need {
	var all []extensions.Need
	named := map[string]*gardencorev1beta1.BackupBucket{}
	for i := range buckets {
		named[buckets[i].Name] = &buckets[i]
		if place.keeps(buckets[i].Spec.ShootRef, buckets[i].Spec.SeedName) {
			all = append(all, extensions.NeededByBucket(&buckets[i])...)
		}
	}
	for i := range entries {
		if place.keeps(entries[i].Spec.ShootRef, entries[i].Spec.SeedName, entries[i].Status.SeedName) {
			all = append(all, extensions.NeededByEntry(named[entries[i].Spec.BucketName])...)
		}
	}
	return all
}
