// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/tests/hollow"
)

const sprout = "shoot--dev--sprout"

// hotbed is a seed with access to its shoots.
type hotbed struct {
	*kit.Shoots

	seed client.Client
}

func newHotbed(t *testing.T) *hotbed {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	seed := fake.NewClientBuilder().WithScheme(types).Build()
	return &hotbed{seed: seed, Shoots: &kit.Shoots{Seed: seed, Scheme: types}}
}

// admit writes the access to a shoot anew.
func (h *hotbed) admit(t *testing.T, kubeconfig []byte) {
	t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: sprout, Name: "gardener"}, Data: map[string][]byte{"kubeconfig": kubeconfig}}
	if err := client.IgnoreNotFound(h.seed.Delete(t.Context(), secret)); err != nil {
		t.Fatal(err)
	}
	if err := h.seed.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
}

func (h *hotbed) get(t *testing.T, namespace string) *kit.Shoot {
	t.Helper()
	shoot, err := h.Get(t.Context(), namespace)
	if err != nil {
		t.Fatalf("Get(%q) = %v", namespace, err)
	}
	return shoot
}

func kubeconfig(t *testing.T, server *hollow.Server, token string) []byte {
	t.Helper()
	data, err := server.Kubeconfig(token)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func listNodes(t *testing.T, shoot client.Reader) {
	t.Helper()
	nodes := &corev1.NodeList{}
	if err := shoot.List(t.Context(), nodes); err != nil || len(nodes.Items) != 1 {
		t.Fatalf("List(nodes) = %v with %d nodes, want one node", err, len(nodes.Items))
	}
}

// closesAll waits until the server has no connection any more.
func closesAll(t *testing.T, server *hollow.Server) {
	t.Helper()
	if err := server.AwaitOpen(t.Context(), 0); err != nil {
		t.Error(err)
	}
}

func TestShootsOneConnectionAndOneDiscovery(t *testing.T) {
	t.Parallel()
	h, server := newHotbed(t), hollow.Run(t, "a", corev1.Node{})
	h.admit(t, kubeconfig(t, server, "a"))
	for range 3 {
		shoot := h.get(t, sprout)
		if status, err := shoot.Healthz(t.Context()); status != http.StatusOK {
			t.Errorf("Healthz() = %d, %v, want 200", status, err)
		}
		listNodes(t, shoot)
	}
	if diff := cmp.Diff(hollow.Counts{Connections: 1, Open: 1, Requests: 8, Discoveries: 2}, server.Counts()); diff != "" {
		t.Errorf("three visits of a shoot (-want +got):\n%s", diff)
	}
}

func TestShootsDiscoverAgainForUnknownKindOnly(t *testing.T) {
	t.Parallel()
	h, server := newHotbed(t), hollow.Run(t, "a", corev1.Node{})
	h.admit(t, kubeconfig(t, server, "a"))
	listNodes(t, h.get(t, sprout))
	before := server.Counts()
	unknown := &metav1.PartialObjectMetadataList{}
	unknown.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "WidgetList"})
	if err := h.get(t, sprout).List(t.Context(), unknown); !meta.IsNoMatchError(err) {
		t.Errorf("List(widgets) = %v, want no match", err)
	}
	if got := server.Counts().Since(before); got.Discoveries == 0 || got.Connections != 0 {
		t.Errorf("an unknown kind made %+v, want a discovery on the same connection", got)
	}
}

func TestShootsConcurrentGet(t *testing.T) {
	t.Parallel()
	h, server := newHotbed(t), hollow.Run(t, "a", corev1.Node{})
	h.admit(t, kubeconfig(t, server, "a"))
	got := make([]*kit.Shoot, 50)
	group := sync.WaitGroup{}
	for i := range got {
		group.Go(func() { got[i], _ = h.Get(t.Context(), sprout) })
	}
	group.Wait()
	for i, shoot := range got {
		if shoot == nil || shoot != got[0] {
			t.Fatalf("call %d of Get got a client of its own, or none", i)
		}
	}
}

func TestShootsCredentialsChange(t *testing.T) {
	t.Parallel()
	h, server := newHotbed(t), hollow.Run(t, "old", corev1.Node{})
	h.admit(t, kubeconfig(t, server, "old"))
	former := h.get(t, sprout)
	listNodes(t, former)

	server.Accept("new")
	h.admit(t, kubeconfig(t, server, "new"))
	next := h.get(t, sprout)
	if next == former || h.Len() != 1 {
		t.Fatalf("the client of the former credentials is still given out, or kept beside the new one (%d clients)", h.Len())
	}
	closesAll(t, server)
	listNodes(t, next)
	if got := server.Counts(); got.Refused != 0 {
		t.Errorf("%d requests were made with the former credentials", got.Refused)
	}
}

