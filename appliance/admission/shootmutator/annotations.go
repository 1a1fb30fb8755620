// SPDX-License-Identifier: Apache-2.0

package shootmutator

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/check"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// annotate adds the annotations by which a change requests tasks from the gardenlet.
func annotate(q request) {
	var tasks []string
	if q.create || wakes(q) {
		tasks = append(tasks, gardencorev1beta1.ShootTaskDeployInfrastructure)
		tasks = append(tasks, recordTasks()...)
	}
	if !q.create && (infrastructureChanges(q) || rotatesSSH(q)) {
		tasks = append(tasks, gardencorev1beta1.ShootTaskDeployInfrastructure)
	}
	if !q.create && !check.Equal(q.shoot.Spec.DNS, q.old.Spec.DNS) {
		tasks = append(tasks, recordTasks()...)
	}
	if len(tasks) > 0 {
		asked := query.AddTasks(q.shoot.Annotations[gardencorev1beta1.AnnotationShootTasks], tasks...)
		metav1.SetMetaDataAnnotation(&q.shoot.ObjectMeta, gardencorev1beta1.AnnotationShootTasks, asked)
	}
	if needsRetry(q) {
		metav1.SetMetaDataAnnotation(&q.shoot.ObjectMeta, gardencorev1beta1.AnnotationShootNeedsRetry, "true")
	}
}

func recordTasks() []string {
	return []string{
		gardencorev1beta1.ShootTaskDeployDNSRecordInternal,
		gardencorev1beta1.ShootTaskDeployDNSRecordExternal,
		gardencorev1beta1.ShootTaskDeployDNSRecordIngress,
	}
}

func wakes(q request) bool {
	return query.HibernationWanted(q.old) && !query.HibernationWanted(q.shoot)
}

// infrastructureChanges reports whether a field changes that the infrastructure depends on.
func infrastructureChanges(q request) bool {
	is, was := &q.shoot.Spec, &q.old.Spec
	return !check.Equal(is.Provider.InfrastructureConfig, was.Provider.InfrastructureConfig) ||
		!query.Workerless(was) && sshAccess(is) != sshAccess(was) ||
		len(families(is)) > len(families(was))
}

func sshAccess(s *gardencorev1beta1.ShootSpec) bool {
	w := s.Provider.WorkersSettings
	return w == nil || w.SSHAccess == nil || w.SSHAccess.Enabled
}

func families(s *gardencorev1beta1.ShootSpec) []gardencorev1beta1.IPFamily {
	if s.Networking == nil {
		return nil
	}
	return s.Networking.IPFamilies
}

// rotatesSSH reports whether a rotation of the SSH keys is requested.
func rotatesSSH(q request) bool {
	before := operations(q.old)
	return slices.ContainsFunc(operations(q.shoot), func(o string) bool {
		switch o {
		case gardencorev1beta1.OperationRotateSSHKeypair, gardencorev1beta1.OperationRotateCredentialsStart,
			gardencorev1beta1.OperationRotateCredentialsStartWithoutWorkersRollout:
			return sshAccess(&q.shoot.Spec) && !slices.Contains(before, o)
		default:
			return false
		}
	})
}

func operations(s *gardencorev1beta1.Shoot) []string {
	all := strings.Split(s.Annotations[gardencorev1beta1.AnnotationOperation], gardencorev1beta1.OperationSeparator)
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// needsRetry reports whether a change of a failed shoot is confined to its maintenance time window, in which the failed
// operation then has to be retried (API-SMUT-2).
func needsRetry(q request) bool {
	op := q.old.Status.LastOperation
	return !q.create && q.specChanged && query.Confined(&q.shoot.Spec) && op != nil && op.State == gardencorev1beta1.LastOperationStateFailed
}
