// SPDX-License-Identifier: Apache-2.0

package component

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Address is where a Service is reached.
type Address struct {
	// ClusterIP is the address inside the cluster that the Service is in.
	ClusterIP string
	// LoadBalancer is the address or host name outside of the cluster, empty if the Service has none.
	LoadBalancer string
}

// Addresses are those of the Services of components.
type Addresses map[Name]Address

// Inputs are what a rendering gets from the run, in addition to the facts. Missing says what a rendering has taken although its
// component did not ask for it.
type Inputs struct {
	// Replicas is the number of instances.
	Replicas int32
	// Kept is the live object that the component keeps, or nil if there is none yet.
	Kept client.Object
	// Images are references by name, Secrets the answers to requests by their names.
	Images  map[string]string
	Secrets map[string]Secret
	// Addresses are those of the component itself and of those that come before it.
	Addresses Addresses

	missing []string
}

// Image is the reference of an image.
func (in *Inputs) Image(name string) string {
	return lookup(in, in.Images, name, "image")
}

// Secret is the answer to the request of that name.
func (in *Inputs) Secret(name string) Secret {
	return lookup(in, in.Secrets, name, "secret")
}

// Address is where the Service of a component is reached.
func (in *Inputs) Address(name Name) Address {
	return lookup(in, in.Addresses, name, "address")
}

// Missing returns an error that lists everything that a rendering has taken although its component did not ask for it.
func (in *Inputs) Missing() error {
	if len(in.missing) == 0 {
		return nil
	}
	slices.Sort(in.missing)
	return fmt.Errorf("the rendering needs what the component did not ask for: %s", strings.Join(slices.Compact(in.missing), ", "))
}

func lookup[K ~string, V any](in *Inputs, all map[K]V, name K, what string) V {
	value, found := all[name]
	if !found {
		in.missing = append(in.missing, fmt.Sprintf("%s %q", what, string(name)))
	}
	return value
}
