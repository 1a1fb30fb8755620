// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/storage/local/timeline"
)

// maxList is the largest number of entries in a list without a limit, and maxWeight about how much memory the entries of any list take. A longer
// one would not fit into the memory of the server.
const (
	maxList   = 10_000
	maxWeight = 32 << 20
)

// Entries serves the resource timelines: entries are listed, watched and read. Each request names the objects whose timelines it
// reads, by namespace, kind and name, and needs the right to read them.
type Entries struct {
	rest.TableConvertor

	settings Settings
}

var (
	_ rest.Storage              = &Entries{}
	_ rest.Scoper               = &Entries{}
	_ rest.Getter               = &Entries{}
	_ rest.Lister               = &Entries{}
	_ rest.Watcher              = &Entries{}
	_ rest.SingularNameProvider = &Entries{}
)

// NewEntries returns the storage of the resource.
func NewEntries(s Settings) *Entries { return &Entries{TableConvertor: newTable(), settings: s} }

// New returns an empty entry.
func (*Entries) New() runtime.Object { return &gardenappliancev1alpha1.TimelineEntry{} }

// NewList returns an empty list.
func (*Entries) NewList() runtime.Object { return &gardenappliancev1alpha1.TimelineEntryList{} }

// Destroy does nothing: the store is not its own.
func (*Entries) Destroy() {}

// NamespaceScoped reports that entries are in namespaces.
func (*Entries) NamespaceScoped() bool { return true }

// GetSingularName returns the name of the resource for one object.
func (*Entries) GetSingularName() string { return "timeline" }

// Get returns an entry.
func (e *Entries) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	missing := apierrors.NewNotFound(gardenappliancev1alpha1.Resource("timelines"), name)
	number, err := timeline.Number(name)
	if err != nil {
		return nil, missing
	}
	entry, found, err := e.settings.Store.Get(number)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if !found || entry.Namespace != genericapirequest.NamespaceValue(ctx) {
		return nil, missing
	}
	subject := entry.Subject
	allowed, err := e.mayRead(ctx, subject.Namespace, subject.Kind, subject.Name)
	if err != nil {
		return nil, err
	}
	if !allowed {
		return nil, missing
	}
	tells, err := e.tells(ctx, subject.Namespace, subject.Kind, subject.Name)
	if err != nil {
		return nil, err
	}
	born, err := e.settings.Born(ctx, entry.Namespace)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	// To others it is the same whether the entry exists.
	if !tells(entry) || entry.Time.Time.Before(born) {
		return nil, missing
	}

	return entry, nil
}

// List returns entries, the oldest first.
func (e *Entries) List(ctx context.Context, o *metainternalversion.ListOptions) (runtime.Object, error) {
	if o == nil {
		o = &metainternalversion.ListOptions{}
	}
	q, err := e.query(ctx, o)
	if err != nil {
		return nil, err
	}
	if q.After, q.Upto, err = parseContinue(o.Continue); err != nil {
		return nil, err
	}
	q.Limit, q.MostWeight = maxList, maxWeight
	if o.Limit > 0 {
		q.Limit = int(min(o.Limit, maxList))
	}
	page, err := e.settings.Store.List(ctx, q)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if page.More && o.Limit == 0 {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("more than %d entries, or %d MiB: ask for pages by limit, or for a span of time by the "+
			"field selectors %s and %s", maxList, maxWeight>>20, gardenappliancev1alpha1.FieldSince, gardenappliancev1alpha1.FieldUntil))
	}
	if err := tooNew(o.ResourceVersion, page.Last); err != nil {
		return nil, err
	}

	return newList(page, q.Upto), nil
}

func newList(page timeline.Page, upto uint64) *gardenappliancev1alpha1.TimelineEntryList {
	list := &gardenappliancev1alpha1.TimelineEntryList{Items: make([]gardenappliancev1alpha1.TimelineEntry, 0, len(page.Entries))}
	for _, entry := range page.Entries {
		list.Items = append(list.Items, *entry)
	}
	// All pages are of the time of the first one.
	if upto == 0 {
		upto = page.Last
	}
	list.ResourceVersion = strconv.FormatUint(upto, 10)
	if page.More {
		list.Continue = page.Entries[len(page.Entries)-1].Name + "-" + timeline.Name(upto)
	}

	return list
}

func parseContinue(token string) (after, upto uint64, err error) {
	if token == "" {
		return 0, 0, nil
	}
	first, last, _ := strings.Cut(token, "-")
	after, errAfter := timeline.Number(first)
	upto, errUpto := timeline.Number(last)
	if errAfter != nil || errUpto != nil {
		return 0, 0, apierrors.NewBadRequest("continue: the token is not one of a list of timelines")
	}

	return after, upto, nil
}

// tooNew returns an error for a version that does not exist yet.
func tooNew(version string, last uint64) error {
	if version == "" {
		return nil
	}
	wanted, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("resourceVersion: %q is not a number", version))
	}
	if wanted > last {
		return storage.NewTooLargeResourceVersionError(wanted, last, 1)
	}

	return nil
}

