// SPDX-License-Identifier: Apache-2.0

package extensionwebhook_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/namespace"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/extension/crds"
	"github.com/terrarium-garden/terrarium/controllers/extension/webhook"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/controllerinstallation"
	"github.com/terrarium-garden/terrarium/controllers/reach"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager"
	"github.com/terrarium-garden/terrarium/tests/badge"
	"github.com/terrarium-garden/terrarium/tests/harness"
	"github.com/terrarium-garden/terrarium/tests/kubeapi"
)

const (
	// ours is the namespace of a shoot of the extension's provider type, others that of a shoot of another one. In unmarked, which is one
	// of ours, objects have no label.
	ours, others, unmarked = "shoot--dev--a", "shoot--dev--b", "shoot--dev--c"
	// home is the namespace of the extension.
	home = "extension-provider-badge-x"
	day  = 24 * time.Hour
)

// stage is a seed with two shoots, one of which has an API server, a resource manager, and what a gardenlet writes with.
type stage struct {
	t           *testing.T
	seed, shoot *kubeapi.Server
	gardenlet   deploy.Engine
	clock       *harness.Clock
	address     *webhook.Address
}

func newStage(t *testing.T) *stage {
	t.Helper()
	ctrl.SetLogger(testr.New(t))
	program := kubeapi.Build(t, filepath.Join("..", "..", ".."))
	s := &stage{t: t, seed: program.Start(t), shoot: program.Start(t)}
	s.gardenlet = deploy.Engine{Client: s.seed.Client, Owner: "gardenlet", Clock: clock.RealClock{}}
	// Certificates of this clock's time are valid now as well, since API servers have no other clock.
	s.clock = harness.NewClockAt(t, time.Now().Add(-25*day))
	s.address = &webhook.Address{Host: "127.0.0.1", SeedPort: free(t), ShootPort: free(t)}
	definitions, err := crds.Objects()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.gardenlet.Apply(t.Context(), definitions...), s.gardenlet.WaitReady(t.Context(), definitions...)); err != nil {
		t.Fatal(err)
	}
	s.apply(namespaceOf(ours, badge.Type)...)
	s.apply(namespaceOf(others, "other")...)
	s.apply(namespaceOf(unmarked, badge.Type)...)
	s.apply(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: home, Labels: map[string]string{"gardener.cloud/role": "extension"}}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ours, Name: "shoot-access-gardener-resource-manager"}, Data: map[string][]byte{"kubeconfig": s.shoot.Kubeconfig}},
	)
	s.install()
	s.manageResources()
	return s
}

// namespaceOf is the namespace of a shoot of a provider type, as a gardenlet makes it.
func namespaceOf(name, provider string) []client.Object {
	f := facts.Shoot{Namespace: name, Shoot: &gardencorev1beta1.Shoot{}, Seed: &gardencorev1beta1.Seed{}}
	f.Shoot.Spec.Provider.Type, f.Seed.Spec.Provider.Type, f.Shoot.Status.UID = provider, "local", "u"
	return namespace.Render(f, false)
}

func free(t *testing.T) int {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return port
}

func (s *stage) apply(objects ...client.Object) {
	s.t.Helper()
	if err := s.gardenlet.Apply(s.t.Context(), objects...); err != nil {
		s.t.Fatal(err)
	}
}

// run runs a part of the seed, and returns a function that stops it and waits.
func (s *stage) run(what string, start func(ctx context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.t.Context()))
	done := make(chan error, 1)
	go func() { done <- start(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			s.t.Errorf("%s: %v", what, err)
		}
	}
	s.t.Cleanup(stop)
	return stop
}

func (s *stage) manageResources() {
	s.t.Helper()
	denied, err := reach.SeedNamespaces()
	if err != nil {
		s.t.Fatal(err)
	}
	s.run("resource manager", func(ctx context.Context) error {
		return resourcemanager.Run(ctx, resourcemanager.Options{Seed: s.seed.Config, SyncPeriod: time.Second, PolicyNamespaces: denied, Log: testr.New(s.t)})
	})
}

