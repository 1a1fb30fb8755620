// SPDX-License-Identifier: Apache-2.0

package shootstate

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenmachinev1alpha1 "github.com/terrarium-garden/terrarium/apis/machine/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const machinesAtOnce = 200

// Machines are the machines of a shoot, with which another seed knows them again and makes no new ones.
type Machines struct {
	// Deployments are those of the MachineDeployments, by name.
	Deployments map[string]*MachinesOfDeployment `json:"machineDeployments,omitempty"`
}

// MachinesOfDeployment are the machines of one MachineDeployment.
type MachinesOfDeployment struct {
	// Replicas is the wanted number of machines.
	Replicas int32 `json:"replicas,omitempty"`
	// Sets are the MachineSets of the deployment.
	Sets []gardenmachinev1alpha1.MachineSet `json:"machineSets,omitempty"`
	// Machines are those that exist at the provider.
	Machines []gardenmachinev1alpha1.Machine `json:"machines,omitempty"`
}

// packed is how machines are in a ShootState.
type packed struct {
	// State is JSON, compressed by gzip.
	State []byte `json:"state,omitempty"`
}

// machines reads the machines of the shoot. MachineClasses are not part of it, because the Worker makes them.
func (c *collector) machines(ctx context.Context) error {
	found := &Machines{Deployments: map[string]*MachinesOfDeployment{}}
	deployments := &gardenmachinev1alpha1.MachineDeploymentList{}
	if err := c.seed.List(ctx, deployments, client.InNamespace(c.namespace)); err != nil {
		return fmt.Errorf("list machine deployments: %w", err)
	}
	for i := range deployments.Items {
		if d := &deployments.Items[i]; d.DeletionTimestamp == nil {
			found.Deployments[d.Name] = &MachinesOfDeployment{Replicas: d.Spec.Replicas}
		}
	}
	if len(found.Deployments) == 0 {
		return nil
	}
	sets := &gardenmachinev1alpha1.MachineSetList{}
	if err := c.seed.List(ctx, sets, client.InNamespace(c.namespace)); err != nil {
		return fmt.Errorf("list machine sets: %w", err)
	}
	ofSet := map[string]*MachinesOfDeployment{}
	for i := range sets.Items {
		set := &sets.Items[i]
		of := found.Deployments[owner(set, gardenmachinev1alpha1.KindMachineDeployment)]
		if of == nil || set.DeletionTimestamp != nil {
			continue
		}
		ofSet[set.Name] = of
		of.Sets = append(of.Sets, gardenmachinev1alpha1.MachineSet{ObjectMeta: bare(set), Spec: set.Spec})
	}
	if err := c.eachMachine(ctx, ofSet); err != nil {
		return err
	}
	return c.pack(found)
}

// eachMachine adds the machines that exist at the provider to their deployments.
func (c *collector) eachMachine(ctx context.Context, ofSet map[string]*MachinesOfDeployment) error {
	pages := kit.Pages[*gardenmachinev1alpha1.MachineList]{
		Reader: c.seed, New: func() *gardenmachinev1alpha1.MachineList { return &gardenmachinev1alpha1.MachineList{} }, Size: machinesAtOnce,
		Options: []client.ListOption{client.InNamespace(c.namespace)},
	}
	err := pages.Each(ctx, func(page *gardenmachinev1alpha1.MachineList) error {
		for i := range page.Items {
			machine := &page.Items[i]
			of := ofSet[owner(machine, gardenmachinev1alpha1.KindMachineSet)]
			if of == nil || machine.DeletionTimestamp != nil || machine.Spec.ProviderID == "" {
				continue
			}
			of.Machines = append(of.Machines, gardenmachinev1alpha1.Machine{ObjectMeta: bare(machine), Spec: machine.Spec})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("list machines: %w", err)
	}
	return nil
}

// pack adds the machines to the state.
func (c *collector) pack(found *Machines) error {
	var buffer bytes.Buffer
	zip := gzip.NewWriter(&buffer)
	if err := json.NewEncoder(zip).Encode(found); err != nil {
		return fmt.Errorf("encode the machines: %w", err)
	}
	if err := zip.Close(); err != nil {
		return fmt.Errorf("compress the machines: %w", err)
	}
	data, err := json.Marshal(packed{State: buffer.Bytes()})
	if err != nil {
		return fmt.Errorf("encode the machines: %w", err)
	}
	const kind = gardencorev1beta1.ShootStateTypeMachineState
	if err := c.take(len(data), kind, kind); err != nil {
		return err
	}
	c.state.Gardener = append(c.state.Gardener, gardencorev1beta1.GardenerResourceData{Name: kind, Type: kind, Data: runtime.RawExtension{Raw: data}})
	return nil
}

// owner is the name of the object of a kind that an object belongs to.
func owner(object metav1.Object, kind string) string {
	if of := metav1.GetControllerOf(object); of != nil && of.Kind == kind {
		return of.Name
	}
	return ""
}

// bare is the metadata of an object without what belongs to the cluster that it is in.
func bare(object metav1.Object) metav1.ObjectMeta {
	annotations := maps.Clone(object.GetAnnotations())
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	return metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: object.GetName(), Labels: object.GetLabels(), Annotations: annotations}
}
