// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
)

// Check looks at one part of what belongs to an object.
type Check struct {
	// Condition is the type of the condition that the check counts for.
	Condition gardencorev1beta1.ConditionType
	// When says whether the check is made; if not, it counts as successful. It is made always if unset (EXT-HEALTH-7).
	When func(cluster *engine.Cluster) bool
	// Run makes the check in the seed.
	Run func(ctx context.Context, seed client.Reader, namespace string) Finding
	// Patience is that of its findings.
	Patience time.Duration
}

func (c Check) find(ctx context.Context, seed client.Reader, cluster *engine.Cluster) Finding {
	if c.When != nil && !c.When(cluster) {
		return Finding{Outcome: Successful}
	}
	found := c.Run(ctx, seed, cluster.Namespace)
	found.Patience = c.Patience
	return found
}

// Workload checks a Deployment, StatefulSet or DaemonSet in the namespace of the object. empty has the type and the name (EXT-HEALTH-8).
func Workload(empty client.Object) func(ctx context.Context, seed client.Reader, namespace string) Finding {
	return func(ctx context.Context, seed client.Reader, namespace string) Finding {
		workload, _ := empty.DeepCopyObject().(client.Object)
		err := seed.Get(ctx, client.ObjectKey{Namespace: namespace, Name: empty.GetName()}, workload)
		if apierrors.IsNotFound(err) {
			return Finding{Outcome: Unsuccessful, Detail: fmt.Sprintf("%q does not exist", empty.GetName())}
		}
		if err != nil {
			return Finding{Err: fmt.Errorf("look at %q: %w", empty.GetName(), err)}
		}
		if healthy, reason := deploy.Healthy(workload); !healthy {
			return Finding{Outcome: Unsuccessful, Detail: fmt.Sprintf("%q is not healthy: %s", empty.GetName(), reason)}
		}
		return Finding{Outcome: Successful}
	}
}
