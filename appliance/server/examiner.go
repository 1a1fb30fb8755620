// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/doctor"
	"github.com/terrarium-garden/terrarium/appliance/doctor/machine"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/appliance/server/rotation"
	"github.com/terrarium-garden/terrarium/appliance/server/sharing"
	"github.com/terrarium-garden/terrarium/storage/backup"
	"github.com/terrarium-garden/terrarium/storage/kine"
)

// examiner says what the server knows about itself: to the doctor, in the status, and in metrics.
type examiner struct {
	clock       clock.PassiveClock
	version     string
	memoryLimit int64
	started     time.Time
	// use says which program has used the data directory.
	use       identity.Use
	keys      *identity.Garden
	stores    *kine.Stores
	health    *storeHealth
	holders   *sharing.Holders
	rotations *rotation.Rotations
	readiness *readiness
	// snapshots saves the garden; nil if it takes no snapshots.
	snapshots      *backup.Keeper
	snapshotConfig *gardenconfigv1alpha1.SnapshotConfiguration
	// reader returns what reads objects from the cache of the controllers; nil until they run.
	reader func() *client.Reader
	// revoked returns the names of the seeds that are shut out.
	revoked func() []string
	// digested are the counts of the last status.
	digested atomic.Pointer[digest]
}

func (e *examiner) examine(ctx context.Context) (*doctor.Report, error) {
	f := e.facts()
	if reader := e.reader(); reader != nil {
		if err := readObjects(ctx, *reader, f); err != nil {
			return nil, err
		}
	}

	return doctor.Examine(f), nil
}

// facts are those that need no object.
func (e *examiner) facts() *doctor.Facts {
	used := process(e.memoryLimit)
	f := &doctor.Facts{
		Now: e.clock.Now(), Version: e.version, Units: map[string]bool{},
		Host: machine.Host(e.keys.Dir), Disk: machine.Disk(e.keys.Dir), Clock: machine.Clock(e.keys.Dir),
	}
	f.Directory = &doctor.Directory{Version: e.use.Version, Schema: e.use.Schema}
	f.Host.OpenFiles, f.Host.OpenFilesLimit = uint64(used.OpenFiles), machine.OpenFilesLimit() //nolint:gosec // A count.
	f.Host.MemoryBytes, f.Host.MemoryLimitBytes = used.ResidentBytes, used.MemoryLimitBytes
	for _, c := range e.keys.Certificates.List() {
		f.Certificates = append(f.Certificates, doctor.Certificate{
			Name: c.Name, NotBefore: c.NotBefore, NotAfter: c.NotAfter, Authority: c.Authority,
		})
	}
	f.Rotations = e.rotations.Ongoing()
	for _, db := range e.stores.Files() {
		is := doctor.Store{
			Name: db.Name, SizeBytes: db.SizeBytes, WALBytes: db.WALBytes,
			Revision: db.Revision, Compacted: db.Compacted, CompactedAt: db.CompactedAt,
		}
		e.health.describe(&is)
		f.Stores = append(f.Stores, is)
		if f.Disk != nil {
			f.Disk.ReadOnly = f.Disk.ReadOnly || db.Full
		}
	}
	if e.stores.External != nil {
		f.Datastore = &doctor.Datastore{Place: e.stores.External.String()}
		e.health.describeDatastore(f.Datastore)
		f.Holders = e.holders.Describe()
	}
	for _, u := range e.readiness.units {
		f.Units[u.name] = u.ready.Load()
	}
	f.Revoked = e.revoked()
	f.Backups = backupFacts(e.snapshotConfig, e.snapshots)

	return f
}

// readObjects adds the objects, from the cache of the controllers.
func readObjects(ctx context.Context, reader client.Reader, f *doctor.Facts) error {
	seeds, shoots := &gardencorev1beta1.SeedList{}, &gardencorev1beta1.ShootList{}
	requests := &certificatesv1.CertificateSigningRequestList{}
	projects, namespaces := &gardencorev1beta1.ProjectList{}, &corev1.NamespaceList{}
	for _, list := range []client.ObjectList{seeds, shoots, requests, projects, namespaces} {
		if err := reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return fmt.Errorf("read %T: %w", list, err)
		}
	}
	f.Seeds, f.Shoots, f.Requests, f.ObjectsKnown = seeds.Items, shoots.Items, requests.Items, true
	for i := range projects.Items {
		f.Deleting = deleting(f.Deleting, "Project", &projects.Items[i])
	}
	for i := range namespaces.Items {
		f.Deleting = deleting(f.Deleting, "Namespace", &namespaces.Items[i])
	}

	return nil
}

func deleting(all []doctor.Deleting, kind string, o client.Object) []doctor.Deleting {
	since := o.GetDeletionTimestamp()
	if since == nil {
		return all
	}
	finalizers := slices.Clone(o.GetFinalizers())
	if namespace, ok := o.(*corev1.Namespace); ok {
		for _, f := range namespace.Spec.Finalizers {
			finalizers = append(finalizers, string(f))
		}
	}

	return append(all, doctor.Deleting{
		Object: doctor.Object{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}, Since: since.Time, Finalizers: finalizers,
	})
}
