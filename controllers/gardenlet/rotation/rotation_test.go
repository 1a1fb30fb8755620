// SPDX-License-Identifier: Apache-2.0

package rotation_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/rotation"
)

type phase = gardencorev1beta1.CredentialsRotationPhase

// at is a time, in hours.
func at(hours int) time.Time { return time.Unix(int64(hours)*3600, 0).UTC() }

func when(hours int) *metav1.Time { return new(metav1.NewTime(at(hours))) }

// plant is a shoot that is being reconciled, with two pools.
func plant(changes ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	s := &gardencorev1beta1.Shoot{}
	s.Spec.Kubernetes.Version = "1.33.1"
	s.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "a"}, {Name: "b"}}
	s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Processing"}
	for _, change := range changes {
		change(s)
	}

	return s
}

func asks(operation string) func(*gardencorev1beta1.Shoot) {
	return func(s *gardencorev1beta1.Shoot) {
		s.Annotations = map[string]string{"gardener.cloud/operation": operation}
	}
}

func version(v string) func(*gardencorev1beta1.Shoot) {
	return func(s *gardencorev1beta1.Shoot) { s.Spec.Kubernetes.Version = v }
}

func asleep(s *gardencorev1beta1.Shoot) { s.Status.Hibernated = true }

func sshOff(s *gardencorev1beta1.Shoot) {
	s.Spec.Provider.WorkersSettings = &gardencorev1beta1.WorkersSettings{SSHAccess: &gardencorev1beta1.SSHAccess{}}
}

// in sets the phases of authorities, account key and encryption key; an empty one means that there was no rotation yet.
func in(ca, accounts, etcd phase) func(*gardencorev1beta1.Shoot) {
	return func(s *gardencorev1beta1.Shoot) {
		r := &gardencorev1beta1.ShootCredentialsRotation{}
		if ca != "" {
			r.CertificateAuthorities = &gardencorev1beta1.CARotation{Phase: ca}
		}
		if accounts != "" {
			r.ServiceAccountKey = &gardencorev1beta1.ServiceAccountKeyRotation{Phase: accounts}
		}
		if etcd != "" {
			r.ETCDEncryptionKey = &gardencorev1beta1.ETCDEncryptionKeyRotation{Phase: etcd}
		}
		s.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: r}
	}
}

// phases are those of authorities, account key and encryption key.
func phases(s *gardencorev1beta1.Shoot) [3]phase {
	var all [3]phase
	if s.Status.Credentials == nil || s.Status.Credentials.Rotation == nil {
		return all
	}
	r := s.Status.Credentials.Rotation
	if r.CertificateAuthorities != nil {
		all[0] = r.CertificateAuthorities.Phase
	}
	if r.ServiceAccountKey != nil {
		all[1] = r.ServiceAccountKey.Phase
	}
	if r.ETCDEncryptionKey != nil {
		all[2] = r.ETCDEncryptionKey.Phase
	}

	return all
}

