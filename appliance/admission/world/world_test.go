// SPDX-License-Identifier: Apache-2.0

package world_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapiserver "k8s.io/apiserver/pkg/server"
	clientrest "k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

var errBoom = errors.New("boom")

// server answers by path and notes what it was asked.
type server struct {
	mutex   sync.Mutex
	answers map[string]any
	asked   []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.asked = append(s.asked, r.URL.String())
	answer, found := s.answers[r.URL.Path]
	w.Header().Set("Content-Type", "application/json")
	if !found {
		status := apierrors.NewNotFound(gardencorev1beta1.Resource("things"), "it").ErrStatus
		w.WriteHeader(http.StatusNotFound)
		answer = status
	}
	if answer == nil {
		w.WriteHeader(http.StatusTooManyRequests)
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	if _, err := w.Write(raw); err != nil {
		panic(err)
	}
}

func kubeTyped(kind string, object any) any {
	content, _ := typed(kind, object).(map[string]any)
	content["apiVersion"] = "v1"
	return content
}

func typed(kind string, object any) any {
	raw, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	var content map[string]any
	if err := json.Unmarshal(raw, &content); err != nil {
		panic(err)
	}
	content["apiVersion"], content["kind"] = "core.gardener.cloud/v1beta1", kind
	return content
}

func connect(t *testing.T, answers map[string]any, a authorizer.Authorizer) (*world.World, *server) {
	t.Helper()
	s := &server{answers: answers}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	w, err := world.New(world.Access{Clock: clock.RealClock{}, Config: &clientrest.Config{Host: h.URL}, Authorizer: a})
	if err != nil {
		t.Fatal(err)
	}
	return w, s
}

const garden = "/apis/core.gardener.cloud/v1beta1"

func TestLoopback(t *testing.T) {
	t.Parallel()
	onA := func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("a") }
	shoots := gardencorev1beta1.ShootList{Items: []gardencorev1beta1.Shoot{*admissiontest.Shoot(onA), *admissiontest.Shoot(onA, func(s *gardencorev1beta1.Shoot) { s.Name = "b" })}}
	w, s := connect(t, map[string]any{
		garden + "/seeds/a":                       typed("Seed", admissiontest.Seed("a")),
		garden + "/cloudprofiles/local":           typed("CloudProfile", admissiontest.Profile()),
		garden + "/projects":                      typed("ProjectList", gardencorev1beta1.ProjectList{Items: []gardencorev1beta1.Project{*admissiontest.Project()}}),
		garden + "/shoots":                        typed("ShootList", shoots),
		garden + "/namespaces/n/shoots":           typed("ShootList", shoots),
		"/api/v1/namespaces/n/secrets/s":          metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "s"}},
		garden + "/namespaces/n/secretbindings/b": typed("SecretBinding", admissiontest.Binding()),
		garden + "/controllerregistrations":       typed("ControllerRegistrationList", gardencorev1beta1.ControllerRegistrationList{Items: []gardencorev1beta1.ControllerRegistration{*admissiontest.Registration("local")}}),
	}, nil)
	ctx := t.Context()
	cached, fresh := w.Cached(), w.Fresh()
	seed, err := cached.Seed(ctx, "a")
	check(t, "a seed", err, seed.Name == "a")
	profile, err := fresh.CloudProfile(ctx, "local")
	check(t, "a profile", err, profile.Name == "local")
	binding, err := cached.SecretBinding(ctx, "n", "b")
	check(t, "a binding", err, binding.Name == "local")
	project, err := cached.Project(ctx, "garden-meadow")
	check(t, "the project of a namespace", err, project.Name == "meadow")
	some, err := fresh.Shoots(ctx, "n", fields.Everything())
	check(t, "shoots of a namespace", err, len(some) == 2)
	names, err := cached.ShootsOn(ctx, "a")
	check(t, "the names of shoots on a seed, sorted", err, slices.Equal(names, []string{"garden-meadow/b", "garden-meadow/sprout"}))
	names, err = fresh.ShootsOn(ctx, "b")
	check(t, "all shoots are listed once", err, len(names) == 0)
	registrations, err := fresh.ControllerRegistrations(ctx)
	check(t, "registrations", err, len(registrations) == 1)
	secret, err := fresh.Metadata(ctx, world.Target{Version: "v1", Resource: "secrets", Namespace: "n", Name: "s"})
	check(t, "metadata of anything", err, secret.Name == "s")

	want := []string{
		garden + "/seeds/a?resourceVersion=0",
		garden + "/cloudprofiles/local",
		garden + "/namespaces/n/secretbindings/b?resourceVersion=0",
		garden + "/projects?fieldSelector=spec.namespace%3Dgarden-meadow&resourceVersion=0",
		garden + "/namespaces/n/shoots",
		garden + "/shoots",
		garden + "/controllerregistrations",
		"/api/v1/namespaces/n/secrets/s",
	}
	if diff := cmp.Diff(want, s.asked); diff != "" {
		t.Errorf("API-ADM-7: cached views cost little (-want +got):\n%s", diff)
	}
}

