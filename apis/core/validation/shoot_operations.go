// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// lastETCDStepsMinor is the last version of Kubernetes in which the key of etcd is exchanged in two steps.
const lastETCDStepsMinor = 33

// anyPool stands for all pools.
const anyPool = "*"

// shootOperation checks the operation annotations (API-VALOP-1 to 9). What a shoot must be like for an operation is
// asked once, when the operation newly appears: it stays in the annotation while it is being done.
func shootOperation(s, old *gardencorev1beta1.Shoot) field.ErrorList {
	key, maintenanceKey := gardencorev1beta1.AnnotationOperation, gardencorev1beta1.AnnotationMaintenanceOperation
	path := field.NewPath("metadata", "annotations")
	now, next := query.Operations(s.Annotations[key]), query.Operations(s.Annotations[maintenanceKey])
	errs := knownOperations(now, shootOperations(), path.Key(key))
	errs = append(errs, knownOperations(next, slices.DeleteFunc(shootOperations(), func(op string) bool {
		return op == gardencorev1beta1.OperationMaintain || op == gardencorev1beta1.OperationRetry
	}), path.Key(maintenanceKey))...)
	errs = append(errs, together(now, path.Key(key))...)
	errs = append(errs, together(next, path.Key(maintenanceKey))...)
	errs = append(errs, apart(now, next, path)...)
	errs = append(errs, operationContext(s, added(now, old, key), path.Key(key))...)
	if s.DeletionTimestamp == nil {
		errs = append(errs, operationContext(s, added(next, old, maintenanceKey), path.Key(maintenanceKey))...)
	}
	return errs
}

func added(all []string, old *gardencorev1beta1.Shoot, key string) []string {
	if old == nil {
		return all
	}
	before := query.Operations(old.Annotations[key])
	return slices.DeleteFunc(slices.Clone(all), func(op string) bool { return slices.Contains(before, op) })
}

// knownOperations holds API-VALOP-1.
func knownOperations(all, known []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, op := range all {
		name, _, hasPools := strings.Cut(op, "=")
		if hasPools {
			errs = append(errs, oneOf(name, path, gardencorev1beta1.OperationPrefixRolloutWorkers, gardencorev1beta1.OperationPrefixRotateRolloutWorkers)...)
			continue
		}
		errs = append(errs, oneOf(op, path, known...)...)
	}
	return errs
}

// together holds API-VALOP-6: what can not stand in one annotation.
func together(all []string, path *field.Path) field.ErrorList {
	if len(all) < 2 {
		return nil
	}
	var errs field.ErrorList
	for _, op := range all {
		switch op {
		case gardencorev1beta1.OperationMaintain, gardencorev1beta1.OperationRetry, gardencorev1beta1.OperationForceInPlaceUpdate:
			errs = append(errs, field.Forbidden(path, op+" can only be asked for alone"))
		}
		if twin := op + withoutRollout; slices.Contains(all, twin) {
			errs = append(errs, field.Forbidden(path, op+" and "+twin+" exclude each other"))
		}
	}
	return errs
}

const withoutRollout = "-without-workers-rollout"

// apart holds API-VALOP-2: what can not stand in one annotation each.
func apart(now, next []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	here := path.Key(gardencorev1beta1.AnnotationMaintenanceOperation)
	for _, a := range now {
		for _, b := range next {
			switch {
			case a == b:
				errs = append(errs, field.Forbidden(here, b+" is asked for at once already"))
			case slices.Contains(query.CoveredOperations(a), b):
				errs = append(errs, field.Forbidden(here, b+" is part of "+a+", which is asked for at once"))
			case slices.Contains(query.CoveredOperations(b), a):
				errs = append(errs, field.Forbidden(here, b+" includes "+a+", which is asked for at once"))
			}
		}
	}
	return errs
}

// operationContext checks that a shoot is in a state for operations (API-VALOP-3 to 5, 7, 8).
func operationContext(s *gardencorev1beta1.Shoot, all []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, op := range all {
		if starts(op) && !rotatable(s.Status.LastOperation) {
			errs = append(errs, field.Forbidden(path, op+" needs a shoot that was created successfully"))
		}
		if needsAwake(op) && sleeping(s) {
			errs = append(errs, field.Forbidden(path, op+" is not possible while the shoot is hibernated or waking up"))
		}
		errs = append(errs, phasesFor(s, op, path)...)
		errs = append(errs, etcdSteps(s, op, path)...)
		errs = append(errs, rollouts(s, op, path)...)
	}
	return errs
}

