// SPDX-License-Identifier: Apache-2.0

package nodeagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
)

const (
	kubeletUnit = "kubelet.service"
	// lastFile is what was applied last. It is beside the kubeconfig of the kubelet, which outlives a restart of every machine.
	lastFile = "last-applied-osc.yaml"
	// longestReason is how much of a reason a node says.
	longestReason = 256
)

var errVersion = errors.New("the machine image does not bring the version of the kubelet that is wanted: choose another version of the image")

// InPlaceUpdates is the part of a configuration of machines that are updated in place. As long as the hash is not the one that a node has
// reported, nothing of the configuration is applied but what Trust names, until the node is ready for the update (GLET-CRED-8).
type InPlaceUpdates struct {
	// Hash is reported by a node that has been updated to the configuration.
	Hash string `json:"hash"`
	// KubeletVersion is the version that the kubelet has after the update.
	KubeletVersion string `json:"kubelet"`
	// ServerCA are the certificates with which the kubelet verifies its API server, ClientCA is the one that signs clients now; both in PEM.
	ServerCA string `json:"serverAuthorities"`
	ClientCA string `json:"clientAuthority"`
	// Trust are the paths of files that do not wait: whom the machine trusts has to be known before others make use of it.
	Trust []string `json:"trust,omitempty"`
	// OSUpdate is how the machine gets its version of the operating system; nil if nothing is to be done on it. Agents of earlier versions do
	// not know it, so it is there only if it has to be.
	OSUpdate *OSUpdate `json:"osUpdate,omitempty"`
}

// outdated reports whether a node has to be updated in place before it may have the configuration. A new one starts with it.
func outdated(node *corev1.Node, c Configuration) bool {
	applied := node.Annotations[gardenmachinev1alpha1.AnnotationInPlaceApplied]
	return c.InPlaceUpdates != nil && applied != "" && applied != c.InPlaceUpdates.Hash
}

// readyForUpdate reports whether the machine controller has drained the node.
func readyForUpdate(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == gardenmachinev1alpha1.NodeInPlaceUpdate && c.Status == corev1.ConditionTrue && c.Reason == gardenmachinev1alpha1.ReasonReadyForUpdate
	})
}

// hold keeps the machine as it was before the update, and lets it trust whom it is to trust.
func (a *Agent) hold(ctx context.Context, c Configuration) error {
	last, err := a.last()
	if err != nil || last == nil {
		return err
	}
	trusted := func(f gardenextensionsv1alpha1.File) bool { return slices.Contains(c.InPlaceUpdates.Trust, f.Path) }
	last.Files = slices.DeleteFunc(last.Files, trusted)
	for _, file := range c.Files {
		if trusted(file) {
			last.Files = append(last.Files, file)
		}
	}
	if err := a.Machine.Apply(ctx, *last); err != nil {
		return fmt.Errorf("keep the machine as it is until its update: %w", err)
	}
	return nil
}