func TestBegin_GLET_CRED_2_GLET_CRED_3(t *testing.T) {
	t.Parallel()
	const refused = "refused"
	cases := map[string]struct {
		reason string
		shoot  *gardencorev1beta1.Shoot
		want   [3]phase
		ssh    bool
		// answers are empty for what was carried out.
		answers []string
	}{
		"Nothing":   {reason: "nobody asks", shoot: plant()},
		"Others":    {reason: "others answer those", shoot: plant(asks("reconcile;maintain;x"))},
		"All":       {reason: "everything begins", shoot: plant(asks("rotate-credentials-start")), want: [3]phase{"Preparing", "Preparing", "Preparing"}, ssh: true, answers: []string{""}},
		"AllNoSSH":  {reason: "there is no key of machines", shoot: plant(sshOff, asks("rotate-credentials-start")), want: [3]phase{"Preparing", "Preparing", "Preparing"}, answers: []string{""}},
		"NoRollout": {reason: "machines stay", shoot: plant(asks("rotate-credentials-start-without-workers-rollout")), want: [3]phase{"PreparingWithoutWorkersRollout", "PreparingWithoutWorkersRollout", "Preparing"}, ssh: true, answers: []string{""}},
		"Complete":  {reason: "everything ends", shoot: plant(in("Prepared", "Prepared", "Prepared"), asks("rotate-credentials-complete")), want: [3]phase{"Completing", "Completing", "Completing"}, answers: []string{""}},
		"Complete34": {
			reason: "the encryption key ends by itself", shoot: plant(version("1.34.0"), in("Prepared", "Prepared", "Completed"), asks("rotate-credentials-complete")),
			want: [3]phase{"Completing", "Completing", "Completed"}, answers: []string{""},
		},
		"Half": {
			reason: "all or nothing", shoot: plant(in("Prepared", "Preparing", "Prepared"), asks("rotate-credentials-complete")),
			want: [3]phase{"Prepared", "Preparing", "Prepared"}, answers: []string{refused},
		},
		"One":          {reason: "one alone", shoot: plant(asks("rotate-ca-start")), want: [3]phase{"Preparing"}, answers: []string{""}},
		"Two":          {reason: "one after the other", shoot: plant(asks("rotate-ca-start;rotate-serviceaccount-key-start")), want: [3]phase{"Preparing", "Preparing"}, answers: []string{"", ""}},
		"Accounts":     {reason: "one alone, and machines stay", shoot: plant(asks("rotate-serviceaccount-key-start-without-workers-rollout")), want: [3]phase{"", "PreparingWithoutWorkersRollout"}, answers: []string{""}},
		"Authorities":  {reason: "one alone, and machines stay", shoot: plant(asks("rotate-ca-start-without-workers-rollout")), want: [3]phase{"PreparingWithoutWorkersRollout"}, answers: []string{""}},
		"Encryption":   {reason: "one alone", shoot: plant(asks("rotate-etcd-encryption-key-start")), want: [3]phase{"", "", "Preparing"}, answers: []string{""}},
		"OneStep":      {reason: "both steps", shoot: plant(asks("rotate-etcd-encryption-key")), want: [3]phase{"", "", "Preparing"}, answers: []string{""}},
		"Ends":         {reason: "each ends alone", shoot: plant(in("Prepared", "Prepared", "Prepared"), asks("rotate-serviceaccount-key-complete;rotate-etcd-encryption-key-complete")), want: [3]phase{"Prepared", "Completing", "Completing"}, answers: []string{"", ""}},
		"EndOfCA":      {reason: "this one too", shoot: plant(in("Prepared", "", ""), asks("rotate-ca-complete")), want: [3]phase{"Completing"}, answers: []string{""}},
		"Again":        {reason: "a second rotation", shoot: plant(in("Completed", "", ""), asks("rotate-ca-start")), want: [3]phase{"Preparing"}, answers: []string{""}},
		"SSH":          {reason: "in one step", shoot: plant(asks("rotate-ssh-keypair")), ssh: true, answers: []string{""}},
		"SSHOff":       {reason: "there is none", shoot: plant(sshOff, asks("rotate-ssh-keypair")), answers: []string{refused}},
		"UnderWay":     {reason: "the garden refuses this too", shoot: plant(in("Prepared", "", ""), asks("rotate-ca-start")), want: [3]phase{"Prepared"}, answers: []string{refused}},
		"NotPrepared":  {reason: "the garden refuses this too", shoot: plant(asks("rotate-ca-complete")), answers: []string{refused}},
		"Creation":     {reason: "it was asked for too early", shoot: plant(asks("rotate-ca-start"), func(s *gardencorev1beta1.Shoot) { s.Status.LastOperation.Type = "Create" }), answers: []string{refused}},
		"Asleep":       {reason: "nobody could write its objects", shoot: plant(asleep, asks("rotate-etcd-encryption-key")), answers: []string{refused}},
		"AsleepTokens": {reason: "nobody could write its objects", shoot: plant(asleep, asks("rotate-credentials-start")), answers: []string{refused}},
		"AsleepCA":     {reason: "certificates are made in the seed", shoot: plant(asleep, asks("rotate-ca-start")), want: [3]phase{"Preparing"}, answers: []string{""}},
		"NoWait":       {reason: "nothing waits for pools", shoot: plant(in("Prepared", "", ""), asks("rotate-rollout-workers=a")), want: [3]phase{"Prepared"}, answers: []string{refused}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, pass := range []string{"at first", "after a crash"} {
				var answers []string
				for _, a := range rotation.Begin(tc.shoot, at(5)) {
					if a.Refusal != "" {
						a.Refusal = refused
					}
					answers = append(answers, a.Refusal)
				}
				if diff := cmp.Diff(tc.answers, answers); diff != "" {
					t.Errorf("%s\n%s: answers (-want +got):\n%s", tc.reason, pass, diff)
				}
				if diff := cmp.Diff(tc.want, phases(tc.shoot)); diff != "" {
					t.Errorf("%s\n%s: phases (-want +got):\n%s", tc.reason, pass, diff)
				}
				c := tc.shoot.Status.Credentials
				if ssh := c != nil && c.Rotation != nil && c.Rotation.SSHKeypair != nil; ssh != tc.ssh {
					t.Errorf("%s\n%s: the key of the machines is rotated: %t, want %t", tc.reason, pass, ssh, tc.ssh)
				}
			}
		})
	}
}

