// SPDX-License-Identifier: Apache-2.0

package defragment_test

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/etcd"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/resourcemanager/defragment"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const home = "shoot--dev--a"

// midnight is when the etcds of these tests are to be defragmented: their shoot has no window and no time of creation.
func midnight() time.Time { return time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC) }

func request() reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: home, Name: "etcd-main"}}
}

// stage is a seed with the StatefulSet of an etcd and its Secrets, as a gardenlet deploys them.
type stage struct {
	defragment.Reconciler

	seed    client.Client
	set     *appsv1.StatefulSet
	secrets map[string]component.Secret
}

func newStage(t *testing.T, now time.Time, members int32) *stage {
	t.Helper()
	seed, of, f := fake.NewClientBuilder().Build(), etcd.Component("main"), facts.Shoot{
		Namespace: home, Seed: &gardencorev1beta1.Seed{}, Shoot: &gardencorev1beta1.Shoot{},
	}
	requests, err := of.Secrets(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	manager, err := secrets.Load(t.Context(), secrets.Config{Client: seed, Namespace: home, Identity: "test", Clock: clocktesting.NewFakePassiveClock(time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	made, err := component.Obtain(t.Context(), manager, requests)
	if err != nil {
		t.Fatal(err)
	}
	objs, err := of.Render(f, &component.Inputs{Replicas: members, Images: map[string]string{"etcd": "etcd"}, Secrets: made})
	if err != nil {
		t.Fatal(err)
	}
	set, _ := objs[1].(*appsv1.StatefulSet)
	set.UID = "uid"
	if err := seed.Create(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	s := &stage{seed: seed, set: set, secrets: made}
	s.Client, s.Seed, s.Clock = seed, seed, clocktesting.NewFakeClock(now)
	return s
}

// change puts another StatefulSet in the place of the one that is there.
func (s *stage) change(t *testing.T, change func(*appsv1.StatefulSet)) {
	t.Helper()
	change(s.set)
	s.set.ResourceVersion = ""
	s.seed = fake.NewClientBuilder().WithObjects(s.set).Build()
	s.Client, s.Seed = s.seed, s.seed
}

// pod is that of a member at an address.
func (s *stage) pod(t *testing.T, name, address string) {
	t.Helper()
	host, number, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseInt(number, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	spec := *s.set.Spec.Template.Spec.DeepCopy()
	spec.Containers[0].Ports[0].ContainerPort = int32(port)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: name, Labels: s.set.Spec.Template.Labels, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "apps/v1", Kind: "StatefulSet", Name: s.set.Name, UID: s.set.UID, Controller: new(true)},
		}},
		Spec: spec, Status: corev1.PodStatus{PodIP: host},
	}
	if err := s.seed.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
}

// reconcile returns after which time the etcd is to be looked at again.
func (s *stage) reconcile(t *testing.T) time.Duration {
	t.Helper()
	result, err := s.Reconcile(t.Context(), request())
	if err != nil {
		t.Fatal(err)
	}
	return result.RequeueAfter
}

// store is a real etcd with the certificates of a stage.
type store struct {
	*clientv3.Client

	members []*embed.Etcd
	stops   []func()

	mu sync.Mutex
	// done are the names of the members that were defragmented.
	done []string
}

// newStore runs an etcd, and creates its pods.
func newStore(t *testing.T, s *stage, change func(*embed.Config)) *store {
	t.Helper()
	members := int(*s.set.Spec.Replicas)
	st, dir, clients, peers := &store{}, t.TempDir(), freeAddresses(t, members), freeAddresses(t, members)
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	serving := s.secrets["etcd-main-server"]
	certificate, key, authority := file("tls.crt", serving.Certificate), file("tls.key", serving.Key), file("ca.crt", s.secrets["ca-etcd"].Trusted)
	var cluster []string
	for i, peer := range peers {
		cluster = append(cluster, fmt.Sprintf("m%d=http://%s", i, peer))
	}
	for i := range members {
		c := embed.NewConfig()
		c.Name, c.Dir, c.InitialCluster = fmt.Sprintf("m%d", i), filepath.Join(dir, fmt.Sprintf("m%d", i)), strings.Join(cluster, ",")
		c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zapcore.EncoderConfig{}), discarded{}, zap.InfoLevel), zap.Hooks(st.noted(c.Name))))
		c.ClientTLSInfo.CertFile, c.ClientTLSInfo.KeyFile, c.ClientTLSInfo.TrustedCAFile, c.ClientTLSInfo.ClientCertAuth = certificate, key, authority, true
		c.ListenClientUrls = []url.URL{{Scheme: "https", Host: clients[i]}}
		c.ListenPeerUrls = []url.URL{{Scheme: "http", Host: peers[i]}}
		c.AdvertiseClientUrls, c.AdvertisePeerUrls = c.ListenClientUrls, c.ListenPeerUrls
		if change != nil {
			change(c)
		}
		member, err := embed.StartEtcd(c)
		if err != nil {
			t.Fatalf("start member %d: %v", i, err)
		}
		st.members, st.stops = append(st.members, member), append(st.stops, sync.OnceFunc(member.Close))
		t.Cleanup(func() { st.stop(i) })
		s.pod(t, fmt.Sprintf("etcd-main-%d", i), clients[i])
	}
	for i, member := range st.members {
		select {
		case <-member.Server.ReadyNotify():
		case <-time.After(time.Minute):
			t.Fatalf("member %d is not ready after a minute", i)
		}
	}
	st.Client = v3client.New(st.members[0].Server)
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// stop stops a member.
func (s *store) stop(number int) { s.stops[number]() }

