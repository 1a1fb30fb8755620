// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/shoot"
)

// seedOfKubelets is what a seed has of the shoot a: its API server, its Worker and the configuration of its machines.
type seedOfKubelets struct {
	server *appsv1.Deployment
	worker *gardenextensionsv1alpha1.Worker
	config *gardenextensionsv1alpha1.OperatingSystemConfig
}

// selfSigned is one whose kubelets sign their own certificates.
func selfSigned() *seedOfKubelets {
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: name, Generation: 1}
	}
	s := &seedOfKubelets{
		server: &appsv1.Deployment{ObjectMeta: meta("kube-apiserver"), Spec: appsv1.DeploymentSpec{Replicas: new(int32(1)), Template: corev1.PodTemplateSpec{
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Args: []string{"--profiling=false"}}}},
		}}},
		worker: &gardenextensionsv1alpha1.Worker{ObjectMeta: meta("a")}, config: &gardenextensionsv1alpha1.OperatingSystemConfig{ObjectMeta: meta("osc")},
	}
	s.worker.Spec.Pools = []gardenextensionsv1alpha1.WorkerPool{{Name: "small", NodeAgentSecretName: new("key-1")}}
	s.worker.Status.ObservedGeneration, s.worker.Status.LastOperation = 1, &gardencorev1beta1.LastOperation{State: gardencorev1beta1.LastOperationStateSucceeded}
	s.config.Labels = map[string]string{"worker.gardener.cloud/gardener-node-agent-secret-name": "key-1"}
	s.writes("kind: KubeletConfiguration\n")

	return s
}

func (s *seedOfKubelets) writes(config string) {
	s.config.Spec.Files = []gardenextensionsv1alpha1.File{{
		Path: "/var/lib/kubelet/config/kubelet", Content: gardenextensionsv1alpha1.FileContent{Inline: &gardenextensionsv1alpha1.FileContentInline{Data: config}},
	}}
}

// asks gives the configuration a kubelet that asks for its certificate, under another key, as every change has.
func (s *seedOfKubelets) asks() {
	s.writes("serverTLSBootstrap: true\n")
	s.config.Labels["worker.gardener.cloud/gardener-node-agent-secret-name"] = "key-2"
}

// rolled has the machines replaced by those of the configuration.
func (s *seedOfKubelets) rolled() {
	s.worker.Spec.Pools[0].NodeAgentSecretName = new("key-2")
}

// TestKubeletsAreVerifiedWhenAllAreSigned follows the upgrade of a shoot whose kubelets signed their own certificates (GLET-FLOW, GRM-CSR-1).
func TestKubeletsAreVerifiedWhenAllAreSigned(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(*seedOfKubelets)
		want   bool
	}{
		"New":    {reason: "a new shoot has no nodes", change: func(s *seedOfKubelets) { s.server = nil }, want: true},
		"Former": {reason: "the nodes are those of an earlier version", change: func(*seedOfKubelets) {}},
		"Ordered": {
			reason: "the new configuration is written, but the machines are not ordered", change: func(s *seedOfKubelets) { s.asks() },
		},
		"Rolling": {
			reason: "some machines are still old", change: func(s *seedOfKubelets) {
				s.asks()
				s.rolled()
				s.worker.Status.LastOperation.State = gardencorev1beta1.LastOperationStateProcessing
			},
		},
		"NotSeen": {
			reason: "the extension has not seen the order yet", change: func(s *seedOfKubelets) {
				s.asks()
				s.rolled()
				s.worker.Generation = 2
			},
		},
		"Rolled": {reason: "all machines are new", change: func(s *seedOfKubelets) { s.asks(); s.rolled() }, want: true},
		"OtherPool": {
			reason: "another pool has old machines", change: func(s *seedOfKubelets) {
				s.asks()
				s.rolled()
				s.worker.Spec.Pools = append(s.worker.Spec.Pools, gardenextensionsv1alpha1.WorkerPool{Name: "large", NodeAgentSecretName: new("key-1")})
			},
		},
		"Verifying": {
			reason: "what was begun does not end, whatever the Worker does", want: true,
			change: func(s *seedOfKubelets) {
				s.server.Spec.Template.Spec.Containers[0].Args = []string{"--kubelet-certificate-authority=/file"}
			},
		},
		"Asleep":    {reason: "a shoot that sleeps has no nodes", change: func(s *seedOfKubelets) { s.server.Spec.Replicas = new(int32(0)) }, want: true},
		"NoWorkers": {reason: "its first run did not come to machines", change: func(s *seedOfKubelets) { s.worker = nil }, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := selfSigned()
			tc.change(s)
			types, err := scheme.New()
			if err != nil {
				t.Fatal(err)
			}
			objects := []client.Object{s.config}
			if s.server != nil {
				objects = append(objects, s.server)
			}
			if s.worker != nil {
				objects = append(objects, s.worker)
			}
			got, err := shoot.KubeletsSigned(t.Context(), fake.NewClientBuilder().WithScheme(types).WithObjects(objects...).Build())
			if err != nil || got != tc.want {
				t.Errorf("%s\nkubeletsSigned() = %t, %v, want %t", tc.reason, got, err, tc.want)
			}
		})
	}
}
