// SPDX-License-Identifier: Apache-2.0

package extensionvalidator

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
)

// Kinds of the extension contract.
const (
	kindBackupBucket          = "BackupBucket"
	kindBackupEntry           = "BackupEntry"
	kindContainerRuntime      = "ContainerRuntime"
	kindControlPlane          = "ControlPlane"
	kindDNSRecord             = "DNSRecord"
	kindExtension             = "Extension"
	kindInfrastructure        = "Infrastructure"
	kindNetwork               = "Network"
	kindOperatingSystemConfig = "OperatingSystemConfig"
	kindWorker                = "Worker"
)

// need is a kind and type of extension that an object asks for.
type need struct {
	path       *field.Path
	kind, name string
	// cluster is the sort of cluster that asks; only extensions of kind Extension differ in that.
	cluster gardencorev1beta1.ClusterType
	// workerless tells that the extension has to work without machines.
	workerless bool
	// until says what goes without until the extension comes, if it may come later.
	until string
}

func (n need) offeredBy(r gardencorev1beta1.ControllerRegistration) bool {
	return slices.ContainsFunc(r.Spec.Resources, func(res gardencorev1beta1.ControllerResource) bool {
		return res.Kind == n.kind && res.Type == n.name && (res.Primary == nil || *res.Primary) && n.suitedBy(res)
	})
}

func (n need) suitedBy(r gardencorev1beta1.ControllerResource) bool {
	if n.kind != kindExtension {
		return true
	}
	if n.workerless && (r.WorkerlessSupported == nil || !*r.WorkerlessSupported) {
		return false
	}
	return len(r.ClusterCompatibility) == 0 && n.cluster == gardencorev1beta1.ClusterTypeShoot ||
		slices.Contains(r.ClusterCompatibility, n.cluster)
}

// needs is a list of needs in the making; a type that is not given needs nothing.
type needs []need

func (n *needs) add(path *field.Path, kind string, name *string) {
	if name != nil && *name != "" {
		*n = append(*n, need{path: path, kind: kind, name: *name})
	}
}

func (n *needs) extensions(
	all []gardencorev1beta1.Extension, path *field.Path, cluster gardencorev1beta1.ClusterType, workerless bool,
) {
	for i, e := range all {
		if e.Disabled == nil || !*e.Disabled {
			*n = append(*n, need{
				path: path.Index(i).Child("type"), kind: kindExtension, name: e.Type, cluster: cluster, workerless: workerless,
			})
		}
	}
}

// shootNeeds lists what a shoot asks extensions for (API-EXTVAL-3).
func shootNeeds(s *gardencorev1beta1.ShootSpec) []need {
	path := field.NewPath("spec")
	workerless := query.Workerless(s)
	var all needs
	all.extensions(s.Extensions, path.Child("extensions"), gardencorev1beta1.ClusterTypeShoot, workerless)
	if s.DNS != nil {
		for i, p := range s.DNS.Providers {
			if p.Type != nil && *p.Type != gardencorev1beta1.DNSProviderUnmanaged {
				all.add(path.Child("dns", "providers").Index(i).Child("type"), kindDNSRecord, p.Type)
			}
		}
	}
	if workerless {
		return all
	}
	for _, kind := range []string{kindControlPlane, kindInfrastructure, kindWorker} {
		all.add(path.Child("provider", "type"), kind, &s.Provider.Type)
	}
	if s.Networking != nil {
		all.add(path.Child("networking", "type"), kindNetwork, s.Networking.Type)
	}
	for i := range s.Provider.Workers {
		all.pool(&s.Provider.Workers[i], path.Child("provider", "workers").Index(i))
	}
	return all
}

func (n *needs) pool(w *gardencorev1beta1.Worker, path *field.Path) {
	if w.Machine.Image != nil {
		n.add(path.Child("machine", "image", "name"), kindOperatingSystemConfig, &w.Machine.Image.Name)
	}
	if w.CRI == nil {
		return
	}
	for i, c := range w.CRI.ContainerRuntimes {
		n.add(path.Child("cri", "containerRuntimes").Index(i).Child("type"), kindContainerRuntime, &c.Type)
	}
}

// seedNeeds lists what a seed asks extensions for (API-EXTVAL-2). Its own provider and who makes its domain known may
// come later: a cluster of any make may join first, and shoots are held back until somebody can make them.
func seedNeeds(s *gardencorev1beta1.SeedSpec) []need {
	path := field.NewPath("spec")
	all := needs{{path: path.Child("provider", "type"), kind: kindControlPlane, name: s.Provider.Type, until: "no shoot can be made there"}}
	if s.Backup != nil {
		for _, kind := range []string{kindBackupBucket, kindBackupEntry} {
			all.add(path.Child("backup", "provider"), kind, &s.Backup.Provider)
		}
	}
	if s.Ingress != nil && s.DNS.Provider != nil {
		all = append(all, need{
			path: path.Child("dns", "provider", "type"), kind: kindDNSRecord, name: s.DNS.Provider.Type,
			until: "nobody makes the domain of its ingress known",
		})
	}
	all.extensions(s.Extensions, path.Child("extensions"), gardencorev1beta1.ClusterTypeSeed, false)
	return all
}

func bucketNeeds(s *gardencorev1beta1.BackupBucketSpec) []need {
	var all needs
	all.add(field.NewPath("spec", "provider", "type"), kindBackupBucket, &s.Provider.Type)
	return all
}

// entryNeeds lists what an entry asks for: what its bucket is made of. That the bucket exists is said elsewhere.
func entryNeeds(ctx context.Context, v world.View, s *gardencorev1beta1.BackupEntrySpec) ([]need, error) {
	bucket, err := v.BackupBucket(ctx, s.BucketName)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read bucket %q: %w", s.BucketName, err)
	}
	var all needs
	all.add(field.NewPath("spec", "bucketName"), kindBackupEntry, &bucket.Spec.Provider.Type)
	return all, nil
}
