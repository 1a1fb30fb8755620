// SPDX-License-Identifier: Apache-2.0

package worker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinedeployment"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinepod"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/worker"
	"github.com/terrarium-garden/terrarium/tests/golden"
)

const namespace = "shoot--dev--sprout"

const imageMap = `{"apiVersion":"local.provider.extensions.gardener.cloud/v1alpha1","kind":"CloudProfileConfig",
"machineImages":[{"name":"local","versions":[{"version":"1.36.3","image":"machine:mapped"}]}]}`

// imagesOf is a configuration of the cloud profile with one version of a machine image.
func imagesOf(version string) string {
	return `{"apiVersion":"local.provider.extensions.gardener.cloud/v1alpha1","kind":"CloudProfileConfig",
"machineImages":[{"name":"local","versions":[{"version":"1.36.3",` + version + `}]}]}`
}

// twoKubelets are container images with two patch versions of Kubernetes.
const twoKubelets = `"kubelets":[{"version":"1.36.3","image":"machine:three"},{"version":"1.36.4","image":"machine:four"}]`

func newWorker(pools ...gardenextensionsv1alpha1.WorkerPool) *gardenextensionsv1alpha1.Worker {
	w := &gardenextensionsv1alpha1.Worker{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "sprout", UID: "worker"}}
	w.Spec.Type, w.Spec.Region, w.Spec.Pools = "local", "here", pools
	return w
}

func newPool() gardenextensionsv1alpha1.WorkerPool {
	return gardenextensionsv1alpha1.WorkerPool{
		Name: "small", MachineType: "local", MachineImage: gardenextensionsv1alpha1.MachineImage{Name: "local", Version: "1.36.3"},
		Minimum: 2, Maximum: 4, MaxSurge: intstr.FromInt32(1), MaxUnavailable: intstr.FromInt32(0),
		UserDataSecretRef: corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "osc-result"}, Key: "cloud_config"},
	}
}

func newCluster(providerConfig string) *engine.Cluster {
	c := &engine.Cluster{Namespace: namespace, Shoot: &gardencorev1beta1.Shoot{}, CloudProfile: &gardencorev1beta1.CloudProfile{}}
	c.CloudProfile.Name = "local"
	if providerConfig != "" {
		c.CloudProfile.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(providerConfig)}
	}
	return c
}

func images() engine.Images {
	return engine.Images{Machine: "machine:default", Pause: "pause:v1", Archives: "/images"}
}

// render is Render for a pool.
func render(pool gardenextensionsv1alpha1.WorkerPool, userData string, cluster *engine.Cluster) ([]worker.Wanted, error) {
	return worker.Render(worker.Source{Worker: newWorker(), Pool: &pool, UserData: []byte(userData), Cluster: cluster, Images: images()})
}

func hashOf(w worker.Wanted) string { return strings.TrimPrefix(w.Class.Name, w.Deployment.Name+"-") }

func TestRender_EXT_WORKER_5(t *testing.T) {
	t.Parallel()
	pool := newPool()
	pool.Labels = map[string]string{"a": "b"}
	pool.Annotations = map[string]string{"c": "d"}
	pool.Taints = []corev1.Taint{{Key: "e", Effect: corev1.TaintEffectNoSchedule}}
	pool.Priority, pool.Architecture = new(int32(7)), new("amd64")
	pool.NodeTemplate = &gardenextensionsv1alpha1.NodeTemplate{Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}
	pool.ClusterAutoscaler = &gardenextensionsv1alpha1.ClusterAutoscalerOptions{
		ScaleDownUtilizationThreshold: new("0.5"), ScaleDownUnneededTime: &metav1.Duration{Duration: time.Minute},
	}
	pool.MachineControllerManagerSettings = &gardencorev1beta1.MachineControllerManagerSettings{
		MachineDrainTimeout: &metav1.Duration{Duration: time.Hour}, MaxEvictRetries: new(int32(3)), NodeConditions: []string{"X", "Y"},
	}
	got, err := render(pool, "data", newCluster(""))
	if err != nil {
		t.Fatal(err)
	}
	golden.Objects(t, "pool.yaml", []client.Object{got[0].Deployment, got[0].Class, got[0].Secret})
	want := gardenextensionsv1alpha1.MachineDeployment{Name: namespace + "-small", Minimum: 2, Maximum: 4, Priority: new(int32(7))}
	if diff := cmp.Diff(want, got[0].Status); diff != "" || len(got) != 1 {
		t.Errorf("Render(...) status (-want +got):\n%s", diff)
	}
}

