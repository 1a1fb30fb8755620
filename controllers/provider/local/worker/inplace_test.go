// SPDX-License-Identifier: Apache-2.0

package worker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/worker"
)

// TestInPlaceClassesStay: another version of the image, and of Kubernetes, keeps the class of machines that are updated in place. What they are
// updated to is on their nodes.
func TestInPlaceClassesStay_EXT_WORKER_5(t *testing.T) {
	t.Parallel()
	const images = `{"apiVersion":"local.provider.extensions.gardener.cloud/v1alpha1","kind":"CloudProfileConfig",
"machineImages":[{"name":"local","versions":[{"version":"1.36.3","image":"machine:3"},{"version":"1.36.4","image":"machine:4"}]}]}`
	of := func(strategy gardencorev1beta1.MachineUpdateStrategy, version string) worker.Wanted {
		t.Helper()
		pool, cluster := newPool(), newCluster(images)
		pool.UpdateStrategy, pool.MachineImage.Version, pool.KubernetesVersion = &strategy, version, &version
		pool.NodeAgentSecretName = new("gardener-node-agent-small")
		pool.Annotations = map[string]string{gardenmachinev1alpha1.AnnotationInPlaceWanted: "of the owner"}
		cluster.Shoot.Spec.Kubernetes.Version = version
		cluster.Shoot.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "small", UpdateStrategy: &strategy}}
		all, err := render(pool, "data "+version, cluster)
		if err != nil || len(all) != 1 {
			t.Fatalf("Render(...) = %v, %v", all, err)
		}
		return all[0]
	}
	hash := func(w worker.Wanted) string {
		return w.Deployment.Spec.Template.Spec.NodeTemplate.Annotations[gardenmachinev1alpha1.AnnotationInPlaceWanted]
	}
	for strategy, who := range map[gardencorev1beta1.MachineUpdateStrategy]gardenmachinev1alpha1.OrchestrationType{
		gardencorev1beta1.MachineUpdateStrategyAutoInPlaceUpdate: "Auto", gardencorev1beta1.MachineUpdateStrategyManualInPlaceUpdate: "Manual",
	} {
		before, after := of(strategy, "1.36.3"), of(strategy, "1.36.4")
		if before.Class.Name != after.Class.Name || hash(before) == hash(after) || !strings.Contains(string(after.Class.ProviderSpec.Raw), "machine:4") {
			t.Errorf("%s: class %q then %q, hash %q then %q, %s", strategy, before.Class.Name, after.Class.Name, hash(before), hash(after), after.Class.ProviderSpec.Raw)
		}
		if s := after.Deployment.Spec.Strategy; s.Type != gardenmachinev1alpha1.InPlaceUpdateStrategy || s.InPlaceUpdate.OrchestrationType != who {
			t.Errorf("%s: the strategy is %+v", strategy, s)
		}
	}
	rolling := gardencorev1beta1.MachineUpdateStrategyAutoRollingUpdate
	if before, after := of(rolling, "1.36.3"), of(rolling, "1.36.4"); before.Class.Name == after.Class.Name || hash(after) != "" {
		t.Errorf("machines that are replaced have the class %q still, hash %q", after.Class.Name, hash(after))
	}
}

// TestInPlacePatch: another patch version of Kubernetes alone gives machines that are updated in place the container image that has its kubelet.
func TestInPlacePatch_EXT_WORKER_5(t *testing.T) {
	t.Parallel()
	of := func(version string) worker.Wanted {
		t.Helper()
		pool, strategy := newPool(), gardencorev1beta1.MachineUpdateStrategyAutoInPlaceUpdate
		pool.UpdateStrategy, pool.KubernetesVersion, pool.NodeAgentSecretName = &strategy, &version, new("gardener-node-agent-small")
		all, err := render(pool, "data", newCluster(imagesOf(twoKubelets)))
		if err != nil || len(all) != 1 {
			t.Fatalf("Render(...) = %v, %v", all, err)
		}
		return all[0]
	}
	before, after := of("1.36.3"), of("1.36.4")
	if before.Class.Name != after.Class.Name || !strings.Contains(string(after.Class.ProviderSpec.Raw), "machine:four") {
		t.Errorf("class %q then %q with %s, want the same with machine:four", before.Class.Name, after.Class.Name, after.Class.ProviderSpec.Raw)
	}
}

