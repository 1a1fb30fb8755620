// SPDX-License-Identifier: Apache-2.0

package rotation

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

const (
	preparing        = gardencorev1beta1.CredentialsRotationPhasePreparing
	preparingNoRolls = gardencorev1beta1.CredentialsRotationPhasePreparingWithoutWorkersRollout
	waiting          = gardencorev1beta1.CredentialsRotationPhaseWaitingForWorkersRollout
	prepared         = gardencorev1beta1.CredentialsRotationPhasePrepared
	completing       = gardencorev1beta1.CredentialsRotationPhaseCompleting
	completed        = gardencorev1beta1.CredentialsRotationPhaseCompleted

	// lastStepsMinor is the last minor version of Kubernetes in which the etcd encryption key is rotated in two steps.
	lastStepsMinor = 33

	everyPool = "*"
)

// Answer is what became of an operation: it is refused for a reason, or carried out if there is none.
type Answer struct {
	Operation, Refusal string
}

// Begin changes the status of a shoot at the beginning of a run, and returns an answer to each operation in the annotation that is
// about credentials or machines. The last operation has to be that of the run (GLET-CRED-1).
func Begin(s *gardencorev1beta1.Shoot, now time.Time) []Answer {
	b := beginning{shoot: s, now: metav1.NewTime(now.Truncate(time.Second))}
	if r := of(s); r != nil && !query.SSHAllowed(&s.Spec) {
		r.SSHKeypair = nil // There is no key any more (GLET-CRED-6).
	}
	switch {
	case Continues(s):
		b.carryOut(step{encryptionKey(), completing})
	case b.otherProvider():
		b.carryOut(step{encryptionKey(), preparing})
		b.further(gardencorev1beta1.OperationRotateETCDEncryptionKey)
	}
	var answers []Answer
	for _, op := range query.Operations(s.Annotations[gardencorev1beta1.AnnotationOperation]) {
		if act := b.action(op); act != nil {
			answers = append(answers, Answer{Operation: op, Refusal: act()})
		}
	}

	return answers
}

type beginning struct {
	shoot *gardencorev1beta1.Shoot
	now   metav1.Time
}

// otherProvider reports whether objects are to be encrypted with another provider, and the rotation that this takes can begin: each
// provider gets a key of its own (GLET-CRED-4).
func (b beginning) otherProvider() bool {
	reported := b.shoot.Status.Credentials
	if reported == nil || reported.EncryptionAtRest == nil || b.shoot.DeletionTimestamp != nil {
		return false
	}
	is, wanted := query.PlainEncryption(*reported.EncryptionAtRest).Provider, query.EncryptionAtRest(&b.shoot.Spec).Provider

	return is != wanted && b.refusal([]step{{encryptionKey(), preparing}}) == "" && encryptionKey().phaseOf(b.shoot) != preparing
}

// action returns what an operation does; nil if it is not about credentials or machines.
func (b beginning) action(op string) func() string {
	name, pools, ofPools := strings.Cut(op, "=")
	switch {
	case ofPools && name == gardencorev1beta1.OperationPrefixRotateRolloutWorkers:
		return func() string { return b.rolloutForRotation(strings.Split(pools, ",")) }
	case ofPools && name == gardencorev1beta1.OperationPrefixRolloutWorkers:
		return func() string { return b.rollout(strings.Split(pools, ",")) }
	case op == gardencorev1beta1.OperationForceInPlaceUpdate:
		return func() string { return "" } // It has let the change pass that this run carries out.
	case op == gardencorev1beta1.OperationRotateSSHKeypair:
		return b.sshKey
	}
	steps := b.steps(op)
	if len(steps) == 0 {
		return nil
	}

	return func() string {
		reason := b.refusal(steps)
		if reason == "" {
			b.carryOut(steps...)
			b.further(op)
		}

		return reason
	}
}

// step leads a rotation into a phase.
type step struct {
	kind

	to gardencorev1beta1.CredentialsRotationPhase
}

// steps are those of an operation (GLET-CRED-2, GLET-CRED-3).
func (b beginning) steps(op string) []step {
	ca, accounts, etcd := authorities(), serviceAccountKey(), encryptionKey()
	switch op {
	case gardencorev1beta1.OperationRotateCredentialsStart:
		return []step{{ca, preparing}, {accounts, preparing}, {etcd, preparing}}
	case gardencorev1beta1.OperationRotateCredentialsStartWithoutWorkersRollout:
		return []step{{ca, preparingNoRolls}, {accounts, preparingNoRolls}, {etcd, preparing}}
	case gardencorev1beta1.OperationRotateCredentialsComplete:
		if b.encryptionInOneStep() {
			return []step{{ca, completing}, {accounts, completing}}
		}

		return []step{{ca, completing}, {accounts, completing}, {etcd, completing}}
	case gardencorev1beta1.OperationRotateCAStart:
		return []step{{ca, preparing}}
	case gardencorev1beta1.OperationRotateCAStartWithoutWorkersRollout:
		return []step{{ca, preparingNoRolls}}
	case gardencorev1beta1.OperationRotateCAComplete:
		return []step{{ca, completing}}
	case gardencorev1beta1.OperationRotateServiceAccountKeyStart:
		return []step{{accounts, preparing}}
	case gardencorev1beta1.OperationRotateServiceAccountKeyStartWithoutWorkersRollout:
		return []step{{accounts, preparingNoRolls}}
	case gardencorev1beta1.OperationRotateServiceAccountKeyComplete:
		return []step{{accounts, completing}}
	case gardencorev1beta1.OperationRotateETCDEncryptionKey, gardencorev1beta1.OperationRotateETCDEncryptionKeyStart:
		return []step{{etcd, preparing}}
	case gardencorev1beta1.OperationRotateETCDEncryptionKeyComplete:
		return []step{{etcd, completing}}
	default:
		return nil
	}
}

