// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/build"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/gardenaccess"
	"github.com/terrarium-garden/terrarium/appliance/gardenlet/join"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// telling remembers what a join has told.
type telling struct {
	mu    sync.Mutex
	lines []string
}

func (l *telling) tell(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *telling) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

// joinOptions are those of an operator who joins the nursery's cluster by hand.
func (n *nursery) joinOptions(token string) join.Options {
	return join.Options{
		Server: n.garden.Server, Token: token, SeedKubeconfig: n.seed.Kubeconfig,
		Name: "one", Provider: "local", Region: "north", Pods: "10.1.0.0/16", Services: "10.2.0.0/16",
		Mode: join.ModeProcess, Timeout: harness.Patience,
	}
}

func (n *nursery) joinSurroundings(told *telling) join.Surroundings {
	return join.Surroundings{Tell: told.tell, Clock: realClock(), UserAgent: "test", RunGardenlet: n.runFrom}
}

// runFrom is the gardenlet of a process that joins.
func (n *nursery) runFrom(ctx context.Context, data []byte) error {
	config, err := gardenconfigv1alpha1.DecodeGardenletConfiguration(data)
	if err != nil {
		return err
	}
	config.Server.HealthProbes.Port, config.Server.Metrics.Port = 0, 0
	completed, err := gardenlet.Options{
		Config: config, Log: testr.New(n.t), Version: "v0.0.0-test", APILevel: build.GardenerAPILevel,
	}.Complete()
	if err != nil {
		return err
	}
	return completed.Run(ctx)
}

// inventory lists what a join could have left in the cluster.
func (n *nursery) inventory() []string {
	n.t.Helper()
	var found []string
	for kind, list := range map[string]client.ObjectList{
		"Secret": &corev1.SecretList{}, "ConfigMap": &corev1.ConfigMapList{}, "ServiceAccount": &corev1.ServiceAccountList{},
		"Namespace": &corev1.NamespaceList{}, "ClusterRoleBinding": &rbacv1.ClusterRoleBindingList{},
	} {
		if err := n.seed.Client.List(n.t.Context(), list); err != nil {
			n.t.Fatal(err)
		}
		data, err := json.Marshal(list)
		if err != nil {
			n.t.Fatal(err)
		}
		partial := &metav1.PartialObjectMetadataList{}
		if err := json.Unmarshal(data, partial); err != nil {
			n.t.Fatal(err)
		}
		for _, item := range partial.Items {
			// The loops of the cluster put these into every namespace in their own time.
			if item.Name != "default" && item.Name != "kube-root-ca.crt" {
				found = append(found, kind+" "+item.Namespace+"/"+item.Name)
			}
		}
	}
	slices.Sort(found)
	return found
}

func TestJoin(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	token := n.token(time.Hour)
	told := &telling{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- join.Run(ctx, n.joinOptions(token.String()), n.joinSurroundings(told), n.seed.Kubeconfig)
	}()
	n.await("the join tells that the seed is ready", func(context.Context) error {
		select {
		case err := <-done:
			done <- err
			t.Fatalf("Run(...) ended: %v\n%s", err, told.all())
		default:
		}
		return has(strings.Contains(told.all(), `Seed "one" is ready after`), "told so far:\n%s", told.all())
	})
	for _, line := range []string{
		"✓ Garden verified: its CA has the hash sha256:", `becomes seed "one"`, "✓ Gardenlet started in this process",
		"✓ Certificate issued and stored in the seed", "✓ Seed registered: one", "✓ Seed prepared", "✓ GardenletReady", "✓ SeedSystemComponentsHealthy",
	} {
		if strings.Count(told.all(), line) != 1 {
			t.Errorf("The join tells %q once:\n%s", line, told.all())
		}
	}
	if strings.Contains(told.all(), token.Secret) {
		t.Errorf("The join does not tell the secret:\n%s", told.all())
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("A gardenlet that was told to end is no failure: %v", err)
	}

	// The same seed may be joined again, for example after its token was lost.
	again := &telling{}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	ticket := n.token(time.Hour).String()
	go func() {
		done <- join.Run(ctx, n.joinOptions(ticket), n.joinSurroundings(again), n.seed.Kubeconfig)
	}()
	n.await("the seed joins again", func(context.Context) error {
		return has(strings.Contains(again.all(), `Seed "one" is ready after`), "told so far:\n%s", again.all())
	})
	cancel()
	if err := <-done; err != nil {
		t.Errorf("join again: %v", err)
	}
}