func TestOneRotation_GLET_CRED_5_GLET_CRED_9(t *testing.T) {
	t.Parallel()
	s := plant(asks("rotate-credentials-start"))
	rotation.Begin(s, at(1))
	check := func(reason string, want gardencorev1beta1.CARotation) {
		t.Helper()
		r := s.Status.Credentials.Rotation
		if diff := cmp.Diff(&want, r.CertificateAuthorities); diff != "" {
			t.Errorf("%s: authorities (-want +got):\n%s", reason, diff)
		}
		key := gardencorev1beta1.ServiceAccountKeyRotation(want)
		if diff := cmp.Diff(&key, r.ServiceAccountKey); diff != "" {
			t.Errorf("%s: service account key (-want +got):\n%s", reason, diff)
		}
		etcd := gardencorev1beta1.ETCDEncryptionKeyRotation{
			Phase: want.Phase, LastCompletionTime: want.LastCompletionTime, LastCompletionTriggeredTime: want.LastCompletionTriggeredTime,
			LastInitiationFinishedTime: want.LastInitiationFinishedTime, LastInitiationTime: want.LastInitiationTime,
		}
		if diff := cmp.Diff(&etcd, r.ETCDEncryptionKey); diff != "" {
			t.Errorf("%s: encryption key (-want +got):\n%s", reason, diff)
		}
	}
	check("it begins", gardencorev1beta1.CARotation{Phase: "Preparing", LastInitiationTime: when(1)})
	s.Annotations = nil
	rotation.Begin(s, at(2))
	check("a run has failed, and the next one begins", gardencorev1beta1.CARotation{Phase: "Preparing", LastInitiationTime: when(1)})
	rotation.Succeed(s, true, at(3))
	check("it is prepared", gardencorev1beta1.CARotation{Phase: "Prepared", LastInitiationTime: when(1), LastInitiationFinishedTime: when(3)})
	rotation.Succeed(s, true, at(4))
	check("it waits for its owner", gardencorev1beta1.CARotation{Phase: "Prepared", LastInitiationTime: when(1), LastInitiationFinishedTime: when(3)})
	asks("rotate-credentials-complete")(s)
	rotation.Begin(s, at(5))
	rotation.Begin(s, at(6))
	check("it completes", gardencorev1beta1.CARotation{
		Phase: "Completing", LastInitiationTime: when(1), LastInitiationFinishedTime: when(3), LastCompletionTriggeredTime: when(5),
	})
	rotation.Succeed(s, true, at(7))
	check("it is complete", gardencorev1beta1.CARotation{Phase: "Completed", LastInitiationTime: when(1), LastCompletionTime: when(7)})
	asks("rotate-credentials-start")(s)
	rotation.Begin(s, at(8))
	check("the next one", gardencorev1beta1.CARotation{Phase: "Preparing", LastInitiationTime: when(8), LastCompletionTime: when(7)})
	want := &gardencorev1beta1.ShootSSHKeypairRotation{LastInitiationTime: when(8), LastCompletionTime: when(3)}
	if diff := cmp.Diff(want, s.Status.Credentials.Rotation.SSHKeypair); diff != "" {
		t.Errorf("GLET-CRED-6: key of the machines (-want +got):\n%s", diff)
	}
	sshOff(s)
	rotation.Begin(s, at(9))
	if got := s.Status.Credentials.Rotation.SSHKeypair; got != nil {
		t.Errorf("GLET-CRED-6: there is no key of the machines any more, and its rotation is %+v", got)
	}
}