// starts tells whether an operation begins a rotation.
func starts(op string) bool {
	return slices.Contains([]string{
		gardencorev1beta1.OperationRotateCredentialsStart, gardencorev1beta1.OperationRotateCredentialsStartWithoutWorkersRollout,
		gardencorev1beta1.OperationRotateCAStart, gardencorev1beta1.OperationRotateCAStartWithoutWorkersRollout,
		gardencorev1beta1.OperationRotateServiceAccountKeyStart, gardencorev1beta1.OperationRotateServiceAccountKeyStartWithoutWorkersRollout,
		gardencorev1beta1.OperationRotateETCDEncryptionKey, gardencorev1beta1.OperationRotateETCDEncryptionKeyStart,
		gardencorev1beta1.OperationRotateObservabilityCredentials, gardencorev1beta1.OperationRotateSSHKeypair,
	}, op)
}

// rotatable holds API-VALOP-3.
func rotatable(op *gardencorev1beta1.LastOperation) bool {
	if op == nil {
		return false
	}
	switch op.Type {
	case gardencorev1beta1.LastOperationTypeReconcile:
		return true
	case gardencorev1beta1.LastOperationTypeCreate, gardencorev1beta1.LastOperationTypeRestore:
		return op.State == gardencorev1beta1.LastOperationStateSucceeded
	default:
		return false
	}
}

// needsAwake holds API-VALOP-5.
func needsAwake(op string) bool {
	switch op {
	case gardencorev1beta1.OperationRotateCredentialsStart, gardencorev1beta1.OperationRotateCredentialsStartWithoutWorkersRollout,
		gardencorev1beta1.OperationRotateCredentialsComplete,
		gardencorev1beta1.OperationRotateServiceAccountKeyStart, gardencorev1beta1.OperationRotateServiceAccountKeyStartWithoutWorkersRollout,
		gardencorev1beta1.OperationRotateServiceAccountKeyComplete,
		gardencorev1beta1.OperationRotateETCDEncryptionKey, gardencorev1beta1.OperationRotateETCDEncryptionKeyStart,
		gardencorev1beta1.OperationRotateETCDEncryptionKeyComplete:
		return true
	default:
		return false
	}
}

// rotation is one rotation in two steps, and how far it is.
type rotation struct {
	what  string
	phase gardencorev1beta1.CredentialsRotationPhase
}

// phasesFor holds API-VALOP-4: a rotation starts when the former one is complete, and completes when it is prepared.
func phasesFor(s *gardencorev1beta1.Shoot, op string, path *field.Path) field.ErrorList {
	all, starting := rotationsOf(s, op)
	var errs field.ErrorList
	for _, r := range all {
		switch {
		case starting && r.phase != "" && r.phase != gardencorev1beta1.CredentialsRotationPhaseCompleted:
			errs = append(errs, field.Forbidden(path, op+" is not possible while the rotation of the "+r.what+" is "+string(r.phase)))
		case !starting && r.phase != gardencorev1beta1.CredentialsRotationPhasePrepared:
			errs = append(errs, field.Forbidden(path, op+" is only possible when the rotation of the "+r.what+" is Prepared"))
		}
	}
	return errs
}

// rotationsOf lists the rotations that an operation is about and tells whether it starts them.
func rotationsOf(s *gardencorev1beta1.Shoot, op string) ([]rotation, bool) {
	phases := query.RotationPhases(s)
	authorities := rotation{"certificate authorities", phases.CertificateAuthorities}
	accounts := rotation{"service account key", phases.ServiceAccountKey}
	etcd := rotation{"etcd encryption key", phases.ETCDEncryptionKey}
	switch op {
	case gardencorev1beta1.OperationRotateCredentialsStart, gardencorev1beta1.OperationRotateCredentialsStartWithoutWorkersRollout:
		return []rotation{authorities, accounts, etcd}, true
	case gardencorev1beta1.OperationRotateCAStart, gardencorev1beta1.OperationRotateCAStartWithoutWorkersRollout:
		return []rotation{authorities}, true
	case gardencorev1beta1.OperationRotateServiceAccountKeyStart, gardencorev1beta1.OperationRotateServiceAccountKeyStartWithoutWorkersRollout:
		return []rotation{accounts}, true
	case gardencorev1beta1.OperationRotateETCDEncryptionKey, gardencorev1beta1.OperationRotateETCDEncryptionKeyStart:
		return []rotation{etcd}, true
	case gardencorev1beta1.OperationRotateCredentialsComplete:
		if minorOf(s.Spec.Kubernetes.Version) > lastETCDStepsMinor {
			return []rotation{authorities, accounts}, false
		}
		return []rotation{authorities, accounts, etcd}, false
	case gardencorev1beta1.OperationRotateCAComplete:
		return []rotation{authorities}, false
	case gardencorev1beta1.OperationRotateServiceAccountKeyComplete:
		return []rotation{accounts}, false
	case gardencorev1beta1.OperationRotateETCDEncryptionKeyComplete:
		return []rotation{etcd}, false
	default:
		return nil, false
	}
}

