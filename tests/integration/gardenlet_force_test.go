// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// watching runs the controller of a gardenlet with its watches of the garden, until the test ends.
func (o *operator) watching(r *shoot.Reconciler) {
	o.t.Helper()
	mgr, err := ctrl.NewManager(o.Config, ctrl.Options{
		Scheme: o.Scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		o.t.Fatal(err)
	}
	kinds, err := cluster.New(o.Config, func(options *cluster.Options) { options.Scheme = o.Scheme })
	if err != nil {
		o.t.Fatal(err)
	}
	if err := kit.AddAll(kit.Clusters{Garden: mgr, Seed: kinds, Clock: realClock()}, r); err != nil {
		o.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(o.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	o.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			o.t.Error(err)
		}
	})
}

// TestForceWaitsForNothing_GLET_FORCE_1: the creation of a shoot waits for its seed, in which nothing moves. Neither does the owner's
// deletion change that, but a forced one is done at once.
func TestForceWaitsForNothing_GLET_FORCE_1(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	namespace := *o.project("dev").Spec.Namespace
	seed := o.seed("one", "local", "north")
	o.create(&corev1.Secret{ObjectMeta: named(namespace, "account")}, &gardensecurityv1alpha1.CredentialsBinding{
		ObjectMeta: named(namespace, "b"), Provider: gardensecurityv1alpha1.CredentialsBindingProvider{Type: "local"},
		CredentialsRef: corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: "account"},
	})
	s := o.shoot(namespace, "waits", "local", withWorker("b"))
	harness.Await(t, o.Client, s, "the scheduler finds a seed", func(s *gardencorev1beta1.Shoot) error {
		return has(s.Spec.SeedName != nil, "last operation %v", s.Status.LastOperation)
	})
	o.ready(o.installation("one", "provider-local", "the extension is installed"))
	o.heartbeat("one")
	o.watching(o.gardenletOf(seed))
	underWay := func(s *gardencorev1beta1.Shoot) error {
		last := s.Status.LastOperation
		return has(last != nil && last.Type == "Create" && last.State == "Processing" && last.Progress > 0, "last operation %v", last)
	}
	harness.Await(t, o.Client, s, "the creation waits", underWay)
	o.confirm(s)
	o.changeStatus(s, func() {
		s.Status.LastErrors = []gardencorev1beta1.LastError{{
			Description: "in use", Codes: []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorCodeInfraDependencies}, LastUpdateTime: new(metav1.Now()),
		}}
	})
	if err := underWay(s); err != nil {
		t.Errorf("an ordinary deletion waits for the end of what runs: %v", err)
	}
	o.heartbeat("one")
	o.change(s, func() { s.Annotations[gardencorev1beta1.AnnotationConfirmationForceDeletion] = "true" })
	o.gone(s, "the shoot is gone")
}
