// SPDX-License-Identifier: Apache-2.0

package resourcemanager_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/go-logr/logr/testr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/extension/crds"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

const (
	// home is the namespace of everything that belongs to a test in the seed, and the control-plane namespace of its shoot.
	home = "shoot--dev--a"
	// period is the sync period of the resource managers of these tests.
	period = 2 * time.Second
)

// stage is a seed with a resource manager. The API server of a garden stands for it, because it serves all that is needed here.
type stage struct {
	client.Client

	t    *testing.T
	seed *harness.Garden
}

// newStage runs a seed, prepares it, and runs the resource manager with changed options.
func newStage(t *testing.T, change func(*resourcemanager.Options), prepare ...func(*stage)) *stage {
	t.Helper()
	s := emptyStage(t)
	options := resourcemanager.Options{Seed: s.seed.Config, SyncPeriod: period, Log: testr.New(t).V(1)}
	if change != nil {
		change(&options)
	}
	for _, each := range prepare {
		each(s)
	}
	s.run(options)
	return s
}

// emptyStage runs a seed without a resource manager.
func emptyStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, seed: harness.Start(t)}
	s.Client = s.seed.Client
	s.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: home}})
	definitions, err := crds.Objects()
	if err != nil {
		t.Fatal(err)
	}
	engine := deploy.Engine{Client: s.seed.Client, Owner: "test", Clock: clock.RealClock{}}
	if err := errors.Join(engine.Apply(t.Context(), definitions...), engine.WaitReady(t.Context(), definitions...)); err != nil {
		t.Fatal(err)
	}
	return s
}

// run runs a resource manager until the test ends.
func (s *stage) run(options resourcemanager.Options) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	done := make(chan error, 1)
	go func() { done <- resourcemanager.Run(ctx, options) }()
	s.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Errorf("resource manager: %v", err)
		}
	})
}

func (s *stage) create(objects ...client.Object) {
	s.t.Helper()
	for _, object := range objects {
		if err := s.Create(s.t.Context(), object); err != nil {
			s.t.Fatalf("create %T %q: %v", object, object.GetName(), err)
		}
	}
}

// withShoot runs another API server as the shoot of the namespace home.
func (s *stage) withShoot() *harness.Garden {
	s.t.Helper()
	shoot := harness.Start(s.t)
	kubeconfig, err := os.ReadFile(shoot.Kubeconfig)
	if err != nil {
		s.t.Fatal(err)
	}
	s.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "shoot-access-gardener-resource-manager"}, Data: map[string][]byte{"kubeconfig": kubeconfig}})
	return shoot
}

// manifests are the data of a Secret.
type manifests map[string]string

func configMap(name, data string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: default}\ndata: {" + data + "}\n"
}

func compressed(t *testing.T, text string) string {
	t.Helper()
	var buffer bytes.Buffer
	writer := brotli.NewWriter(&buffer)
	_, err := writer.Write([]byte(text))
	if err := errors.Join(err, writer.Close()); err != nil {
		t.Fatal(err)
	}
	return buffer.String()
}

// secret holds manifests for the ManagedResource of the same name.
func secret(name string, of manifests) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: name}, Data: map[string][]byte{}}
	for key, text := range of {
		secret.Data[key] = []byte(text)
	}
	return secret
}

// deliver creates a ManagedResource with manifests.
func (s *stage) deliver(name, class string, of manifests, changes ...func(*gardenresourcesv1alpha1.ManagedResource)) *gardenresourcesv1alpha1.ManagedResource {
	s.t.Helper()
	mr := &gardenresourcesv1alpha1.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: name}}
	mr.Spec.SecretRefs = []corev1.LocalObjectReference{{Name: name}}
	if class != "" {
		mr.Spec.Class = &class
	}
	for _, change := range changes {
		change(mr)
	}
	s.create(secret(name, of), mr)
	return mr
}

// rewrite gives a ManagedResource other manifests.
func (s *stage) rewrite(name string, of manifests) {
	s.t.Helper()
	s.eventually("the manifests of "+name+" are written", func(ctx context.Context) error {
		live := &corev1.Secret{}
		if err := s.Get(ctx, client.ObjectKey{Namespace: home, Name: name}, live); err != nil {
			return err
		}
		live.Data = secret(name, of).Data
		return s.Update(ctx, live)
	})
}

func (s *stage) eventually(what string, check func(ctx context.Context) error) {
	s.t.Helper()
	harness.Eventually(s.t, what, check)
}

// conditions waits until a ManagedResource has conditions, each as status and reason.
func (s *stage) conditions(mr *gardenresourcesv1alpha1.ManagedResource, want map[string]string) *gardenresourcesv1alpha1.ManagedResource {
	s.t.Helper()
	return harness.Await(s.t, s.Client, mr, fmt.Sprintf("the conditions of %q are %v", mr.Name, want), func(mr *gardenresourcesv1alpha1.ManagedResource) error {
		got, messages := map[string]string{}, []string{}
		for kind := range want {
			if c := query.FindCondition(mr.Status.Conditions, gardencorev1beta1.ConditionType("Resources"+kind)); c != nil {
				got[kind] = string(c.Status) + " " + c.Reason
				messages = append(messages, c.Message)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("conditions Resources… (-want +got):\n%s%s", diff, strings.Join(messages, "\n"))
		}
		return nil
	})
}

// settled are the conditions of objects that are as they should be.
func settled() map[string]string {
	return map[string]string{"Applied": "True ApplySucceeded", "Healthy": "True ResourcesHealthy", "Progressing": "False ResourcesRolledOut"}
}

// holds waits until a ConfigMap of the namespace default has exactly that data, as "key=value,…"; or until it is gone, if want is "-".
func holds(t *testing.T, c client.Client, name, want string) *corev1.ConfigMap {
	t.Helper()
	found := &corev1.ConfigMap{}
	harness.Eventually(t, fmt.Sprintf("ConfigMap %q holds %s", name, want), func(ctx context.Context) error {
		found = &corev1.ConfigMap{}
		got, err := "-", c.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, found)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		if !apierrors.IsNotFound(err) {
			var pairs []string
			for _, key := range slices.Sorted(maps.Keys(found.Data)) {
				pairs = append(pairs, key+"="+found.Data[key])
			}
			got = strings.Join(pairs, ",")
		}
		if got != want {
			return fmt.Errorf("it holds %s", got)
		}
		return nil
	})
	return found
}
