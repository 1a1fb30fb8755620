// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/sshaccess"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestSSHAccess opens ways to a node, with a garden that has no gardenlet: what one would report is reported by the test.
func TestSSHAccess(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	namespace := *o.project("dev").Spec.Namespace
	o.seed("north", "local", "north")
	o.shoot(namespace, "sprout", "local", func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("north") })
	request := sshaccess.Request{Namespace: namespace, Shoot: "sprout", Node: "10.1.0.5", Networks: []string{"192.0.2.7/32"}, Timeout: harness.Patience}
	guide := func(tell func(string, ...any)) *sshaccess.Guide {
		return &sshaccess.Guide{Garden: o.Client, Clock: clock.RealClock{}, Tell: tell}
	}
	none := func(string, ...any) {}

	if _, err := guide(none).Open(t.Context(), request); err == nil || !strings.Contains(err.Error(), "sprout.ssh-keypair") {
		t.Errorf("Open(...) of a shoot without a key = %v, want the Secret that is missing", err)
	}
	o.create(&corev1.Secret{ObjectMeta: named(namespace, "sprout.ssh-keypair"), Data: map[string][]byte{"id_rsa": []byte("the key")}})

	ctx, cancel := context.WithCancel(t.Context())
	if _, err := guide(func(string, ...any) { cancel() }).Open(ctx, request); !errors.Is(err, context.Canceled) {
		t.Errorf("Open(...), interrupted while it waits = %v", err)
	}
	o.noBastions(namespace, "an interrupted command leaves nothing")

	impatient := request
	impatient.Timeout = time.Millisecond
	if _, err := guide(none).Open(t.Context(), impatient); err == nil || !strings.Contains(err.Error(), "its seed has not taken it up yet") {
		t.Errorf("Open(...) when nobody makes a host = %v, want why", err)
	}
	o.noBastions(namespace, "nor does one that has waited too long")

	var gardenlet sync.WaitGroup
	gardenlet.Go(func() { o.makeHost(namespace) })
	way, err := guide(none).Open(t.Context(), request)
	if err != nil {
		t.Fatalf("Open(...) = %v", err)
	}
	gardenlet.Wait()
	list := &gardenoperationsv1alpha1.BastionList{}
	if err := o.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil || len(list.Items) != 1 {
		t.Fatalf("bastions: %v, %v", list.Items, err)
	}
	if diff := cmp.Diff("192.0.2.7/32", list.Items[0].Spec.Ingress[0].IPBlock.CIDR); diff != "" || len(list.Items[0].Spec.Ingress) != 1 {
		t.Errorf("the bastion is open for others too (-want +got):\n%s", diff)
	}
	key, err := os.ReadFile(filepath.Join(filepath.Dir(way.Config), "node.key"))
	if err != nil || string(key) != "the key" {
		t.Errorf("the key of the machines: %q, %v", key, err)
	}
	if err := way.Close(t.Context()); err != nil {
		t.Errorf("Close() = %v", err)
	}
	o.noBastions(namespace, "nor does one that has ended")
	if _, err := os.Stat(filepath.Dir(way.Config)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the keys are left behind: %v", err)
	}
}

// noBastions waits until a namespace has none.
func (o *operator) noBastions(namespace, reason string) {
	o.t.Helper()
	harness.Eventually(o.t, reason, func(ctx context.Context) error {
		list := &gardenoperationsv1alpha1.BastionList{}
		if err := o.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return err
		}
		return has(len(list.Items) == 0, "%d bastions are left", len(list.Items))
	})
}

// makeHost reports for the next Bastion what a gardenlet would report.
func (o *operator) makeHost(namespace string) {
	err := wait.PollUntilContextTimeout(o.t.Context(), 20*time.Millisecond, harness.Patience, true, func(ctx context.Context) (bool, error) {
		list := &gardenoperationsv1alpha1.BastionList{}
		if err := o.Client.List(ctx, list, client.InNamespace(namespace)); err != nil || len(list.Items) == 0 {
			return false, err
		}
		b := &list.Items[0]
		b.Status.Ingress = &corev1.LoadBalancerIngress{IP: "203.0.113.9"}
		b.Status.Conditions = []gardencorev1beta1.Condition{{Type: "BastionReady", Status: "True", Reason: "SuccessfullyReconciled"}}
		err := o.Client.Status().Update(ctx, b)
		return err == nil, client.IgnoreNotFound(ignoreConflict(err))
	})
	if err != nil {
		o.t.Errorf("report a host: %v", err)
	}
}

func ignoreConflict(err error) error {
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}
