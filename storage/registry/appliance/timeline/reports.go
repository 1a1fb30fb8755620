// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/storage/local/timeline"
)

const (
	// A seed may report tasks at a rate with bursts: a gardenlet that restarts with hundreds of shoots has much to tell at once.
	tasksPerSecond = 100
	tasksAtOnce    = 20_000
	// The same for their size in the file. A usual task has about 1 KiB.
	bytesPerSecond = 256 << 10
	bytesAtOnce    = 8 << 20
	// oldest is how long ago a reported task may have ended.
	oldest = 24 * time.Hour
)

// Reports serves the resource timelinereports, by which gardenlets add tasks. A report is answered when its tasks are on the disk.
type Reports struct {
	settings Settings

	mu       sync.Mutex
	limiters map[string]limiter
}

// limiter bounds what a seed reports.
type limiter struct{ tasks, bytes *rate.Limiter }

var (
	_ rest.Storage              = &Reports{}
	_ rest.Scoper               = &Reports{}
	_ rest.Creater              = &Reports{} //nolint:misspell // the name of the interface
	_ rest.SingularNameProvider = &Reports{}
)

// NewReports returns the storage of the resource.
func NewReports(s Settings) *Reports {
	return &Reports{settings: s, limiters: map[string]limiter{}}
}

// New returns an empty report.
func (*Reports) New() runtime.Object { return &gardenappliancev1alpha1.TimelineReport{} }

// Destroy does nothing: the store is not its own.
func (*Reports) Destroy() {}

// NamespaceScoped reports that reports are not in namespaces.
func (*Reports) NamespaceScoped() bool { return false }

// GetSingularName returns the name of the resource for one object.
func (*Reports) GetSingularName() string { return "timelinereport" }

// Create adds the tasks of a report whose objects belong to the seed of the client.
func (r *Reports) Create(
	ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, o *metav1.CreateOptions,
) (runtime.Object, error) {
	report, ok := obj.(*gardenappliancev1alpha1.TimelineReport)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected kind TimelineReport, got %T", obj))
	}
	if validate != nil {
		if err := validate(ctx, obj.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	seed, user, err := r.client(ctx)
	if err != nil {
		return nil, err
	}
	if n := len(report.Spec.Tasks); n > gardenappliancev1alpha1.MaxTimelineReportTasks {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("spec.tasks: %d tasks, at most %d are allowed in a report",
			n, gardenappliancev1alpha1.MaxTimelineReportTasks))
	}
	now := r.settings.Clock.Now()
	limits := r.limiter(seed)
	if !limits.tasks.AllowN(now, len(report.Spec.Tasks)) {
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("seed %q reports more than %d tasks a second", seed, tasksPerSecond), 5)
	}
	entries, err := r.entries(ctx, report, seed, now)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		entry.User = user
	}
	report.Status = gardenappliancev1alpha1.TimelineReportStatus{
		Accepted: int32(len(entries)), Refused: int32(len(report.Spec.Tasks) - len(entries)), //nolint:gosec // at most 500
	}
	if o != nil && len(o.DryRun) > 0 {
		return report, nil
	}
	size, err := sizeOf(entries)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if !limits.bytes.AllowN(now, size) {
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("seed %q reports more than %d bytes a second", seed, bytesPerSecond), 5)
	}
	if err := r.settings.Store.Append(ctx, entries...); err != nil {
		if errors.Is(err, timeline.ErrFull) {
			return nil, apierrors.NewTooManyRequests(err.Error(), 5)
		}

		return nil, apierrors.NewInternalError(err)
	}

	return report, nil
}

// client returns the seed and the name of the client.
func (r *Reports) client(ctx context.Context) (seed, name string, err error) {
	if who, ok := genericapirequest.UserFrom(ctx); ok {
		if client, ok := r.settings.Client(who); ok && client.Gardenlet {
			return client.Seed, who.GetName(), nil
		}
	}

	return "", "", apierrors.NewForbidden(gardenappliancev1alpha1.Resource("timelinereports"), "",
		errors.New("only gardenlets report the tasks of their flows"))
}

// limiter returns the limiter of a seed. Clients of seeds have certificates of the garden, so there are not more limiters than
// there were seeds.
func (r *Reports) limiter(seed string) limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.limiters[seed]
	if !ok {
		found = limiter{tasks: rate.NewLimiter(tasksPerSecond, tasksAtOnce), bytes: rate.NewLimiter(bytesPerSecond, bytesAtOnce)}
		r.limiters[seed] = found
	}

	return found
}

