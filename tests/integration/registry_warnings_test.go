// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// heard collects the warnings that come with answers.
type heard struct {
	mutex sync.Mutex
	words []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (h *heard) HandleWarningHeader(_ int, _ string, text string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.words = append(h.words, text)
}

// take returns what was heard since it was asked for last.
func (h *heard) take() []string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	words := h.words
	h.words = nil
	return words
}

//nolint:tparallel // the steps build on each other
func TestWarnings(t *testing.T) {
	t.Parallel()
	o := operate(t, harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) {
		c.Shoots.CredentialsRotationInterval = &metav1.Duration{Duration: time.Nanosecond}
	}))
	o.provider("warned")
	namespace := o.owned("warned")
	o.create(&corev1.Secret{ObjectMeta: named(namespace, "warned")})
	ear := &heard{}
	config := rest.CopyConfig(o.Config)
	config.WarningHandler = ear
	listening, err := client.New(config, client.Options{Scheme: o.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	shoot := order(namespace, "sprout", "warned", formerly("another"))
	binding := "spec.secretBindingName is deprecated: use spec.credentialsBindingName"

	t.Run("API-STRAT-14", func(t *testing.T) { //nolint:paralleltest // the steps build on each other
		sb := &gardencorev1beta1.SecretBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "another"},
			Provider:   &gardencorev1beta1.SecretBindingProvider{Type: "warned"},
		}
		sb.SecretRef.Name = "warned"
		if err := listening.Create(t.Context(), sb); err != nil {
			t.Fatal(err)
		}
		if got := ear.take(); len(got) != 1 || !strings.Contains(got[0], "CredentialsBinding") {
			t.Errorf("who makes a SecretBinding hears of what takes its place, got %q", got)
		}
	})
	t.Run("API-WARN-1 create", func(t *testing.T) { //nolint:paralleltest // the steps build on each other
		if err := listening.Create(t.Context(), shoot); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{binding}, ear.take()); diff != "" {
			t.Errorf("who makes a shoot hears of fields that are deprecated (-want +got):\n%s", diff)
		}
	})
	t.Run("API-WARN-1 update", func(t *testing.T) { //nolint:paralleltest // the steps build on each other
		before := shoot.DeepCopy()
		shoot.Spec.Purpose = new(gardencorev1beta1.ShootPurposeTesting)
		if err := listening.Patch(t.Context(), shoot, client.MergeFrom(before)); err != nil {
			t.Fatal(err)
		}
		got := ear.take()
		if !slices.Contains(got, binding) || !slices.ContainsFunc(got, func(text string) bool {
			return strings.HasPrefix(text, "the certificate authorities should be rotated")
		}) {
			t.Errorf("who changes a shoot hears of credentials that have become old as well, got %q", got)
		}
	})
	t.Run("API-VALOP-3", func(t *testing.T) { //nolint:paralleltest // the steps build on each other
		before := shoot.DeepCopy()
		metav1.SetMetaDataAnnotation(&shoot.ObjectMeta, "gardener.cloud/operation", "rotate-ca-start")
		err := listening.Patch(t.Context(), shoot, client.MergeFrom(before))
		refused(t, "a shoot that was never created has nothing to rotate", err, apierrors.IsInvalid, "metadata.annotations[gardener.cloud/operation]", "rotate-ca-start")
	})
}
