// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/rest"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/backup"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

// Keeper keeps snapshots.
type Keeper interface { //nolint:interfacebloat // It is all that can be done with snapshots.
	Take(ctx context.Context) (backup.Entry, error)
	List(ctx context.Context) ([]backup.Kept, error)
	Describe(ctx context.Context, name string) (backup.Manifest, int64, error)
	Delete(ctx context.Context, name string) error
	Check(ctx context.Context, name string) error
	Open(ctx context.Context, name string) (backup.File, error)
	Health() backup.Health
}

// Store serves the resource snapshots.
type Store struct {
	rest.TableConvertor

	keeper Keeper
}

var (
	_ rest.Storage              = &Store{}
	_ rest.Scoper               = &Store{}
	_ rest.Creater              = &Store{} //nolint:misspell // the name of the interface
	_ rest.Getter               = &Store{}
	_ rest.Lister               = &Store{}
	_ rest.GracefulDeleter      = &Store{}
	_ rest.SingularNameProvider = &Store{}
)

// NewStore returns the storage of the resource. Without a keeper, all requests say that the garden takes no snapshots.
func NewStore(keeper Keeper) *Store {
	return &Store{keeper: keeper, TableConvertor: kind.NewTable(
		kind.Column[*gardenappliancev1alpha1.Snapshot]{Name: "Size", Cell: func(s *gardenappliancev1alpha1.Snapshot) string {
			return fmt.Sprintf("%dKi", (s.Status.Bytes+1023)/1024)
		}},
		kind.Column[*gardenappliancev1alpha1.Snapshot]{Name: "Revision", Cell: func(s *gardenappliancev1alpha1.Snapshot) string {
			return strconv.FormatInt(s.Status.Revision, 10)
		}},
		kind.Column[*gardenappliancev1alpha1.Snapshot]{Name: "Increments", Cell: func(s *gardenappliancev1alpha1.Snapshot) string {
			if s.Status.Increments == nil {
				return "0"
			}

			return strconv.Itoa(int(s.Status.Increments.Count))
		}},
		kind.Column[*gardenappliancev1alpha1.Snapshot]{Name: "Verified", Wide: true, Cell: func(s *gardenappliancev1alpha1.Snapshot) string {
			if s.Status.Verification == nil {
				return ""
			}

			return string(s.Status.Verification.State)
		}},
		kind.Column[*gardenappliancev1alpha1.Snapshot]{Name: "Destination", Wide: true, Cell: func(s *gardenappliancev1alpha1.Snapshot) string {
			return s.Status.Destination
		}},
		kind.Column[*gardenappliancev1alpha1.Snapshot]{},
	)}
}

// New returns an empty snapshot.
func (*Store) New() runtime.Object { return &gardenappliancev1alpha1.Snapshot{} }

// NewList returns an empty list.
func (*Store) NewList() runtime.Object { return &gardenappliancev1alpha1.SnapshotList{} }

// Destroy does nothing: the keeper is not its own.
func (*Store) Destroy() {}

// NamespaceScoped reports that snapshots are not in namespaces.
func (*Store) NamespaceScoped() bool { return false }

// GetSingularName returns the name of the resource for one object.
func (*Store) GetSingularName() string { return "snapshot" }

// List returns all snapshots, the newest first. There are never so many that pages would be needed.
func (s *Store) List(ctx context.Context, o *metainternalversion.ListOptions) (runtime.Object, error) {
	list := &gardenappliancev1alpha1.SnapshotList{Items: []gardenappliancev1alpha1.Snapshot{}}
	list.ResourceVersion = "1"
	if s.keeper == nil {
		return list, nil
	}
	if o != nil && (o.FieldSelector != nil && !o.FieldSelector.Empty() || o.LabelSelector != nil && !o.LabelSelector.Empty()) {
		return nil, apierrors.NewBadRequest("snapshots have no labels, and cannot be selected by fields")
	}
	found, err := s.keeper.List(ctx)
	if err != nil {
		return nil, problem("", err)
	}
	for _, e := range found {
		list.Items = append(list.Items, *s.known(e))
	}

	return list, nil
}

// find returns a snapshot as the list has it: its file may be damaged.
func (s *Store) find(ctx context.Context, name string) (runtime.Object, error) {
	all, err := s.keeper.List(ctx)
	if err != nil {
		return nil, problem(name, err)
	}
	for _, e := range all {
		if e.Name == name {
			return s.known(e), nil
		}
	}

	return nil, problem(name, backup.ErrNotFound)
}

// Get returns a snapshot with what its file says of itself.
func (s *Store) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	if s.keeper == nil {
		return nil, none()
	}
	is, size, err := s.keeper.Describe(ctx, name)
	if err != nil {
		return nil, problem(name, err)
	}
	found := s.object(backup.Entry{Name: name, Time: is.Time, Objects: is.Objects, Events: is.Events, Bytes: size})
	found.Status.Objects, found.Status.Events = is.Objects.Records, is.Events.Records
	found.Status.Version, found.Status.ClusterIdentity = is.Version, is.Garden
	all, err := s.keeper.List(ctx)
	if err != nil {
		return nil, problem(name, err)
	}
	for _, e := range all {
		if e.Name == name {
			describe(found, e)
		}
	}

	return found, nil
}