// TestJoinWithTheCAOfTheGarden joins with a token that pins nothing, as gardens of other makes give them.
func TestJoinWithTheCAOfTheGarden(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	told := &telling{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	o := n.joinOptions(n.token(time.Hour).BootstrapToken())
	o.GardenCA = n.garden.CA
	go func() { done <- join.Run(ctx, o, n.joinSurroundings(told), n.seed.Kubeconfig) }()
	n.await("the seed joins", func(context.Context) error {
		return has(strings.Contains(told.all(), `Seed "one" is ready after`), "told so far:\n%s", told.all())
	})
	if want := "✓ Garden verified: its certificate is signed by the CA in --garden-ca-file"; !strings.Contains(told.all(), want) {
		t.Errorf("The join tells %q:\n%s", want, told.all())
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run(...): %v", err)
	}
}

// TestJoinAsksForNoCAThatItWasGiven stands for a garden that publishes none.
func TestJoinAsksForNoCAThatItWasGiven(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	target, err := url.Parse(n.garden.Server)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(n.garden.CA)
	garden := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}},
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == identity.CAPath {
			http.NotFound(w, r)
			return
		}
		garden.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	o := n.joinOptions(n.token(time.Hour).BootstrapToken())
	o.Server, o.Mode = server.URL, join.ModeDeployment
	o.GardenCA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if _, err := join.Manifests(t.Context(), o, n.joinSurroundings(&telling{})); err != nil {
		t.Errorf("Manifests(...): %v", err)
	}
	o.GardenCA, o.InsecureSkipCAVerification = nil, true
	if _, err := join.Manifests(t.Context(), o, n.joinSurroundings(&telling{})); err == nil {
		t.Error("a garden that publishes no CA was joined without one")
	}
}

