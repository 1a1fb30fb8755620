// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/doctor"
	"github.com/terrarium-garden/terrarium/appliance/doctor/machine"
	"github.com/terrarium-garden/terrarium/appliance/gateway"
	"github.com/terrarium-garden/terrarium/appliance/identity"
	"github.com/terrarium-garden/terrarium/storage/kine"
)

// doctorPath is the path at which the server reports its findings about itself.
const doctorPath = "/appliance/doctor"

// examinations is how many reports are made at the same time: each reads all objects in the cache.
const examinations = 4

// doctorPage is the mount of the findings, for those whom RBAC permits.
func (s *server) doctorPage(keys *identity.Garden, stores *kine.Stores) gateway.Mount {
	return gateway.Mount{
		Path: doctorPath, Who: gateway.Authorized, Limits: gateway.Limits{Parallel: examinations},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			report, err := s.examine(r.Context(), keys, stores)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)

				return
			}
			writeJSON(w, report)
		}),
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	json.NewEncoder(w).Encode(v) //nolint:errcheck,errchkjson,gosec // The client has gone; there is nobody to tell.
}

func (s *server) examine(ctx context.Context, keys *identity.Garden, stores *kine.Stores) (*doctor.Report, error) {
	f := s.facts(keys, stores)
	if reader := s.reader.Load(); reader != nil {
		if err := readObjects(ctx, *reader, f); err != nil {
			return nil, err
		}
	}

	return doctor.Examine(f), nil
}

// facts are those that need no object.
func (s *server) facts(keys *identity.Garden, stores *kine.Stores) *doctor.Facts {
	process := s.process()
	f := &doctor.Facts{
		Now: s.Clock.Now(), Version: s.Version, Units: map[string]bool{},
		Host: machine.Host(keys.Dir), Disk: machine.Disk(keys.Dir), Clock: machine.Clock(keys.Dir),
	}
	f.Directory = &doctor.Directory{Version: s.use.Version, Schema: s.use.Schema}
	f.Host.OpenFiles, f.Host.OpenFilesLimit = uint64(process.OpenFiles), machine.OpenFilesLimit() //nolint:gosec // A count.
	f.Host.MemoryBytes, f.Host.MemoryLimitBytes = process.ResidentBytes, process.MemoryLimitBytes
	for _, c := range keys.Certificates.List() {
		f.Certificates = append(f.Certificates, doctor.Certificate{
			Name: c.Name, NotBefore: c.NotBefore, NotAfter: c.NotAfter, Authority: c.Authority,
		})
	}
	f.Rotations = s.rotations(keys)
	for _, db := range stores.Files() {
		is := doctor.Store{
			Name: db.Name, SizeBytes: db.SizeBytes, WALBytes: db.WALBytes,
			Revision: db.Revision, Compacted: db.Compacted, CompactedAt: db.CompactedAt,
		}
		s.health.describe(&is)
		f.Stores = append(f.Stores, is)
		if f.Disk != nil {
			f.Disk.ReadOnly = f.Disk.ReadOnly || db.Full
		}
	}
	if stores.External != nil {
		f.Datastore = &doctor.Datastore{Place: stores.External.String()}
		s.health.describeDatastore(f.Datastore)
		f.Holders = s.describeHolders()
	}
	for _, u := range s.readiness.units {
		f.Units[u.name] = u.ready.Load()
	}
	if shut := s.revoked.Load(); shut != nil {
		for _, r := range shut.List() {
			f.Revoked = append(f.Revoked, r.Seed)
		}
	}
	if s.backups != nil {
		f.Backups = s.backups()
	}

	return f
}

