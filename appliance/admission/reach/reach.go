// SPDX-License-Identifier: Apache-2.0

// Package reach keeps gardenlets from getting access to further objects by their writes: they cannot refer to objects that
// they cannot read already, and cannot set labels and annotations that the garden acts upon.
package reach

import (
	"context"
	"fmt"

	"k8s.io/apiserver/pkg/authentication/user"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
)

// Readable reports whether a user may refer to an object: the user can read it, or it has no data.
func Readable(ctx context.Context, w *world.World, who user.Info, v graph.Vertex) (bool, error) {
	target, holds := Holder(v)
	if !holds {
		return true, nil
	}
	may, err := w.May(ctx, who, "get", target)
	if err != nil {
		return false, fmt.Errorf("%w: %w", world.ErrUnreadable, err)
	}

	return may, nil
}

// Holder returns the resource of an object that has data, or that refers to such an object.
func Holder(v graph.Vertex) (world.Target, bool) {
	resources := map[graph.Kind]world.Target{
		graph.Secret:               {Version: "v1", Resource: "secrets"},
		graph.ConfigMap:            {Version: "v1", Resource: "configmaps"},
		graph.InternalSecret:       {Group: gardencorev1beta1.GroupName, Resource: "internalsecrets"},
		graph.ControllerDeployment: {Group: gardencorev1beta1.GroupName, Resource: "controllerdeployments"},
		graph.SecretBinding:        {Group: gardencorev1beta1.GroupName, Resource: "secretbindings"},
		graph.CredentialsBinding:   {Group: gardensecurityv1alpha1.GroupName, Resource: "credentialsbindings"},
		graph.WorkloadIdentity:     {Group: gardensecurityv1alpha1.GroupName, Resource: "workloadidentities"},
	}
	target, ok := resources[v.Kind]
	target.Namespace, target.Name = v.Namespace, v.Name

	return target, ok
}
