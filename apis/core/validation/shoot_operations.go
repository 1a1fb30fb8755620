// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// lastETCDStepsMinor is the last minor version of Kubernetes in which the key of etcd is rotated in two steps.
const lastETCDStepsMinor = 33

// anyPool means all pools.
const anyPool = "*"

// shootOperation checks the operation annotations (API-VALOP-1 to 9). The requirements of an operation on the state of the
// shoot are checked only when it is added, because it stays in the annotation while it is carried out.
func shootOperation(s, old *gardencorev1beta1.Shoot) field.ErrorList {
	key, maintenanceKey := gardencorev1beta1.AnnotationOperation, gardencorev1beta1.AnnotationMaintenanceOperation
	path := field.NewPath("metadata", "annotations")
	now, next := query.Operations(s.Annotations[key]), query.Operations(s.Annotations[maintenanceKey])
	errs := possible(now, path.Key(key))
	errs = append(errs, possible(next, path.Key(maintenanceKey))...)
	if len(errs) > 0 {
		return errs // Unknown or conflicting operations are not checked any further.
	}
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

// possible checks that operations are known, and that those that exclude all others are alone (API-VALOP-1, 6).
func possible(all []string, path *field.Path) field.ErrorList {
	for _, op := range all {
		if !ofPools(op) && !slices.Contains(shootOperations(), op) {
			return field.ErrorList{field.NotSupported(path, op, shootOperations())}
		}
		switch op {
		case gardencorev1beta1.OperationMaintain, gardencorev1beta1.OperationRetry, gardencorev1beta1.OperationForceInPlaceUpdate:
			if len(all) > 1 {
				return field.ErrorList{field.Forbidden(path, op+" cannot be combined with other operations")}
			}
		}
	}
	return nil
}

// together checks that the operations in one annotation do not exclude each other: a rotation is started either with or
// without a rollout of workers, and either for all credentials or for some (API-VALOP-6).
func together(all []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, op := range all {
		for _, other := range excluded(op) {
			if slices.Contains(all, other) {
				errs = append(errs, field.Forbidden(path, op+" and "+other+" exclude each other"))
			}
		}
	}
	return errs
}

func excluded(op string) []string {
	switch op {
	case gardencorev1beta1.OperationRotateCredentialsStart:
		return []string{
			gardencorev1beta1.OperationRotateCredentialsStartWithoutWorkersRollout,
			gardencorev1beta1.OperationRotateCAStartWithoutWorkersRollout,
			gardencorev1beta1.OperationRotateServiceAccountKeyStartWithoutWorkersRollout,
		}
	case gardencorev1beta1.OperationRotateCredentialsStartWithoutWorkersRollout:
		return []string{gardencorev1beta1.OperationRotateCAStart, gardencorev1beta1.OperationRotateServiceAccountKeyStart}
	case gardencorev1beta1.OperationRotateCAStart:
		return []string{gardencorev1beta1.OperationRotateCAStartWithoutWorkersRollout}
	case gardencorev1beta1.OperationRotateServiceAccountKeyStart:
		return []string{gardencorev1beta1.OperationRotateServiceAccountKeyStartWithoutWorkersRollout}
	case gardencorev1beta1.OperationRotateETCDEncryptionKey:
		return []string{gardencorev1beta1.OperationRotateETCDEncryptionKeyStart}
	default:
		return nil
	}
}

// apart checks that the operations in the two annotations do not exclude each other: they never contain the same operation, and
// an operation for all credentials excludes those that it covers (API-VALOP-2).
func apart(now, next []string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	here := path.Key(gardencorev1beta1.AnnotationOperation)
	for _, a := range now {
		for _, b := range next {
			switch {
			case a == b:
				errs = append(errs, field.Forbidden(path, b+" can be requested either now or for the next maintenance, not both"))
			case slices.Contains(steps(a), b), slices.Contains(steps(b), a):
				errs = append(errs, field.Forbidden(here, a+" and "+b+", which is requested for the next maintenance, exclude each other"))
			}
		}
	}
	return errs
}

// steps returns the two-step rotations that an operation for all credentials includes.
func steps(op string) []string {
	switch op {
	case gardencorev1beta1.OperationRotateCredentialsStart, gardencorev1beta1.OperationRotateCredentialsStartWithoutWorkersRollout:
		return []string{
			gardencorev1beta1.OperationRotateCAStart, gardencorev1beta1.OperationRotateCAStartWithoutWorkersRollout,
			gardencorev1beta1.OperationRotateServiceAccountKeyStart,
			gardencorev1beta1.OperationRotateServiceAccountKeyStartWithoutWorkersRollout,
			gardencorev1beta1.OperationRotateETCDEncryptionKey, gardencorev1beta1.OperationRotateETCDEncryptionKeyStart,
		}
	case gardencorev1beta1.OperationRotateCredentialsComplete:
		return []string{
			gardencorev1beta1.OperationRotateCAComplete, gardencorev1beta1.OperationRotateServiceAccountKeyComplete,
			gardencorev1beta1.OperationRotateETCDEncryptionKeyComplete,
		}
	default:
		return nil
	}
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
		if replaces(op) && len(pendingUpdates(s)) > 0 {
			errs = append(errs, field.Forbidden(path, op+" is not possible while machines are being updated in place"))
		}
		errs = append(errs, etcdSteps(s, op, path)...)
		errs = append(errs, rollouts(s, op, path)...)
	}
	return errs
}

