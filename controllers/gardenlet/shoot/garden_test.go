// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

func sshOff(s *gardencorev1beta1.Shoot) {
	s.Spec.Provider.WorkersSettings = &gardencorev1beta1.WorkersSettings{SSHAccess: &gardencorev1beta1.SSHAccess{Enabled: false}}
}

func TestProjectGetsTheSSHKey_GLET_CRED_15(t *testing.T) {
	t.Parallel()
	l := newLandscape(t, fresh(withWorkers))
	publish := func(changes ...func(*gardencorev1beta1.Shoot)) (*corev1.Secret, error) {
		t.Helper()
		if err := shoot.RunTasks(t.Context(), l.Reconciler, fresh(changes...), "shoot--dev--a", "garden-credentials"); err != nil {
			t.Fatal(err)
		}
		secret := &corev1.Secret{}
		return secret, l.GardenClient.Get(t.Context(), client.ObjectKey{Namespace: "garden-dev", Name: "a.ssh-keypair"}, secret)
	}
	secret, err := publish(withWorkers)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(secret.Data["id_rsa"], []byte("-----BEGIN RSA PRIVATE KEY-----")) || !bytes.HasPrefix(secret.Data["id_rsa.pub"], []byte("ssh-rsa ")) {
		t.Error("the Secret has no id_rsa and id_rsa.pub in the forms that SSH clients read")
	}
	if got := secret.Labels["gardener.cloud/role"]; got != "ssh-keypair" {
		t.Errorf("role %q, want ssh-keypair", got)
	}
	if owner := metav1.GetControllerOf(secret); owner == nil || owner.Kind != "Shoot" || owner.UID != "uid-1" {
		t.Errorf("controller = %v, want the shoot", owner)
	}
	again, err := publish(withWorkers)
	if diff := cmp.Diff(secret.Data, again.Data); err != nil || diff != "" {
		t.Error("the key changes from run to run")
	}
	if _, err := publish(withWorkers, sshOff); !apierrors.IsNotFound(err) {
		t.Errorf("The owner has closed the machines, so the key goes: %v", err)
	}
	if _, err := publish(); !apierrors.IsNotFound(err) {
		t.Errorf("A shoot without machines has no key to them: %v", err)
	}
}

func TestProvidersGetTheSSHKey_EXT_INFRA_1_EXT_WORKER_1(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		changes []func(*gardencorev1beta1.Shoot)
		want    string
	}{
		"On":  {reason: "machines can be reached by SSH unless the owner says otherwise", changes: []func(*gardencorev1beta1.Shoot){withWorkers}, want: "ssh-rsa "},
		"Off": {reason: "the owner says otherwise", changes: []func(*gardencorev1beta1.Shoot){withWorkers, sshOff}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fresh(tc.changes...)
			l := newLandscape(t, s)
			if err := shoot.RunTasks(t.Context(), l.Reconciler, s, "shoot--dev--a", "infrastructure", "worker"); err != nil {
				t.Fatal(err)
			}
			infrastructure, worker := &gardenextensionsv1alpha1.Infrastructure{}, &gardenextensionsv1alpha1.Worker{}
			for _, obj := range []client.Object{infrastructure, worker} {
				if err := l.SeedClient.Get(t.Context(), client.ObjectKey{Namespace: "shoot--dev--a", Name: "a"}, obj); err != nil {
					t.Fatal(err)
				}
			}
			for kind, got := range map[string][]byte{"Infrastructure": infrastructure.Spec.SSHPublicKey, "Worker": worker.Spec.SSHPublicKey} {
				if !strings.HasPrefix(string(got), tc.want) || (tc.want == "") != (len(got) == 0) {
					t.Errorf("%s\nsshPublicKey of %s is %q, want %q…", tc.reason, kind, got, tc.want)
				}
			}
		})
	}
}
