// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/apis/check/checktest"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

const (
	operationKey   = "gardener.cloud/operation"
	maintenanceKey = "maintenance.gardener.cloud/operation"
	atOperation    = "metadata.annotations[gardener.cloud/operation]: "
	atMaintenance  = "metadata.annotations[maintenance.gardener.cloud/operation]: "
)

func lastOperation(typ gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState) shootChange {
	return func(s *gardencorev1beta1.Shoot) {
		s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: typ, State: state}
	}
}

// phases says how far the rotations of CAs, service account key and etcd encryption key are.
func phases(authorities, accounts, etcd gardencorev1beta1.CredentialsRotationPhase) shootChange {
	return func(s *gardencorev1beta1.Shoot) {
		s.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{
			CertificateAuthorities: &gardencorev1beta1.CARotation{Phase: authorities},
			ServiceAccountKey:      &gardencorev1beta1.ServiceAccountKeyRotation{Phase: accounts},
			ETCDEncryptionKey:      &gardencorev1beta1.ETCDEncryptionKeyRotation{Phase: etcd},
		}}
	}
}

func asleep(s *gardencorev1beta1.Shoot) {
	s.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
}

// encrypts wants resources encrypted and reports others.
func encrypts(wanted, reported []string) shootChange {
	return func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{EncryptionConfig: &gardencorev1beta1.EncryptionConfig{Resources: wanted}}
		if s.Status.Credentials == nil {
			s.Status.Credentials = &gardencorev1beta1.ShootCredentials{}
		}
		s.Status.Credentials.EncryptionAtRest = &gardencorev1beta1.EncryptionAtRest{Resources: reported}
	}
}

// by says with which provider; what is encrypted has to be said before.
func by(provider gardencorev1beta1.EncryptionProviderType) shootChange {
	return func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.KubeAPIServer.EncryptionConfig.Provider.Type = &provider
	}
}

// refusedByGardenlet is a shoot that its gardenlet does not act upon.
func refusedByGardenlet(s *gardencorev1beta1.Shoot) {
	s.Status.ObservedGeneration = s.Generation
	s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Failed"}
	s.Status.LastErrors = []gardencorev1beta1.LastError{{TaskID: new(query.TaskUnserved)}}
}

