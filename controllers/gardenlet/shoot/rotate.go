// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/rotation"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// reasonNotPossible is the reason of events about operations that cannot be carried out now.
const reasonNotPossible = "OperationNotPossible"

// plan makes the status that of a run that begins, with the phases of the rotations that the annotation asks for. It is written
// together with the start of the operation.
func (r *Reconciler) plan(status *account, shoot *gardencorev1beta1.Shoot, kind gardencorev1beta1.LastOperationType) []rotation.Answer {
	var answers []rotation.Answer
	start := beginning(shoot, kind, r.Identity)
	change := start.Change
	start.Change = func(s *gardencorev1beta1.Shoot) {
		change(s)
		if kind != gardencorev1beta1.LastOperationTypeDelete {
			answers = rotation.Begin(s, r.Clock.Now())
		}
	}
	status.Plan(start)

	return answers
}

// answerOperations takes operations out of the annotation that the status now has taken up, or that are not possible. It leaves
// others, which may have been added meanwhile.
func (r *Reconciler) answerOperations(ctx context.Context, shoot *gardencorev1beta1.Shoot, answers []rotation.Answer) error {
	if len(answers) == 0 {
		return nil
	}
	answered := func(op string) bool {
		return slices.ContainsFunc(answers, func(a rotation.Answer) bool { return a.Operation == op })
	}
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		live := &gardencorev1beta1.Shoot{}
		if err := r.GardenReader.Get(ctx, client.ObjectKeyFromObject(shoot), live); err != nil {
			return err
		}
		before := live.DeepCopy()
		left := slices.DeleteFunc(query.Operations(live.Annotations[gardencorev1beta1.AnnotationOperation]), answered)
		metav1.SetMetaDataAnnotation(&live.ObjectMeta, gardencorev1beta1.AnnotationOperation, strings.Join(left, gardencorev1beta1.OperationSeparator))
		if len(left) == 0 {
			delete(live.Annotations, gardencorev1beta1.AnnotationOperation)
		}

		return r.GardenClient.Patch(ctx, live, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	})
	if err != nil {
		return fmt.Errorf("take operations from shoot %q: %w", shoot.Name, err)
	}
	for _, a := range answers {
		if a.Refusal == "" {
			continue
		}
		kit.Record(r.Recorder, shoot, kit.Notice{
			Type: corev1.EventTypeWarning, Action: gardencorev1beta1.EventActionReconcile, Reason: reasonNotPossible,
			Message: fmt.Sprintf("Operation %q was not carried out: %s", a.Operation, a.Refusal),
		})
	}

	return nil
}

// rotating is what is rotated while the cluster runs.
type rotating struct {
	// twoAuthorities is set as long as there are an old and a new one: whatever starts has to trust both.
	twoAuthorities bool
	// Something new was made, which both sides still learn of.
	newAccountKey, newEncryptionKey bool
	// encryption is set while other resources are to be encrypted.
	encryption bool
	// The old one goes.
	oldAccountKey, oldEncryptionKey bool
}

// rewrites reports whether objects are stored in another way from this run on.
func (r rotating) rewrites() bool {
	return r.newEncryptionKey || r.encryption
}

// rotating reads the phases of a run that has begun.
func (g ground) rotating() rotating {
	if g.facts.Power != facts.Awake || g.facts.Deleting() {
		return rotating{}
	}
	phases := query.RotationPhases(g.facts.Shoot)
	prepares := func(phase gardencorev1beta1.CredentialsRotationPhase) bool {
		return phase == gardencorev1beta1.CredentialsRotationPhasePreparing ||
			phase == gardencorev1beta1.CredentialsRotationPhasePreparingWithoutWorkersRollout
	}
	ca := phases.CertificateAuthorities

	return rotating{
		twoAuthorities: prepares(ca) || ca == gardencorev1beta1.CredentialsRotationPhaseWaitingForWorkersRollout ||
			ca == gardencorev1beta1.CredentialsRotationPhasePrepared,
		newAccountKey: prepares(phases.ServiceAccountKey), newEncryptionKey: prepares(phases.ETCDEncryptionKey),
		oldAccountKey:    phases.ServiceAccountKey == gardencorev1beta1.CredentialsRotationPhaseCompleting,
		oldEncryptionKey: phases.ETCDEncryptionKey == gardencorev1beta1.CredentialsRotationPhaseCompleting,
		encryption:       g.facts.Encryption.Changing,
	}
}