// TestUpdatedTo: a pool is updated when all of its machines in all zones are.
func TestUpdatedTo_GLET_STAT_1(t *testing.T) {
	t.Parallel()
	zone := func(hash string) gardenmachinev1alpha1.MachineDeployment {
		d := gardenmachinev1alpha1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{gardencorev1beta1.LabelWorkerPool: "small"}}}
		d.Spec.Template.Spec.NodeTemplate.Annotations = map[string]string{gardenmachinev1alpha1.AnnotationInPlaceWanted: hash}
		return d
	}
	machine := func(pool, applied string, more ...string) gardenmachinev1alpha1.Machine {
		m := gardenmachinev1alpha1.Machine{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{gardencorev1beta1.LabelWorkerPool: pool}}}
		m.Annotations = map[string]string{gardenmachinev1alpha1.AnnotationInPlaceApplied: applied}
		for _, label := range more {
			m.Labels[label] = "true"
		}
		return m
	}
	type (
		zones = []gardenmachinev1alpha1.MachineDeployment
		all   = []gardenmachinev1alpha1.Machine
	)
	for reason, tc := range map[string]struct {
		zones    zones
		machines all
		want     string
	}{
		"all are":                          {zones{zone("new"), zone("new")}, all{machine("small", "new"), machine("small", "new"), machine("large", "old")}, "new"},
		"one is behind":                    {zones{zone("new")}, all{machine("small", "new"), machine("small", "old")}, ""},
		"one has not said anything":        {zones{zone("new")}, all{machine("small", "")}, ""},
		"one is not given back yet":        {zones{zone("new")}, all{machine("small", "new", gardenmachinev1alpha1.LabelNodeSelectedForUpdate)}, ""},
		"there are no machines":            {zones{zone("new")}, nil, "new"},
		"a zone is not asked yet":          {zones{zone("new"), zone("old")}, all{machine("small", "new")}, ""},
		"nobody has said what they become": {zones{zone("")}, all{machine("small", "")}, ""},
	} {
		if got := worker.UpdatedTo("small", tc.zones, tc.machines); got != tc.want {
			t.Errorf("%s: UpdatedTo(...) = %q, want %q", reason, got, tc.want)
		}
	}
}

// TestAwaitsUpdates: an operation waits for machines that are updated in place, unless their owner chooses them.
func TestAwaitsUpdates(t *testing.T) {
	t.Parallel()
	for who, want := range map[gardenmachinev1alpha1.OrchestrationType]string{
		"Auto": `Waiting for machines of "small": 1 are to be updated in place`, "Manual": "",
	} {
		d := &gardenmachinev1alpha1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Name: "small"}}
		d.Spec.Replicas = 1
		d.Spec.Strategy.InPlaceUpdate = &gardenmachinev1alpha1.InPlaceUpdateMachineDeployment{OrchestrationType: who}
		m := gardenmachinev1alpha1.Machine{}
		m.Status.CurrentStatus.Phase = gardenmachinev1alpha1.MachineRunning
		d.Spec.Template.Spec.NodeTemplate.Annotations = map[string]string{gardenmachinev1alpha1.AnnotationInPlaceWanted: "new"}
		m.Annotations = map[string]string{gardenmachinev1alpha1.AnnotationInPlaceApplied: "old"}
		// The set of the machine tells it some time after the deployment was changed.
		for _, told := range []string{"old", "new"} {
			m.Spec.NodeTemplate.Annotations = map[string]string{gardenmachinev1alpha1.AnnotationInPlaceWanted: told}
			if diff := cmp.Diff(worker.Progress{Waiting: want}, worker.Summarize(d, []gardenmachinev1alpha1.Machine{m}, time.Unix(0, 0))); diff != "" {
				t.Errorf("%s, and the machine is told %q: Summarize(...) (-want +got):\n%s", who, told, diff)
			}
		}
		m.Annotations[gardenmachinev1alpha1.AnnotationInPlaceApplied] = "new"
		if got := worker.Summarize(d, []gardenmachinev1alpha1.Machine{m}, time.Unix(0, 0)); got != (worker.Progress{}) {
			t.Errorf("%s: when it is updated: %+v", who, got)
		}
	}
}