// starts reports whether an operation starts a two-step rotation. Other credentials are replaced in one step, which can be
// requested even while the shoot is being created.
func starts(op string) bool {
	return replaces(op) || op == gardencorev1beta1.OperationRotateETCDEncryptionKey ||
		op == gardencorev1beta1.OperationRotateETCDEncryptionKeyStart
}

// replaces reports whether an operation begins a rotation in which machines get new credentials.
func replaces(op string) bool {
	return slices.Contains([]string{
		gardencorev1beta1.OperationRotateCredentialsStart, gardencorev1beta1.OperationRotateCredentialsStartWithoutWorkersRollout,
		gardencorev1beta1.OperationRotateCAStart, gardencorev1beta1.OperationRotateCAStartWithoutWorkersRollout,
		gardencorev1beta1.OperationRotateServiceAccountKeyStart, gardencorev1beta1.OperationRotateServiceAccountKeyStartWithoutWorkersRollout,
	}, op)
}

// rotatable reports whether a rotation can start: the shoot was created or restored, or is being reconciled (API-VALOP-3).
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

// needsAwake reports whether an operation needs a running cluster: the rotations of the service account key, of the etcd key and
// of all credentials do, and rollouts of pools (API-VALOP-5).
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
		return ofPools(op)
	}
}

// ofPools reports whether an operation replaces the machines of some pools.
func ofPools(op string) bool {
	prefix, _, hasPools := strings.Cut(op, "=")
	return hasPools &&
		(prefix == gardencorev1beta1.OperationPrefixRolloutWorkers || prefix == gardencorev1beta1.OperationPrefixRotateRolloutWorkers)
}

// rotation is a two-step rotation and its phase.
type rotation struct {
	what  string
	phase gardencorev1beta1.CredentialsRotationPhase
}

// phasesFor checks the phases of rotations: a rotation starts only when the last one is complete, and completes only when it is
// prepared (API-VALOP-4).
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

// rotationsOf lists the rotations that an operation starts or completes, and reports whether it starts them.
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

// etcdSteps checks that the key of etcd is not rotated in two steps from Kubernetes 1.34 on, and that no rotation of it starts
// while a change of the encryption is being rolled out, or was refused: all resources of both would have to be written (API-VALOP-8).
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
	switch {
	case !begins:
	case query.EncryptionPending(s):
		errs = append(errs, field.Forbidden(path, op+" is not possible while a change of the encryption is being rolled out"))
	case query.EncryptedResourcesDiffer(&s.Spec, &s.Status):
		errs = append(errs, field.Forbidden(path, op+" is not possible while other resources are to be encrypted than are, which was refused: "+
			"see status.lastErrors, and take the change of spec.kubernetes.kubeAPIServer.encryptionConfig.resources back first"))
	}
	return errs
}

// rollouts checks the rollouts of pools: a rotation waits for them, and they name existing pools once, or * alone, without pools
// that are updated in place (API-VALOP-7).
func rollouts(s *gardencorev1beta1.Shoot, op string, path *field.Path) field.ErrorList {
	if !ofPools(op) {
		return nil
	}
	prefix, list, _ := strings.Cut(op, "=")
	pools := strings.Split(list, ",")
	var errs field.ErrorList
	ofRotation := prefix == gardencorev1beta1.OperationPrefixRotateRolloutWorkers
	if phases := query.RotationPhases(s); ofRotation &&
		phases.CertificateAuthorities != gardencorev1beta1.CredentialsRotationPhaseWaitingForWorkersRollout &&
		phases.ServiceAccountKey != gardencorev1beta1.CredentialsRotationPhaseWaitingForWorkersRollout {
		errs = append(errs, field.Forbidden(path, prefix+" requires a rotation that waits for the rollout of pools"))
	}
	if slices.Contains(pools, "") {
		return append(errs, field.Required(path, prefix+" must name pools, separated by commas"))
	}
	if !ofRotation && slices.Contains(pools, anyPool) {
		if len(pools) > 1 {
			return append(errs, field.Forbidden(path, "no pool can be named together with *"))
		}
		pools = names(s.Spec.Provider.Workers)
	}
	seen := map[string]bool{}
	for _, name := range pools {
		pool := query.Pool(&s.Spec, name)
		switch {
		case pool == nil:
			errs = append(errs, field.Invalid(path, name, "is not a pool of the shoot"))
		case seen[name]:
			errs = append(errs, field.Duplicate(path, name))
		case !ofRotation && inPlace(pool):
			errs = append(errs, field.Invalid(path, name, "is a pool whose machines are updated in place and cannot be replaced"))
		}
		seen[name] = true
	}
	return errs
}

func names(workers []gardencorev1beta1.Worker) []string {
	all := make([]string, 0, len(workers))
	for i := range workers {
		all = append(all, workers[i].Name)
	}
	return all
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
