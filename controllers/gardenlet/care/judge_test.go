// SPDX-License-Identifier: Apache-2.0

package care_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/care"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/reports"
)

func shoot(changes ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	s := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-dev", Name: "a", Generation: 1}}
	s.Spec.SeedName = new("eu-1")
	s.Spec.Kubernetes.Version = "1.36.3"
	s.Spec.Provider.Type, s.Spec.Provider.Workers = "local", []gardencorev1beta1.Worker{{Name: "small", Minimum: 1}}
	s.Status.TechnicalID = "shoot--dev--a"
	s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: "Succeeded"}
	for _, change := range changes {
		change(s)
	}
	return s
}

func deployment(name string, available corev1.ConditionStatus) appsv1.Deployment {
	return appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: name, Labels: map[string]string{"gardener.cloud/role": "controlplane"}},
		Status:     appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: available}}},
	}
}

func etcd(name string, ready int32) appsv1.StatefulSet {
	return appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: name, Labels: map[string]string{"gardener.cloud/role": "controlplane"}},
		Status:     appsv1.StatefulSetStatus{ReadyReplicas: ready},
	}
}

func node(ready corev1.ConditionStatus, changes ...func(*corev1.Node)) corev1.Node {
	n := corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "m-1", Labels: map[string]string{"worker.gardener.cloud/pool": "small"}},
		Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}},
			NodeInfo:   corev1.NodeSystemInfo{KubeletVersion: "v1.36.3"},
		},
	}
	for _, change := range changes {
		change(&n)
	}
	return n
}

// healthy is a world in which everything is healthy.
func healthy(changes ...func(*care.World)) care.World {
	w := care.World{
		API: care.Answer{Status: 200},
		Deployments: []appsv1.Deployment{
			deployment("kube-apiserver", corev1.ConditionTrue), deployment("kube-controller-manager", corev1.ConditionTrue), deployment("kube-scheduler", corev1.ConditionTrue),
		},
		StatefulSets: []appsv1.StatefulSet{etcd("etcd-main", 1), etcd("etcd-events", 1)},
		Nodes:        []corev1.Node{node(corev1.ConditionTrue)},
	}
	for _, change := range changes {
		change(&w)
	}
	return w
}

type verdict struct {
	Status  gardencorev1beta1.ConditionStatus
	Reason  string
	Message string
	Codes   []gardencorev1beta1.ErrorCode
}

func of(c gardencorev1beta1.Condition) verdict {
	return verdict{Status: c.Status, Reason: c.Reason, Message: c.Message, Codes: c.Codes}
}

func TestJudgeAPIServer_GLET_CARE_7(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		in   care.Answer
		want verdict
	}{
		"OK":       {care.Answer{Status: 200}, verdict{Status: "True", Reason: "HealthzRequestSucceeded", Message: "The API server answers"}},
		"Sick":     {care.Answer{Status: 500}, verdict{Status: "False", Reason: "HealthzRequestFailed", Message: "The request for /healthz was answered with status 500"}},
		"Silent":   {care.Answer{Err: errors.New("connection refused")}, verdict{Status: "False", Reason: "HealthzRequestError", Message: "The request for /healthz got no answer: connection refused"}},
		"NoAccess": {care.Answer{}, verdict{Status: "False", Reason: "APIServerDown", Message: "There is no access to the API server"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, of(care.JudgeAPIServer(tc.in))); diff != "" {
				t.Errorf("JudgeAPIServer(%v) (-want +got):\n%s", tc.in, diff)
			}
		})
	}
}

