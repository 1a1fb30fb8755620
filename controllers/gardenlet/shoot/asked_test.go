// SPDX-License-Identifier: Apache-2.0

package shoot_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/terrarium-garden/terrarium/apis/extensions"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
)

// TestTasksAskExtensions_GLET_RECON_3 repeats the run on a shoot with which nothing is wrong. Its infrastructure and its names rest, unless the
// annotation lists them. All others are asked.
func TestTasksAskExtensions_GLET_RECON_3(t *testing.T) {
	t.Parallel()
	e := newEvaluated(t)
	e.run(t)
	var mu sync.Mutex
	var asked []string
	seed, _ := e.SeedClient.(client.WithWatch)
	e.SeedClient = interceptor.NewClient(seed, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
			if o, is := obj.(gardenextensionsv1alpha1.Object); is && o.GetAnnotations()["gardener.cloud/operation"] == "reconcile" {
				mu.Lock()
				asked = append(asked, extensions.KindOf(o).Name+" "+o.GetName())
				mu.Unlock()
			}
			return c.Patch(ctx, obj, patch, options...)
		},
	})
	e.Shoots.Seed = e.SeedClient
	for _, step := range []struct {
		reason, tasks string
		want          []string
	}{
		{"what is listed is not about extensions", "restartCoreAddons", nil},
		{"infrastructure and a name are listed", "deployInfrastructure,deployDNSRecordExternal", []string{"DNSRecord a-external", "Infrastructure a"}},
		{"the other name is listed", "restartCoreAddons,deployDNSRecordIngress", []string{"DNSRecord a-ingress"}},
	} {
		asked = nil
		annotated("shoot.gardener.cloud/tasks", step.tasks)(e.shoot)
		e.run(t)
		machines := slices.DeleteFunc(slices.Clone(asked), func(one string) bool { return !strings.HasPrefix(one, "OperatingSystemConfig ") })
		want := slices.Concat([]string{"ControlPlane a", "Network a", "Worker a"}, machines, step.want)
		slices.Sort(want)
		slices.Sort(asked)
		if diff := cmp.Diff(want, asked); diff != "" || len(machines) == 0 {
			t.Errorf("%s: extensions that are asked (-want +got):\n%s", step.reason, diff)
		}
	}
}