// rotations are those that go on. What cannot be read is reported where rotations are made.
func (s *server) rotations(keys *identity.Garden) []doctor.Rotation {
	var all []doctor.Rotation
	if is := keys.ServiceAccount.Keys(); is.Rotating() {
		all = append(all, doctor.Rotation{
			Of: "service account key", Started: is.Since, Next: "complete it: terrarium certificate rotate-service-account-key complete",
		})
	}
	if is := keys.WorkloadIdentity.Keys(); is.Rotating() {
		all = append(all, doctor.Rotation{
			Of: "workload identity key", Started: is.Since, Next: "complete it: terrarium certificate rotate-workload-identity-key complete",
		})
	}
	if is, err := s.encryptionStatus(keys); err == nil && is != nil {
		all = append(all, doctor.Rotation{Of: "encryption key", Started: is.Started, Failure: is.Error})
	}
	if is, err := keys.Authorities.Rotation(); err == nil && is != nil {
		r := doctor.Rotation{Of: "certificate authorities", Started: is.Started}
		if is.Completing == nil {
			r.Next = "complete it when terrarium certificate check shows that all gardenlets are ready: terrarium certificate rotate-ca complete"
		}
		if failure := s.untrusted.Load(); failure != nil {
			r.Failure = *failure
		}
		all = append(all, r)
	}

	return all
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

// seedsStatus counts the seeds.
type seedsStatus struct {
	Total   int `json:"total"`
	Ready   int `json:"ready"`
	Revoked int `json:"revoked"`
	// Versions counts the gardenlets by their version, and Skewed are those whose version is too far from that of the server.
	Versions map[string]int `json:"versions,omitempty"`
	Skewed   int            `json:"skewed"`
}

// shootsStatus counts the shoots by the state of their last operation.
type shootsStatus struct {
	Total   int            `json:"total"`
	ByState map[string]int `json:"byState,omitempty"`
}

// digestAge is how long the counts in the status are used again: pages ask for the status every few seconds.
const digestAge = 5 * time.Second

// digest is what the status says about objects and findings.
type digest struct {
	at       time.Time
	seeds    *seedsStatus
	shoots   *shootsStatus
	findings *doctor.Count
}

// digest returns the counts. They are left out while the server starts.
func (s *server) digest(ctx context.Context, keys *identity.Garden, stores *kine.Stores) digest {
	now := s.Clock.Now()
	if d := s.digested.Load(); d != nil && now.Sub(d.at) < digestAge && !now.Before(d.at) {
		return *d
	}
	reader := s.reader.Load()
	if reader == nil {
		return digest{}
	}
	f := s.facts(keys, stores)
	if err := readObjects(ctx, *reader, f); err != nil {
		return digest{}
	}
	d := &digest{at: now, seeds: countSeeds(f), shoots: countShoots(f.Shoots), findings: new(doctor.Examine(f).Count())}
	s.digested.Store(d)

	return *d
}

func countSeeds(f *doctor.Facts) *seedsStatus {
	n := &seedsStatus{Total: len(f.Seeds), Versions: map[string]int{}}
	for i := range f.Seeds {
		conditions := f.Seeds[i].Status.Conditions
		if gardenlet := f.Seeds[i].Status.Gardener; gardenlet != nil {
			n.Versions[gardenlet.Version]++
		}
		if _, skewed := doctor.Skewed(&f.Seeds[i], f.Version); skewed {
			n.Skewed++
		}
		if slices.Contains(f.Revoked, f.Seeds[i].Name) {
			n.Revoked++
		}
		if len(conditions) > 0 && !slices.ContainsFunc(conditions, func(c gardencorev1beta1.Condition) bool {
			return c.Status != gardencorev1beta1.ConditionTrue
		}) {
			n.Ready++
		}
	}

	return n
}

// statePending is the state of a shoot without an operation.
const statePending = "Pending"

func countShoots(shoots []gardencorev1beta1.Shoot) *shootsStatus {
	n := &shootsStatus{Total: len(shoots), ByState: map[string]int{}}
	for i := range shoots {
		state := statePending
		if last := shoots[i].Status.LastOperation; last != nil {
			state = string(last.State)
		}
		n.ByState[state]++
	}

	return n
}
