// SPDX-License-Identifier: Apache-2.0

package controllerregistration

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	// recheckLeaving is how soon an installation that is being deleted but wanted again is looked at.
	recheckLeaving = 5 * time.Second
	// reasonIncomplete says that something that a seed needs is not there. A registration or a deployment that comes
	// starts another pass.
	reasonIncomplete = "ExtensionMissing"
)

type scope struct {
	seed *gardencorev1beta1.Seed
	plan Plan
}

// Reconcile brings the installations of one seed to what is needed there.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	seed := &gardencorev1beta1.Seed{}
	if err := r.Client.Get(ctx, request.NamespacedName, seed); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	outcome, err := kit.Run(ctx, &scope{seed: seed}, r.decide, r.install, r.uninstall, r.waitForLeaving)
	if kit.IsFailure(err) {
		kit.Record(r.Recorder, seed, kit.Notice{
			Type: corev1.EventTypeWarning, Reason: gardencorev1beta1.EventReconcileError,
			Action: gardencorev1beta1.EventActionReconcile, Message: err.Error(),
		})
	}
	return kit.Result(outcome, err)
}

// decide reads the installations past the cache, because their names are generated: one that was just made must be seen, or
// it would be made twice.
func (r *Reconciler) decide(ctx context.Context, s *scope) (kit.Outcome, error) {
	shoots := &gardencorev1beta1.ShootList{}
	registrations := &gardencorev1beta1.ControllerRegistrationList{}
	deployments := &gardencorev1beta1.ControllerDeploymentList{}
	buckets, entries := &gardencorev1beta1.BackupBucketList{}, &gardencorev1beta1.BackupEntryList{}
	for _, list := range []client.ObjectList{shoots, registrations, deployments, buckets, entries} {
		if err := r.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return kit.Stop(), fmt.Errorf("list %T: %w", list, err)
		}
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
		Seed: s.seed, Shoots: shoots.Items, Registrations: registrations.Items, Deployments: deployments.Items,
		Buckets: buckets.Items, Entries: entries.Items, Domains: domains, Installations: installations.Items,
	})
	if err != nil {
		return kit.Stop(), kit.UserMustFix(reasonIncomplete, fmt.Errorf("plan extensions of seed %q: %w", s.seed.Name, err))
	}
	if len(plan.NoBackups) > 0 {
		kit.Record(r.Recorder, s.seed, kit.Notice{
			Type: corev1.EventTypeWarning, Reason: reasonIncomplete, Action: gardencorev1beta1.EventActionReconcile,
			Message: "The seed is without backups: no controller registration offers " + strings.Join(plan.NoBackups, ", "),
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
	if err := Fill(installation, target, seed); err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(target.Existing, installation) {
		return nil
	}
	if err := r.Client.Patch(ctx, installation, client.MergeFromWithOptions(target.Existing, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("update controller installation %q: %w", installation.Name, err)
	}
	return nil
}

// uninstall is GCM-CR-9.
func (r *Reconciler) uninstall(ctx context.Context, s *scope) (kit.Outcome, error) {
	for i := range s.plan.Delete {
		if err := kit.Remove(ctx, r.Client, &s.plan.Delete[i]); err != nil {
			return kit.Stop(), err
		}
	}
	return kit.Continue(), nil
}

// waitForLeaving is the first half of GCM-CR-8.
func (r *Reconciler) waitForLeaving(_ context.Context, s *scope) (kit.Outcome, error) {
	if len(s.plan.Leaving) == 0 {
		return kit.Continue(), nil
	}
	return kit.Stop(), kit.Wait(recheckLeaving, "old installations are still being deleted: "+strings.Join(s.plan.Leaving, ", "))
}