// TestHash: what changes the hash replaces every machine of a pool, so both halves of this table matter.
func TestUserDataCountOnlyWithoutAName_GLET_CRED_10(t *testing.T) {
	t.Parallel()
	hash := func(name *string, userData string) string {
		pool := newPool()
		pool.NodeAgentSecretName = name
		wanted, err := render(pool, userData, newCluster(""))
		if err != nil {
			t.Fatal(err)
		}

		return hashOf(wanted[0])
	}
	base := hash(new("a"), "one authority")
	if hash(new("a"), "another authority") != base {
		t.Error("machines are replaced although their configuration has kept its name")
	}
	if hash(new("b"), "one authority") == base {
		t.Error("machines stay although their configuration has another name")
	}
	if hash(nil, "one authority") == hash(nil, "another authority") {
		t.Error("machines without a name for their configuration stay although their user data have changed")
	}
}

func TestHash(t *testing.T) {
	t.Parallel()
	hash := func(t *testing.T, change func(*gardenextensionsv1alpha1.WorkerPool), userData, config string) string {
		t.Helper()
		pool := newPool()
		if change != nil {
			change(&pool)
		}
		wanted, err := render(pool, userData, newCluster(config))
		if err != nil {
			t.Fatal(err)
		}
		return hashOf(wanted[0])
	}
	base := hash(t, nil, "data", "")
	cases := map[string]struct {
		change   func(*gardenextensionsv1alpha1.WorkerPool)
		userData string
		config   string
		rolls    bool
	}{
		"UserData":    {userData: "other", rolls: true},
		"Image":       {config: imageMap, rolls: true},
		"MachineType": {change: func(p *gardenextensionsv1alpha1.WorkerPool) { p.MachineType = "large" }, rolls: true},
		"Volume":      {change: func(p *gardenextensionsv1alpha1.WorkerPool) { p.Volume = &gardenextensionsv1alpha1.Volume{Size: "5Gi"} }, rolls: true},
		"ProviderConfig": {change: func(p *gardenextensionsv1alpha1.WorkerPool) {
			p.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"a":1}`)}
		}, rolls: true},
		"Patch":      {change: func(p *gardenextensionsv1alpha1.WorkerPool) { p.KubernetesVersion = new("1.36.4") }, config: imagesOf(`"kubelets":[{"version":"1.36.3","image":"machine:default"},{"version":"1.36.4","image":"machine:four"}]`), rolls: true},
		"Listed":     {change: func(p *gardenextensionsv1alpha1.WorkerPool) { p.KubernetesVersion = new("1.36.3") }, config: imagesOf(`"kubelets":[{"version":"1.36.3","image":"machine:default"},{"version":"1.36.4","image":"machine:four"}]`)},
		"Nothing":    {},
		"Size":       {change: func(p *gardenextensionsv1alpha1.WorkerPool) { p.Minimum, p.Maximum = 1, 9 }},
		"Labels":     {change: func(p *gardenextensionsv1alpha1.WorkerPool) { p.Labels = map[string]string{"a": "b"} }},
		"Taints":     {change: func(p *gardenextensionsv1alpha1.WorkerPool) { p.Taints = []corev1.Taint{{Key: "e"}} }},
		"Surge":      {change: func(p *gardenextensionsv1alpha1.WorkerPool) { p.MaxSurge = intstr.FromInt32(3) }},
		"SecretName": {change: func(p *gardenextensionsv1alpha1.WorkerPool) { p.UserDataSecretRef.Name = "other" }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			userData := tc.userData
			if userData == "" {
				userData = "data"
			}
			if rolled := hash(t, tc.change, userData, tc.config) != base; rolled != tc.rolls {
				t.Errorf("a change of %s replaces the machines: %t, want %t", name, rolled, tc.rolls)
			}
		})
	}
}

func TestZones(t *testing.T) {
	t.Parallel()
	type part struct {
		Name, Zone          string
		Replicas            int
		Minimum, Maximum    int32
		Surge, MayBeMissing int
	}
	cases := map[string]struct {
		reason string
		change func(*gardenextensionsv1alpha1.WorkerPool)
		want   []part
	}{
		"Even": {
			reason: "every zone gets the same",
			change: func(p *gardenextensionsv1alpha1.WorkerPool) { p.Zones = []string{"a", "b"} },
			want: []part{
				{Name: "small-z1", Zone: "a", Replicas: 1, Minimum: 1, Maximum: 2, Surge: 1},
				{Name: "small-z2", Zone: "b", Replicas: 1, Minimum: 1, Maximum: 2, Surge: 1},
			},
		},
		"Rest": {
			reason: "the first zones get one more",
			change: func(p *gardenextensionsv1alpha1.WorkerPool) {
				p.Zones, p.Minimum, p.Maximum = []string{"a", "b", "c"}, 4, 8
				p.MaxSurge, p.MaxUnavailable = intstr.FromInt32(2), intstr.FromInt32(1)
			},
			want: []part{
				{Name: "small-z1", Zone: "a", Replicas: 2, Minimum: 2, Maximum: 3, Surge: 1, MayBeMissing: 1},
				{Name: "small-z2", Zone: "b", Replicas: 1, Minimum: 1, Maximum: 3, Surge: 1},
				{Name: "small-z3", Zone: "c", Replicas: 1, Minimum: 1, Maximum: 2, Surge: 1},
			},
		},
		"Percent": {
			reason: "a percentage that divides evenly stays as it is; surge is rounded up, unavailability down",
			change: func(p *gardenextensionsv1alpha1.WorkerPool) {
				p.Zones, p.Minimum, p.Maximum = []string{"a", "b"}, 10, 10
				p.MaxSurge, p.MaxUnavailable = intstr.FromString("30%"), intstr.FromString("30%")
			},
			want: []part{
				{Name: "small-z1", Zone: "a", Replicas: 5, Minimum: 5, Maximum: 5, Surge: 2, MayBeMissing: 1},
				{Name: "small-z2", Zone: "b", Replicas: 5, Minimum: 5, Maximum: 5, Surge: 2, MayBeMissing: 1},
			},
		},
		"UnevenPercent": {
			reason: "otherwise it follows the zone's part: 50% of 3 machines are 67% of 2 and 34% of 1 of an even 1.5",
			change: func(p *gardenextensionsv1alpha1.WorkerPool) {
				p.Zones, p.Minimum, p.Maximum = []string{"a", "b"}, 3, 3
				p.MaxSurge, p.MaxUnavailable = intstr.FromString("50%"), intstr.FromInt32(0)
			},
			want: []part{
				{Name: "small-z1", Zone: "a", Replicas: 2, Minimum: 2, Maximum: 2, Surge: 2},
				{Name: "small-z2", Zone: "b", Replicas: 1, Minimum: 1, Maximum: 1, Surge: 1},
			},
		},
		"NoRoomToMove": {
			reason: "with neither surge nor unavailability nothing could ever be replaced, so one more is permitted",
			change: func(p *gardenextensionsv1alpha1.WorkerPool) { p.MaxSurge = intstr.FromInt32(0) },
			want:   []part{{Name: "small", Zone: "here", Replicas: 2, Minimum: 2, Maximum: 4, Surge: 1}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := newPool()
			tc.change(&pool)
			wanted, err := render(pool, "data", newCluster(""))
			if err != nil {
				t.Fatal(err)
			}
			var got []part
			for _, w := range wanted {
				spec := w.Deployment.Spec
				limits, err := machinedeployment.LimitsOf(spec.Strategy, int(spec.Replicas))
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, part{
					Name: strings.TrimPrefix(w.Deployment.Name, namespace+"-"), Zone: spec.Template.Spec.NodeTemplate.Labels[corev1.LabelTopologyZone],
					Replicas: int(spec.Replicas), Minimum: w.Status.Minimum, Maximum: w.Status.Maximum, Surge: limits.Surge, MayBeMissing: limits.Unavailable,
				})
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nRender(...) (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPreservation: a pool divides among its zones how many failed machines it keeps, and says for how long.
func TestPreservation(t *testing.T) {
	t.Parallel()
	pool := newPool()
	pool.Zones = []string{"a", "b"}
	pool.MachineControllerManagerSettings = &gardencorev1beta1.MachineControllerManagerSettings{
		AutoPreserveFailedMachineMax: new(int32(1)), MachinePreserveTimeout: &metav1.Duration{Duration: time.Hour},
	}
	wanted, err := render(pool, "data", newCluster(""))
	if err != nil {
		t.Fatal(err)
	}
	var got []int32
	for _, w := range wanted {
		got = append(got, w.Deployment.Spec.AutoPreserveFailedMachineMax, ptr.Deref(w.Status.AutoPreserveFailedMachineMax, -1))
		if timeout := w.Deployment.Spec.Template.Spec.PreserveTimeout; timeout == nil || timeout.Duration != time.Hour {
			t.Errorf("machines of %q are kept for %v, want an hour", w.Deployment.Name, timeout)
		}
	}
	if diff := cmp.Diff([]int32{1, 1, 0, -1}, got); diff != "" {
		t.Errorf("failed machines that are kept in each zone, as wanted and as published; -1 is nothing (-want +got):\n%s", diff)
	}
}

// TestKeptMachinesAreNotAwaited: nobody waits for a failed machine that is kept, unless it never joined.
func TestKeptMachinesAreNotAwaited(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	broken := func(during gardenmachinev1alpha1.MachineOperationType, wish string) gardenmachinev1alpha1.Machine {
		m := gardenmachinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "broken", Annotations: map[string]string{gardenmachinev1alpha1.AnnotationPreserve: wish}}}
		m.Status.CurrentStatus.Phase = gardenmachinev1alpha1.MachineFailed
		m.Status.CurrentStatus.PreserveExpiryTime = new(metav1.NewTime(now.Add(time.Hour)))
		m.Status.LastOperation = gardenmachinev1alpha1.LastOperation{Type: during, State: gardenmachinev1alpha1.MachineStateFailed, Description: "it broke"}
		return m
	}
	for reason, tc := range map[string]struct {
		machine gardenmachinev1alpha1.Machine
		at      time.Time
		trouble bool
	}{
		"it is kept":                     {broken(gardenmachinev1alpha1.MachineOperationHealthCheck, "when-failed"), now, false},
		"it is kept no longer":           {broken(gardenmachinev1alpha1.MachineOperationHealthCheck, "when-failed"), now.Add(time.Hour), true},
		"it is not to be kept":           {broken(gardenmachinev1alpha1.MachineOperationHealthCheck, "false"), now, true},
		"it is kept, but never has been": {broken(gardenmachinev1alpha1.MachineOperationCreate, "when-failed"), now, true},
	} {
		deployment := &gardenmachinev1alpha1.MachineDeployment{Spec: gardenmachinev1alpha1.MachineDeploymentSpec{Replicas: 1}}
		got := worker.Summarize(deployment, []gardenmachinev1alpha1.Machine{tc.machine}, tc.at)
		if (got.Trouble != "") != tc.trouble || (got.Waiting != "") != tc.trouble {
			t.Errorf("%s: Summarize(...) = %+v, want trouble: %t", reason, got, tc.trouble)
		}
	}
}

func TestHibernated(t *testing.T) {
	t.Parallel()
	cluster := newCluster("")
	cluster.Shoot.Spec.Hibernation = &gardencorev1beta1.Hibernation{Enabled: new(true)}
	pool := newPool()
	wanted, err := render(pool, "data", cluster)
	if err != nil {
		t.Fatal(err)
	}
	if replicas := wanted[0].Deployment.Spec.Replicas; replicas != 0 || wanted[0].Status.Minimum != 2 {
		t.Errorf("a sleeping shoot has %d machines of at least %d, want 0 and the bounds of the pool", replicas, wanted[0].Status.Minimum)
	}
}

func TestImage(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		config  string
		version string
		kubelet string
		want    string
		wantErr string
	}{
		"Default":      {reason: "without a configuration every machine image is the default one", version: "9", want: "machine:default"},
		"Mapped":       {reason: "the cloud profile says which image a version is", config: imageMap, version: "1.36.3", want: "machine:mapped"},
		"Missing":      {reason: "a version that it does not name is an error that names it", config: imageMap, version: "9", wantErr: `machine image "local" in version "9"`},
		"UnknownField": {reason: "an unknown field of the configuration is reported", config: `{"apiVersion":"x","kinds":"y"}`, wantErr: `unknown field "kinds"`},
		"Kubelet":      {reason: "a version of Kubernetes may have a container image of its own", config: imagesOf(twoKubelets), version: "1.36.3", kubelet: "1.36.3", want: "machine:three"},
		"Patch":        {reason: "also a patch version", config: imagesOf(twoKubelets), version: "1.36.3", kubelet: "1.36.4", want: "machine:four"},
		"Unknown":      {reason: "an image of which nothing is said is used for every version", config: imageMap, version: "1.36.3", kubelet: "1.36.4", want: "machine:mapped"},
		"NoKubelet": {
			reason: "a version that nobody has is an error that says what to do", config: imagesOf(twoKubelets), version: "1.36.3", kubelet: "1.36.5",
			wantErr: `pool "small": cloud profile "local": spec.providerConfig.machineImages[0].versions[0]: machine image "local" in version "1.36.3" has kubelet 1.36.3, 1.36.4 and not 1.36.5, so no machine is replaced: have the operator`,
		},
		"Both":        {reason: "it would be unclear which one counts", config: imagesOf(`"image":"machine:mapped",` + twoKubelets), version: "1.36.3", wantErr: "needs either image or kubelets"},
		"Neither":     {reason: "there is no container image", config: imagesOf(`"kubelets":[]`), version: "1.36.3", wantErr: "needs either image or kubelets"},
		"HalfKubelet": {reason: "nothing can be guessed", config: imagesOf(`"kubelets":[{"version":"1.36.3"}]`), version: "1.36.3", wantErr: "needs version and image in kubelets[0]"},
		"SameImage": {
			reason: "it would promise a kubelet that it does not have", version: "1.36.3", wantErr: "kubelets[1]",
			config: imagesOf(`"kubelets":[{"version":"1.36.3","image":"machine"},{"version":"1.36.4","image":"machine"}]`),
		},
		"SameVersion": {
			reason: "it would be unclear which one counts", version: "1.36.3", wantErr: "kubelets[1]",
			config: imagesOf(`"kubelets":[{"version":"1.36.3","image":"machine:a"},{"version":"1.36.3","image":"machine:b"}]`),
		},
		"Doubled":   {reason: "it would be unclear which one counts", config: `{"kind":"x","kind":"y"}`, wantErr: `key "kind" already set`},
		"OtherKind": {reason: "a configuration of another provider is not understood", config: `{"apiVersion":"x","kind":"y"}`, wantErr: `it is a "y" of "x"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := newPool()
			pool.MachineImage.Version, pool.KubernetesVersion = tc.version, &tc.kubelet
			wanted, err := render(pool, "data", newCluster(tc.config))
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("%s\nRender(...) = %v, want an error with %q", tc.reason, err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if spec, err := machinepod.ReadSpec(wanted[0].Class); err != nil || spec.Image != tc.want {
				t.Errorf("%s\nRender(...) = %v, %v, want image %q", tc.reason, wanted, err, tc.want)
			}
		})
	}
}