func TestRolloutLater_GLET_CRED_7(t *testing.T) {
	t.Parallel()
	s := plant(asks("rotate-credentials-start-without-workers-rollout"), func(s *gardencorev1beta1.Shoot) {
		s.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{
			CertificateAuthorities: &gardencorev1beta1.CARotation{Phase: "Completed", LastInitiationTime: when(1)},
		}}
	})
	check := func(reason string, want phase, ca, accounts []gardencorev1beta1.PendingWorkersRollout) {
		t.Helper()
		r := s.Status.Credentials.Rotation
		if got := phases(s); got[0] != want || got[1] != want {
			t.Errorf("%s: phases %v, want %s", reason, got, want)
		}
		if diff := cmp.Diff([][]gardencorev1beta1.PendingWorkersRollout{ca, accounts}, [][]gardencorev1beta1.PendingWorkersRollout{
			r.CertificateAuthorities.PendingWorkersRollouts, r.ServiceAccountKey.PendingWorkersRollouts,
		}); diff != "" {
			t.Errorf("%s: pools that wait (-want +got):\n%s", reason, diff)
		}
	}
	type list = []gardencorev1beta1.PendingWorkersRollout
	rotation.Begin(s, at(2))
	check("it begins", "PreparingWithoutWorkersRollout", list{{Name: "a", LastInitiationTime: when(1)}, {Name: "b", LastInitiationTime: when(1)}}, list{{Name: "a"}, {Name: "b"}})
	rotation.Succeed(s, true, at(3))
	check("it waits", "WaitingForWorkersRollout", list{{Name: "a", LastInitiationTime: when(1)}, {Name: "b", LastInitiationTime: when(1)}}, list{{Name: "a"}, {Name: "b"}})
	if got := s.Status.Credentials.Rotation.ETCDEncryptionKey.Phase; got != "Prepared" {
		t.Errorf("the encryption key has nothing to do with machines, and its rotation is %s", got)
	}
	asks("rotate-rollout-workers=a")(s)
	if answers := rotation.Begin(s, at(4)); len(answers) != 1 || answers[0].Refusal != "" {
		t.Errorf("answers %+v, want that it is carried out", answers)
	}
	check("the first pool is rolled out", "WaitingForWorkersRollout", list{{Name: "b", LastInitiationTime: when(1)}}, list{{Name: "b"}})
	rotation.Succeed(s, true, at(5))
	check("one pool is left", "WaitingForWorkersRollout", list{{Name: "b", LastInitiationTime: when(1)}}, list{{Name: "b"}})
	s.Spec.Provider.Workers = s.Spec.Provider.Workers[:1]
	rotation.Succeed(s, true, at(6))
	check("the other pool does not exist any more", "Prepared", nil, nil)
}

func TestSleepEndsTheWaitForPools_GLET_CRED_7(t *testing.T) {
	t.Parallel()
	s := plant(asks("rotate-ca-start-without-workers-rollout"))
	rotation.Begin(s, at(1))
	rotation.Succeed(s, false, at(2))
	if got := phases(s)[0]; got != "Prepared" {
		t.Errorf("there are no machines, and the rotation is %s", got)
	}
	s = plant(in("", "Preparing", "Completing"))
	rotation.Succeed(s, false, at(2))
	if diff := cmp.Diff([3]phase{"", "Preparing", "Completing"}, phases(s)); diff != "" {
		t.Errorf("what needs a running cluster was not done (-want +got):\n%s", diff)
	}
}

