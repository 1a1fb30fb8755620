// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machines"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/preservation"
)

// awaitRunning checks the machines once. A machine with a problem that may not go away by itself is an error; everything else is a wait.
func (a *Actor) awaitRunning(ctx context.Context, object *gardenextensionsv1alpha1.Worker, wanted []Wanted) error {
	waiting := ""
	for _, w := range wanted {
		live := &gardenmachinev1alpha1.MachineDeployment{}
		if err := a.Reader.Get(ctx, client.ObjectKeyFromObject(w.Deployment), live); err != nil {
			return fmt.Errorf("read machine deployment %q: %w", w.Deployment.Name, err)
		}
		list, err := a.machines(ctx, object.Namespace, live.Name)
		if err != nil {
			return err
		}
		progress := Summarize(live, list, a.Seed.Clock.Now())
		if progress.Trouble != "" {
			return errors.New(progress.Trouble)
		}
		if progress.Waiting != "" && waiting == "" {
			waiting = progress.Waiting
		}
	}
	if waiting != "" {
		return kit.Wait(recheck, waiting)
	}
	return nil
}

// Progress says what is missing until a deployment is as desired. Both texts are empty when nothing is.
type Progress struct {
	// Waiting is what is in progress.
	Waiting string
	// Trouble is what prevents a machine from starting and may not go away by itself.
	Trouble string
}

// Summarize compares a deployment with its machines. Old machines that are being drained are not waited for, unless none is wanted: their
// pods may take as long as the drain timeout (EXT-WLIB-2). Nor are those that have failed after they had joined, and
// are kept: nobody expects anything of them. Updates in place are waited for, unless the owner selects the machines.
func Summarize(deployment *gardenmachinev1alpha1.MachineDeployment, all []gardenmachinev1alpha1.Machine, now time.Time) Progress {
	class, strategy := deployment.Spec.Template.Spec.Class.Name, deployment.Spec.Strategy.InPlaceUpdate
	// The machine learns what it is to be updated to only when its set has seen the change of its deployment.
	wanted := deployment.Spec.Template.Spec.NodeTemplate.Annotations[gardenmachinev1alpha1.AnnotationInPlaceWanted]
	automatic := strategy != nil && strategy.OrchestrationType == gardenmachinev1alpha1.OrchestrationTypeAuto
	running, kept, leaving, old, behind, progress := 0, 0, 0, 0, 0, Progress{}
	detail := ""
	for i := range all {
		m := &all[i]
		last := m.Status.LastOperation
		switch {
		case m.DeletionTimestamp != nil:
			leaving++
			continue
		case m.Spec.Class.Name != class:
			old++
			continue
		case preservation.Failed(m) && preservation.Kept(m, now) && last.Type != gardenmachinev1alpha1.MachineOperationCreate:
			kept++
			continue
		case automatic && !machines.UpdatedTo(m, wanted):
			behind++
		case m.Status.CurrentStatus.Phase == gardenmachinev1alpha1.MachineRunning:
			running++
			continue
		}
		if last.State == gardenmachinev1alpha1.MachineStateFailed && progress.Trouble == "" {
			progress.Trouble = fmt.Sprintf("machine %q: %s", m.Name, last.Description)
		}
		if detail == "" && last.Description != "" {
			detail = fmt.Sprintf("; machine %q: %s", m.Name, last.Description)
		}
	}
	replicas := int(deployment.Spec.Replicas)
	switch {
	case behind > 0:
		progress.Waiting = fmt.Sprintf("Waiting for machines of %q: %d are to be updated in place%s", deployment.Name, behind, detail)
	case running+kept != replicas:
		progress.Waiting = fmt.Sprintf("Waiting for machines of %q: %d of %d are running%s", deployment.Name, running, replicas, detail)
	case old > 0:
		progress.Waiting = fmt.Sprintf("Waiting for machines of %q: %d old ones are left", deployment.Name, old)
	case replicas == 0 && leaving > 0:
		progress.Waiting = fmt.Sprintf("Waiting for machines of %q: %d are stopping", deployment.Name, leaving)
	case deployment.Status.ObservedGeneration != deployment.Generation:
		progress.Waiting = fmt.Sprintf("Waiting for machines of %q: its latest change has not been seen yet", deployment.Name)
	}
	return progress
}
