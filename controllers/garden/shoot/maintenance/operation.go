// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// annotate returns the annotations that a shoot gets by its maintenance: operations and tasks.
func annotate(shoot *gardencorev1beta1.Shoot, rotations []Rotation, s Settings) map[string]string {
	all := maps.Clone(shoot.Annotations)
	if all == nil {
		all = map[string]string{}
	}
	operate(all, shoot, rotations)
	all[gardencorev1beta1.AnnotationShootTasks] = query.AddTasks(all[gardencorev1beta1.AnnotationShootTasks], tasks(s)...)
	return all
}

// tasks are those that every maintenance asks for (GCM-MAINT-9).
func tasks(s Settings) []string {
	all := []string{
		gardencorev1beta1.ShootTaskDeployInfrastructure, gardencorev1beta1.ShootTaskDeployDNSRecordInternal,
		gardencorev1beta1.ShootTaskDeployDNSRecordExternal, gardencorev1beta1.ShootTaskDeployDNSRecordIngress,
	}
	if s.RestartControlPlane {
		all = append(all, gardencorev1beta1.ShootTaskRestartControlPlanePods)
	}
	if s.RestartCoreAddons {
		all = append(all, gardencorev1beta1.ShootTaskRestartCoreAddons)
	}
	return all
}

// operate starts the operation of a maintenance (GCM-MAINT-8). A failed shoot is retried only if a change of it waits for that,
// and its other operations wait until it works again. For a shoot that has had no operation yet, the server keeps the annotation until
// it has had one (API-SHOOTSTRAT-4).
func operate(annotations map[string]string, shoot *gardencorev1beta1.Shoot, rotations []Rotation) {
	const now = gardencorev1beta1.AnnotationOperation
	if asked(shoot) {
		delete(annotations, now) // No other operation is combined with it.
	}
	if last := shoot.Status.LastOperation; last != nil && last.State == gardencorev1beta1.LastOperationStateFailed {
		if needed, err := strconv.ParseBool(annotations[gardencorev1beta1.AnnotationShootNeedsRetry]); err == nil && needed {
			tryAgain(annotations)
		}
		return
	}
	operations := ordinary(query.Operations(annotations[now]))
	wanted := ordinary(query.Operations(annotations[gardencorev1beta1.AnnotationMaintenanceOperation]))
	if len(wanted) == 0 {
		wanted = []string{gardencorev1beta1.OperationReconcile}
	}
	for _, r := range rotations {
		wanted = append(wanted, r.operation)
	}
	delete(annotations, gardencorev1beta1.AnnotationMaintenanceOperation)
	annotations[now] = joined(operations, wanted)
}

// tryAgain has a failed shoot retried. The retry takes the place of other operations, as it cannot be combined with them. They are not
// moved to the next maintenance: what was accepted for now may be refused there, and all of the maintenance with it.
func tryAgain(annotations map[string]string) {
	annotations[gardencorev1beta1.AnnotationOperation] = gardencorev1beta1.OperationRetry
	delete(annotations, gardencorev1beta1.AnnotationShootNeedsRetry)
}

// joined returns the value of an annotation for some operations and more, each once.
func joined(operations, more []string) string {
	for _, op := range more {
		if !slices.Contains(operations, op) {
			operations = append(operations, op)
		}
	}
	return strings.Join(operations, gardencorev1beta1.OperationSeparator)
}

// ordinary drops what cannot be combined with another operation, and would have no effect on a shoot that has not failed.
func ordinary(operations []string) []string {
	return slices.DeleteFunc(operations, func(op string) bool {
		switch op {
		case "", gardencorev1beta1.OperationMaintain, gardencorev1beta1.OperationRetry, gardencorev1beta1.OperationForceInPlaceUpdate:
			return true
		default:
			return false
		}
	})
}

// Rotation is a rotation of credentials.
type Rotation struct {
	operation, what string
	period          time.Duration
}

