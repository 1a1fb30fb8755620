// SPDX-License-Identifier: Apache-2.0

package care

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/extension"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/managedresources"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/reports"
	"github.com/terrarium-garden/terrarium/controllers/gardenlet/tunnel"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

// World is what the checks are made on.
type World struct {
	// Seed is where the control plane is.
	Seed *gardencorev1beta1.Seed
	// API is the answer of the API server.
	API Answer
	// Deployments and StatefulSets are the components of the control plane.
	Deployments  []appsv1.Deployment
	StatefulSets []appsv1.StatefulSet
	// Reports are the conditions that extensions keep on their objects.
	Reports []reports.Report
	// Nodes are those of the shoot; NodesErr is set if they could not be listed.
	Nodes    []corev1.Node
	NodesErr error
	// Agents are the agents of the nodes.
	Agents Agents
	// Kubelets are the kubelets of the nodes.
	Kubelets Kubelets
	// TunnelErr says why the API server does not reach its nodes, or why that could not be found out.
	TunnelErr error
	// Machines are those of the shoot, if its provider has objects for them.
	Machines Machines
	// Inside is what the constraints are judged on inside of the shoot, once its API server answers.
	Inside Inside
	// Authorities are the certificate authorities of the shoot.
	Authorities []Authority
	// Managed are the managed resources of the control plane, and Patience says how long they may be progressing.
	Managed  []gardenresourcesv1alpha1.ManagedResource
	Patience managedresources.Patience

	// access reaches the shoot; it is nil if there is no access, and accessErr is set if that could not be found out.
	access    *kit.Shoot
	accessErr error
	// What could not be read of the seed leaves what was not judged on it as it is: planeErr for what only conditions are judged on,
	// managedErr for the managed resources, authoritiesErr for the authorities.
	planeErr, managedErr, authoritiesErr error
}

// uncheckable is why conditions cannot be judged; nil if they can.
func (w *World) uncheckable() error {
	return cmp.Or(w.planeErr, w.managedErr, w.accessErr)
}

// Answer is the result of a request for /healthz. The zero value says that there is no access to the shoot.
type Answer struct {
	// Unusable is why the access to the shoot cannot be used, so that there was no request.
	Unusable error
	// Status is the HTTP status, 0 if there was no answer.
	Status int
	Err    error
}

// askAPIServer logs how long the answer took. A condition must not say so, because it would change with each check.
func (r *Reconciler) askAPIServer(ctx context.Context, access *kit.Shoot) Answer {
	begin := r.Clock.Now()
	status, err := access.Healthz(ctx)
	ctrl.LoggerFrom(ctx).V(1).Info("API server asked for its health", "status", status, "took", r.Clock.Since(begin))
	return Answer{Status: status, Err: err}
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

// reports returns the conditions of all extension objects in the namespace.
func (r *Reconciler) reports(ctx context.Context, namespace string) ([]reports.Report, error) {
	var all []reports.Report
	for _, kind := range extensions.KindsWhere(func(k extensions.Kind) bool { return k.Reports }) {
		objects, err := extension.Engine{Client: r.SeedClient}.List(ctx, namespace, kind)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			all = append(all, reports.Of(kind.Name, object)...)
		}
	}
	return all, r.heartbeats.Age(ctx, &r.SeedBase, r.Config.StaleExtensionHealthChecks, all)
}

// askThroughTunnel logs what did not work. A condition must not say so, because it may be something else with each check.
func askThroughTunnel(ctx context.Context, access *kit.Shoot) error {
	err := tunnel.Check(ctx, access)
	if fault := (*tunnel.FaultError)(nil); errors.As(err, &fault) {
		ctrl.LoggerFrom(ctx).V(1).Info("API server does not reach its nodes", "reason", fault.Reason, "message", fault.Error())
	}
	return err
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
