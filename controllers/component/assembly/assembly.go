// SPDX-License-Identifier: Apache-2.0

package assembly

import (
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

	waitSuffix   = "-wait"
	deleteSuffix = "-delete"
)

// Assembly is the components of one place in one run.
type Assembly[F any] struct {
	// Components is the list, Facts what they are told of the cluster that they are part of.
	Components []component.Component[F]
	Facts      F
	// Await gives each component a task that waits until it is ready.
	Await bool
	// Namespace is where the inventories are, Prefix is what the names of their sets begin with.
	Namespace, Prefix string
	// Engine acts in the cluster that the components are in, Secrets is the manager that answers requests. Both are asked for
	// when a task runs. Secrets may be nil if no component has requests.
	Engine  func() deploy.Engine
	Secrets func() *secrets.Manager
	// Images are references by name, see Images.
	Images map[string]string
	// Addresses are shared with the other places of the same run.
	Addresses *Addresses
}

// Order says where the tasks of components stand among the other tasks of a flow.
type Order struct {
	// After are the tasks that every component waits for. Secrets is the one that makes the manager of secrets; a component
	// with requests waits for that instead.
	After   []flow.ID
	Secrets flow.ID
	// Besides are further tasks that a single component waits for.
	Besides map[component.Name][]flow.ID
	// Skip leaves all of them out.
	Skip bool
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

// Restore returns the tasks that deploy what is wanted and wait for it; everything else stays as it is. It is for a cluster
// that is to be cleaned up before it is deleted.
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
			last[list[i].Name] += waitSuffix
		}
	}
	var tasks []flow.Task
	for _, c := range list {
		wanted := c.IsWanted(a.Facts)
		task := flow.Task{ID: c.TaskID(), After: order.start(c.Name, c.Secrets != nil), Skip: order.Skip, Do: a.remove(c)}
		if wanted {
			task.Do = a.deploy(c)
		}
		for _, name := range c.After {
			if id, found := last[name]; found {
				task.After = append(task.After, id)
			}
		}
		tasks = append(tasks, task)
		if a.Await {
			tasks = append(tasks, flow.Task{
				ID: last[c.Name], After: []flow.ID{c.TaskID()}, Timeout: timeout, Skip: order.Skip || !wanted, Do: a.wait(c),
			})
		}
	}
	return tasks
}

// Delete returns the tasks that delete every component, each after those that need it.
func (a *Assembly[F]) Delete(order Order) []flow.Task {
	var tasks []flow.Task
	for _, c := range slices.Backward(a.Components) {
		after := order.start(c.Name, false)
		for _, other := range a.Components {
			if slices.Contains(other.After, c.Name) {
				after = append(after, other.TaskID()+deleteSuffix)
			}
		}
		tasks = append(tasks, flow.Task{ID: c.TaskID() + deleteSuffix, After: after, Timeout: timeout, Skip: order.Skip, Do: a.delete(c)})
	}
	return tasks
}

func (o Order) start(name component.Name, secrets bool) []flow.ID {
	if secrets && o.Secrets != "" {
		return append([]flow.ID{o.Secrets}, o.Besides[name]...)
	}
	return slices.Concat(o.After, o.Besides[name])
}