func TestJudgeControlPlane_GLET_CARE_8_9_15(t *testing.T) {
	t.Parallel()
	report := func(status gardencorev1beta1.ConditionStatus) func(*care.World) {
		return func(w *care.World) {
			w.StatefulSets = nil
			w.Reports = []reports.Report{{Kind: "ControlPlane", Namespace: "shoot--dev--a", Name: "a", Condition: gardencorev1beta1.Condition{
				Type: "ControlPlaneHealthy", Status: status, Reason: "Rolling", Message: "csi-driver is down", Codes: []gardencorev1beta1.ErrorCode{"ERR_INFRA_UNAUTHORIZED"},
			}}}
		}
	}
	cases := map[string]struct {
		why   string
		shoot *gardencorev1beta1.Shoot
		world care.World
		want  verdict
	}{
		"Healthy":     {why: "everything runs", shoot: shoot(), world: healthy(), want: verdict{Status: "True", Reason: "ControlPlaneRunning", Message: "All components of the control plane are healthy"}},
		"EtcdMissing": {why: "both stores are required", shoot: shoot(), world: healthy(func(w *care.World) { w.StatefulSets = w.StatefulSets[:1] }), want: verdict{Status: "False", Reason: "EtcdMissing", Message: `Etcd "etcd-events" does not exist`}},
		"EtcdDown": {
			why: "the store comes before the deployments", shoot: shoot(),
			world: healthy(func(w *care.World) { w.StatefulSets[0], w.Deployments = etcd("etcd-main", 0), nil }), want: verdict{Status: "False", Reason: "EtcdUnhealthy", Message: `Etcd "etcd-main" is not healthy: 0 of 1 pods are ready`},
		},
		"DeploymentMissing": {
			why: "a shoot with workers needs a scheduler", shoot: shoot(), world: healthy(func(w *care.World) { w.Deployments = w.Deployments[:2] }),
			want: verdict{Status: "False", Reason: "DeploymentMissing", Message: `Deployment "kube-scheduler" does not exist`},
		},
		"MachineControllerMissing": {
			why: "machines of a cloud need a controller", shoot: shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Type = "cloud" }), world: healthy(),
			want: verdict{Status: "False", Reason: "DeploymentMissing", Message: `Deployment "machine-controller-manager" does not exist`},
		},
		"AutoscalerMissing": {
			why: "a shoot with a pool that may grow needs an autoscaler", shoot: shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers[0].Maximum = 2 }), world: healthy(),
			want: verdict{Status: "False", Reason: "DeploymentMissing", Message: `Deployment "cluster-autoscaler" does not exist`},
		},
		"SizerMissing": {
			why: "a shoot whose pods are to be sized needs what does that", shoot: shoot(func(s *gardencorev1beta1.Shoot) {
				s.Spec.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{Enabled: true}
			}), world: healthy(),
			want: verdict{Status: "False", Reason: "DeploymentMissing", Message: `Deployment "vpa-recommender" does not exist`},
		},
		"Workerless": {
			why: "one without does not", shoot: shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.Provider.Workers = nil }), world: healthy(func(w *care.World) { w.Deployments = w.Deployments[:2] }),
			want: verdict{Status: "True", Reason: "ControlPlaneRunning", Message: "All components of the control plane are healthy"},
		},
		"DeploymentDown": {
			why: "every deployment counts, also those that are not components", shoot: shoot(),
			world: healthy(func(w *care.World) { w.Deployments = append(w.Deployments, deployment("other", corev1.ConditionFalse)) }),
			want:  verdict{Status: "False", Reason: "DeploymentUnhealthy", Message: `Deployment "other" is not healthy: 0 of 1 pods are available`},
		},
		"ExtensionFirst": {
			why: "what an extension reports goes first, with its codes", shoot: shoot(), world: healthy(report("False")),
			want: verdict{Status: "False", Reason: "ControlPlaneUnhealthyReport", Message: `ControlPlane "shoot--dev--a/a" reports: csi-driver is down`, Codes: []gardencorev1beta1.ErrorCode{"ERR_INFRA_UNAUTHORIZED"}},
		},
		"ExtensionProgressing": {
			why: "progress is passed on as such, in the words of the extension", shoot: shoot(), world: healthy(report("Progressing")),
			want: verdict{Status: "Progressing", Reason: "ControlPlaneRolling", Message: "csi-driver is down", Codes: []gardencorev1beta1.ErrorCode{"ERR_INFRA_UNAUTHORIZED"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, of(care.JudgeControlPlane(tc.shoot, tc.world))); diff != "" {
				t.Errorf("%s\nJudgeControlPlane(...) (-want +got):\n%s", tc.why, diff)
			}
		})
	}
}

