// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
)

// snapshotTaking takes a snapshot and waits for it. The API server answers a creation after about half a minute, also while the
// snapshot goes on. The request is not repeated, because that would take another snapshot: the list shows when it is complete.
type snapshotTaking struct {
	client rest.Interface
	// patience is how long it waits in all, and pause the time between two looks at the list.
	patience, pause time.Duration
}

// errSnapshotLate says that a snapshot was not complete in time.
var errSnapshotLate = errors.New("it was not complete in time, and may still be taken")

func (s *snapshotTaking) run(ctx context.Context) (*gardenappliancev1alpha1.Snapshot, error) {
	ctx, end := context.WithTimeoutCause(ctx, s.patience, errSnapshotLate)
	defer end()
	before := map[string]bool{}
	err := s.list(ctx, func(name string) bool {
		before[name] = true
		return false
	})
	if err != nil {
		return nil, err
	}
	made := &gardenappliancev1alpha1.Snapshot{}
	err = s.client.Post().Resource("snapshots").Body(&gardenappliancev1alpha1.Snapshot{}).Do(ctx).Into(made)
	if !unanswered(err) {
		return made, err
	}
	return s.await(ctx, before)
}

// await waits until there is a snapshot that was not there before.
func (s *snapshotTaking) await(ctx context.Context, before map[string]bool) (*gardenappliancev1alpha1.Snapshot, error) {
	var name string
	err := wait.PollUntilContextCancel(ctx, s.pause, true, func(ctx context.Context) (bool, error) {
		err := s.list(ctx, func(found string) bool {
			if !before[found] {
				name = found
			}
			return name != ""
		})
		return name != "", err
	})
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err != nil {
		return nil, err
	}
	made := &gardenappliancev1alpha1.Snapshot{}
	return made, s.client.Get().Resource("snapshots").Name(name).Do(ctx).Into(made)
}

// list calls a function for the name of each snapshot, the newest first, until it returns true. While a snapshot is taken, a list waits
// for it, and may not be answered in time either: then it is repeated.
func (s *snapshotTaking) list(ctx context.Context, each func(name string) bool) error {
	list := &gardenappliancev1alpha1.SnapshotList{}
	err := wait.PollUntilContextCancel(ctx, s.pause, true, func(ctx context.Context) (bool, error) {
		err := s.client.Get().Resource("snapshots").Do(ctx).Into(list)
		if unanswered(err) {
			return false, nil
		}
		return err == nil, err
	})
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		return fmt.Errorf("list snapshots: %w", err)
	}
	for i := range list.Items {
		if each(list.Items[i].Name) {
			break
		}
	}
	return nil
}

// unanswered reports whether the server gave up a request that takes long. What it was about goes on.
func unanswered(err error) bool {
	return apierrors.IsTimeout(err) ||
		apierrors.IsInternalError(err) && strings.HasSuffix(err.Error(), context.DeadlineExceeded.Error())
}