// etcdSteps holds API-VALOP-8.
func etcdSteps(s *gardencorev1beta1.Shoot, op string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	inSteps := op == gardencorev1beta1.OperationRotateETCDEncryptionKeyStart || op == gardencorev1beta1.OperationRotateETCDEncryptionKeyComplete
	if inSteps && minorOf(s.Spec.Kubernetes.Version) > lastETCDStepsMinor {
		message := op + " is no more from Kubernetes 1.34 on: " + gardencorev1beta1.OperationRotateETCDEncryptionKey + " does both steps"
		errs = append(errs, field.Forbidden(path, message))
	}
	begins := slices.Contains([]string{
		gardencorev1beta1.OperationRotateETCDEncryptionKey, gardencorev1beta1.OperationRotateETCDEncryptionKeyStart,
		gardencorev1beta1.OperationRotateCredentialsStart, gardencorev1beta1.OperationRotateCredentialsStartWithoutWorkersRollout,
	}, op)
	if begins && query.EncryptionPending(s) {
		errs = append(errs, field.Forbidden(path, op+" is not possible while a change of the encrypted resources is being rolled out"))
	}
	return errs
}

// rollouts holds API-VALOP-7.
func rollouts(s *gardencorev1beta1.Shoot, op string, path *field.Path) field.ErrorList {
	prefix, list, hasPools := strings.Cut(op, "=")
	if !hasPools || prefix != gardencorev1beta1.OperationPrefixRolloutWorkers && prefix != gardencorev1beta1.OperationPrefixRotateRolloutWorkers {
		return nil
	}
	pools := strings.Split(list, ",")
	var errs field.ErrorList
	ofRotation := prefix == gardencorev1beta1.OperationPrefixRotateRolloutWorkers
	if phases := query.RotationPhases(s); ofRotation &&
		phases.CertificateAuthorities != gardencorev1beta1.CredentialsRotationPhaseWaitingForWorkersRollout &&
		phases.ServiceAccountKey != gardencorev1beta1.CredentialsRotationPhaseWaitingForWorkersRollout {
		errs = append(errs, field.Forbidden(path, prefix+" needs a rotation that waits for pools to be rolled out"))
	}
	if !ofRotation && slices.Contains(pools, anyPool) {
		if len(pools) > 1 {
			errs = append(errs, field.Forbidden(path, "beside * no pool can be named"))
		}
		return errs
	}
	for i, name := range pools {
		pool := query.Pool(&s.Spec, name)
		switch {
		case pool == nil:
			errs = append(errs, field.Invalid(path, op, "the shoot has no pool \""+name+"\""))
		case slices.Index(pools, name) < i:
			errs = append(errs, field.Invalid(path, op, "pool \""+name+"\" is named twice"))
		case !ofRotation && inPlace(pool):
			errs = append(errs, field.Invalid(path, op, "pool \""+name+"\" is updated in place, its machines are never replaced"))
		}
	}
	return errs
}

func shootOperations() []string {
	return []string{
		gardencorev1beta1.OperationReconcile, gardencorev1beta1.OperationRetry, gardencorev1beta1.OperationMaintain,
		gardencorev1beta1.OperationForceInPlaceUpdate,
		gardencorev1beta1.OperationRotateCredentialsStart, gardencorev1beta1.OperationRotateCredentialsStartWithoutWorkersRollout,
		gardencorev1beta1.OperationRotateCredentialsComplete,
		gardencorev1beta1.OperationRotateCAStart, gardencorev1beta1.OperationRotateCAStartWithoutWorkersRollout,
		gardencorev1beta1.OperationRotateCAComplete,
		gardencorev1beta1.OperationRotateServiceAccountKeyStart,
		gardencorev1beta1.OperationRotateServiceAccountKeyStartWithoutWorkersRollout,
		gardencorev1beta1.OperationRotateServiceAccountKeyComplete,
		gardencorev1beta1.OperationRotateETCDEncryptionKey, gardencorev1beta1.OperationRotateETCDEncryptionKeyStart,
		gardencorev1beta1.OperationRotateETCDEncryptionKeyComplete,
		gardencorev1beta1.OperationRotateSSHKeypair, gardencorev1beta1.OperationRotateObservabilityCredentials,
	}
}