// Rotations returns the rotations of credentials that are due: automatic ones whose period has passed since the last one, or since
// the creation of the shoot. None begins that is under way or requested already, nor one that nobody would carry out
// (GCM-MAINT-14).
func Rotations(shoot *gardencorev1beta1.Shoot, served func(string) bool, now time.Time) []Rotation {
	m, last := shoot.Spec.Maintenance, shoot.Status.LastOperation
	if m == nil || m.AutoRotation == nil || m.AutoRotation.Credentials == nil || last == nil || last.State == gardencorev1beta1.LastOperationStateFailed {
		return nil
	}
	var due []Rotation
	for _, c := range credentials(shoot, m.AutoRotation.Credentials) {
		period := c.config
		if period == nil || period.RotationPeriod == nil || period.RotationPeriod.Duration <= 0 || !c.possible {
			continue
		}
		since := shoot.CreationTimestamp.Time
		if c.completed != nil {
			since = c.completed.Time
		}
		begun := c.initiated != nil && c.initiated.After(since)
		if begun || now.Sub(since) < period.RotationPeriod.Duration || requested(shoot, c.operation) || !served(c.operation) {
			continue
		}
		due = append(due, Rotation{operation: c.operation, what: c.what, period: period.RotationPeriod.Duration})
	}
	return due
}

// credential is one that is rotated in one operation.
type credential struct {
	operation, what      string
	config               *gardencorev1beta1.MaintenanceRotationConfig
	possible             bool
	initiated, completed *metav1.Time
}

func credentials(shoot *gardencorev1beta1.Shoot, c *gardencorev1beta1.MaintenanceCredentialsAutoRotation) []credential {
	known := &gardencorev1beta1.ShootCredentialsRotation{}
	if s := shoot.Status.Credentials; s != nil && s.Rotation != nil {
		known = s.Rotation
	}
	ssh := credential{
		operation: gardencorev1beta1.OperationRotateSSHKeypair, what: "SSH key pair", config: c.SSHKeypair, possible: query.SSHAllowed(&shoot.Spec),
	}
	if r := known.SSHKeypair; r != nil {
		ssh.initiated, ssh.completed = r.LastInitiationTime, r.LastCompletionTime
	}
	observability := credential{
		operation: gardencorev1beta1.OperationRotateObservabilityCredentials, what: "observability credentials", config: c.Observability, possible: true,
	}
	if r := known.Observability; r != nil {
		observability.initiated, observability.completed = r.LastInitiationTime, r.LastCompletionTime
	}
	phase := query.RotationPhases(shoot).ETCDEncryptionKey
	etcd := credential{
		operation: gardencorev1beta1.OperationRotateETCDEncryptionKey, what: "etcd encryption key", config: c.ETCDEncryptionKey,
		possible: (phase == "" || phase == gardencorev1beta1.CredentialsRotationPhaseCompleted) && awake(shoot) && rotatable(shoot) &&
			!query.EncryptionPending(shoot) && !requested(shoot, gardencorev1beta1.OperationRotateETCDEncryptionKeyStart),
	}
	if r := known.ETCDEncryptionKey; r != nil {
		etcd.completed = r.LastCompletionTime
	}
	return []credential{ssh, observability, etcd}
}

func awake(shoot *gardencorev1beta1.Shoot) bool {
	return !query.HibernationWanted(shoot) && !shoot.Status.Hibernated
}

// rotatable reports whether a shoot was created or restored: before that no rotation of a key can begin (API-VALOP-3).
func rotatable(shoot *gardencorev1beta1.Shoot) bool {
	last := shoot.Status.LastOperation
	switch last.Type {
	case gardencorev1beta1.LastOperationTypeReconcile:
		return true
	case gardencorev1beta1.LastOperationTypeCreate, gardencorev1beta1.LastOperationTypeRestore:
		return last.State == gardencorev1beta1.LastOperationStateSucceeded
	default:
		return false
	}
}

// requested reports whether an operation or one that includes it is requested already, for now or for this maintenance.
func requested(shoot *gardencorev1beta1.Shoot, operation string) bool {
	all := query.Operations(shoot.Annotations[gardencorev1beta1.AnnotationOperation])
	all = append(all, query.Operations(shoot.Annotations[gardencorev1beta1.AnnotationMaintenanceOperation])...)
	return slices.ContainsFunc(all, func(op string) bool {
		return op == operation || slices.Contains(query.CoveredOperations(op), operation)
	})
}
