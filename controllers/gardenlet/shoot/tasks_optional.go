// SPDX-License-Identifier: Apache-2.0

package shoot

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenresourcesv1alpha1 "github.com/terrarium-garden/terrarium/apis/resources/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/assembly"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/lists"
	"github.com/terrarium-garden/terrarium/controllers/component/nginxingress"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/managed"
)

const (
	// optionalSets is the prefix of the names of the ManagedResources with what owners add to their shoots.
	optionalSets = "shoot-addon-"
	// optionalDeleted is the task after which none of it is left in a shoot in deletion.
	optionalDeleted flow.ID = "addons-delete"
	// ingressTimeout is how long a provider may take to make a load balancer.
	ingressTimeout = 10 * time.Minute
	ingressPoll    = time.Second
	// letGoGrace is how long the deletion of add-ons may take before the clean-up of the shoot takes over, unless the owner wants it sooner.
	letGoGrace = 5 * time.Minute
)

// optional is what owners add to shoots for evaluation (spec.addons): the dashboard and the ingress controller, with the DNS record of the
// latter.
type optional struct {
	ground

	names   names
	secrets authorities
	images  map[string]string
	values  values
}

// fragment orders the DNS record after the load balancer when there is to be one, and its end before that of the load balancer: no name of
// the owner may lead to an address that the provider has given to somebody else.
func (o optional) fragment(found remains) fragment {
	none := !o.facts.Workers() || o.facts.Power != facts.Awake
	host := o.facts.IngressHost()
	components := o.components()
	return fragment{
		deploy: append(components.Deploy(assembly.Order{
			After: after("resource-manager-access", "system-resources", "webhooks"), Skip: none,
			Besides: map[component.Name][]flow.ID{nginxingress.Name: after("dns-ingress-delete")},
		}), flow.Task{
			ID: "nginx-lb-wait", Title: "Waiting for the load balancer of the ingress controller", After: after("nginx-ingress", "controlplane-wait", "worker-wait"),
			Reads: []flow.Slot{o.values.shootClient}, Sets: []flow.Slot{o.values.ingress}, Timeout: ingressTimeout,
			Skip: none || query.NginxIngress(&o.facts.Shoot.Spec) == nil, Do: o.awaitIngress,
		}, flow.Task{
			ID: "dns-ingress", Title: "Deploying the DNS record of the ingress controller", Reads: []flow.Slot{o.values.ingress},
			Skip: none || host == "", Do: o.ingress,
		}, flow.Task{
			ID: "dns-ingress-delete", Title: "Deleting the DNS record of an ingress controller", After: after("namespace"),
			Skip: none || host != "", Do: o.ingressAway,
		}),
		destroy: []flow.Task{{
			ID: optionalDeleted, Title: "Deleting the add-ons of the cluster", Timeout: letGoTimeout,
			// The namespace of the dashboard could not go while an extended API does not answer.
			After: after("resource-manager-access", "controlplane-wait", "clean-extended-apis", "kcm-wait", "dns-ingress-delete"),
			Skip:  !found.cleanable(), Do: o.letGo,
		}, {
			ID: "dns-ingress-delete", Title: "Deleting the DNS record of the ingress controller", Skip: !found.namespaceThere, Do: o.ingressAway,
		}},
	}
}

func (o optional) components() *assembly.Assembly[facts.Shoot] {
	return &assembly.Assembly[facts.Shoot]{
		Components: lists.Optional(), Facts: o.facts, Namespace: metav1.NamespaceSystem, Prefix: optionalSets,
		Secrets: o.secrets.Manager, Images: o.images, Addresses: o.values.addresses,
		Managed: &assembly.Managed{Seed: o.engine(), Namespace: o.facts.Namespace},
		Reads:   []flow.Slot{o.values.shootClient},
		Engine: func(ctx context.Context) deploy.Engine {
			return deploy.Engine{Client: o.values.shootClient.Get(ctx), Owner: fieldOwner, Clock: o.clock}
		},
	}
}

// letSetGo deletes what a ManagedResource has in the shoot. If that takes longer than owners give such objects, because a provider does not
// delete its load balancer, or somebody's object holds the namespace, the rest is left to the clean-up, which ends it.
func (o optional) letSetGo(ctx context.Context, set managed.Set) (gone bool, err error) {
	is := &gardenresourcesv1alpha1.ManagedResource{}
	err = o.engine().Client.Get(ctx, client.ObjectKey{Namespace: set.Namespace, Name: set.Name}, is)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("read ManagedResource %q: %w", set.Name, err)
	}
	if err != nil || is.DeletionTimestamp == nil {
		return set.Delete(ctx, o.engine())
	}
	if period := grace(o.facts.Shoot, gardencorev1beta1.AnnotationShootCleanupKubernetesResourcesGrace, letGoGrace); o.clock.Since(is.DeletionTimestamp.Time) < period {
		return false, nil
	}
	return set.Forget(ctx, o.engine())
}

// letGo deletes the add-ons while the controllers run that delete a load balancer at the provider. What is left by then is cleaned up like
// everything else that an owner has made; otherwise the resource manager would make it anew.
func (o optional) letGo(ctx context.Context) error {
	return flow.Until(ctx, o.clock, flow.Every(letGoPoll), func(ctx context.Context) error {
		var left leftover
		for _, c := range lists.Optional() {
			set := managed.Set{Namespace: o.facts.Namespace, Name: optionalSets + string(c.Name)}
			gone, err := o.letSetGo(ctx, set)
			if err != nil {
				return err
			}
			if !gone {
				left.add(fmt.Sprintf("ManagedResource %q", set.Name))
			}
		}
		if !left.none() {
			return errors.New("still there: " + left.String())
		}
		return nil
	})
}
