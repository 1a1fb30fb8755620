// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/managed"
)

// errNoClusterIP is the answer while a Service has no address in its cluster.
var errNoClusterIP = errors.New("the Service has no cluster IP")

func (a *Assembly[F]) set(c component.Component[F]) deploy.Set {
	return deploy.Set{Namespace: a.Namespace, Name: a.Prefix + string(c.Name)}
}

// deploy applies what the component renders and deletes what it no longer renders.
func (a *Assembly[F]) deploy(c component.Component[F]) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		engine := a.Engine(ctx)
		in, err := a.inputs(ctx, engine, c)
		if err != nil {
			return err
		}
		objs, err := c.Render(a.learned(ctx, c.Name), in)
		if err := errors.Join(err, in.Missing()); err != nil {
			return fmt.Errorf("render component %q: %w", c.Name, err)
		}
		if a.Managed != nil {
			return a.entrust(ctx, c, objs)
		}
		return engine.ApplySet(ctx, a.set(c), objs...)
	}
}

// learned are the facts that a component is rendered with.
func (a *Assembly[F]) learned(ctx context.Context, name component.Name) F {
	if lesson, found := a.Learn[name]; found {
		return lesson.Facts(ctx, a.Facts)
	}
	return a.Facts
}

func (a *Assembly[F]) managed(c component.Component[F]) managed.Set {
	return managed.Set{Namespace: a.Managed.Namespace, Name: a.Prefix + string(c.Name)}
}

// entrust has the resource manager apply the objects, and waits until it has done so. What earlier versions have applied themselves is
// its own from then on. A component that was switched off a moment ago may still be in deletion, which ends first.
func (a *Assembly[F]) entrust(ctx context.Context, c component.Component[F], objs []client.Object) error {
	set, seed := a.managed(c), a.Managed.Seed
	until := func(done func(ctx context.Context, seed client.Reader) error) error {
		return flow.Until(ctx, seed.Clock, flow.Every(poll), func(ctx context.Context) error { return done(ctx, seed.Client) })
	}
	if err := until(set.Free); err != nil {
		return err
	}
	if err := set.Apply(ctx, seed, objs...); err != nil {
		return err
	}
	if err := until(set.Applied); err != nil {
		return err
	}

	return a.Engine(ctx).HandOver(ctx, a.set(c), objs...)
}

// inputs collects what the rendering of a component needs.
func (a *Assembly[F]) inputs(ctx context.Context, engine deploy.Engine, c component.Component[F]) (*component.Inputs, error) {
	in := &component.Inputs{Images: map[string]string{}, Addresses: component.Addresses{}}
	for _, name := range c.Images {
		in.Images[name] = a.Images[name]
	}
	for _, name := range c.Addresses {
		in.Addresses[name] = a.Addresses.Of(name).Get(ctx)
	}
	if c.Replicas != nil {
		in.Replicas = c.Replicas(a.Facts)
	}
	var err error
	if in.Kept, err = a.kept(ctx, engine, c); err != nil || c.Secrets == nil {
		return in, err
	}
	if c.Service != nil {
		if err := engine.Apply(ctx, c.Service(a.Facts)); err != nil {
			return nil, err
		}
		if in.Addresses[c.Name], err = a.address(ctx, engine, c); err != nil {
			return nil, err
		}
	}
	requests, err := c.Secrets(a.Facts, in.Addresses)
	if err != nil {
		return nil, err
	}
	in.Secrets, err = component.Obtain(ctx, a.Secrets, requests)
	return in, err
}

// kept is the object that the component keeps, or nil if it does not exist.
func (a *Assembly[F]) kept(ctx context.Context, engine deploy.Engine, c component.Component[F]) (client.Object, error) {
	if c.Keep == nil {
		return nil, nil //nolint:nilnil // nil says that there is none
	}
	kept := c.Keep(a.Facts)
	err := engine.Client.Get(ctx, client.ObjectKeyFromObject(kept), kept)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // nil says that there is none
	}
	if err != nil {
		return nil, fmt.Errorf("get %T %q: %w", kept, client.ObjectKeyFromObject(kept), err)
	}
	return kept, nil
}

// address reads where the component's Service is reached.
func (a *Assembly[F]) address(ctx context.Context, engine deploy.Engine, c component.Component[F]) (component.Address, error) {
	service := c.Service(a.Facts)
	if err := engine.Client.Get(ctx, client.ObjectKeyFromObject(service), service); err != nil {
		return component.Address{}, fmt.Errorf("get service %q: %w", service.Name, err)
	}
	if service.Spec.ClusterIP == "" {
		return component.Address{}, fmt.Errorf("get service %q: %w", service.Name, errNoClusterIP)
	}
	return component.Address{ClusterIP: service.Spec.ClusterIP, LoadBalancer: facts.LoadBalancerAddress(service)}, nil
}

// wait waits until everything of the component is ready, and then sets its address.
func (a *Assembly[F]) wait(c component.Component[F]) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		engine := a.Engine(ctx)
		members, err := engine.SetMembers(ctx, a.set(c))
		if err != nil {
			return err
		}
		if err := engine.WaitReady(ctx, members...); err != nil || c.Service == nil {
			return err
		}
		address, err := a.address(ctx, engine, c)
		if err != nil {
			return err
		}
		a.Addresses.Of(c.Name).Set(ctx, address)
		return nil
	}
}

// waitStopped waits until the component has no pods.
func (a *Assembly[F]) waitStopped(c component.Component[F]) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		engine := a.Engine(ctx)
		members, err := engine.SetMembers(ctx, a.set(c))
		if err != nil {
			return err
		}
		return engine.WaitStopped(ctx, members...)
	}
}

// remove begins to delete a component that is not wanted. Nothing waits for that; the next run goes on with it.
func (a *Assembly[F]) remove(c component.Component[F]) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		_, err := a.Engine(ctx).DeleteSet(ctx, a.set(c))
		if err == nil && a.Managed != nil {
			_, err = a.managed(c).Delete(ctx, a.Managed.Seed)
		}
		return err
	}
}

// delete deletes a component and waits until nothing of it is left.
func (a *Assembly[F]) delete(c component.Component[F]) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		engine := a.Engine(ctx)
		members, err := engine.SetMembers(ctx, a.set(c))
		if err != nil {
			return err
		}
		if c.Service != nil {
			// An interrupted run may have applied it before anything was recorded.
			members = append(members, c.Service(a.Facts))
		}
		if err := engine.Delete(ctx, members...); err != nil {
			return err
		}
		if err := engine.WaitGone(ctx, members...); err != nil {
			return err
		}
		_, err = engine.DeleteSet(ctx, a.set(c))
		return err
	}
}
