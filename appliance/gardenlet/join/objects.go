// SPDX-License-Identifier: Apache-2.0

package join

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/chart"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	gardenletchart "github.com/terrarium-garden/terrarium/packaging/charts/gardenlet"
)

const (
	fieldOwner     = "terrarium-join"
	deploymentName = "gardenlet"
	configMapName  = "gardenlet-configmap"
	configKey      = "config.yaml"
	// labelMadeBy marks a namespace that a join has created, so that it is deleted with the gardenlet.
	labelMadeBy = "gardenlet.terrarium.garden/made-by"
	madeByJoin  = "join"
)

// plan holds the objects that a join creates in the cluster.
type plan struct {
	config  map[string]any
	objects []client.Object
}

// newPlan renders the objects of a gardenlet. For a gardenlet that runs as a process, that is only the invitation.
func newPlan(o Options, config map[string]any, invitation []byte, kubernetesVersion string) (plan, error) {
	namespace := &corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: gardencorev1beta1.NamespaceGarden, Labels: map[string]string{labelMadeBy: madeByJoin}},
	}
	p := plan{config: config, objects: []client.Object{namespace}}
	values := map[string]any{"config": config, "bootstrapKubeconfig": string(invitation), "imageVectorOverwrite": o.ImageVector}
	if o.Image != "" {
		values["image"] = o.Image
	}
	loaded, err := chart.LoadFS(gardenletchart.Files())
	if err != nil {
		return plan{}, err
	}
	rendered, err := loaded.Render(chart.Release{
		Name: deploymentName, Namespace: gardencorev1beta1.NamespaceGarden, KubernetesVersion: kubernetesVersion,
	}, values)
	if err != nil {
		return plan{}, err
	}
	for _, object := range rendered {
		if o.Mode != ModeProcess || object.GetKind() == "Secret" {
			p.objects = append(p.objects, object)
		}
	}
	return p, nil
}

// YAML returns the plan as a stream of documents.
func (p plan) YAML() ([]byte, error) {
	var all []byte
	for _, object := range p.objects {
		data, err := yaml.Marshal(object)
		if err != nil {
			return nil, fmt.Errorf("encode %T %q: %w", object, object.GetName(), err)
		}
		all = append(append(all, "---\n"...), data...)
	}
	return all, nil
}

// deployment applies a plan and records which objects it has created.
type deployment struct {
	engine deploy.Engine
	made   []client.Object
	// later are the objects that a gardenlet creates, if they did not exist before. Those of a gardenlet that was there are not to be lost.
	later []client.Object
}

// apply applies the objects of the plan. It does not change a namespace that exists already.
func (d *deployment) apply(ctx context.Context, p plan) error {
	namespace, name := reference(p.config, "kubeconfigSecret")
	for _, object := range []client.Object{object("v1", "Secret", namespace, name), leaseObject(p.config)} {
		exists, err := d.exists(ctx, object)
		if err != nil {
			return err
		}
		if !exists {
			d.later = append(d.later, object)
		}
	}
	for _, object := range p.objects {
		exists, err := d.exists(ctx, object)
		if err != nil {
			return err
		}
		if exists && object.GetObjectKind().GroupVersionKind().Kind == "Namespace" {
			continue
		}
		if !exists {
			// Recorded before the request, because the object may be created even if the request fails.
			d.made = append(d.made, object)
		}
		if err := d.engine.Apply(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

func (d *deployment) exists(ctx context.Context, object client.Object) (bool, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(object.GetObjectKind().GroupVersionKind())
	err := d.engine.Client.Get(ctx, client.ObjectKeyFromObject(object), live)
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("get %s %q: %w", live.GetKind(), object.GetName(), err)
	}
	return err == nil, nil
}

// undo deletes what apply has created, and what the gardenlet has created since.
func (d *deployment) undo(ctx context.Context) error {
	made := slices.Clone(d.made)
	if len(made) > 0 {
		made = append(made, d.later...)
	}
	if err := d.engine.Delete(ctx, made...); err != nil {
		return err
	}
	return errors.Join(d.engine.WaitGone(ctx, made...), awaitNoPods(ctx, d.engine))
}

// awaitNoPods waits until there are no pods of the gardenlet, which are deleted after its Deployment.
func awaitNoPods(ctx context.Context, engine deploy.Engine) error {
	pods := &corev1.PodList{}
	own := client.MatchingLabels{"app": "gardener", "role": "gardenlet"}
	err := engine.Client.List(ctx, pods, client.InNamespace(gardencorev1beta1.NamespaceGarden), own)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list pods of the gardenlet: %w", err)
	}
	left := make([]client.Object, 0, len(pods.Items))
	for i := range pods.Items {
		left = append(left, &pods.Items[i])
	}
	return engine.WaitGone(ctx, left...)
}

// leaseOf returns the lease for the leader election of a gardenlet with this configuration.
func leaseOf(config map[string]any) string {
	name, _, _ := unstructured.NestedString(config, "leaderElection", "resourceName")
	if name == "" {
		name = "gardenlet-leader-election"
	}
	return name
}

func leaseObject(config map[string]any) client.Object {
	return object("coordination.k8s.io/v1", "Lease", gardencorev1beta1.NamespaceGarden, leaseOf(config))
}

func object(apiVersion, kind, namespace, name string) client.Object {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}