func check(t *testing.T, what string, err error, is bool) {
	t.Helper()
	if err != nil || !is {
		t.Errorf("%s: %v, %t", what, err, is)
	}
}

func TestLoopbackErrors(t *testing.T) {
	t.Parallel()
	w, _ := connect(t, map[string]any{garden + "/seeds/busy": nil, garden + "/seeds/odd": typed("Project", admissiontest.Project())}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := w.Fresh().Seed(ctx, "gone"); !apierrors.IsNotFound(err) || errors.Is(err, world.ErrUnreadable) {
		t.Errorf("what is missing is missing: %v", err)
	}
	if _, err := w.Fresh().Metadata(ctx, world.Target{Group: "play", Version: "v1", Resource: "toys", Namespace: "n", Name: "../../seeds/busy"}); err == nil || apierrors.IsNotFound(err) {
		t.Errorf("a name is no path: %v", err)
	}
	if _, err := w.Fresh().Seed(ctx, "odd"); !errors.Is(err, world.ErrUnreadable) {
		t.Errorf("another kind is not what was asked for: %v", err)
	}
	cancel()
	if _, err := w.Fresh().Seed(ctx, "busy"); !errors.Is(err, world.ErrUnreadable) {
		t.Errorf("what cannot be read is told apart: %v", err)
	}
}

func TestMay(t *testing.T) {
	t.Parallel()
	var asked authorizer.Attributes
	w, _ := connect(t, nil, authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		asked = a
		if a.GetUser().GetName() == "broken" {
			return authorizer.DecisionNoOpinion, "", errBoom
		}
		if a.GetUser().GetName() == "rose" {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionDeny, "", nil
	}))
	target := world.Target{Group: "core.gardener.cloud", Resource: "shoots", Subresource: "binding", Namespace: "n", Name: "s"}
	if may, err := w.May(t.Context(), &user.DefaultInfo{Name: "rose"}, "update", target); !may || err != nil {
		t.Errorf("who may may: %t, %v", may, err)
	}
	got := []string{asked.GetVerb(), asked.GetAPIGroup(), asked.GetResource(), asked.GetSubresource(), asked.GetNamespace(), asked.GetName()}
	if diff := cmp.Diff([]string{"update", "core.gardener.cloud", "shoots", "binding", "n", "s"}, got); diff != "" || !asked.IsResourceRequest() {
		t.Errorf("the question is about the object (-want +got):\n%s", diff)
	}
	if may, err := w.May(t.Context(), &user.DefaultInfo{Name: "bob"}, "update", target); may || err != nil {
		t.Errorf("who may not may not: %t, %v", may, err)
	}
	if _, err := w.May(t.Context(), &user.DefaultInfo{Name: "broken"}, "update", target); !errors.Is(err, errBoom) {
		t.Errorf("an error is no answer: %v", err)
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	a := admission.NewAttributesRecord(admissiontest.Shoot(), nil, gardencorev1beta1.GroupVersion.WithKind("Shoot"), "n", "s",
		gardencorev1beta1.GroupVersion.WithResource("shoots"), "", admission.Create, nil, false, nil)
	for name, tc := range map[string]struct {
		reason  string
		answers []error
		asked   int
		is      func(error) bool
	}{
		"API-ADM-7 content": {"a content rule looks once", []error{nil}, 1, func(err error) bool { return err == nil }},
		"API-ADM-7 late":    {"what came a moment ago is seen", []error{errBoom, nil}, 2, func(err error) bool { return err == nil }},
		"API-ADM-7 refused": {"a refusal is a refusal", []error{errBoom, errBoom}, 2, func(err error) bool { return apierrors.IsForbidden(err) }},
		"API-ADM-7 broken":  {"what cannot be read is none", []error{errBoom, errors.Join(errBoom, world.ErrUnreadable)}, 2, apierrors.IsInternalError},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, asked := world.From(nil, nil, clock.RealClock{}), 0
			err := w.Decide(a, func(world.View) error {
				asked++
				return tc.answers[asked-1]
			})
			if asked != tc.asked || !tc.is(err) {
				t.Errorf("%s: asked %d times, got %v", tc.reason, asked, err)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	gone := apierrors.NewNotFound(gardencorev1beta1.Resource("seeds"), "a")
	for name, tc := range map[string]struct {
		given error
		want  string
	}{
		"none":    {nil, ""},
		"missing": {gone, `spec.seedName: Seed "a" does not exist; create it first or name another`},
		"other":   {errBoom, `spec.seedName: read Seed "a": boom`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := world.Missing(tc.given, "spec.seedName", "Seed", "a"); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("the message says what to do (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStores reads through the stores that a server serves.
func TestStores(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, admissiontest.Project(), admissiontest.Seed("a"), admissiontest.Profile(), admissiontest.Binding(),
		admissiontest.Registration("local"), admissiontest.Shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("a") }))
	g.AddForeign("v1 secrets n/s")
	ctx := t.Context()
	for name, view := range map[string]world.View{"fresh": g.World.Fresh(), "cached": g.World.Cached()} {
		seed, err := view.Seed(ctx, "a")
		check(t, name+" seed", err, seed.Name == "a")
		profile, err := view.CloudProfile(ctx, "local")
		check(t, name+" profile", err, profile.Name == "local")
		binding, err := view.SecretBinding(ctx, admissiontest.Namespace, "local")
		check(t, name+" binding", err, binding.Name == "local")
		project, err := view.Project(ctx, admissiontest.Namespace)
		check(t, name+" project", err, project.Name == "meadow")
		none, err := view.ProjectOf(ctx, "default")
		check(t, name+" no project", err, none == nil)
		names, err := view.ShootsOn(ctx, "a")
		check(t, name+" shoots on a seed", err, slices.Equal(names, []string{"garden-meadow/sprout"}))
		names, err = view.ShootsOn(ctx, "b")
		check(t, name+" shoots on another", err, len(names) == 0)
		some, err := view.Shoots(ctx, admissiontest.Namespace, fields.OneTermEqualSelector("spec.cloudProfile.Name", "local"))
		check(t, name+" shoots", err, len(some) == 1)
		some, err = view.Shoots(ctx, "elsewhere", fields.Everything())
		check(t, name+" shoots of another namespace", err, len(some) == 0)
		registrations, err := view.ControllerRegistrations(ctx)
		check(t, name+" registrations", err, len(registrations) == 1)
		meta, err := view.Metadata(ctx, world.Target{Group: "core.gardener.cloud", Version: "v1beta1", Resource: "seeds", Name: "a"})
		check(t, name+" metadata", err, meta.Name == "a")
		meta, err = view.Metadata(ctx, world.Target{Version: "v1", Resource: "secrets", Namespace: "n", Name: "s"})
		check(t, name+" metadata of others", err, meta.Name == "s")
		_, err = view.Seed(ctx, "gone")
		check(t, name+" missing", nil, apierrors.IsNotFound(err))
		_, err = view.Project(ctx, "default")
		check(t, name+" no project", nil, err != nil)
	}
}

// TestStoresKeepOthers asks elsewhere for what the stores do not have.
func TestStoresKeepOthers(t *testing.T) {
	t.Parallel()
	w := world.From(fixed{}, nil, clock.RealClock{}, &genericapiserver.APIGroupInfo{})
	if _, err := w.Fresh().Seed(t.Context(), "a"); !errors.Is(err, errBoom) {
		t.Errorf("a resource without a store is read elsewhere: %v", err)
	}
	if _, err := w.Fresh().Shoots(t.Context(), "", fields.Everything()); !errors.Is(err, errBoom) {
		t.Errorf("a resource without a store is listed elsewhere: %v", err)
	}
}

// fixed is a source that always fails.
type fixed struct{ world.Source }

func (fixed) Get(context.Context, world.Place, string) (runtime.Object, error) { return nil, errBoom }

func (fixed) List(context.Context, world.Place, metav1.ListOptions) (runtime.Object, error) {
	return nil, errBoom
}
