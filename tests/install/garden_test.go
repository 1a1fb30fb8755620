// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/terrarium-garden/terrarium/appliance/identity"
)

const namespace = "default"

// client returns an administrator's client of the garden in the machine.
func (m *machine) client() (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", identity.AdminKubeconfigPath(m.path(dataDir)))
	if err != nil {
		return nil, err
	}
	config.Dial, config.Timeout = m.dial, 5*time.Second
	config.QPS = -1
	return kubernetes.NewForConfig(config)
}

// ready returns an error unless the garden says that all of it is ready.
func (m *machine) ready() error {
	client, err := m.client()
	if err != nil {
		return err
	}
	return client.CoreV1().RESTClient().Get().AbsPath("/readyz").Do(m.t.Context()).Error()
}

// put stores an object in the garden.
func (m *machine) put(name string) error {
	client, err := m.client()
	if err != nil {
		return err
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err = client.CoreV1().ConfigMaps(namespace).Create(m.t.Context(), object, metav1.CreateOptions{})
	return err
}

// hasFirst returns an error unless the garden has the first object that was made.
func (m *machine) hasFirst() error {
	client, err := m.client()
	if err != nil {
		return err
	}
	_, err = client.CoreV1().ConfigMaps(namespace).Get(m.t.Context(), "first", metav1.GetOptions{})
	return err
}

// load writes objects until it is stopped.
type load struct {
	acknowledged map[string]bool
	longest      time.Duration
	// writes counts the acknowledged ones while the load runs.
	writes atomic.Int64
	stop   func()
}

// startLoad starts a writer.
func (m *machine) startLoad(t *testing.T) *load {
	t.Helper()
	client, err := m.client()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{acknowledged: map[string]bool{}}
	var writing sync.WaitGroup
	writing.Go(func() {
		last := time.Now()
		for i := 0; ctx.Err() == nil; i++ {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("load-%d", i)}}
			if _, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, object, metav1.CreateOptions{}); err != nil {
				continue
			}
			l.acknowledged[object.Name] = true
			l.writes.Add(1)
			l.longest, last = max(l.longest, time.Since(last)), time.Now()
		}
	})
	l.stop = func() { cancel(); writing.Wait() }
	t.Cleanup(l.stop)
	return l
}

// lost returns the acknowledged objects that the garden does not have.
func (l *load) lost(m *machine) ([]string, error) {
	client, err := m.client()
	if err != nil {
		return nil, err
	}
	list, err := client.CoreV1().ConfigMaps(namespace).List(m.t.Context(), metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, item := range list.Items {
		found[item.Name] = true
	}
	var lost []string
	for name := range l.acknowledged {
		if !found[name] {
			lost = append(lost, name)
		}
	}
	return lost, nil
}

// status returns a field of /proc/PID/status.
func status(t *testing.T, pid, field string) string {
	t.Helper()
	data, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if value, found := strings.CutPrefix(line, field+":"); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
