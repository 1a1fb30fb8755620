// SPDX-License-Identifier: Apache-2.0

// Package care checks installed extensions and reports the conditions Installed, Healthy and Progressing of their
// ControllerInstallations. It looks at the objects themselves: what is in the inventory must exist in the seed, and workloads must
// run in their newest version.
package care

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/controllerinstallation"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/seed"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	controllerName = "controllerinstallation-care"
	// impatientPeriod is the time between two checks while a condition is not good.
	impatientPeriod = 2 * time.Second
)

var _ kit.Adder = (*Reconciler)(nil)

// Reconciler checks the extensions of one seed.
type Reconciler struct {
	kit.SeedBase

	// Config is the section of the configuration.
	Config *gardenconfigv1alpha1.ControllerInstallationCareControllerConfiguration
}

// AddToManager implements kit.Adder.
func (r *Reconciler) AddToManager(clusters kit.Clusters) error {
	b := r.Controller(clusters, controllerName, kit.Workers(r.Config.ConcurrentSyncs))
	b.For(&gardencorev1beta1.ControllerInstallation{},
		builder.WithPredicates(controllerinstallation.Of(r.SeedName), predicate.Or(predicate.GenerationChangedPredicate{}, installed())))
	return kit.Complete(b, controllerName, r)
}

// installed starts a check as soon as an extension was installed.
func installed() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool { return isInstalled(e.ObjectNew) && !isInstalled(e.ObjectOld) },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

func isInstalled(object client.Object) bool {
	installation, ok := object.(*gardencorev1beta1.ControllerInstallation)
	return ok && kit.ConditionIs(installation.Status.Conditions, gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionTrue)
}

// Reconcile checks one extension, unless it was never applied or is in deletion.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	installation := &gardencorev1beta1.ControllerInstallation{}
	if err := r.GardenClient.Get(ctx, request.NamespacedName, installation); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if installation.DeletionTimestamp != nil || query.FindCondition(installation.Status.Conditions, gardencorev1beta1.ConditionTypeInstalled) == nil {
		return reconcile.Result{}, nil
	}
	commit := kit.Begin(r.GardenClient, installation)
	pause := r.Config.SyncPeriod.Duration
	findings, err := r.look(ctx, installation.Name)
	conditions := Judge(findings)
	if err != nil {
		conditions = Unreadable(err)
	}
	for _, condition := range conditions {
		if bad(condition) {
			pause = min(pause, impatientPeriod)
		}
		// The reason of a failed installation says more than that objects are missing.
		have := query.FindCondition(installation.Status.Conditions, condition.Type)
		if condition.Type == gardencorev1beta1.ConditionTypeInstalled && have.Reason == gardencorev1beta1.ReasonInstallationFailed {
			continue
		}
		installation.Status.Conditions = kit.SetCondition(installation.Status.Conditions, condition, r.Clock.Now())
	}
	return commit.Status(ctx, kit.RequeueAfter(pause), nil)
}

func bad(condition gardencorev1beta1.Condition) bool {
	want := gardencorev1beta1.ConditionTrue
	if condition.Type == gardencorev1beta1.ConditionTypeProgressing {
		want = gardencorev1beta1.ConditionFalse
	}
	return condition.Status != want
}

// look reads everything that belongs to the installation.
func (r *Reconciler) look(ctx context.Context, installation string) (Findings, error) {
	members, err := seed.Engine(r.SeedClient, r.Clock).SetMembers(ctx, controllerinstallation.Set(installation))
	if err != nil {
		return Findings{}, err
	}
	findings := Findings{Members: len(members)}
	for _, member := range members {
		name := fmt.Sprintf("%s %q", member.GetObjectKind().GroupVersionKind().Kind, member.GetName())
		err := r.SeedClient.Get(ctx, client.ObjectKeyFromObject(member), member)
		switch {
		case apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
			findings.Missing = append(findings.Missing, name)
			continue
		case err != nil:
			return Findings{}, fmt.Errorf("get %s: %w", name, err)
		}
		if healthy, reason := deploy.Healthy(member); !healthy {
			findings.Unhealthy = append(findings.Unhealthy, name+": "+reason)
		}
		if ready, reason := deploy.Ready(member); !ready {
			findings.Progressing = append(findings.Progressing, name+": "+reason)
		}
	}
	return findings, nil
}

// Findings are what is wrong with the objects of an installation, each with a reason.
type Findings struct {
	// Members is how many objects belong to the installation.
	Members int
	// Missing are not in the seed.
	Missing []string
	// Unhealthy are in the seed and do not work.
	Unhealthy []string
	// Progressing are not in their newest version yet.
	Progressing []string
}

// Judge returns the conditions for findings (GLET-CI-7).
func Judge(f Findings) []gardencorev1beta1.Condition {
	installed := condition(gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionTrue,
		gardencorev1beta1.ReasonInstallationSuccessful, "The extension is installed")
	healthy := condition(gardencorev1beta1.ConditionTypeHealthy, gardencorev1beta1.ConditionTrue,
		gardencorev1beta1.ReasonControllerHealthy, "The extension is healthy")
	progressing := condition(gardencorev1beta1.ConditionTypeProgressing, gardencorev1beta1.ConditionFalse,
		gardencorev1beta1.ReasonControllerRolledOut, "The extension runs in its newest version")

	if f.Members == 0 || len(f.Missing) > 0 {
		installed = condition(installed.Type, gardencorev1beta1.ConditionFalse, gardencorev1beta1.ReasonInstallationPending,
			"Objects are missing in the seed: "+cmp.Or(strings.Join(f.Missing, ", "), "all"))
	}
	if broken := slices.Concat(f.Missing, f.Unhealthy); len(broken) > 0 {
		healthy = condition(healthy.Type, gardencorev1beta1.ConditionFalse, gardencorev1beta1.ReasonControllerNotHealthy, strings.Join(broken, "; "))
	}
	if len(f.Progressing) > 0 {
		progressing = condition(progressing.Type, gardencorev1beta1.ConditionTrue, gardencorev1beta1.ReasonControllerNotRolledOut, strings.Join(f.Progressing, "; "))
	}
	return []gardencorev1beta1.Condition{installed, healthy, progressing}
}

// Unreadable returns the conditions of an extension that cannot be checked.
func Unreadable(err error) []gardencorev1beta1.Condition {
	var conditions []gardencorev1beta1.Condition
	for _, kind := range []gardencorev1beta1.ConditionType{
		gardencorev1beta1.ConditionTypeInstalled, gardencorev1beta1.ConditionTypeHealthy, gardencorev1beta1.ConditionTypeProgressing,
	} {
		conditions = append(conditions, condition(kind, gardencorev1beta1.ConditionUnknown, gardencorev1beta1.ReasonSeedReadError,
			"The extension cannot be checked: "+err.Error()))
	}
	return conditions
}

func condition(kind gardencorev1beta1.ConditionType, status gardencorev1beta1.ConditionStatus, reason, message string) gardencorev1beta1.Condition {
	return gardencorev1beta1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}