func TestShootsWithoutAccess(t *testing.T) {
	t.Parallel()
	h, server := newHotbed(t), hollow.Run(t, "a", corev1.Node{})
	if _, err := h.Get(t.Context(), sprout); !errors.Is(err, kit.ErrNoShootAccess) || !apierrors.IsNotFound(err) {
		t.Errorf("Get(...) = %v without a secret, want no access and not found", err)
	}
	h.admit(t, kubeconfig(t, server, "a"))
	listNodes(t, h.get(t, sprout))
	h.admit(t, nil)
	if _, err := h.Get(t.Context(), sprout); !errors.Is(err, kit.ErrNoShootAccess) || !strings.Contains(err.Error(), `shoot--dev--sprout/gardener" has no key "kubeconfig"`) {
		t.Errorf("Get(...) = %v for an empty secret, want no access and the name of the key", err)
	}
	closesAll(t, server)
	h.admit(t, []byte("{"))
	if _, err := h.Get(t.Context(), sprout); err == nil || errors.Is(err, kit.ErrNoShootAccess) || !strings.Contains(err.Error(), `key "kubeconfig" of secret "shoot--dev--sprout/gardener"`) {
		t.Errorf("Get(...) = %v for a broken kubeconfig, want an error that names the key and the secret", err)
	}
	if h.Len() != 0 {
		t.Errorf("%d clients are kept of shoots without access", h.Len())
	}
}

func TestShootsUnreadableSeedKeepsClient(t *testing.T) {
	t.Parallel()
	h, server := newHotbed(t), hollow.Run(t, "a", corev1.Node{})
	h.admit(t, kubeconfig(t, server, "a"))
	former := h.get(t, sprout)
	errBoom := errors.New("boom")
	h.Seed = interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errBoom
		},
	})
	if _, err := h.Get(t.Context(), sprout); !errors.Is(err, errBoom) || errors.Is(err, kit.ErrNoShootAccess) {
		t.Errorf("Get(...) = %v while the seed does not answer, want its error", err)
	}
	h.Seed = h.seed
	if h.get(t, sprout) != former {
		t.Error("a seed that did not answer for a while has cost the client of a shoot")
	}
}

func TestShootsDrop(t *testing.T) {
	t.Parallel()
	h, server := newHotbed(t), hollow.Run(t, "a", corev1.Node{})
	h.admit(t, kubeconfig(t, server, "a"))
	listNodes(t, h.get(t, sprout))
	h.Drop(sprout)
	h.Drop("shoot--dev--nobody")
	closesAll(t, server)
	if h.Len() != 0 {
		t.Errorf("%d clients are kept after the drop", h.Len())
	}
	listNodes(t, h.get(t, sprout))
}

// TestShootsFresh: what a client has looked up is not what a fresh one goes by.
func TestShootsFresh(t *testing.T) {
	t.Parallel()
	h, server := newHotbed(t), hollow.Run(t, "a", corev1.Node{})
	h.admit(t, kubeconfig(t, server, "a"))
	former := h.get(t, sprout)
	fresh, err := h.Fresh(t.Context(), sprout)
	if err != nil || fresh == former || h.get(t, sprout) != fresh {
		t.Errorf("Fresh(...) = %v, %v, want a new client that is kept", fresh, err)
	}
}

func TestShootsEndWithTheirManager(t *testing.T) {
	t.Parallel()
	h, server := newHotbed(t), hollow.Run(t, "a", corev1.Node{})
	h.admit(t, kubeconfig(t, server, "a"))
	listNodes(t, h.get(t, sprout))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := h.Start(ctx); err != nil {
		t.Errorf("Start(...) = %v", err)
	}
	closesAll(t, server)
}

// TestShootsLeave looks at which shoots are left after a time, without a network.
func TestShootsLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHotbed(t)
		const limit = 1000
		h.Connect = func([]byte) (*kit.Shoot, error) { return &kit.Shoot{}, nil }
		h.Seed = interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
			Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
				secret, _ := object.(*corev1.Secret)
				secret.Data = map[string][]byte{"kubeconfig": []byte("k")}
				return nil
			},
		})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { _ = h.Start(ctx) }()

		first := map[string]*kit.Shoot{}
		for _, name := range []string{"a", "b", "c"} {
			first[name] = h.get(t, name)
			time.Sleep(time.Second)
		}
		for i := range limit - 3 {
			h.get(t, fmt.Sprintf("other-%d", i))
		}
		h.get(t, "a")
		time.Sleep(time.Second)
		h.get(t, "d")
		if h.Len() != limit {
			t.Errorf("%d clients are kept, want the limit of %d", h.Len(), limit)
		}
		if h.get(t, "a") != first["a"] || h.get(t, "c") != first["c"] {
			t.Error("a client that was used later went before the oldest one")
		}
		time.Sleep(14 * time.Minute)
		h.get(t, "c")
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if h.Len() != 1 || h.get(t, "c") != first["c"] {
			t.Errorf("%d clients are left, want only the one that was in use", h.Len())
		}
	})
}