func TestEncryptionKeyInOneStep_GLET_CRED_4(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*gardencorev1beta1.Shoot{
		"asked for": plant(asks("rotate-etcd-encryption-key")), "all at once since 1.34": plant(version("1.34.0"), asks("rotate-credentials-start")),
	} {
		rotation.Begin(s, at(1))
		if rotation.Continues(s) {
			t.Errorf("%s: it goes on before it is prepared", name)
		}
		rotation.Succeed(s, true, at(2))
		if got := phases(s)[2]; got != "Prepared" || !rotation.Continues(s) {
			t.Errorf("%s: it is %s and goes on: %t", name, got, rotation.Continues(s))
		}
		asleep(s)
		rotation.Begin(s, at(3))
		if got := phases(s)[2]; got != "Prepared" || rotation.Continues(s) {
			t.Errorf("%s: it goes on in a shoot that sleeps", name)
		}
		s.Status.Hibernated, s.Annotations = false, nil
		rotation.Begin(s, at(4))
		if got := phases(s)[2]; got != "Completing" {
			t.Errorf("%s: it is %s, want Completing", name, got)
		}
		rotation.Succeed(s, true, at(5))
		want := &gardencorev1beta1.ETCDEncryptionKeyRotation{Phase: "Completed", LastInitiationTime: when(1), LastCompletionTime: when(5)}
		if diff := cmp.Diff(want, s.Status.Credentials.Rotation.ETCDEncryptionKey); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	s := plant(asks("rotate-etcd-encryption-key-start"))
	rotation.Begin(s, at(1))
	rotation.Succeed(s, true, at(2))
	if rotation.Continues(s) {
		t.Error("the second of two steps is taken without being asked for")
	}
}

func TestRolloutOfPools(t *testing.T) {
	t.Parallel()
	s := plant(asks("rollout-workers=*"))
	rotation.Begin(s, at(1))
	asks("rollout-workers=b")(s)
	rotation.Begin(s, at(2))
	rotation.Succeed(s, true, at(3))
	want := &gardencorev1beta1.ManualWorkerPoolRollout{PendingWorkersRollouts: []gardencorev1beta1.PendingWorkersRollout{
		{Name: "a", LastInitiationTime: when(1)}, {Name: "b", LastInitiationTime: when(2)},
	}}
	if diff := cmp.Diff(want, s.Status.ManualWorkerPoolRollout); diff != "" {
		t.Errorf("the times are a part of what the machines are made from, so they stay (-want +got):\n%s", diff)
	}
	s.Spec.Provider.Workers = nil
	rotation.Succeed(s, true, at(4))
	if s.Status.ManualWorkerPoolRollout != nil {
		t.Errorf("pools that do not exist any more: %+v", s.Status.ManualWorkerPoolRollout)
	}
}

func TestAnotherProviderBeginsARotation_GLET_CRED_4(t *testing.T) {
	t.Parallel()
	by := func(wanted, reported gardencorev1beta1.EncryptionProviderType) func(*gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) {
			s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{EncryptionConfig: &gardencorev1beta1.EncryptionConfig{
				Provider: gardencorev1beta1.EncryptionProvider{Type: &wanted},
			}}
			if s.Status.Credentials == nil {
				s.Status.Credentials = &gardencorev1beta1.ShootCredentials{}
			}
			s.Status.Credentials.EncryptionAtRest = &gardencorev1beta1.EncryptionAtRest{Provider: gardencorev1beta1.EncryptionProviderStatus{Type: reported}}
		}
	}
	creating := func(s *gardencorev1beta1.Shoot) { s.Status.LastOperation.Type = "Create" }
	phaseAfter := func(changes ...func(*gardencorev1beta1.Shoot)) (phase, bool) {
		s := plant(changes...)
		rotation.Begin(s, at(1))
		r := s.Status.Credentials.Rotation
		if r == nil || r.ETCDEncryptionKey == nil {
			return "", false
		}

		return r.ETCDEncryptionKey.Phase, r.ETCDEncryptionKey.AutoCompleteAfterPrepared != nil
	}
	for reason, tc := range map[string]struct {
		changes []func(*gardencorev1beta1.Shoot)
		want    phase
		auto    bool
	}{
		"it completes by itself":          {changes: []func(*gardencorev1beta1.Shoot){by("secretbox", "aescbc")}, want: "Preparing", auto: true},
		"after an earlier one":            {changes: []func(*gardencorev1beta1.Shoot){in("", "", "Completed"), by("secretbox", "aescbc")}, want: "Preparing", auto: true},
		"not in the middle of one":        {changes: []func(*gardencorev1beta1.Shoot){in("", "", "Prepared"), by("secretbox", "aescbc")}, want: "Prepared"},
		"the same one is nothing new":     {changes: []func(*gardencorev1beta1.Shoot){by("secretbox", "secretbox")}},
		"a shoot that sleeps is left so":  {changes: []func(*gardencorev1beta1.Shoot){by("secretbox", "aescbc"), asleep}},
		"a creation is to be ended first": {changes: []func(*gardencorev1beta1.Shoot){by("secretbox", "aescbc"), creating}},
	} {
		if got, auto := phaseAfter(tc.changes...); got != tc.want || auto != tc.auto {
			t.Errorf("%s: phase %q, completes by itself: %t, want %q, %t", reason, got, auto, tc.want, tc.auto)
		}
	}
}

// TestNoNewKeyBesideOtherResources: what is encrypted changes first, and a change of it that is refused is taken back (API-VALOP-8).
func TestNoNewKeyBesideOtherResources_GLET_CRED_4(t *testing.T) {
	t.Parallel()
	for reported, want := range map[string]phase{"configmaps": "Preparing", "events": ""} {
		for _, op := range []string{gardencorev1beta1.OperationRotateETCDEncryptionKey, gardencorev1beta1.OperationRotateCredentialsStart} {
			s := plant()
			s.Annotations = map[string]string{gardencorev1beta1.AnnotationOperation: op}
			s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{EncryptionConfig: &gardencorev1beta1.EncryptionConfig{Resources: []string{"configmaps"}}}
			s.Status.Credentials = &gardencorev1beta1.ShootCredentials{EncryptionAtRest: &gardencorev1beta1.EncryptionAtRest{Resources: []string{reported}}}
			answers := rotation.Begin(s, at(1))
			if len(answers) != 1 || (answers[0].Refusal == "") != (want != "") || query.RotationPhases(s).ETCDEncryptionKey != want {
				t.Errorf("%s while %s are encrypted: %+v, phase %q, want %q", op, reported, answers, query.RotationPhases(s).ETCDEncryptionKey, want)
			}
		}
	}
}
