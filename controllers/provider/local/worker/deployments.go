// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machinedeployment"
)

const hashLength = 5

// Wanted is a machine deployment that a Worker requires.
type Wanted struct {
	// Set is the machine deployment.
	Set machinedeployment.Deployment
	// UserData is run by the machines at every start.
	UserData []byte
	// Status is what is published of it.
	Status gardenextensionsv1alpha1.MachineDeployment
}

// Render returns the machine deployments of one pool.
func Render(worker *gardenextensionsv1alpha1.Worker, pool *gardenextensionsv1alpha1.WorkerPool, userData []byte, cluster *engine.Cluster, images engine.Images) ([]Wanted, error) {
	image, err := containerImage(cluster.CloudProfile, pool.MachineImage, images.Machine)
	if err != nil {
		return nil, err
	}
	hash, err := hashOf(pool, image, userData)
	if err != nil {
		return nil, err
	}
	shares, err := spread(pool)
	if err != nil {
		return nil, err
	}
	wanted := make([]Wanted, 0, len(shares))
	for i, part := range shares {
		replicas := int(part.minimum)
		if cluster.Hibernated() {
			replicas = 0
		}
		surge, unavailable, err := part.limits(replicas)
		if err != nil {
			return nil, fmt.Errorf("pool %q: %w", pool.Name, err)
		}
		name := pool.Name
		if part.zone != "" {
			name = fmt.Sprintf("%s-z%d", pool.Name, i+1)
		}
		wanted = append(wanted, Wanted{
			Set: machinedeployment.Deployment{
				Name:           name,
				Image:          image,
				PauseImage:     images.Pause,
				ImageArchives:  images.Archives,
				Hash:           hash,
				Replicas:       replicas,
				MaxSurge:       surge,
				MaxUnavailable: unavailable,
				Node: machinedeployment.NodeTemplate{
					Labels:      pool.Labels,
					Annotations: pool.Annotations,
					Taints:      pool.Taints,
					Region:      worker.Spec.Region,
					Zone:        cmp.Or(part.zone, worker.Spec.Region),
				},
			},
			UserData: userData,
			Status: gardenextensionsv1alpha1.MachineDeployment{
				Name:     worker.Namespace + "-" + name,
				Minimum:  part.minimum,
				Maximum:  part.maximum,
				Priority: pool.Priority,
			},
		})
	}
	return wanted, nil
}

// hashOf covers everything of a pool that requires new machines when it changes. Names, labels and taints are applied to existing nodes.
// If the pool says by a name whether its configuration needs new machines, the user data do not count.
func hashOf(pool *gardenextensionsv1alpha1.WorkerPool, image string, userData []byte) (string, error) {
	covered := struct {
		Image, MachineType string
		Volume             *gardenextensionsv1alpha1.Volume
		ProviderConfig     json.RawMessage
		UserData           []byte
		Configuration      *string `json:",omitempty"` //nolint:tagliatelle // What is hashed stays as it was.
	}{Image: image, MachineType: pool.MachineType, Volume: pool.Volume, UserData: userData, Configuration: pool.NodeAgentSecretName}
	if pool.NodeAgentSecretName != nil {
		covered.UserData = nil
	}
	if pool.ProviderConfig != nil {
		covered.ProviderConfig = pool.ProviderConfig.Raw
	}
	data, err := json.Marshal(covered)
	if err != nil {
		return "", fmt.Errorf("hash pool %q: %w", pool.Name, err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:hashLength], nil
}
