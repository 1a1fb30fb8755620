// SPDX-License-Identifier: Apache-2.0

package seedrestriction

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/reach"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/references"
)

// publicServiceAccount is the value of the label of published issuer documents.
const publicServiceAccount = "serviceaccount"

// updateShoot rejects new references of a shoot to objects with data, and metadata with which it would be deleted.
func updateShoot(_ context.Context, r *request) error {
	shoot, old, err := world.Objects[gardencorev1beta1.Shoot](r.Attributes, r.kinds)
	if err != nil {
		return err
	}
	if err := reach.OnlyOwnMarks(shoot, old); err != nil {
		return err
	}

	return noNewNames(references.Shoot(shoot), references.Shoot(old))
}

// createShootState allows a gardenlet to create ShootStates of its shoots (GAC-SR-13).
func createShootState(ctx context.Context, r *request) error {
	return r.runsOrLeaves(ctx, r.GetNamespace(), r.GetName())
}

// createBastion allows a gardenlet to create Bastions of its seed (GAC-SR-5).
func createBastion(_ context.Context, r *request) error {
	bastion, err := object[gardenoperationsv1alpha1.Bastion](r)
	if err != nil {
		return err
	}

	return r.mine("spec.seedName", bastion.Spec.SeedName)
}

// createConfigMap allows a gardenlet to create the CA ConfigMaps of its shoots (GAC-SR-10).
func createConfigMap(ctx context.Context, r *request) error {
	config, err := object[corev1.ConfigMap](r)
	if err != nil {
		return err
	}
	if err := reach.Unmarked(graph.ConfigMap, config, nil); err != nil {
		return err
	}

	return r.projectObject(ctx, graph.ConfigMap)
}

// createInternalSecret allows a gardenlet to create the CA InternalSecret of its shoots (GAC-SR-10).
func createInternalSecret(ctx context.Context, r *request) error {
	secret, err := object[gardencorev1beta1.InternalSecret](r)
	if err != nil {
		return err
	}
	if err := reach.Unmarked(graph.InternalSecret, secret, nil); err != nil {
		return err
	}
	if err := r.projectObject(ctx, graph.InternalSecret); err != nil {
		return err
	}

	return reach.UsableCA(secret)
}

// updateInternalSecret is projectChange, and checks the CA as for a new one.
func updateInternalSecret(ctx context.Context, r *request) error {
	if err := projectChange[gardencorev1beta1.InternalSecret](graph.InternalSecret)(ctx, r); err != nil {
		return err
	}
	secret, err := object[gardencorev1beta1.InternalSecret](r)
	if err != nil {
		return err
	}

	return reach.UsableCA(secret)
}

// projectObject allows objects that belong by their name to a shoot of the seed.
func (r *request) projectObject(ctx context.Context, kind graph.Kind) error {
	shoot, ok := graph.ShootOf(graph.Vertex{Kind: kind, Namespace: r.GetNamespace(), Name: r.GetName()})
	if !ok {
		return fmt.Errorf("metadata.name: %q is not the name of an object of a shoot: %w", r.GetName(), errForeign)
	}

	return r.ownShoot(ctx, r.GetNamespace(), shoot)
}

// ownShoot rejects a shoot that does not run on the seed.
func (r *request) ownShoot(ctx context.Context, namespace, name string) error {
	_, err := r.shootHere(ctx, "metadata.name", namespace, name)

	return err
}

// shootHere returns a shoot that runs on the seed.
func (r *request) shootHere(ctx context.Context, path, namespace, name string) (*gardencorev1beta1.Shoot, error) {
	shoot, err := r.Shoot(ctx, namespace, name)
	if err == nil && r.has(shoot.Spec.SeedName) {
		return shoot, nil
	}

	return nil, r.elsewhere(err, path, "shoot", name)
}

// issuerSecret allows the Secret of the issuer of a shoot of this seed. Its name is checked as well, because the documents of the
// issuer are published under it (GAC-SR-9).
func (r *request) issuerSecret(ctx context.Context, secret *corev1.Secret) error {
	if secret.Labels[gardencorev1beta1.LabelDiscoveryPublic] != publicServiceAccount {
		return fmt.Errorf("metadata.labels[%s]: must be %q", gardencorev1beta1.LabelDiscoveryPublic, publicServiceAccount)
	}

	namespace, name := secret.Labels[gardencorev1beta1.LabelShootNamespace], secret.Labels[gardencorev1beta1.LabelShootName]
	// This has to be the first check, because only the seed of a shoot may know the name of its issuer.
	shoot, err := r.shootHere(ctx, "metadata.labels["+gardencorev1beta1.LabelShootName+"]", namespace, name)
	if err != nil {
		return err
	}
	want := references.IssuerSecret(shoot)
	if want == "" {
		return fmt.Errorf("status.technicalID of shoot %q: must be set before its issuer is published", name)
	}
	if r.GetName() != want {
		return fmt.Errorf("metadata.name: must be %q, the name of the issuer of shoot %q", want, name)
	}

	return nil
}