func TestValidateShootOperations(t *testing.T) {
	t.Parallel()
	ready := lastOperation("Reconcile", "Failed")
	for name, tc := range map[string]struct {
		reason string
		state  []shootChange
		asked  string
		next   string
		want   []string
	}{
		"API-VALOP-1 known":       {reason: "known operations pass", asked: "reconcile"},
		"API-VALOP-1 unknown":     {reason: "others do not", asked: "dance=one", want: []string{atOperation + "FieldValueNotSupported"}},
		"API-VALOP-1 past":        {reason: "static kubeconfigs are no more", asked: "rotate-kubeconfig-credentials", want: []string{atOperation + "FieldValueNotSupported"}},
		"API-VALOP-1 maintenance": {reason: "a maintenance can be asked for whatever can be asked for at once", next: "maintain"},
		"API-VALOP-1 nothing": {
			reason: "nothing is not an operation", asked: "reconcile;", next: ";retry",
			want: []string{atOperation + "FieldValueNotSupported", atMaintenance + "FieldValueNotSupported"},
		},
		"API-VALOP-3 at once": {reason: "what is exchanged at once can be asked for before", asked: "rotate-ssh-keypair;rotate-observability-credentials"},
		"API-VALOP-3 in place": {
			reason: "machines that are being updated get no new credentials in between",
			state: []shootChange{ready, func(s *gardencorev1beta1.Shoot) {
				s.Status.InPlaceUpdates = &gardencorev1beta1.InPlaceUpdatesStatus{
					PendingWorkerUpdates: &gardencorev1beta1.PendingWorkerUpdates{AutoInPlaceUpdate: []string{"worker"}},
				}
			}},
			asked: "rotate-ca-start;rotate-etcd-encryption-key", want: []string{atOperation + "FieldValueForbidden"},
		},
		"API-VALOP-5 rollout": {
			reason: "there are no machines to be replaced", state: []shootChange{asleep}, asked: "rollout-workers=worker",
			want: []string{atOperation + "FieldValueForbidden"},
		},
		"API-VALOP-6 mixed": {
			reason: "machines are rolled out for all credentials or for none", state: []shootChange{ready},
			asked: "rotate-credentials-start;rotate-ca-start-without-workers-rollout", want: []string{atOperation + "FieldValueForbidden"},
		},
		"API-VALOP-2 same": {
			reason: "what is done now is not done in the next maintenance", asked: "reconcile", next: "reconcile",
			want: []string{"metadata.annotations: FieldValueForbidden"},
		},
		"API-VALOP-2 covered": {
			reason: "nor is a part of it", state: []shootChange{ready}, asked: "rotate-credentials-start", next: "rotate-ca-start",
			want: []string{atOperation + "FieldValueForbidden"},
		},
		"API-VALOP-2 covering": {
			reason: "nor more than it", state: []shootChange{ready}, asked: "rotate-ca-start", next: "rotate-credentials-start",
			want: []string{atOperation + "FieldValueForbidden"},
		},
		"API-VALOP-2 beside": {
			reason: "what is exchanged at once can be exchanged again", state: []shootChange{ready},
			asked: "rotate-ssh-keypair;rotate-observability-credentials", next: "rotate-credentials-start",
		},
		"API-VALOP-3 new":       {reason: "a shoot that was never created has nothing to rotate", asked: "rotate-ca-start", want: []string{atOperation + "FieldValueForbidden"}},
		"API-VALOP-3 etcd":      {reason: "nor a key of etcd", asked: "rotate-etcd-encryption-key", want: []string{atOperation + "FieldValueForbidden"}},
		"API-VALOP-3 etcd step": {reason: "in whatever way", state: []shootChange{onVersion("1.33.1")}, asked: "rotate-etcd-encryption-key-start", want: []string{atOperation + "FieldValueForbidden"}},
		"API-VALOP-3 creating":  {reason: "nor has one that is being created", state: []shootChange{lastOperation("Create", "Processing")}, asked: "rotate-ca-start", want: []string{atOperation + "FieldValueForbidden"}},
		"API-VALOP-3 created":   {reason: "a created one has", state: []shootChange{lastOperation("Create", "Succeeded")}, asked: "rotate-ca-start"},
		"API-VALOP-3 restored":  {reason: "and a restored one", state: []shootChange{lastOperation("Restore", "Succeeded")}, asked: "rotate-ca-start"},
		"API-VALOP-3 failed":    {reason: "and one that was reconciled, however that went", state: []shootChange{ready}, asked: "rotate-observability-credentials"},
		"API-VALOP-3 migrating": {reason: "but not one that moves", state: []shootChange{lastOperation("Migrate", "Succeeded")}, next: "rotate-ca-start", want: []string{atMaintenance + "FieldValueForbidden"}},
		"API-VALOP-4 start": {
			reason: "a rotation begins when the former one is complete", state: []shootChange{ready, phases("Prepared", "", "")},
			asked: "rotate-ca-start", want: []string{atOperation + "FieldValueForbidden"},
		},
		"API-VALOP-4 again":    {reason: "and can be repeated then", state: []shootChange{ready, phases("Completed", "", "")}, asked: "rotate-ca-start-without-workers-rollout"},
		"API-VALOP-4 complete": {reason: "it completes when it is prepared", state: []shootChange{phases("Prepared", "", "")}, asked: "rotate-ca-complete"},
		"API-VALOP-4 too early": {
			reason: "not before", state: []shootChange{phases("Preparing", "", "")}, asked: "rotate-serviceaccount-key-complete;rotate-ca-complete",
			want: []string{atOperation + "FieldValueForbidden", atOperation + "FieldValueForbidden"},
		},
		"API-VALOP-4 all": {
			reason: "all begin together", state: []shootChange{ready, phases("", "Completing", "Prepared")}, asked: "rotate-credentials-start",
			want: []string{atOperation + "FieldValueForbidden", atOperation + "FieldValueForbidden"},
		},
		"API-VALOP-4 all done": {reason: "the key of etcd completes by itself", state: []shootChange{phases("Prepared", "Prepared", "Completed")}, asked: "rotate-credentials-complete"},
		"API-VALOP-4 all done formerly": {
			reason: "formerly it did not", state: []shootChange{onVersion("1.33.1"), phases("Prepared", "Prepared", "Preparing")},
			asked: "rotate-credentials-complete", want: []string{atOperation + "FieldValueForbidden"},
		},
		"API-VALOP-5 asleep": {
			reason: "keys are not exchanged in sleep", state: []shootChange{ready, asleep}, asked: "rotate-serviceaccount-key-start",
			want: []string{atOperation + "FieldValueForbidden"},
		},
		"API-VALOP-5 waking": {
			reason: "nor on waking up",
			state:  []shootChange{ready, func(s *gardencorev1beta1.Shoot) { s.Status.Hibernated = true }},
			asked:  "rotate-etcd-encryption-key",
			want:   []string{atOperation + "FieldValueForbidden"},
		},
		"API-VALOP-5 CA":    {reason: "CAs are", state: []shootChange{ready, asleep}, asked: "rotate-ca-start"},
		"API-VALOP-6 alone": {reason: "some operations stand alone", asked: "reconcile;retry", want: []string{atOperation + "FieldValueForbidden"}},
		"API-VALOP-6 pairs": {
			reason: "some exclude each other", state: []shootChange{ready}, asked: "rotate-ca-start;rotate-ca-start-without-workers-rollout",
			want: []string{atOperation + "FieldValueForbidden"},
		},
		"API-VALOP-7 waits": {reason: "pools follow a rotation that waits for them", state: []shootChange{phases("WaitingForWorkersRollout", "", "")}, asked: "rotate-rollout-workers=worker"},
		"API-VALOP-7 keys":  {reason: "also that of the service account key", state: []shootChange{phases("", "WaitingForWorkersRollout", "")}, asked: "rotate-rollout-workers=worker"},
		"API-VALOP-7 each":  {reason: "pools of a rotation are named one by one", state: []shootChange{phases("WaitingForWorkersRollout", "", "")}, asked: "rotate-rollout-workers=*", want: []string{atOperation + "FieldValueInvalid"}},
		"API-VALOP-7 no =":  {reason: "without pools it is no operation", asked: "rollout-workers", want: []string{atOperation + "FieldValueNotSupported"}},
		"API-VALOP-7 follow": {
			reason: "pools that are updated in place follow a rotation too", asked: "rotate-rollout-workers=worker",
			state: []shootChange{phases("WaitingForWorkersRollout", "", ""), pool(func(w *gardencorev1beta1.Worker) {
				w.UpdateStrategy = new(gardencorev1beta1.MachineUpdateStrategyManualInPlaceUpdate)
			})},
		},
		"API-VALOP-7 not":     {reason: "and no other", asked: "rotate-rollout-workers=worker", want: []string{atOperation + "FieldValueForbidden"}},
		"API-VALOP-7 names":   {reason: "pools exist and are named once", asked: "rollout-workers=worker,worker,other", want: []string{atOperation + "FieldValueDuplicate", atOperation + "FieldValueInvalid"}},
		"API-VALOP-7 any":     {reason: "all of them are all of them", asked: "rollout-workers=*,worker", want: []string{atOperation + "FieldValueForbidden"}},
		"API-VALOP-7 all":     {reason: "which is fine", next: "rollout-workers=*"},
		"API-VALOP-7 nothing": {reason: "none is none", asked: "rollout-workers=", want: []string{atOperation + "FieldValueRequired"}},
		"API-VALOP-7 in place": {
			reason: "machines that stay cannot be replaced",
			state: []shootChange{pool(func(w *gardencorev1beta1.Worker) {
				w.UpdateStrategy = new(gardencorev1beta1.MachineUpdateStrategyManualInPlaceUpdate)
			})},
			asked: "rollout-workers=worker", want: []string{atOperation + "FieldValueInvalid"},
		},
		"API-VALOP-8 steps": {
			reason: "from 1.34 on the key of etcd is exchanged in one go", state: []shootChange{ready}, asked: "rotate-etcd-encryption-key-start",
			want: []string{atOperation + "FieldValueForbidden"},
		},
		"API-VALOP-8 formerly": {reason: "formerly it was not", state: []shootChange{ready, onVersion("1.33.1")}, asked: "rotate-etcd-encryption-key-start"},
		"API-VALOP-8 second step": {
			reason: "which completes by itself", state: []shootChange{phases("", "", "Prepared")}, asked: "rotate-etcd-encryption-key-complete",
			want: []string{atOperation + "FieldValueForbidden"},
		},
		"API-VALOP-8 second step formerly": {reason: "formerly it did not", state: []shootChange{onVersion("1.33.1"), phases("", "", "Prepared")}, asked: "rotate-etcd-encryption-key-complete"},
		"API-VALOP-8 other operations":     {reason: "other operations do not encrypt anything", state: []shootChange{ready, encrypts([]string{"configmaps"}, []string{"secrets"})}, asked: "reconcile"},
		"API-VALOP-8 provider pending": {
			reason: "another provider is a change of the encryption", state: []shootChange{ready, encrypts(nil, nil), by("secretbox")}, asked: "rotate-etcd-encryption-key",
			want: []string{atOperation + "FieldValueForbidden"},
		},
		"API-VALOP-8 encryption": {
			reason: "one change after the other", state: []shootChange{ready, encrypts([]string{"configmaps"}, []string{"secrets"})},
			asked: "rotate-etcd-encryption-key", want: []string{atOperation + "FieldValueForbidden"},
		},
		"API-VALOP-8 refused": {
			reason: "a change that is refused ends only when it is taken back", state: []shootChange{ready, encrypts([]string{"configmaps"}, nil), refusedByGardenlet},
			asked: "rotate-etcd-encryption-key", want: []string{atOperation + "FieldValueForbidden"},
		},
		"API-VALOP-8 refused credentials": {
			reason: "the same for all credentials", state: []shootChange{ready, encrypts([]string{"configmaps"}, nil), refusedByGardenlet},
			asked: "rotate-credentials-start", want: []string{atOperation + "FieldValueForbidden"},
		},
		"API-VALOP-8 provider": {
			reason: "another provider needs a new key", state: []shootChange{ready, encrypts(nil, nil), by("secretbox"), refusedByGardenlet},
			asked: "rotate-etcd-encryption-key",
		},
		"API-VALOP-8 encrypted": {
			reason: "secrets, and dots at the end, make no difference", state: []shootChange{ready, encrypts([]string{"configmaps"}, []string{"secrets", "configmaps."})},
			asked: "rotate-etcd-encryption-key",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := shoot(tc.state...)
			now := old.DeepCopy()
			now.Annotations = map[string]string{operationKey: tc.asked, maintenanceKey: tc.next}
			if diff := cmp.Diff(tc.want, checktest.Complaints(validation.ValidateShootUpdate(now, old))); diff != "" {
				t.Errorf("%s\nValidateShootUpdate(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValidateShootOperationsOnce(t *testing.T) {
	t.Parallel()
	asked := annotated(operationKey, "rotate-ca-start")
	if diff := cmp.Diff([]string(nil), checktest.Complaints(validation.ValidateShootUpdate(
		shoot(asked, phases("Preparing", "", ""), annotated("a", "b")), shoot(asked, phases("Preparing", "", ""))))); diff != "" {
		t.Errorf("an operation that is being done does not stand in the way of other changes\nValidateShootUpdate(...) (-want +got):\n%s", diff)
	}
	leaving := func(s *gardencorev1beta1.Shoot) { s.DeletionTimestamp = past() }
	if diff := cmp.Diff([]string(nil), checktest.Complaints(validation.ValidateShootUpdate(shoot(leaving, annotated(maintenanceKey, "rotate-ca-start")), shoot(leaving)))); diff != "" {
		t.Errorf("API-VALOP-9: what is to be done in the maintenance of a shoot that goes away does not matter\nValidateShootUpdate(...) (-want +got):\n%s", diff)
	}
}
