// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	"github.com/terrarium-garden/terrarium/controllers/garden/seed/hosted"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	// recheckLeaving is the time after which an installation that is being deleted but wanted again is checked again.
	recheckLeaving = 5 * time.Second
	// reasonIncomplete says that something that a seed needs is missing. A new registration or deployment starts another
	// pass.
	reasonIncomplete = "ExtensionMissing"
)

type scope struct {
	seed *gardencorev1beta1.Seed
	plan Plan
}

// Reconcile installs on one seed what is needed there, and removes the rest.
func (r *Reconciler) Reconcile(ctx context.Context, seed *gardencorev1beta1.Seed) (reconcile.Result, error) {
	outcome, err := kit.Run(ctx, &scope{seed: seed}, r.decide, r.install, r.uninstall, r.waitForLeaving)
	if kit.IsFailure(err) {
		kit.Record(r.Recorder, seed, kit.Notice{
			Type: corev1.EventTypeWarning, Reason: gardencorev1beta1.EventReconcileError,
			Action: gardencorev1beta1.EventActionReconcile, Message: err.Error(),
		})
	}
	return kit.Result(outcome, err)
}

// decide reads the installations around the cache, because their names are generated: one that is not in the cache yet would be
// created a second time.
func (r *Reconciler) decide(ctx context.Context, s *scope) (kit.Outcome, error) {
	registrations := &gardencorev1beta1.ControllerRegistrationList{}
	deployments := &gardencorev1beta1.ControllerDeploymentList{}
	buckets, entries := &gardencorev1beta1.BackupBucketList{}, &gardencorev1beta1.BackupEntryList{}
	for _, list := range []client.ObjectList{registrations, deployments, buckets, entries} {
		if err := r.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return kit.Stop(), fmt.Errorf("list %T: %w", list, err)
		}
	}
	shoots, err := hosted.Shoots(ctx, r.Client, s.seed.Name)
	if err != nil {
		return kit.Stop(), err
	}
	installations := &gardencorev1beta1.ControllerInstallationList{}
	if err := r.Reader.List(ctx, installations, client.MatchingFields{gardencorev1beta1.FieldSeedRefName: s.seed.Name}); err != nil {
		return kit.Stop(), fmt.Errorf("list controller installations: %w", err)
	}
	domains, err := domains(ctx, r.Client)
	if err != nil {
		return kit.Stop(), err
	}
	plan, err := Decide(Input{
		Seed: s.seed, Shoots: shoots, Registrations: registrations.Items, Deployments: deployments.Items,
		Buckets: buckets.Items, Entries: entries.Items, Domains: domains, Installations: installations.Items,
	})
	if err != nil {
		return kit.Stop(), kit.UserMustFix(reasonIncomplete, fmt.Errorf("plan extensions of seed %q: %w", s.seed.Name, err))
	}
	if len(plan.NoBackups) > 0 {
		kit.Record(r.Recorder, s.seed, kit.Notice{
			Type: corev1.EventTypeWarning, Reason: reasonIncomplete, Action: gardencorev1beta1.EventActionReconcile,
			Message: "The seed has no backups: no controller registration offers " + strings.Join(plan.NoBackups, ", "),
		})
	}
	s.plan = plan
	return kit.Continue(), nil
}

func (r *Reconciler) install(ctx context.Context, s *scope) (kit.Outcome, error) {
	for _, target := range s.plan.Install {
		if err := r.apply(ctx, s.seed, target); err != nil {
			return kit.Stop(), err
		}
	}
	return kit.Continue(), nil
}

func (r *Reconciler) apply(ctx context.Context, seed *gardencorev1beta1.Seed, target Target) error {
	if target.Existing == nil {
		installation := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{GenerateName: target.Registration.Name + "-"}}
		if err := Fill(installation, target, seed); err != nil {
			return err
		}
		if err := r.Client.Create(ctx, installation); err != nil {
			return fmt.Errorf("create controller installation of %q: %w", target.Registration.Name, err)
		}
		return nil
	}
	installation := target.Existing.DeepCopy()
	commit := kit.Begin(r.Client, installation)
	if err := Fill(installation, target, seed); err != nil {
		return err
	}
	return commit.WriteObject(ctx)
}

// uninstall deletes the installations that nobody needs (GCM-CR-9).
func (r *Reconciler) uninstall(ctx context.Context, s *scope) (kit.Outcome, error) {
	for i := range s.plan.Delete {
		if err := kit.Remove(ctx, r.Client, &s.plan.Delete[i]); err != nil {
			return kit.Stop(), err
		}
	}
	return kit.Continue(), nil
}

// waitForLeaving waits for old installations of wanted registrations to be deleted (GCM-CR-8).
func (r *Reconciler) waitForLeaving(_ context.Context, s *scope) (kit.Outcome, error) {
	if len(s.plan.Leaving) == 0 {
		return kit.Continue(), nil
	}
	return kit.Stop(), kit.Wait(recheckLeaving, "old installations are still being deleted: "+strings.Join(s.plan.Leaving, ", "))
}

// domains reads the domains from the metadata of Secrets in namespace garden.
func domains(ctx context.Context, reader client.Reader) ([]extensions.Domain, error) {
	secrets := &metav1.PartialObjectMetadataList{}
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	if err := reader.List(ctx, secrets, client.InNamespace(gardencorev1beta1.NamespaceGarden)); err != nil {
		return nil, fmt.Errorf("list domain secrets: %w", err)
	}
	var found []extensions.Domain
	for i := range secrets.Items {
		if secret := &secrets.Items[i]; ofDomain(secret) {
			found = append(found, extensions.Domain{
				Name:     secret.Annotations[gardencorev1beta1.AnnotationDNSDomain],
				Provider: secret.Annotations[gardencorev1beta1.AnnotationDNSProvider],
				Internal: secret.Labels[gardencorev1beta1.LabelRole] == gardencorev1beta1.RoleInternalDomain,
			})
		}
	}
	return found, nil
}

// ofDomain reports whether a Secret is in namespace garden and describes a domain.
func ofDomain(secret client.Object) bool {
	role := secret.GetLabels()[gardencorev1beta1.LabelRole]
	return secret.GetNamespace() == gardencorev1beta1.NamespaceGarden &&
		(role == gardencorev1beta1.RoleDefaultDomain || role == gardencorev1beta1.RoleInternalDomain)
}
