// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxQuote limits how much of a termination message is quoted.
const maxQuote = 300

// trouble is what keeps a pod from running.
type trouble struct {
	text string
	// image is set if an image cannot be pulled; waiting longer seldom helps then.
	image bool
}

// podTrouble finds the reason why a pod does not run.
func podTrouble(p *corev1.Pod) (trouble, bool) {
	if p.Status.Reason != "" && p.Status.Phase == corev1.PodFailed {
		return trouble{text: fmt.Sprintf("pod %q failed: %s: %s", p.Name, p.Status.Reason, p.Status.Message)}, true
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return trouble{text: fmt.Sprintf("pod %q finds no node: %s", p.Name, c.Message)}, true
		}
	}
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if t, found := containerTrouble(p.Name, s); found {
			return t, true
		}
	}
	return trouble{}, false
}

func containerTrouble(pod string, s corev1.ContainerStatus) (trouble, bool) {
	if w := s.State.Waiting; w != nil {
		switch w.Reason {
		case "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError", "RegistryUnavailable":
			return trouble{image: true, text: fmt.Sprintf("image %q of pod %q cannot be pulled: "+
				"load the image on the seed's nodes or correct the image vector", s.Image, pod)}, true
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
			return trouble{text: fmt.Sprintf("container %q of pod %q cannot start: %s", s.Name, pod, w.Message)}, true
		}
	}
	if t := s.LastTerminationState.Terminated; t != nil && !s.Ready && s.RestartCount > 0 {
		return trouble{text: fmt.Sprintf("container %q of pod %q has ended %d times, with status %d the last time%s",
			s.Name, pod, s.RestartCount, t.ExitCode, lastWords(t.Message))}, true
	}
	if t := s.State.Terminated; t != nil && t.ExitCode != 0 {
		return trouble{text: fmt.Sprintf("container %q of pod %q has ended with status %d%s", s.Name, pod, t.ExitCode, lastWords(t.Message))}, true
	}
	return trouble{}, false
}

// lastWords quotes the end of a termination message, where the reason usually is.
func lastWords(message string) string {
	message = strings.TrimSpace(message)
	if message == "" {
		return ""
	}
	if len(message) > maxQuote {
		message = "…" + message[len(message)-maxQuote:]
	}
	return ": " + message
}

// workloadTrouble looks at the pods of a workload.
func (e Engine) workloadTrouble(ctx context.Context, u *unstructured.Unstructured) (trouble, bool) {
	pods, err := e.podsOf(ctx, u)
	if err != nil {
		return trouble{}, false // the reason of the workload itself has to suffice
	}
	for i := range pods {
		if t, found := podTrouble(&pods[i]); found {
			return t, true
		}
	}
	return trouble{}, false
}

// podsOf lists the pods of a workload. Objects of other kinds have none.
func (e Engine) podsOf(ctx context.Context, u *unstructured.Unstructured) ([]corev1.Pod, error) {
	raw, found, err := unstructured.NestedMap(u.Object, "spec", "selector")
	if err != nil || !found || u.GetKind() == "Service" {
		return nil, err
	}
	var labels metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, &labels); err != nil {
		return nil, fmt.Errorf("read the selector of %s: %w", describe(u), err)
	}
	selector, err := metav1.LabelSelectorAsSelector(&labels)
	if err != nil {
		return nil, fmt.Errorf("read the selector of %s: %w", describe(u), err)
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	if err := e.Client.List(ctx, list, client.InNamespace(u.GetNamespace()), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, fmt.Errorf("list the pods of %s: %w", describe(u), err)
	}
	pods := make([]corev1.Pod, len(list.Items))
	for i := range list.Items {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.Items[i].Object, &pods[i]); err != nil {
			return nil, fmt.Errorf("read a pod of %s: %w", describe(u), err)
		}
	}
	return pods, nil
}
