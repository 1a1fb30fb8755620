// SPDX-License-Identifier: Apache-2.0

package revoked

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/seedclient"
)

// Object is an object that a seed could read.
type Object struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Exposed returns what a seed can read, or could before it was shut out: exactly what is decided for its requests. Objects with
// credentials come first.
func (o *Office) Exposed(ctx context.Context, seed string) ([]Object, error) {
	all := []Object{}
	for _, v := range o.Graph.Belonging(seed) {
		switch v.Kind {
		case graph.Secret, graph.InternalSecret, graph.ConfigMap, graph.ShootState: // Listed below, if they exist.
		case graph.JoinToken, graph.Lease, graph.CertificateSigningRequest, graph.ClusterRoleBinding, graph.ServiceAccount, graph.Namespace:
		default:
			all = append(all, Object{Kind: v.Kind.String(), Namespace: v.Namespace, Name: v.Name})
		}
	}
	for kind, resource := range map[graph.Kind]schema.GroupVersionResource{
		graph.Secret:         corev1.SchemeGroupVersion.WithResource("secrets"),
		graph.ConfigMap:      corev1.SchemeGroupVersion.WithResource("configmaps"),
		graph.InternalSecret: gardencorev1beta1.GroupVersion.WithResource("internalsecrets"),
		graph.ShootState:     gardencorev1beta1.GroupVersion.WithResource("shootstates"),
	} {
		found, err := o.Metadata.Resource(resource).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", resource.Resource, err)
		}
		for i := range found.Items {
			v := graph.Vertex{Kind: kind, Namespace: found.Items[i].Namespace, Name: found.Items[i].Name}
			own := kind == graph.Secret && v.Namespace == seedclient.NamespacePrefix+seed
			if own || o.Graph.BelongsTo(v, seed) {
				all = append(all, Object{Kind: kind.String(), Namespace: v.Namespace, Name: v.Name})
			}
		}
	}
	slices.SortFunc(all, func(a, b Object) int {
		return cmp.Or(cmp.Compare(secrecy(a.Kind), secrecy(b.Kind)), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})

	return slices.Compact(all), nil
}

// secrecy sorts the kinds with credentials first.
func secrecy(kind string) int {
	if i := slices.Index([]string{"Secret", "InternalSecret", "ShootState", "WorkloadIdentity"}, kind); i >= 0 {
		return i
	}

	return math.MaxInt
}
