// SPDX-License-Identifier: Apache-2.0

package shootstate_test

import (
	"context"
	"encoding/json"
	"maps"
	"testing"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shootstate"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const plane = "shoot--meadow--sprout"

// sprout is a shoot that runs on seed one.
func sprout(changes ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "sprout", UID: "uid-1"}}
	s.Spec.SeedName, s.Status.SeedName, s.Status.TechnicalID, s.Status.UID = new("one"), new("one"), plane, "uid-1"
	s.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "a"}}
	s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Succeeded"}
	for _, change := range changes {
		change(s)
	}
	return s
}

// in is an object in the namespace of the control plane.
func in(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: plane, Name: name} }

// generated is a Secret of the secrets manager.
func generated(name, value string, more map[string]string) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: in(name), Data: map[string][]byte{"key": []byte(value)}}
	secret.Labels = map[string]string{"managed-by": "secrets-manager", "persist": "true", "name": name}
	maps.Copy(secret.Labels, more)
	return secret
}

// infrastructure is an object of an extension that has said something.
func infrastructure(state string, refs ...gardencorev1beta1.NamedResourceReference) *gardenextensionsv1alpha1.Infrastructure {
	o := &gardenextensionsv1alpha1.Infrastructure{ObjectMeta: in("sprout")}
	if state != "" {
		o.Status.State = &runtime.RawExtension{Raw: []byte(state)}
	}
	o.Status.Resources = refs
	return o
}

func refers(version, kind, name string) gardencorev1beta1.NamedResourceReference {
	return gardencorev1beta1.NamedResourceReference{Name: "ref-" + name, ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: version, Kind: kind, Name: name}}
}

// leaving puts an object into deletion.
func leaving[O client.Object](object O) O {
	object.SetDeletionTimestamp(new(metav1.NewTime(noon())))
	object.SetFinalizers([]string{"example.org/held"})
	return object
}

// landscape is a garden and a seed.
type landscape struct {
	*shootstate.Reconciler

	t      *testing.T
	clock  *clocktesting.FakeClock
	events *events.FakeRecorder
	// writes counts what is written to ShootStates, by verb.
	writes map[string]int
	// refuses is the answer to all writes.
	refuses error
}

func newLandscape(t *testing.T, garden, seed []client.Object) *landscape {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	l := &landscape{t: t, clock: clocktesting.NewFakeClock(noon()), events: events.NewFakeRecorder(100), writes: map[string]int{}}
	count := func(verb string, object client.Object) error {
		if _, ok := object.(*gardencorev1beta1.ShootState); ok {
			l.writes[verb]++
		}
		return l.refuses
	}
	stored := fake.NewClientBuilder().WithScheme(types).WithObjects(garden...).Build()
	watched := interceptor.NewClient(stored, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.CreateOption) error {
			if err := count("create", object); err != nil {
				return err
			}
			return c.Create(ctx, object, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, opts ...client.UpdateOption) error {
			if err := count("update", object); err != nil {
				return err
			}
			return c.Update(ctx, object, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
			data, err := patch.Data(object)
			if err != nil {
				return err
			}
			if err := count("patch "+string(data), object); err != nil {
				return err
			}
			return c.Patch(ctx, object, patch, opts...)
		},
	})
	config := &gardenconfigv1alpha1.GardenletConfiguration{}
	config.SetDefaults()
	l.Reconciler = &shootstate.Reconciler{
		SeedBase: kit.SeedBase{
			GardenClient: watched, GardenReader: watched, SeedClient: fake.NewClientBuilder().WithScheme(types).WithObjects(seed...).Build(),
			Clock: l.clock, Recorder: l.events, SeedName: "one",
		},
		Config: config.Controllers.ShootState, Random: halfway,
	}
	return l
}

// seed is another seed in the place of the one that was there.
func (l *landscape) seed(objects ...client.Object) {
	l.SeedClient = fake.NewClientBuilder().WithScheme(l.GardenClient.Scheme()).WithObjects(objects...).Build()
}

// home is the namespace of the control plane.
func home() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: plane, Annotations: map[string]string{"shoot.gardener.cloud/uid": "uid-1"}}}
}

// pass makes one pass on the shoot, and returns when the next one comes.
func (l *landscape) pass() time.Duration {
	l.t.Helper()
	result, err := l.Reconcile(l.t.Context(), request())
	if err != nil {
		l.t.Fatal(err)
	}
	return result.RequeueAfter
}

// state is what is saved, or nil.
func (l *landscape) state() *gardencorev1beta1.ShootState {
	l.t.Helper()
	list := &gardencorev1beta1.ShootStateList{}
	if err := l.GardenClient.List(l.t.Context(), list); err != nil {
		l.t.Fatal(err)
	}
	if len(list.Items) == 0 {
		return nil
	}
	return &list.Items[0]
}

// event is the last event, or empty.
func (l *landscape) event() string {
	select {
	case e := <-l.events.Events:
		return e
	default:
		return ""
	}
}

func raw(t *testing.T, value any) runtime.RawExtension {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: data}
}

func request() reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "garden-meadow", Name: "sprout"}}
}

// stale is a cache that has not seen the last changes of a shoot.
type stale struct {
	client.Client

	shoot *gardencorev1beta1.Shoot
}

// Get implements client.Reader.
func (s stale) Get(ctx context.Context, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
	if o, ok := object.(*gardencorev1beta1.Shoot); ok {
		s.shoot.DeepCopyInto(o)
		return nil
	}
	return s.Client.Get(ctx, key, object, opts...)
}