// TestJoinFails goes through everything that can be wrong with a join. Each time the cluster is left as it was.
//
//nolint:tparallel // all of them join the same cluster
func TestJoinFails(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	good := n.token(time.Hour)
	expired := n.token(-time.Minute)
	foreign := n.garden.seed("taken", "local", "north")
	n.garden.changeStatus(foreign, func() { foreign.Status.ClusterIdentity = new("somebody-else") })
	impostor := impostor(t, n.garden.CA)
	cases := map[string]struct {
		reason string
		change func(o *join.Options)
		want   error
		text   string
	}{
		"Malformed": {reason: "a malformed token", change: func(o *join.Options) { o.Token = "T10rubbish" }, want: identity.ErrMalformedToken},
		"Unpinned":  {reason: "a token without a hash", change: func(o *join.Options) { o.Token = good.BootstrapToken() }, want: identity.ErrUnpinned},
		"Unknown": {
			reason: "a token that the garden does not know", change: func(o *join.Options) { o.Token = unknownToken(n).String() }, want: join.ErrToken,
		},
		"Expired": {reason: "a token that has expired", change: func(o *join.Options) { o.Token = expired.String() }, want: join.ErrToken},
		"WrongHash": {
			reason: "a token of another garden",
			change: func(o *join.Options) { o.Token = identity.NewJoinToken(strings.Repeat("0", 64)).String() },
			want:   identity.ErrCAMismatch, text: "hash",
		},
		"Impostor": {
			reason: "a server that shows the garden's CA and has another certificate",
			change: func(o *join.Options) { o.Server = impostor },
			want:   identity.ErrServerCertificate,
		},
		"CAFileOfOthers": {
			reason: "a file with another CA than the garden's",
			change: func(o *join.Options) { o.Token, o.GardenCA = good.BootstrapToken(), n.seed.CA },
			want:   gardenaccess.ErrOtherServer,
		},
		"CAFileAndHash": {
			reason: "a file with another CA than the token pins",
			change: func(o *join.Options) { o.GardenCA = n.seed.CA },
			want:   identity.ErrCAMismatch, text: "--garden-ca-file",
		},
		"NobodyThere": {
			reason: "a garden that cannot be reached", change: func(o *join.Options) { o.Server = "https://127.0.0.1:1" },
			want: gardenaccess.ErrUnreachable, text: "127.0.0.1:1",
		},
		"NoKubeconfig": {reason: "a kubeconfig that is not there", change: func(o *join.Options) { o.SeedKubeconfig = "/nowhere" }, text: "/nowhere"},
		"SeedAway":     {reason: "a cluster that cannot be reached", change: func(o *join.Options) { o.SeedKubeconfig = kubeconfigTo(t, n, "https://127.0.0.1:1", "") }, want: join.ErrSeedUnreachable},
		"SeedStranger": {reason: "a kubeconfig that the cluster does not know", change: func(o *join.Options) { o.SeedKubeconfig = kubeconfigTo(t, n, "", "nobody") }, want: join.ErrSeedUnreachable},
		"NotTold":      {reason: "networks that nobody tells", change: func(o *join.Options) { o.Pods = "" }, text: "--pods: required"},
		"NameTaken": {
			reason: "a name that another cluster has", change: func(o *join.Options) { o.Name = "taken" }, text: `seed "taken" already exists`,
		},
		"NameTakenOver": {
			reason: "a name that another cluster has, with a token that replaces its certificate",
			change: func(o *join.Options) { o.Name, o.Token = "taken", n.token(time.Hour, renewing("taken")).String() },
			text:   `seed "taken" belongs to the cluster with identity "somebody-else"`,
		},
		"NoDeployments": {
			reason: "a cluster that cannot run a gardenlet", change: func(o *join.Options) { o.Mode = join.ModeDeployment }, text: "Deployment",
		},
	}
	for name, tc := range cases { //nolint:paralleltest // see above
		t.Run(name, func(t *testing.T) {
			n := &nursery{t: t, garden: n.garden.in(t), seed: n.seed.in(t)}
			before := n.inventory()
			o := n.joinOptions(good.String())
			tc.change(&o)
			told := &telling{}
			err := join.Run(t.Context(), o, n.joinSurroundings(told), o.SeedKubeconfig)
			if err == nil || (tc.want != nil && !errors.Is(err, tc.want)) || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("%s\nRun(...): got error %v, want %v with %q\n%s", tc.reason, err, tc.want, tc.text, told.all())
			}
			if strings.Contains(told.all()+err.Error(), good.Secret) {
				t.Errorf("%s\nthe secret of the token is told: %v\n%s", tc.reason, err, told.all())
			}
			if diff := cmp.Diff(before, n.inventory()); diff != "" {
				t.Errorf("%s\nthe cluster is left as it was (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// impostor is a server that publishes the CA of a garden and cannot prove to be it.
func impostor(t *testing.T, ca []byte) string {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, err := w.Write(ca); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// kubeconfigTo is a kubeconfig of the cluster with another server or a token.
func kubeconfigTo(t *testing.T, n *nursery, server, token string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(n.seed.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, cluster := range config.Clusters {
		if server != "" {
			cluster.Server = server
		}
	}
	for _, user := range config.AuthInfos {
		if token != "" {
			user.ClientCertificateData, user.ClientKeyData, user.Token = nil, nil, token
		}
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestJoinDropsCredentialsOfAnotherGarden moves a cluster from one garden to another.
func TestJoinDropsCredentialsOfAnotherGarden(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	other := harness.Start(t)
	material := gardenaccess.Material{Server: other.Server, CA: other.CA, Token: "something"}
	kubeconfig, err := material.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	n.seed.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "gardenlet-kubeconfig"}, Data: map[string][]byte{"kubeconfig": kubeconfig},
	})
	told := &telling{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	ticket := n.token(time.Hour).String()
	go func() {
		done <- join.Run(ctx, n.joinOptions(ticket), n.joinSurroundings(told), n.seed.Kubeconfig)
	}()
	n.await("the seed joins this garden", func(context.Context) error {
		return has(strings.Contains(told.all(), `Seed "one" is ready after`), "told so far:\n%s", told.all())
	})
	if want := "Credentials of an earlier join removed: they are for the garden at " + other.Server; !strings.Contains(told.all(), want) {
		t.Errorf("The join tells %q:\n%s", want, told.all())
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run(...): %v", err)
	}
}

func TestJoinManifests(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	before := n.inventory()
	o := n.joinOptions(n.token(time.Hour).String())
	o.Mode, o.Image, o.ImageVector = join.ModeDeployment, "example.org/terrarium:v9", "images: []\n"
	data, err := join.Manifests(t.Context(), o, n.joinSurroundings(&telling{}))
	if err != nil {
		t.Fatalf("Manifests(...): %v", err)
	}
	var kinds []string
	for document := range strings.SplitSeq(strings.TrimPrefix(string(data), "---\n"), "\n---\n") {
		object := &metav1.PartialObjectMetadata{}
		if err := yaml.Unmarshal([]byte(document), object); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, object.Kind+" "+object.Namespace+"/"+object.Name)
	}
	want := []string{
		"Namespace /garden", "ConfigMap garden/gardenlet-configmap", "ConfigMap garden/gardenlet-imagevector-overwrite",
		"Secret garden/gardenlet-kubeconfig-bootstrap", "Deployment garden/gardenlet", "ServiceAccount garden/gardenlet",
		"ClusterRoleBinding /gardener.cloud:system:gardenlet",
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("Manifests(...) (-want +got):\n%s", diff)
	}
	if !strings.Contains(string(data), "image: example.org/terrarium:v9") {
		t.Error("The image of the options is taken")
	}
	surroundings := n.joinSurroundings(&telling{})
	var checked []byte
	refusal := errors.New("there is another file")
	surroundings.CheckConfig = func(config []byte) error {
		checked = config
		return refusal
	}
	o.Mode = join.ModeProcess
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
	defer cancel()
	if err := join.Run(ctx, o, surroundings, n.seed.Kubeconfig); !errors.Is(err, refusal) || !strings.Contains(string(checked), "name: one") {
		t.Errorf("The configuration is checked before anything changes.\nRun(...): got error %v, want %v\n%s", err, refusal, checked)
	}
	if diff := cmp.Diff(before, n.inventory()); diff != "" {
		t.Errorf("Nothing is made in the cluster (-want +got):\n%s", diff)
	}
}

// TestJoinRefusesOtherSeed makes sure that a cluster does not become two seeds.
func TestJoinRefusesOtherSeed(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	n.seed.create(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "gardenlet-configmap"},
		Data:       map[string]string{"config.yaml": "seedConfig: {metadata: {name: two}}"},
	})
	err := join.Run(t.Context(), n.joinOptions(n.token(time.Hour).String()), n.joinSurroundings(&telling{}), n.seed.Kubeconfig)
	if !errors.Is(err, join.ErrOtherSeed) || !strings.Contains(err.Error(), `"two"`) {
		t.Errorf("Run(...): got error %v, want %v that names the seed", err, join.ErrOtherSeed)
	}
	n.garden.absent(&gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "one"}}, "no second seed is registered")
}

// joinOnce joins as a process, and stops the gardenlet once the seed is ready.
func (n *nursery) joinOnce(o join.Options) {
	n.t.Helper()
	told := &telling{}
	ctx, cancel := context.WithCancel(n.t.Context())
	done := make(chan error, 1)
	go func() { done <- join.Run(ctx, o, n.joinSurroundings(told), n.seed.Kubeconfig) }()
	n.await("the seed joins", func(context.Context) error {
		return has(strings.Contains(told.all(), "is ready after"), "told so far:\n%s", told.all())
	})
	cancel()
	if err := <-done; err != nil {
		n.t.Fatalf("Run(...): %v", err)
	}
}

// TestFailedJoinKeepsEarlierCredentials joins a seed again in a way that fails. The gardenlet that was there before has its certificate and
// its lease nevertheless.
func TestFailedJoinKeepsEarlierCredentials(t *testing.T) {
	t.Parallel()
	n := newNursery(t)
	n.joinOnce(n.joinOptions(n.token(time.Hour).String()))
	before := n.inventory()
	o := n.joinOptions(n.token(time.Hour).String())
	o.Mode = join.ModeDeployment // The cluster has no Deployments.
	if err := join.Run(t.Context(), o, n.joinSurroundings(&telling{}), ""); err == nil || !strings.Contains(err.Error(), "Deployment") {
		t.Fatalf("Run(...): got error %v, want one about the Deployment", err)
	}
	if diff := cmp.Diff(before, n.inventory()); diff != "" {
		t.Errorf("What another join has made stays (-want +got):\n%s", diff)
	}
	if err := n.seed.Client.Get(t.Context(), client.ObjectKey{Namespace: "garden", Name: "gardenlet-leader-election"}, &coordinationv1.Lease{}); err != nil {
		t.Errorf("So does the lease: %v", err)
	}
}
