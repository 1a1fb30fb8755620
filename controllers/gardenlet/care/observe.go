// SPDX-License-Identifier: Apache-2.0

package care

import (
	"context"
	"fmt"
	"net/http"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// World is what the checks judge.
type World struct {
	// Seed is where the control plane is.
	Seed *gardencorev1beta1.Seed
	// API is the answer of the API server.
	API Answer
	// Deployments and StatefulSets are the components of the control plane.
	Deployments  []appsv1.Deployment
	StatefulSets []appsv1.StatefulSet
	// Reports are the conditions that extensions keep on their objects.
	Reports []Report
	// Nodes are those of the shoot; NodesErr says that they could not be listed.
	Nodes    []corev1.Node
	NodesErr error
}

// Answer is what became of a request for /healthz. The zero value says that there is no access to the shoot.
type Answer struct {
	// Status is the HTTP status, 0 if there was no answer.
	Status int
	Err    error
}

// Report is a condition of an extension object.
type Report struct {
	Kind, Name string
	Condition  gardencorev1beta1.Condition
}

// askAPIServer logs how long the answer took; a condition must not say so, because it has to hold still.
func (r *Reconciler) askAPIServer(ctx context.Context, access *kit.Shoot) Answer {
	begin := r.Clock.Now()
	status, err := access.Healthz(ctx)
	ctrl.LoggerFrom(ctx).V(1).Info("API server asked for its health", "status", status, "took", r.Clock.Since(begin))
	return Answer{Status: status, Err: err}
}

// seed is the seed of the control plane, or an empty one while it is not known.
func (r *Reconciler) seed(ctx context.Context) (*gardencorev1beta1.Seed, error) {
	seed := &gardencorev1beta1.Seed{}
	if err := r.GardenClient.Get(ctx, client.ObjectKey{Name: r.SeedName}, seed); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("get seed %q: %w", r.SeedName, err)
	}
	return seed, nil
}

func (r *Reconciler) workloads(ctx context.Context, namespace string) ([]appsv1.Deployment, []appsv1.StatefulSet, error) {
	role := client.MatchingLabels{gardencorev1beta1.LabelRole: gardencorev1beta1.RoleControlPlane}
	deployments, sets := &appsv1.DeploymentList{}, &appsv1.StatefulSetList{}
	if err := r.SeedClient.List(ctx, deployments, client.InNamespace(namespace), role); err != nil {
		return nil, nil, fmt.Errorf("list deployments of the control plane: %w", err)
	}
	if err := r.SeedClient.List(ctx, sets, client.InNamespace(namespace), role); err != nil {
		return nil, nil, fmt.Errorf("list stateful sets of the control plane: %w", err)
	}
	return deployments.Items, sets.Items, nil
}

// reports collects the conditions of every extension object in the namespace.
func (r *Reconciler) reports(ctx context.Context, namespace string) ([]Report, error) {
	var all []Report
	for _, kind := range extensions.KindsWhere(func(k extensions.Kind) bool { return k.Reports }) {
		list := kind.NewList()
		if err := r.SeedClient.List(ctx, list, client.InNamespace(namespace)); err != nil {
			if meta.IsNoMatchError(err) {
				continue
			}
			return nil, fmt.Errorf("list extension objects: %w", err)
		}
		objects, err := meta.ExtractList(list)
		if err != nil {
			return nil, fmt.Errorf("list extension objects: %w", err)
		}
		for _, object := range objects {
			extended, ok := object.(gardenextensionsv1alpha1.Object)
			if !ok {
				continue
			}
			for _, condition := range extended.GetExtensionStatus().Conditions {
				all = append(all, Report{Kind: kind.Name, Name: extended.GetName(), Condition: condition})
			}
		}
	}
	return all, nil
}

func nodesOf(ctx context.Context, access client.Reader) ([]corev1.Node, error) {
	nodes := &corev1.NodeList{}
	if err := access.List(ctx, nodes); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	return nodes.Items, nil
}

func ok(status int) bool {
	return status == http.StatusOK
}