// sizeOf returns how much of the timeline's file entries use. A single report is never too large for the limit of a seed: texts of
// characters that have to be escaped are longer in the file than in the report.
func sizeOf(entries []*timeline.Entry) (int, error) {
	whole := int64(0)
	for _, entry := range entries {
		size, err := timeline.Size(entry)
		if err != nil {
			return 0, err
		}
		whole += size
	}

	return int(min(whole, bytesAtOnce)), nil
}

// entries returns the entries for the tasks of objects that belong to a seed.
func (r *Reports) entries(
	ctx context.Context, report *gardenappliancev1alpha1.TimelineReport, seed string, now time.Time,
) ([]*timeline.Entry, error) {
	type owned struct {
		uid  types.UID
		mine bool
	}
	known := map[gardenappliancev1alpha1.TimelineSubject]owned{}
	var entries []*timeline.Entry
	for i := range report.Spec.Tasks {
		reported := &report.Spec.Tasks[i]
		found, ok := known[reported.Subject]
		if !ok {
			seeds, uid, err := r.seedsOf(ctx, reported.Subject)
			if err != nil {
				return nil, err
			}
			found = owned{uid: uid, mine: slices.Contains(seeds, seed) && (reported.Subject.UID == "" || reported.Subject.UID == uid)}
			known[reported.Subject] = found
		}
		if !found.mine {
			continue
		}
		entry := &timeline.Entry{Type: gardenappliancev1alpha1.TimelineEntryTask, Task: cut(&reported.Task)}
		subject := reported.Subject
		subject.UID = found.uid
		at := reported.Time.Time
		if at.After(now) || at.Before(now.Add(-oldest)) {
			at = now
		}
		complete(entry, subject, at)
		entries = append(entries, entry)
	}

	return entries, nil
}

// cut returns a task with texts of a bounded size.
func cut(task *gardenappliancev1alpha1.TimelineTask) *gardenappliancev1alpha1.TimelineTask {
	short := *task
	for _, text := range []*string{&short.Flow, &short.ID, &short.Title, &short.Error} {
		*text = bounded(*text)
	}
	short.After = nil
	for _, id := range task.After[:min(len(task.After), gardenappliancev1alpha1.MaxTimelineAfter)] {
		short.After = append(short.After, cutTo(id, gardenappliancev1alpha1.MaxTimelineID))
	}

	return &short
}

// bounded cuts a text that is too long.
func bounded(text string) string {
	return cutTo(text, gardenappliancev1alpha1.MaxTimelineText)
}

func cutTo(text string, most int) string {
	if len(text) <= most {
		return text
	}

	return strings.Clone(strings.ToValidUTF8(text[:most], "")) // The rest of it is not kept.
}

// seedsOf returns the seeds to which an object belongs, and its UID. An object that was removed a moment ago still belongs to its
// seed, because the last tasks of a deletion are reported after it.
func (r *Reports) seedsOf(
	ctx context.Context, subject gardenappliancev1alpha1.TimelineSubject,
) ([]string, types.UID, error) {
	objects, ok := r.settings.Objects[subject.Kind]
	if !ok || subject.Kind == kindSeed && subject.Namespace != "" { // A seed is in no namespace, though it would be found.
		return nil, "", nil
	}
	obj, err := objects.Get(genericapirequest.WithNamespace(ctx, subject.Namespace), subject.Name, &metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		seeds, uid, _ := r.settings.Recorder.seedsOfRemoved(subject)

		return seeds, uid, nil
	}
	if err != nil {
		return nil, "", err
	}
	if managed, ok := obj.(*gardenseedmanagementv1alpha1.ManagedSeed); ok && managed.Spec.Shoot != nil {
		// It belongs to the seed of its shoot.
		seeds, _, err := r.seedsOf(ctx, gardenappliancev1alpha1.TimelineSubject{
			Kind: "Shoot", Namespace: managed.Namespace, Name: managed.Spec.Shoot.Name,
		})

		return seeds, managed.UID, err
	}
	if p := pictureOf(obj); p != nil {
		return p.seeds, p.subject.UID, nil
	}

	return nil, "", nil
}