// extension runs the extension on the clock of the stage, and returns what keeps its webhooks, and how to stop it.
func (s *stage) extension() (*webhook.Keeper, func()) {
	s.t.Helper()
	mgr, err := ctrl.NewManager(s.asExtension(), ctrl.Options{
		Scheme: s.seed.Scheme, Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0", Logger: testr.New(s.t),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	keeper := &webhook.Keeper{Set: badge.Webhooks(), Clock: s.clock, Home: webhook.Home{Namespace: home, Service: badge.Extension, Address: s.address}}
	if err := keeper.AddToManager(mgr); err != nil {
		s.t.Fatal(err)
	}
	stop := s.run("extension", mgr.Start)
	s.eventually("the extension is ready", func(context.Context) error { return keeper.Ready(nil) })
	return keeper, stop
}

// asExtension is how the extension reaches the seed: with the account of its chart.
func (s *stage) asExtension() *rest.Config {
	config := rest.CopyConfig(s.seed.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + home + ":badge", Groups: []string{"system:serviceaccounts", "system:authenticated"}}
	return config
}

// install applies what the gardenlet installs of the extension: its rights, as docs/extensions.md lists them, and the fence around its
// webhooks.
func (s *stage) install() {
	s.t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "extensions.gardener.cloud:provider-badge"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"admissionregistration.k8s.io"}, Resources: []string{"mutatingwebhookconfigurations"}, Verbs: []string{"create", "patch", "delete"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "list", "create", "patch", "update", "delete"}},
		{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get"}},
		{APIGroups: []string{"resources.gardener.cloud"}, Resources: []string{"managedresources"}, Verbs: []string{"get", "list", "create", "patch", "delete"}},
	}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: home, Name: "badge"}},
	}
	registration := &gardencorev1beta1.ControllerRegistration{Spec: gardencorev1beta1.ControllerRegistrationSpec{Resources: []gardencorev1beta1.ControllerResource{
		{Kind: "ControlPlane", Type: badge.Type}, {Kind: "Infrastructure", Type: badge.Type},
	}}}
	installation := &gardencorev1beta1.ControllerInstallation{ObjectMeta: metav1.ObjectMeta{Name: strings.TrimPrefix(home, "extension-")}}
	fence, err := controllerinstallation.Fence(installation, registration)
	if err != nil {
		s.t.Fatal(err)
	}
	s.apply(append(fence, role, binding)...)
}

func (s *stage) eventually(what string, check func(ctx context.Context) error) {
	s.t.Helper()
	harness.Eventually(s.t, what, check)
}

// rendered are the objects of an API server as the gardenlet renders them, in a namespace.
func (s *stage) rendered(namespace string) []client.Object {
	s.t.Helper()
	file, err := os.ReadFile(filepath.Join("..", "..", "..", "controllers", "component", "apiserver", "testdata", "default.yaml"))
	if err != nil {
		s.t.Fatal(err)
	}
	var found []client.Object
	for reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(file))); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return found
		}
		deployment := &appsv1.Deployment{}
		if err := errors.Join(err, yaml.Unmarshal(document, deployment)); err != nil || deployment.Kind != "Deployment" {
			continue
		}
		deployment.Namespace = namespace
		found = append(found, deployment)
	}
}

// apiServer is the Deployment of the API server of a shoot, as it is stored.
func (s *stage) apiServer(namespace string) *appsv1.Deployment {
	s.t.Helper()
	d := &appsv1.Deployment{}
	if err := s.seed.Client.Get(s.t.Context(), client.ObjectKey{Namespace: namespace, Name: "kube-apiserver"}, d); err != nil {
		s.t.Fatal(err)
	}
	return d
}

// trusted are the certificates of the authorities that an API server trusts for the webhooks, the newest first.
func trusted(ctx context.Context, c client.Client, name string) ([]string, error) {
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{}
	if err := c.Get(ctx, client.ObjectKey{Name: name}, configuration); err != nil {
		return nil, err
	}
	var blocks []string
	for rest := configuration.Webhooks[0].ClientConfig.CABundle; ; {
		block, more := pem.Decode(rest)
		if block == nil {
			return blocks, nil
		}
		blocks, rest = append(blocks, fmt.Sprintf("%x", block.Bytes[len(block.Bytes)-8:])), more
	}
}