// Create takes a snapshot.
func (s *Store) Create(
	ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, o *metav1.CreateOptions,
) (runtime.Object, error) {
	if s.keeper == nil {
		return nil, none()
	}
	if validate != nil {
		if err := validate(ctx, obj.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	if o != nil && len(o.DryRun) > 0 {
		return &gardenappliancev1alpha1.Snapshot{}, nil
	}
	made, err := s.keeper.Take(ctx)
	if err != nil {
		return nil, problem("", err)
	}

	return s.Get(ctx, made.Name, nil)
}

// Delete removes a snapshot.
func (s *Store) Delete(
	ctx context.Context, name string, validate rest.ValidateObjectFunc, o *metav1.DeleteOptions,
) (runtime.Object, bool, error) {
	found, err := s.Get(ctx, name, nil)
	if err != nil && !errors.Is(err, backup.ErrDamaged) {
		return nil, false, err
	}
	if found == nil {
		found = s.object(backup.Entry{Name: name})
	}
	if validate != nil {
		if err := validate(ctx, found); err != nil {
			return nil, false, err
		}
	}
	if o != nil && len(o.DryRun) > 0 {
		return found, true, nil
	}
	if err := s.keeper.Delete(ctx, name); err != nil {
		return nil, false, problem(name, err)
	}

	return found, true, nil
}

func (s *Store) object(e backup.Entry) *gardenappliancev1alpha1.Snapshot {
	is := &gardenappliancev1alpha1.Snapshot{Status: gardenappliancev1alpha1.SnapshotStatus{
		Time: metav1.NewTime(e.Time), Bytes: e.Bytes, Destination: s.keeper.Health().Destination,
		Revision: e.Objects.To, EventsRevision: e.Events.To,
	}}
	is.Name, is.UID, is.CreationTimestamp, is.ResourceVersion = e.Name, uidOf(e.Name), metav1.NewTime(e.Time), "1"

	return is
}

// known describes a snapshot of a list.
func (s *Store) known(e backup.Kept) *gardenappliancev1alpha1.Snapshot {
	is := s.object(e.Entry)
	describe(is, e)

	return is
}

// describe adds what is known of a snapshot beside its file.
func describe(is *gardenappliancev1alpha1.Snapshot, e backup.Kept) {
	if tail := e.Increments; len(tail.Files) > 0 || tail.Gap {
		is.Status.Increments = &gardenappliancev1alpha1.SnapshotIncrements{
			Count: int32(len(tail.Files)), Bytes: tail.Bytes(), Gap: tail.Gap, //nolint:gosec // There are never so many.
		}
		if n := len(tail.Files); n > 0 {
			is.Status.Increments.Until = metav1.NewTime(tail.Files[n-1].Time)
		}
	}
	if e.Check == nil {
		return
	}
	is.Status.Verification = &gardenappliancev1alpha1.SnapshotVerification{
		State:     gardenappliancev1alpha1.SnapshotVerificationState(e.Check.State),
		StartTime: metav1.NewTime(e.Check.Began), Files: int32(e.Check.Files), //nolint:gosec // As above.
		ChecksumsOnly: e.Check.Blind, Message: e.Check.Problem,
	}
	if !e.Check.Ended.IsZero() {
		is.Status.Verification.CompletionTime = new(metav1.NewTime(e.Check.Ended))
	}
}

// uidOf returns the UID of a snapshot, which is the same each time: nothing else is kept of it than its file, and names are not used twice.
func uidOf(name string) types.UID {
	return types.UID(uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://terrarium.garden/snapshots/"+name)).String())
}

// none says that there is no keeper.
func none() error {
	return apierrors.NewMethodNotSupported(gardenappliancev1alpha1.Resource("snapshots"), "create: this server takes no snapshots: they are turned off, or its objects are in an external datastore, which is saved by its own means")
}

// problem translates errors of a keeper.
func problem(name string, err error) error {
	resource := gardenappliancev1alpha1.Resource("snapshots")
	switch {
	case errors.Is(err, backup.ErrNotFound):
		return apierrors.NewNotFound(resource, name)
	case errors.Is(err, backup.ErrNewest):
		return apierrors.NewConflict(resource, name, backup.ErrNewest)
	case errors.Is(err, backup.ErrChecking):
		return apierrors.NewConflict(resource, name, backup.ErrChecking)
	case errors.Is(err, backup.ErrDamaged):
		return damaged{apierrors.NewInternalError(err), err}
	case errors.Is(err, backup.ErrStarting), errors.Is(err, backup.ErrStopping):
		return apierrors.NewServiceUnavailable(err.Error())
	default:
		return apierrors.NewInternalError(errors.New(strings.TrimSpace(err.Error())))
	}
}

// damaged is an answer that still says why.
type damaged struct {
	*apierrors.StatusError

	err error
}

// Unwrap returns why.
func (d damaged) Unwrap() error { return d.err }