// leader is the number of the member that leads.
func (s *store) leader(t *testing.T) int {
	t.Helper()
	for i, member := range s.members {
		if member.Server.MemberID() == member.Server.Leader() {
			return i
		}
	}
	t.Fatal("nobody leads")
	return 0
}

// litter writes so many entries of one MiB, deletes and compacts them. Their space stays in the files of all members.
func (s *store) litter(t *testing.T, entries int) {
	t.Helper()
	value := strings.Repeat("x", 1<<20)
	for i := range entries {
		if _, err := s.Put(t.Context(), fmt.Sprintf("litter/%d", i), value); err != nil {
			t.Fatalf("write entry %d: %v", i, err)
		}
	}
	s.compact(t)
	for _, member := range s.members {
		s.eventually(t, "the space to be free", func() bool { return free(member) >= 16<<20 })
	}
}

// compact deletes all that litter has written, with its history.
func (s *store) compact(t *testing.T) {
	t.Helper()
	deleted, err := s.Delete(t.Context(), "litter/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Compact(t.Context(), deleted.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
}

// free is what a member has to return.
func free(member *embed.Etcd) int64 {
	backend := member.Server.Backend()
	backend.ForceCommit()
	return backend.Size() - backend.SizeInUse()
}

// eventually waits for what members do on their own.
func (s *store) eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.After(time.Minute); !is(); {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("waited a minute for %s", what)
		}
	}
}

type discarded struct{}

func (discarded) Write(p []byte) (int, error) { return len(p), nil }
func (discarded) Sync() error                 { return nil }

// noted notes when a member says that it was defragmented.
func (s *store) noted(member string) func(zapcore.Entry) error {
	return func(entry zapcore.Entry) error {
		if entry.Message == "finished defragment" {
			s.mu.Lock()
			s.done = append(s.done, member)
			s.mu.Unlock()
		}
		return nil
	}
}

func (s *store) defragmented() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.done...)
}

// freeAddresses are of ports that nobody listens at. Like those of pods, they are in no certificate.
func freeAddresses(t *testing.T, number int) []string {
	t.Helper()
	addresses := make([]string, number)
	for i := range addresses {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.2:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }() // Only once all are known, so that none comes twice.
		addresses[i] = l.Addr().String()
	}
	return addresses
}