// last is the configuration that was applied last; nil if none was.
func (a *Agent) last() (*Configuration, error) {
	data, err := os.ReadFile(a.beside(lastFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nil says that there is none
	}
	if err != nil {
		return nil, fmt.Errorf("read what was applied last: %w", err)
	}
	c, err := Decode(data)
	return &c, err
}

func (a *Agent) remember(c Configuration) error {
	if c.InPlaceUpdates == nil {
		return nil
	}
	data, _, err := Encode(c)
	if err == nil {
		err = write(a.beside(lastFile), stateMode, data)
	}
	if err != nil {
		return fmt.Errorf("remember the configuration: %w", err)
	}
	return nil
}

// beside is the place of a file in the folder of the kubelet.
func (a *Agent) beside(name ...string) string {
	return a.Machine.at(filepath.Join(append([]string{filepath.Dir(a.Kubeconfig)}, name...)...))
}

// prepare lets the kubelet forget how it has shared out processors and memory: the node is drained, and a kubelet with another policy does
// not start with the checkpoints of the former one.
func (a *Agent) prepare(ctx context.Context, c Configuration) error {
	settled, err := a.Machine.Settled(c)
	if err != nil || settled && a.Healthy(ctx) == nil {
		return err
	}
	if err := a.Machine.unsettle(kubeletUnit); err != nil {
		return err
	}
	for _, name := range []string{"cpu_manager_state", "memory_manager_state"} {
		if err := os.Remove(a.beside(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove checkpoint of the kubelet: %w", err)
		}
	}
	return nil
}

// unsettle has units restarted with the next configuration that is applied, also after an interruption.
func (m *Machine) unsettle(units ...string) error {
	before, err := m.load()
	if err != nil {
		return err
	}
	before.Unsettled = union(before.Unsettled, units)
	return m.save(before)
}

// verify reports an error if the kubelet does not have the version to which it was to be updated. A version that it did not have before
// either is not of this update.
func (a *Agent) verify(ctx context.Context, c Configuration) error {
	last, err := a.last()
	if err != nil || last != nil && last.InPlaceUpdates != nil && last.InPlaceUpdates.KubeletVersion == c.InPlaceUpdates.KubeletVersion {
		return err
	}
	node, err := a.Kubelet.CoreV1().Nodes().Get(ctx, a.Node, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("get node %q: %w", a.Node, err)
	}
	if has := strings.TrimPrefix(node.Status.NodeInfo.KubeletVersion, "v"); has != c.InPlaceUpdates.KubeletVersion {
		return fmt.Errorf("%w: it is %s and not %s", errVersion, has, c.InPlaceUpdates.KubeletVersion)
	}
	return nil
}

// update applies a configuration to a drained node. What goes wrong is told on the node, and tried again.
func (a *Agent) update(ctx context.Context, node *corev1.Node, c Configuration) error {
	err := a.updateSystem(ctx, c.InPlaceUpdates.OSUpdate)
	if err == nil {
		err = a.prepare(ctx, c)
	}
	if err == nil {
		err = a.apply(ctx, c)
	}
	if err == nil {
		err = a.verify(ctx, c)
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	reason := err.Error()
	reason = strings.ToValidUTF8(reason[:min(len(reason), longestReason)], "")
	if node.Labels[gardenmachinev1alpha1.LabelNodeUpdateResult] == gardenmachinev1alpha1.UpdateFailed &&
		node.Annotations[gardenmachinev1alpha1.AnnotationNodeUpdateFailedReason] == reason {
		return err
	}
	return errors.Join(err, a.mark(ctx, map[string]any{
		"labels":      map[string]any{gardenmachinev1alpha1.LabelNodeUpdateResult: gardenmachinev1alpha1.UpdateFailed},
		"annotations": map[string]any{gardenmachinev1alpha1.AnnotationNodeUpdateFailedReason: reason},
	}))
}

// mark merges metadata into those of the node.
func (a *Agent) mark(ctx context.Context, metadata map[string]any) error {
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err == nil {
		_, err = a.Kubelet.CoreV1().Nodes().Patch(ctx, a.Node, types.MergePatchType, patch, metav1.PatchOptions{})
	}
	if err != nil {
		return fmt.Errorf("report what is applied on node %q: %w", a.Node, err)
	}
	return nil
}

// report says on the Node which configuration is applied, if it does not say so yet.
func (a *Agent) report(ctx context.Context, node *corev1.Node, checksum string, c Configuration) error {
	annotations, metadata := map[string]any{}, map[string]any{}
	if node.Annotations[gardencorev1beta1.AnnotationChecksumCloudConfigData] != checksum {
		annotations[gardencorev1beta1.AnnotationChecksumCloudConfigData] = checksum
	}
	if u := c.InPlaceUpdates; u != nil && node.Annotations[gardenmachinev1alpha1.AnnotationInPlaceApplied] != u.Hash {
		annotations[gardenmachinev1alpha1.AnnotationInPlaceApplied] = u.Hash
		if outdated(node, c) {
			annotations[gardenmachinev1alpha1.AnnotationNodeUpdateFailedReason] = nil
			metadata["labels"] = map[string]any{gardenmachinev1alpha1.LabelNodeUpdateResult: gardenmachinev1alpha1.UpdateSuccessful}
		}
	}
	if len(annotations) == 0 {
		return nil
	}
	metadata["annotations"] = annotations
	return a.mark(ctx, metadata)
}