func TestJudgeNodes_GLET_CARE_6_13(t *testing.T) {
	t.Parallel()
	nodes := func(list ...corev1.Node) func(*care.World) { return func(w *care.World) { w.Nodes = list } }
	pressure := func(kind corev1.NodeConditionType) func(*corev1.Node) {
		return func(n *corev1.Node) {
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: kind, Status: corev1.ConditionTrue})
		}
	}
	kubelet := func(version string) func(*corev1.Node) {
		return func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = version }
	}
	operation := func(kind gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState) func(*gardencorev1beta1.Shoot) {
		return func(s *gardencorev1beta1.Shoot) {
			s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: kind, State: state}
		}
	}
	kept := func(n *corev1.Node) {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: "Preserved", Status: "True"})
	}
	ofPool := func(name string) func(*corev1.Node) {
		return func(n *corev1.Node) { n.Labels = map[string]string{"worker.gardener.cloud/pool": name} }
	}
	called := func(name string) func(*corev1.Node) { return func(n *corev1.Node) { n.Name = name } }
	down := func(w *care.World) { w.API = care.Answer{Err: errors.New("refused")} }
	good := verdict{Status: "True", Reason: "EveryNodeReady", Message: "Every node is ready"}
	cases := map[string]struct {
		why   string
		shoot *gardencorev1beta1.Shoot
		world care.World
		want  verdict
	}{
		"Healthy":  {why: "one ready node of one", shoot: shoot(), world: healthy(), want: good},
		"Missing":  {why: "fewer than the minimum", shoot: shoot(), world: healthy(nodes()), want: verdict{Status: "False", Reason: "MissingNodes", Message: `Pool "small" has 0 nodes and needs at least 1`}},
		"NotReady": {why: "a node that is not ready", shoot: shoot(), world: healthy(nodes(node("False"))), want: verdict{Status: "False", Reason: "NodeUnhealthy", Message: `Node "m-1" of pool "small": it is not ready`}},
		"Kept": {
			why: "a node whose machine is kept is not ready as expected, so another one counts first", shoot: shoot(),
			world: healthy(nodes(node("False", kept), node("False", called("m-2")))),
			want:  verdict{Status: "False", Reason: "NodeUnhealthy", Message: `Node "m-2" of pool "small": it is not ready`},
		},
		"KeptAlone": {
			why: "but not ready it is", shoot: shoot(), world: healthy(nodes(node("False", kept), node("True", called("m-2")))),
			want: verdict{Status: "False", Reason: "NodeUnhealthy", Message: `Node "m-1" of pool "small", whose machine is kept for analysis: it is not ready`},
		},
		"OfNoPool": {
			why: "an owner may add nodes, and those of a pool that was removed are on their way out", shoot: shoot(),
			world: healthy(nodes(node("True"), node("False", called("mine"), ofPool("")), node("True", called("m-2"), ofPool("removed"), kubelet("v1.36.2")))), want: good,
		},
		"Pressure": {
			why: "pressure is the owner's to solve", shoot: shoot(), world: healthy(nodes(node("True", pressure(corev1.NodeDiskPressure)))),
			want: verdict{Status: "False", Reason: "NodeUnhealthy", Message: `Node "m-1" of pool "small": it has DiskPressure`, Codes: []gardencorev1beta1.ErrorCode{"ERR_CONFIGURATION_PROBLEM"}},
		},
		"Network":      {why: "no network", shoot: shoot(), world: healthy(nodes(node("True", pressure(corev1.NodeNetworkUnavailable)))), want: verdict{Status: "False", Reason: "NodeUnhealthy", Message: `Node "m-1" of pool "small": its network is not available`}},
		"OtherPatch":   {why: "a patch that was not rolled out", shoot: shoot(), world: healthy(nodes(node("True", kubelet("v1.36.2")))), want: verdict{Status: "False", Reason: "KubeletVersionMismatch", Message: `Node "m-1" of pool "small": its kubelet has version 1.36.2 and not 1.36.3`}},
		"OtherMinor":   {why: "machines of the former minor are on their way out", shoot: shoot(), world: healthy(nodes(node("True", kubelet("v1.35.9")))), want: good},
		"Down":         {why: "nothing can be said", shoot: shoot(), world: healthy(down), want: verdict{Status: "Unknown", Reason: "APIServerDown", Message: "The API server does not answer"}},
		"NotCreated":   {why: "and why", shoot: shoot(operation("Create", "Processing")), world: healthy(down), want: verdict{Status: "Unknown", Reason: "APIServerDown", Message: "The API server is not created yet"}},
		"BeingDeleted": {why: "and why", shoot: shoot(operation("Delete", "Processing")), world: healthy(down), want: verdict{Status: "Unknown", Reason: "APIServerDown", Message: "The shoot is being deleted"}},
		"ListFailed":   {why: "the check itself failed", shoot: shoot(), world: healthy(func(w *care.World) { w.NodesErr = errors.New("list nodes: forbidden") }), want: verdict{Status: "Unknown", Reason: "ConditionCheckError", Message: "The nodes could not be checked: list nodes: forbidden"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, of(care.JudgeNodes(tc.shoot, tc.world))); diff != "" {
				t.Errorf("%s\nJudgeNodes(...) (-want +got):\n%s", tc.why, diff)
			}
		})
	}
}

func TestPardon_GLET_CARE_17(t *testing.T) {
	t.Parallel()
	operation := func(kind gardencorev1beta1.LastOperationType, state gardencorev1beta1.LastOperationState, errs ...gardencorev1beta1.LastError) *gardencorev1beta1.Shoot {
		return shoot(func(s *gardencorev1beta1.Shoot) {
			s.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: kind, State: state}
			s.Status.LastErrors = errs
		})
	}
	cases := map[string]struct {
		shoot *gardencorev1beta1.Shoot
		found gardencorev1beta1.ConditionStatus
		want  gardencorev1beta1.ConditionStatus
	}{
		"NoOperation":        {shoot: shoot(func(s *gardencorev1beta1.Shoot) { s.Status.LastOperation = nil }), found: "False", want: "Progressing"},
		"UnfinishedCreate":   {shoot: operation("Create", "Error", gardencorev1beta1.LastError{}), found: "False", want: "Progressing"},
		"UnfinishedDelete":   {shoot: operation("Delete", "Processing"), found: "False", want: "Progressing"},
		"Processing":         {shoot: operation("Reconcile", "Processing"), found: "False", want: "Progressing"},
		"ProcessingAndError": {shoot: operation("Reconcile", "Processing", gardencorev1beta1.LastError{}), found: "False", want: "False"},
		"Settled":            {shoot: operation("Reconcile", "Succeeded"), found: "False", want: "False"},
		"Unknown":            {shoot: operation("Create", "Processing"), found: "Unknown", want: "Unknown"},
		"Good":               {shoot: operation("Create", "Processing"), found: "True", want: "True"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := care.Pardon(tc.shoot, tc.found); got != tc.want {
				t.Errorf("Pardon(..., %s) = %s, want %s", tc.found, got, tc.want)
			}
		})
	}
}
