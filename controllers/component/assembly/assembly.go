// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"context"
	"slices"
	"time"

	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/flow"
	"github.com/terrarium-garden/terrarium/controllers/secrets"
)

const (
	// timeout is how long a component may take to become ready, or to go.
	timeout = 5 * time.Minute
	// poll is the time between two looks at what the resource manager does.
	poll = 200 * time.Millisecond

	// WaitSuffix ends the id of a task that waits until a component is ready.
	WaitSuffix = "-wait"

	stopSuffix   = "-stop"
	deleteSuffix = "-delete"
)

// Assembly is the components of one place in one flow.
type Assembly[F any] struct {
	// Components is the list. Facts describe the cluster that they are part of.
	Components []component.Component[F]
	Facts      F
	// Learn completes the facts of single components with what other tasks of the flow find out.
	Learn map[component.Name]Lesson[F]
	// Await gives each component a task that waits until it is ready.
	Await bool
	// Namespace is where the inventories are, Prefix is what the names of their sets begin with.
	Namespace, Prefix string
	// Engine acts in the cluster of the components. It gets the context of a task that reads the values listed in Reads.
	Engine func(ctx context.Context) deploy.Engine
	Reads  []flow.Slot
	// Managed entrusts the components to the resource manager of the seed. Unset, they are applied directly.
	Managed *Managed
	// Secrets answers requests. It may be nil if no component has any.
	Secrets *secrets.Manager
	// Images are references by name, see Images.
	Images map[string]string
	// Addresses are shared with the other assemblies of the flow.
	Addresses Addresses
}

// Lesson completes the facts of a component before it is rendered.
type Lesson[F any] struct {
	// Reads are the values that the task of the component waits for, besides those of all.
	Reads []flow.Slot
	// Facts gets the context of that task, and leaves the facts of the others as they are.
	Facts func(ctx context.Context, facts F) F
}

// Managed is where the ManagedResources of components are.
type Managed struct {
	// Seed acts in the seed.
	Seed deploy.Engine
	// Namespace is that of the control plane.
	Namespace string
}

// Addresses are the values that carry the addresses of components through a flow. Several assemblies of one flow share them. It
// is used while the flow is put together, by one goroutine.
type Addresses map[component.Name]*flow.Value[component.Address]

// Of is the value for the address of a component. The task that waits for the component sets it.
func (a Addresses) Of(name component.Name) *flow.Value[component.Address] {
	value, found := a[name]
	if !found {
		value = flow.NewValue[component.Address]("address of " + string(name))
		a[name] = value
	}
	return value
}

// Order says where the tasks of components stand among the other tasks of a flow.
type Order struct {
	// After are the tasks that every component waits for, Besides further ones that a single component waits for.
	After   []flow.ID
	Besides map[component.Name][]flow.ID
	// Skip leaves all of them out.
	Skip bool
}

func (o Order) start(name component.Name) []flow.ID {
	return slices.Concat(o.After, o.Besides[name])
}

// Images finds the images of all components that are wanted.
func Images[F any](facts F, find func(name string) (string, error), lists ...[]component.Component[F]) (map[string]string, error) {
	found := map[string]string{}
	for _, c := range slices.Concat(lists...) {
		if !c.IsWanted(facts) {
			continue
		}
		for _, name := range c.Images {
			ref, err := find(name)
			if err != nil {
				return nil, err
			}
			found[name] = ref
		}
	}
	return found, nil
}

// Deploy returns the tasks that deploy what is wanted, wait for it, and remove what is not wanted any more.
func (a *Assembly[F]) Deploy(order Order) []flow.Task {
	return a.deployAll(a.Components, order)
}

// Restore returns the tasks that deploy what is wanted and wait for it; everything else stays as it is. It is for a cluster that
// has to be cleaned up before it is deleted.
func (a *Assembly[F]) Restore(order Order) []flow.Task {
	return a.deployAll(slices.DeleteFunc(slices.Clone(a.Components), func(c component.Component[F]) bool {
		return !c.IsWanted(a.Facts)
	}), order)
}

