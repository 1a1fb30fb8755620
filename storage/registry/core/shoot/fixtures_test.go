// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/storage/registry/core/internalsecret"
	"github.com/terrarium-garden/terrarium/storage/registry/core/shoot"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
	"github.com/terrarium-garden/terrarium/storage/registry/registrytest"
)

const namespace = "garden-meadow"

type (
	object  = gardencorev1beta1.Shoot
	shoots  = kindtest.Resource[*object]
	secrets = kindtest.Resource[*gardencorev1beta1.InternalSecret]
)

// world holds the stores of shoots and what they read.
type world struct {
	ctx                   context.Context
	main, status, binding shoots
	secrets               secrets
	all                   map[string]rest.Storage
}

func newWorld(t *testing.T, change ...func(*shoot.Settings)) *world {
	t.Helper()
	o, settings := kindtest.Options(t), registrytest.Shoots()
	for _, c := range change {
		c(&settings)
	}
	internal, err := internalsecret.Storage(o)
	if err != nil {
		t.Fatal(err)
	}
	all, err := shoot.Storage(o, settings, internal)
	if err != nil {
		t.Fatal(err)
	}
	return &world{
		ctx:     kindtest.Context(t, namespace, "rose"),
		all:     all,
		main:    kindtest.Of[*object](t, all, "shoots"),
		status:  kindtest.Of[*object](t, all, "shoots/status"),
		binding: kindtest.Of[*object](t, all, "shoots/binding"),
		secrets: kindtest.Of[*gardencorev1beta1.InternalSecret](t, map[string]rest.Storage{"internalsecrets": internal}, "internalsecrets"),
	}
}

func sprout(change ...func(*object)) *object {
	s := &object{ObjectMeta: metav1.ObjectMeta{Name: "sprout", Namespace: namespace}}
	s.Spec = gardencorev1beta1.ShootSpec{
		CloudProfile:           &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "local"},
		Region:                 "north",
		CredentialsBindingName: new("local"),
		Kubernetes:             gardencorev1beta1.Kubernetes{Version: "1.36.3"},
		Networking:             &gardencorev1beta1.Networking{Type: new("local")},
		Provider: gardencorev1beta1.Provider{Type: "local", Workers: []gardencorev1beta1.Worker{{
			Name: "one", Minimum: 1, Maximum: 1, Machine: gardencorev1beta1.Machine{Type: "small", Image: &gardencorev1beta1.ShootMachineImage{Name: "local", Version: new("1.0.0")}},
		}}},
	}
	for _, c := range change {
		c(s)
	}
	return s
}

func annotated(key, value string) func(*object) {
	return func(s *object) { metav1.SetMetaDataAnnotation(&s.ObjectMeta, key, value) }
}

func last(kind gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState) func(*object) {
	return func(s *object) {
		s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: kind, State: state, Progress: 50, LastUpdateTime: metav1.NewTime(kindtest.Now())}
	}
}

func seeded(name string) func(*object) { return func(s *object) { s.Spec.SeedName = &name } }

// etcdKey says how far the rotation of the encryption key is, and whether it goes on by itself.
func etcdKey(phase gardencorev1beta1.CredentialsRotationPhase, byItself bool) func(*object) {
	return func(s *object) {
		s.Status.Credentials = &gardencorev1beta1.ShootCredentials{Rotation: &gardencorev1beta1.ShootCredentialsRotation{
			ETCDEncryptionKey: &gardencorev1beta1.ETCDEncryptionKeyRotation{Phase: phase, AutoCompleteAfterPrepared: &byItself},
		}}
	}
}

// delete deletes a shoot that a finalizer keeps, and returns it as it is then.
func (w *world) delete(t *testing.T, s *object) *object {
	t.Helper()
	deleter, ok := w.all["shoots"].(rest.GracefulDeleter)
	if !ok {
		t.Fatalf("%T deletes nothing", w.all["shoots"])
	}
	got, _, err := deleter.Delete(w.ctx, s.Name, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{})
	if err != nil {
		t.Fatalf("delete shoot %q: %v", s.Name, err)
	}
	deleted, ok := got.(*object)
	if !ok {
		t.Fatalf("deletion answered with %T", got)
	}
	return deleted
}