// encryptionInOneStep reports whether this version of Kubernetes has the etcd encryption key rotated in one step only (GLET-CRED-4).
func (b beginning) encryptionInOneStep() bool {
	version, ok := query.Version(b.shoot.Spec.Kubernetes.Version)

	return ok && version.Minor() > lastStepsMinor
}

// refusal returns the reason why steps are not possible now. The garden has checked the same when the operation was asked for, but
// the shoot may have changed since.
func (b beginning) refusal(steps []step) string {
	for _, s := range steps {
		from := s.phaseOf(b.shoot)
		if from == s.to {
			continue // It comes again.
		}
		if s.awake && !awake(b.shoot) {
			return "the shoot is hibernated or waking up"
		}
		if s.to == completing {
			if from != prepared {
				return "the rotation of the " + s.what + " is not Prepared"
			}
			continue
		}
		if last := b.shoot.Status.LastOperation; last != nil && last.Type == gardencorev1beta1.LastOperationTypeCreate {
			return "the shoot is still being created"
		}
		if from != "" && from != completed {
			return "the rotation of the " + s.what + " is " + string(from)
		}
		if s.what == encryptionKey().what && query.EncryptedResourcesDiffer(&b.shoot.Spec, &b.shoot.Status) {
			return "other resources are to be encrypted than are"
		}
	}

	return ""
}

// carryOut changes the phases, unless they are so already (GLET-CRED-5, GLET-CRED-7).
func (b beginning) carryOut(steps ...step) {
	r := ensure(&ensure(&b.shoot.Status.Credentials).Rotation)
	for _, s := range steps {
		f := s.fields(r, true)
		if *f.phase == s.to {
			continue
		}
		*f.phase = s.to
		if s.to == completing {
			*f.triggered = &b.now
			continue
		}
		if s.to == preparingNoRolls {
			*f.pools = nil
			for i := range b.shoot.Spec.Provider.Workers {
				*f.pools = append(*f.pools, gardencorev1beta1.PendingWorkersRollout{Name: b.shoot.Spec.Provider.Workers[i].Name, LastInitiationTime: *f.initiated})
			}
		}
		*f.initiated, *f.prepared, *f.triggered = &b.now, nil, nil
	}
}

// further begins what an operation entails besides its steps.
func (b beginning) further(op string) {
	r := b.shoot.Status.Credentials.Rotation
	switch op {
	case gardencorev1beta1.OperationRotateCredentialsStart, gardencorev1beta1.OperationRotateCredentialsStartWithoutWorkersRollout:
		if query.SSHAllowed(&b.shoot.Spec) {
			b.sshKey()
		}
		r.ETCDEncryptionKey.AutoCompleteAfterPrepared = nil
		if b.encryptionInOneStep() {
			r.ETCDEncryptionKey.AutoCompleteAfterPrepared = new(true)
		}
	case gardencorev1beta1.OperationRotateETCDEncryptionKey:
		r.ETCDEncryptionKey.AutoCompleteAfterPrepared = new(true)
	case gardencorev1beta1.OperationRotateETCDEncryptionKeyStart:
		r.ETCDEncryptionKey.AutoCompleteAfterPrepared = nil
	}
}

// sshKey begins the rotation of the key of the machines, unless it has begun (GLET-CRED-6).
func (b beginning) sshKey() string {
	if !query.SSHAllowed(&b.shoot.Spec) {
		return "the machines cannot be reached by SSH"
	}
	key := ensure(&ensure(&ensure(&b.shoot.Status.Credentials).Rotation).SSHKeypair)
	if !underWay(key) {
		key.LastInitiationTime = &b.now
	}

	return ""
}

// underWay reports whether the rotation of a key of machines has begun and is not complete.
func underWay(key *gardencorev1beta1.ShootSSHKeypairRotation) bool {
	return key.LastInitiationTime != nil && (key.LastCompletionTime == nil || key.LastCompletionTime.Before(key.LastInitiationTime))
}

// rolloutForRotation lets machines of pools be replaced, for which a rotation waits.
func (b beginning) rolloutForRotation(pools []string) string {
	possible := false
	for _, k := range []kind{authorities(), serviceAccountKey()} {
		if k.phaseOf(b.shoot) != waiting {
			continue
		}
		possible = true
		f := k.fields(of(b.shoot), false)
		*f.pools = withoutPools(*f.pools, func(name string) bool { return slices.Contains(pools, name) })
	}
	if !possible {
		return "no rotation waits for the rollout of pools"
	}

	return ""
}

// rollout lets machines of pools be replaced for no other reason than that somebody wants it.
func (b beginning) rollout(pools []string) string {
	if !awake(b.shoot) {
		return "the shoot is hibernated or waking up"
	}
	list := &ensure(&b.shoot.Status.ManualWorkerPoolRollout).PendingWorkersRollouts
	for i := range b.shoot.Spec.Provider.Workers {
		name := b.shoot.Spec.Provider.Workers[i].Name
		if !slices.Contains(pools, name) && !slices.Contains(pools, everyPool) {
			continue
		}
		at := slices.IndexFunc(*list, func(p gardencorev1beta1.PendingWorkersRollout) bool { return p.Name == name })
		if at < 0 {
			*list = append(*list, gardencorev1beta1.PendingWorkersRollout{Name: name})
			at = len(*list) - 1
		}
		(*list)[at].LastInitiationTime = &b.now
	}

	return ""
}