func (a *Assembly[F]) deployAll(list []component.Component[F], order Order) []flow.Task {
	last := map[component.Name]flow.ID{}
	for i := range list {
		last[list[i].Name] = list[i].TaskID()
		if a.Await {
			last[list[i].Name] += WaitSuffix
		}
	}
	var tasks []flow.Task
	for _, c := range list {
		task := a.deployTask(c, order)
		for _, name := range c.After {
			if id, found := last[name]; found {
				task.After = append(task.After, id)
			}
		}
		tasks = append(tasks, task)
		if a.Await {
			tasks = append(tasks, a.waitTask(c, order))
		}
	}
	return tasks
}

func (a *Assembly[F]) deployTask(c component.Component[F], order Order) flow.Task {
	task := flow.Task{ID: c.TaskID(), After: order.start(c.Name), Reads: slices.Clone(a.Reads), Skip: order.Skip}
	if !c.IsWanted(a.Facts) {
		task.Title, task.Do = "Removing "+c.Title, a.remove(c)
		return task
	}
	task.Title, task.Do = "Deploying "+c.Title, a.deploy(c)
	task.Reads = append(task.Reads, a.Learn[c.Name].Reads...)
	if a.Managed != nil {
		task.Timeout = timeout
	}
	for _, name := range c.Addresses {
		task.Reads = append(task.Reads, a.Addresses.Of(name))
	}
	return task
}

func (a *Assembly[F]) waitTask(c component.Component[F], order Order) flow.Task {
	task := flow.Task{
		ID: c.TaskID() + WaitSuffix, Title: "Waiting for " + c.Title, After: []flow.ID{c.TaskID()}, Reads: a.Reads, Timeout: timeout,
		Skip: order.Skip || !c.IsWanted(a.Facts), Do: a.wait(c),
	}
	if c.Service != nil {
		task.Sets = []flow.Slot{a.Addresses.Of(c.Name)}
	}
	return task
}

// Delete returns the tasks that delete every component, each after those that need it.
func (a *Assembly[F]) Delete(order Order) []flow.Task {
	var tasks []flow.Task
	for _, c := range slices.Backward(a.Components) {
		task := flow.Task{
			ID: c.TaskID() + deleteSuffix, Title: "Deleting " + c.Title, After: order.start(c.Name), Reads: a.Reads, Timeout: timeout,
			Skip: order.Skip, Do: a.delete(c),
		}
		for i := range a.Components {
			if other := &a.Components[i]; other.Needs(c.Name) {
				task.After = append(task.After, other.TaskID()+deleteSuffix)
			}
		}
		tasks = append(tasks, task)
	}
	return tasks
}

// Stop returns the tasks that stop every component that has instances, each after those that need it are gone, and wait until its pods
// are. The facts have to say that none is to run.
func (a *Assembly[F]) Stop(order Order) []flow.Task {
	var tasks []flow.Task
	for _, c := range slices.Backward(a.Components) {
		if c.Replicas == nil {
			continue
		}
		task := flow.Task{
			ID: c.TaskID() + stopSuffix, Title: "Stopping " + c.Title, After: order.start(c.Name), Reads: slices.Concat(a.Reads, a.Learn[c.Name].Reads),
			Skip: order.Skip || !c.IsWanted(a.Facts), Do: a.deploy(c),
		}
		for _, name := range c.Addresses {
			task.Reads = append(task.Reads, a.Addresses.Of(name))
		}
		for i := range a.Components {
			if other := &a.Components[i]; other.Replicas != nil && other.Needs(c.Name) {
				task.After = append(task.After, other.TaskID()+stopSuffix+WaitSuffix)
			}
		}
		tasks = append(tasks, task, flow.Task{
			ID: task.ID + WaitSuffix, Title: "Waiting until " + c.Title + " is stopped", After: []flow.ID{task.ID}, Reads: a.Reads, Timeout: timeout,
			Skip: task.Skip, Do: a.waitStopped(c),
		})
	}
	return tasks
}
