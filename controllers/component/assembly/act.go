// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
)

// errNoClusterIP is the answer while a Service has no address in its cluster.
var errNoClusterIP = errors.New("the Service has no cluster IP")

func (a *Assembly[F]) set(c component.Component[F]) deploy.Set {
	return deploy.Set{Namespace: a.Namespace, Name: a.Prefix + string(c.Name)}
}

// deploy applies what the component renders and deletes what it does not render any more.
func (a *Assembly[F]) deploy(c component.Component[F]) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		engine := a.Engine()
		if c.Service != nil {
			if err := engine.Apply(ctx, c.Service(a.Facts)); err != nil {
				return err
			}
			if err := a.learn(ctx, engine, c); err != nil && (c.Secrets != nil || !errors.Is(err, errNoClusterIP)) {
				return err
			}
		}
		in, err := a.inputs(ctx, engine, c)
		if err != nil {
			return err
		}
		objs, err := c.Render(a.Facts, in)
		if err := errors.Join(err, in.Missing()); err != nil {
			return fmt.Errorf("render component %q: %w", c.Name, err)
		}
		return engine.ApplySet(ctx, a.set(c), objs...)
	}
}

// learn remembers the addresses of the component's Service.
func (a *Assembly[F]) learn(ctx context.Context, engine deploy.Engine, c component.Component[F]) error {
	service := c.Service(a.Facts)
	if err := engine.Client.Get(ctx, client.ObjectKeyFromObject(service), service); err != nil {
		return fmt.Errorf("get service %q: %w", service.Name, err)
	}
	if service.Spec.ClusterIP == "" {
		return fmt.Errorf("get service %q: %w", service.Name, errNoClusterIP)
	}
	a.Addresses.set(c.Name, component.Address{ClusterIP: service.Spec.ClusterIP, LoadBalancer: facts.LoadBalancerAddress(service)})
	return nil
}

func (a *Assembly[F]) inputs(ctx context.Context, engine deploy.Engine, c component.Component[F]) (*component.Inputs, error) {
	in := &component.Inputs{Images: map[string]string{}, Addresses: a.Addresses.all()}
	for _, name := range c.Images {
		in.Images[name] = a.Images[name]
	}
	if c.Replicas != nil {
		in.Replicas = c.Replicas(a.Facts)
	}
	if c.Keep != nil {
		kept := c.Keep(a.Facts)
		err := engine.Client.Get(ctx, client.ObjectKeyFromObject(kept), kept)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("get %T %q: %w", kept, client.ObjectKeyFromObject(kept), err)
		}
		if err == nil {
			in.Kept = kept
		}
	}
	if c.Secrets == nil {
		return in, nil
	}
	requests, err := c.Secrets(a.Facts, in.Addresses)
	if err != nil {
		return nil, err
	}
	in.Secrets, err = component.Obtain(ctx, a.Secrets(), requests)
	return in, err
}

// wait waits until everything of the component is ready, and learns under which address.
func (a *Assembly[F]) wait(c component.Component[F]) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		engine := a.Engine()
		members, err := engine.SetMembers(ctx, a.set(c))
		if err != nil {
			return err
		}
		if err := engine.WaitReady(ctx, members...); err != nil || c.Service == nil {
			return err
		}
		return a.learn(ctx, engine, c)
	}
}

// remove begins to delete a component that is not wanted. Nothing waits for that; the next run goes on with it.
func (a *Assembly[F]) remove(c component.Component[F]) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		_, err := a.Engine().DeleteSet(ctx, a.set(c))
		return err
	}
}

// delete deletes a component and waits until nothing of it is left.
func (a *Assembly[F]) delete(c component.Component[F]) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		engine := a.Engine()
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
