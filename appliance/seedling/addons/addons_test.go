// SPDX-License-Identifier: Apache-2.0

package addons_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/knftables"

	"github.com/terrarium-garden/terrarium/appliance/seedling/addons"
	"github.com/terrarium-garden/terrarium/appliance/seedling/loadbalancer"
	"github.com/terrarium-garden/terrarium/appliance/seedling/networkpolicy"
)

// firewall keeps a table in memory.
func firewall() (*knftables.Fake, func() (knftables.Interface, error)) {
	table := knftables.NewFake(knftables.IPv4Family, networkpolicy.Table)
	return table, func() (knftables.Interface, error) { return table, nil }
}

// machine keeps addresses in memory.
type machine struct {
	addresses map[netip.Addr]bool
	lock      sync.Mutex
}

func (m *machine) functions() loadbalancer.Machine {
	set := func(address netip.Addr, to bool) error {
		m.lock.Lock()
		defer m.lock.Unlock()
		m.addresses[address] = to
		return nil
	}
	return loadbalancer.Machine{
		Add:    func(a netip.Addr) error { return set(a, true) },
		Remove: func(a netip.Addr) error { return set(a, false) },
		Addresses: func(netip.Prefix) ([]netip.Addr, error) {
			m.lock.Lock()
			defer m.lock.Unlock()
			var found []netip.Addr
			for address, there := range m.addresses {
				if there {
					found = append(found, address)
				}
			}
			return found, nil
		},
	}
}

func (m *machine) has(address string) bool {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.addresses[netip.MustParseAddr(address)]
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-ctx.Done():
			t.Fatalf("not in time: %s", what)
		case <-tick.C:
		}
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// healthy reports whether the loops say that they run.
func healthy(t *testing.T, address string) bool {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/healthz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
}

// freeAddress finds a port that nobody listens to.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener := listen(t)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return listener.Addr().String()
}

func TestRun(t *testing.T) {
	t.Parallel()
	client, host := fake.NewClientset(), &machine{addresses: map[netip.Addr]bool{}}
	table, open := firewall()
	options := addons.Options{
		Client: client, LoadBalancerPool: netip.MustParsePrefix("10.99.1.0/24"), VolumesDir: t.TempDir(),
		Machine: host.functions(), Firewall: open, Listen: freeAddress(t), Log: logr.Discard(),
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- addons.Run(ctx, options) }()

	eventually(t, "the loops tell that they run", func() bool { return healthy(t, options.Listen) })
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "s", UID: "u"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer},
	}
	if _, err := client.CoreV1().Services("ns").Create(ctx, service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "v"}, Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: new("seedling")},
	}
	if _, err := client.CoreV1().PersistentVolumeClaims("ns").Create(ctx, claim, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a load balancer gets its address", func() bool { return host.has("10.99.1.1") })
	eventually(t, "a claim gets its volume", func() bool {
		_, err := client.CoreV1().PersistentVolumes().Get(ctx, "pvc-v", metav1.GetOptions{})
		return err == nil
	})
	policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}}
	if _, err := client.NetworkingV1().NetworkPolicies("ns").Create(ctx, policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a policy gets into the firewall", func() bool { return strings.Contains(table.Dump(), "comment \"ns/p\"") })
	if _, err := client.StorageV1().StorageClasses().Get(ctx, "seedling", metav1.GetOptions{}); err != nil {
		t.Errorf("The StorageClass is there: %v", err)
	}
	if err := client.CoreV1().Services("ns").Delete(ctx, "s", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the address goes with the Service", func() bool { return !host.has("10.99.1.1") })

	cancel()
	if err := <-ended; err != nil {
		t.Errorf("The end that was asked for is no failure: %v", err)
	}
}

func TestHealthTellsOfFailures(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	broken.Store(true)
	_, open := firewall()
	options := addons.Options{
		Client: fake.NewClientset(), LoadBalancerPool: netip.MustParsePrefix("10.99.1.0/24"), VolumesDir: t.TempDir(),
		Machine: (&machine{addresses: map[netip.Addr]bool{}}).functions(), Listen: freeAddress(t), Log: logr.Discard(),
		Firewall: func() (knftables.Interface, error) {
			if broken.Load() {
				return nil, errors.New("the kernel has no firewall")
			}
			return open()
		},
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- addons.Run(ctx, options) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("The end that was asked for is no failure: %v", err)
		}
	}()
	eventually(t, "policies that are not enforced are no secret", func() bool {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+options.Listen+"/healthz", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false
		}
		body, err := io.ReadAll(response.Body)
		return errors.Join(err, response.Body.Close()) == nil && response.StatusCode == http.StatusServiceUnavailable &&
			strings.Contains(string(body), "network policies: ") && strings.Contains(string(body), "the kernel has no firewall")
	})
	broken.Store(false)
	eventually(t, "a loop that succeeds again is healthy", func() bool { return healthy(t, options.Listen) })
}

func TestRunWithTakenPort(t *testing.T) {
	t.Parallel()
	holder := listen(t)
	_, open := firewall()
	t.Cleanup(func() { _ = holder.Close() })
	err := addons.Run(t.Context(), addons.Options{
		Client: fake.NewClientset(), LoadBalancerPool: netip.MustParsePrefix("10.99.1.0/24"), VolumesDir: t.TempDir(),
		Machine: (&machine{addresses: map[netip.Addr]bool{}}).functions(), Firewall: open, Listen: holder.Addr().String(), Log: logr.Discard(),
	})
	want := fmt.Sprintf("listen for health: listen tcp %s: bind: address already in use", holder.Addr())
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("A port that is taken ends all of it, and is named (-want +got):\n%s", diff)
	}
}