// query turns options into a query for what the user may read.
func (e *Entries) query(ctx context.Context, o *metainternalversion.ListOptions) (timeline.Query, error) {
	f, err := parseFields(o)
	if err != nil {
		return timeline.Query{}, err
	}
	namespace := genericapirequest.NamespaceValue(ctx)
	readable, err := e.readable(ctx, namespace, f)
	if err != nil {
		return timeline.Query{}, err
	}
	of := namespace
	if f.kind == kindSeed {
		of = ""
	}
	tells, err := e.tells(ctx, of, f.kind, f.name)
	if err != nil {
		return timeline.Query{}, err
	}
	q := timeline.Query{Namespace: namespace, Since: f.since, Until: f.until}
	if len(readable) == 1 && readable[0] == kindSeed {
		// Many may list all seeds, so this must not read the entries of all other objects.
		q.Namespace, f.kind = gardencorev1beta1.NamespaceGarden, kindSeed
	}
	if q.Namespace != "" {
		born, err := e.settings.Born(ctx, q.Namespace)
		if err != nil {
			return timeline.Query{}, apierrors.NewInternalError(err)
		}
		if q.Since.Before(born) {
			q.Since = born
		}
		if f.kind != "" {
			q.Kind, q.Name = f.kind, f.name
		}
	}
	// Entries have no labels.
	none := o.LabelSelector != nil && !o.LabelSelector.Matches(labels.Set{})
	q.Keep = func(entry *timeline.Entry) bool {
		return !none && slices.Contains(readable, entry.Subject.Kind) && f.selects(entry) && tells(entry)
	}

	return q, nil
}

// readable returns the kinds whose objects the user may list, or get if there is a name.
func (e *Entries) readable(ctx context.Context, namespace string, f filter) ([]string, error) {
	candidates := kindNames()
	if f.kind != "" {
		candidates = []string{f.kind}
	}
	var readable []string
	for _, kind := range candidates {
		of := namespace
		if kind == kindSeed {
			if namespace != "" && namespace != gardencorev1beta1.NamespaceGarden {
				continue
			}
			of = ""
		}
		allowed, err := e.mayRead(ctx, of, kind, f.name)
		if err != nil {
			return nil, err
		}
		if allowed {
			readable = append(readable, kind)
		}
	}
	if len(readable) == 0 {
		return nil, apierrors.NewForbidden(gardenappliancev1alpha1.Resource("timelines"), "", fmt.Errorf(
			"a timeline needs the right to get its object, or to list the objects of a kind: %s", strings.Join(candidates, ", ")))
	}

	return readable, nil
}

// filter are the field selectors of a request.
type filter struct {
	kind, name, namespace, entry string
	entryType                    gardenappliancev1alpha1.TimelineEntryType
	since, until                 time.Time
}

func parseFields(o *metainternalversion.ListOptions) (filter, error) {
	var f filter
	if o.FieldSelector == nil {
		return f, nil
	}
	for _, r := range o.FieldSelector.Requirements() {
		if r.Operator != selection.Equals && r.Operator != selection.DoubleEquals {
			return f, apierrors.NewBadRequest(fmt.Sprintf("field selector %s: timelines support only = and ==", r.Field))
		}
		if err := f.set(r.Field, r.Value); err != nil {
			return f, apierrors.NewBadRequest(fmt.Sprintf("field selector %s=%s: %v", r.Field, r.Value, err))
		}
	}
	if f.name != "" && f.kind == "" {
		return f, apierrors.NewBadRequest(fmt.Sprintf("field selector %s requires %s",
			gardenappliancev1alpha1.FieldSubjectName, gardenappliancev1alpha1.FieldSubjectKind))
	}

	return f, nil
}

func (f *filter) set(field, value string) error {
	var err error
	switch field {
	case gardenappliancev1alpha1.FieldSubjectKind:
		if _, known := kinds()[value]; !known {
			return fmt.Errorf("must be one of %s", strings.Join(kindNames(), ", "))
		}
		f.kind = value
	case gardenappliancev1alpha1.FieldSubjectName:
		f.name = value
	case gardenappliancev1alpha1.FieldType:
		f.entryType = gardenappliancev1alpha1.TimelineEntryType(value)
	case gardenappliancev1alpha1.FieldSince:
		f.since, err = time.Parse(time.RFC3339, value)
	case gardenappliancev1alpha1.FieldUntil:
		f.until, err = time.Parse(time.RFC3339, value)
	case "metadata.name":
		f.entry = value
	case "metadata.namespace":
		f.namespace = value
	}

	return err
}

func (f *filter) selects(entry *timeline.Entry) bool {
	return (f.kind == "" || entry.Subject.Kind == f.kind) &&
		(f.namespace == "" || entry.Namespace == f.namespace) &&
		(f.name == "" || entry.Subject.Name == f.name) &&
		(f.entryType == "" || entry.Type == f.entryType) &&
		(f.entry == "" || entry.Name == f.entry)
}
