// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/terrarium-garden/terrarium/apis/appliance/query"
	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// TestTimeline makes a shoot live and end, and reads what its timeline tells, and to whom.
//
//nolint:tparallel // its parts read and change one shoot, one after the other
func TestTimeline(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := operate(t, harness.WithDataDir(dir))
	growAccess(o)
	mine := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "mine"}}
	member, gardenlet := o.acting(person("member")), o.acting(seedRole("one"))
	if err := member.Patch(t.Context(), mine, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"purpose":"testing"}}`))); err != nil {
		t.Fatal(err)
	}
	o.reconcileAs(gardenlet, mine, "Processing", "Deploying etcd")
	o.reconcileAs(gardenlet, mine, "Processing", "Deploying the API server")
	o.reconcileAs(gardenlet, mine, "Error", "No space", "No space is left")
	o.reconcileAs(gardenlet, mine, "Succeeded", "Done")

	got := o.timeline(member, mine, 8)
	want := []string{
		"admin: Created",
		"member: Changed spec.purpose",
		"gardenlet: Reconcile Processing: Deploying etcd (requested by member)",
		"gardenlet: Reconcile Error: No space (requested by member)",
		"gardenlet: No space is left",
		"gardenlet: APIServerAvailable is False (Broken): It is broken",
		"gardenlet: Reconcile Succeeded: Done (requested by member)",
		"gardenlet: No errors any more",
	}
	if diff := cmp.Diff(want, withoutServer(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	applied := &gardencorev1beta1.BackupEntry{}
	document := []byte(`{"apiVersion":"core.gardener.cloud/v1beta1","kind":"BackupEntry","metadata":{"name":"applied","namespace":"garden-meadow"},"spec":{"bucketName":"one","seedName":"one"}}`)
	applied.Namespace, applied.Name = "garden-meadow", "applied"
	if err := o.Client.Patch(t.Context(), applied, client.RawPatch(types.ApplyPatchType, document), client.FieldOwner("test")); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "an object that was created by server-side apply is said to be created", func(ctx context.Context) error {
		list := &gardenappliancev1alpha1.TimelineEntryList{}
		if err := o.Client.List(ctx, list, ofSubject("BackupEntry", "garden-meadow", "applied")); err != nil {
			return err
		}
		return has(len(list.Items) > 0 && query.Summary(&list.Items[0]) == "Created", "%+v", list.Items)
	})
	t.Run("readers", func(t *testing.T) { checkTimelineReaders(o.in(t)) })       //nolint:paralleltest // see above
	t.Run("reports", func(t *testing.T) { checkTimelineReports(o.in(t), mine) }) //nolint:paralleltest // see above
	t.Run("watch", func(t *testing.T) { checkTimelineWatch(o.in(t), mine) })     //nolint:paralleltest // see above
	t.Run("selectors", func(t *testing.T) { checkTimelineSelectors(o.in(t)) })   //nolint:paralleltest // see above
	o.Stop(t)

	again := operate(t, harness.WithDataDir(dir))
	kept := again.timeline(again.Client, mine, len(want))
	if diff := cmp.Diff(want, withoutServer(kept)[:len(want)]); diff != "" {
		t.Errorf("after a restart (-want +got)\n%s", diff)
	}
}

// reconcileAs writes a last operation with an error and a failed condition, if there is one.
func (o *operator) reconcileAs(who client.Client, shoot *gardencorev1beta1.Shoot, state gardencorev1beta1.LastOperationState, text string, errs ...string) {
	o.t.Helper()
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := who.Get(o.t.Context(), client.ObjectKeyFromObject(shoot), shoot); err != nil {
			return err
		}
		shoot.Status.LastOperation = &gardencorev1beta1.LastOperation{Type: "Reconcile", State: state, Description: text, LastUpdateTime: metav1.Now()}
		shoot.Status.LastErrors = nil
		for _, e := range errs {
			shoot.Status.LastErrors = append(shoot.Status.LastErrors, gardencorev1beta1.LastError{Description: e})
			shoot.Status.Conditions = []gardencorev1beta1.Condition{{Type: "APIServerAvailable", Status: "False", Reason: "Broken", Message: "It is broken"}}
		}
		return who.Status().Update(o.t.Context(), shoot)
	})
	if err != nil {
		o.t.Fatal(err)
	}
}

// ofSubject selects the timeline of an object.
func ofSubject(kind, namespace, name string) *client.ListOptions {
	return &client.ListOptions{Namespace: namespace, FieldSelector: fields.Set{
		gardenappliancev1alpha1.FieldSubjectKind: kind, gardenappliancev1alpha1.FieldSubjectName: name,
	}.AsSelector()}
}

// timeline returns the entries of a shoot as lines, at least so many that are not by the server itself.
func (o *operator) timeline(who client.Client, shoot *gardencorev1beta1.Shoot, least int) []string {
	o.t.Helper()
	var lines []string
	harness.Eventually(o.t, "the timeline is written", func(ctx context.Context) error {
		list := &gardenappliancev1alpha1.TimelineEntryList{}
		if err := who.List(ctx, list, ofSubject("Shoot", shoot.Namespace, shoot.Name)); err != nil {
			return err
		}
		lines = nil
		for i := range list.Items {
			by := strings.Replace(list.Items[i].User, "gardener.cloud:system:seed:one", "gardenlet", 1)
			if by == "" || strings.HasPrefix(by, "system:terrarium") || by == "terrarium-admin" {
				by = "admin"
			}
			text := by + ": " + query.Summary(&list.Items[i])
			lines = append(lines, text)
		}
		return has(len(withoutServer(lines)) >= least, "%q", lines)
	})
	return lines
}

// withoutServer leaves out what the server itself did.
func withoutServer(lines []string) []string {
	var left []string
	for _, line := range lines {
		if !strings.HasPrefix(line, "system:") {
			left = append(left, line)
		}
	}
	return left
}

// checkTimelineReaders holds that a timeline is for those who may read its object, through every door.
func checkTimelineReaders(o *operator) {
	list := &gardenappliancev1alpha1.TimelineEntryList{}
	if err := o.Client.List(o.t.Context(), list, ofSubject("Shoot", "garden-meadow", "mine")); err != nil {
		o.t.Fatal(err)
	}
	entry := client.ObjectKeyFromObject(&list.Items[0])
	o.checkNamespaceLives()
	for name, tc := range map[string]struct {
		who                         role
		shoot, all, garden, one, to bool
	}{
		"member":         {who: person("member"), shoot: true, all: true, one: true},
		"viewer":         {who: person("viewer"), shoot: true, all: true, one: true},
		"stranger":       {who: person("stranger")},
		"gardenlet":      {who: seedRole("one"), shoot: true, one: true},
		"its neighbour":  {who: seedRole("two")},
		"administrator":  {who: person("administrator"), shoot: true, all: true, garden: true, one: true},
		"somebody by no": {who: role{"none", "system:anonymous", []string{"system:unauthenticated"}}},
	} {
		o.t.Run(name, func(t *testing.T) {
			c := o.in(t).acting(tc.who)
			for what, check := range map[string]struct {
				err  error
				want bool
			}{
				"list of the shoot":     {c.List(t.Context(), &gardenappliancev1alpha1.TimelineEntryList{}, ofSubject("Shoot", "garden-meadow", "mine")), tc.shoot},
				"list of the namespace": {c.List(t.Context(), &gardenappliancev1alpha1.TimelineEntryList{}, client.InNamespace("garden-meadow")), tc.all},
				"list of the garden":    {c.List(t.Context(), &gardenappliancev1alpha1.TimelineEntryList{}, ofSubject("Shoot", "", "mine")), tc.garden},
				"get":                   {c.Get(t.Context(), entry, &gardenappliancev1alpha1.TimelineEntry{}), tc.one},
			} {
				refused := apierrors.IsForbidden(check.err) || apierrors.IsNotFound(check.err)
				if check.want != (check.err == nil) || !check.want && !refused {
					t.Errorf("%s: allowed %v, want %v: %v", what, check.err == nil, check.want, check.err)
				}
			}
		})
	}
}

// checkNamespaceLives holds that a namespace shows nothing of an earlier one of its name.
func (o *operator) checkNamespaceLives() {
	o.t.Helper()
	namespace, seed := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garden-again"}}, "one"
	entry := func() *gardencorev1beta1.BackupEntry {
		e := entryOf("kept", seed)
		e.Namespace = namespace.Name
		return e
	}
	told := func() (*gardenappliancev1alpha1.TimelineEntryList, error) {
		list := &gardenappliancev1alpha1.TimelineEntryList{}
		return list, o.Client.List(o.t.Context(), list, client.InNamespace(namespace.Name))
	}
	await := func(what string, want int) []gardenappliancev1alpha1.TimelineEntry {
		var items []gardenappliancev1alpha1.TimelineEntry
		harness.Eventually(o.t, what, func(context.Context) error {
			list, err := told()
			items = list.Items
			return errors.Join(err, has(len(items) == want, "%d entries: %+v", len(items), items))
		})
		return items
	}
	o.create(namespace, entry())
	before := await("the first life is told", 1)
	o.delete(entry())
	await("its end is told", 2)
	o.delete(namespace)
	o.gone(namespace, "the namespace goes")
	harness.Eventually(o.t, "a second has passed, to which creation times are rounded", func(context.Context) error {
		return has(time.Now().Unix() > before[0].Time.Unix()+1, "not yet")
	})
	namespace = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garden-again"}}
	o.create(namespace, entry())
	if items := await("only the second life is told", 1); items[0].Name == before[0].Name {
		o.t.Errorf("the new namespace shows %+v", items)
	}
	if err := o.Client.Get(o.t.Context(), client.ObjectKeyFromObject(&before[0]), &gardenappliancev1alpha1.TimelineEntry{}); !apierrors.IsNotFound(err) {
		o.t.Errorf("the entry of an earlier namespace is read: %v", err)
	}
}

func taskOf(shoot *gardencorev1beta1.Shoot, id string, uid types.UID) gardenappliancev1alpha1.ReportedTask {
	return gardenappliancev1alpha1.ReportedTask{
		Time:    metav1.NowMicro(),
		Subject: gardenappliancev1alpha1.TimelineSubject{Kind: "Shoot", Namespace: shoot.Namespace, Name: shoot.Name, UID: uid},
		Task:    gardenappliancev1alpha1.TimelineTask{Flow: "reconcile", ID: id, Title: strings.Repeat("t", 5000)},
	}
}

// checkTimelineReports holds that a gardenlet adds tasks to objects of its own seed only, and nobody else adds any.
func checkTimelineReports(o *operator, mine *gardencorev1beta1.Shoot) {
	other := &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-wood", Name: "other"}}
	o.read(mine)
	o.read(other)
	report := func(tasks ...gardenappliancev1alpha1.ReportedTask) *gardenappliancev1alpha1.TimelineReport {
		return &gardenappliancev1alpha1.TimelineReport{Spec: gardenappliancev1alpha1.TimelineReportSpec{Tasks: tasks}}
	}
	late := taskOf(mine, "future", mine.UID)
	late.Time = metav1.NewMicroTime(time.Now().Add(24 * time.Hour))
	sent := report(
		taskOf(mine, "own", mine.UID), taskOf(other, "foreign", other.UID), taskOf(mine, "another life", "other-uid"),
		taskOf(&gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "none"}}, "none", ""), late)
	for i := range sent.Spec.Tasks {
		sent.Spec.Tasks[i].Task.After = slices.Repeat([]string{strings.Repeat("a", 5000)}, 2*gardenappliancev1alpha1.MaxTimelineAfter)
	}
	if err := o.acting(seedRole("one")).Create(o.t.Context(), sent); err != nil {
		o.t.Fatal(err)
	}
	if diff := cmp.Diff(gardenappliancev1alpha1.TimelineReportStatus{Accepted: 2, Refused: 3}, sent.Status); diff != "" {
		o.t.Errorf("(-want +got)\n%s", diff)
	}
	for _, who := range []role{
		person("member"), person("administrator"), person("stranger"),
		{"extension one", "system:serviceaccount:seed-one:extension-local", []string{"system:serviceaccounts", "system:serviceaccounts:seed-one", "system:authenticated"}},
	} {
		if err := o.acting(who).Create(o.t.Context(), report(taskOf(mine, "forged", mine.UID))); !apierrors.IsForbidden(err) {
			o.t.Errorf("a report by %s: %v", who.name, err)
		}
	}
	many := report()
	for range gardenappliancev1alpha1.MaxTimelineReportTasks + 1 {
		many.Spec.Tasks = append(many.Spec.Tasks, taskOf(mine, "many", mine.UID))
	}
	if err := o.acting(seedRole("one")).Create(o.t.Context(), many); !apierrors.IsBadRequest(err) {
		o.t.Errorf("a report of too many tasks: %v", err)
	}
	list := &gardenappliancev1alpha1.TimelineEntryList{}
	o.entries(list, "Task")
	var ids []string
	for i := range list.Items {
		e := &list.Items[i]
		ids = append(ids, e.Subject.Name+" "+e.Task.ID)
		if e.Time.After(time.Now()) || len(e.Task.Title) != gardenappliancev1alpha1.MaxTimelineText ||
			len(e.Task.After) != gardenappliancev1alpha1.MaxTimelineAfter || len(e.Task.After[0]) != gardenappliancev1alpha1.MaxTimelineID || e.Subject.UID != mine.UID {
			o.t.Errorf("the entry %+v is not bounded", e)
		}
	}
	if diff := cmp.Diff([]string{"mine own", "mine future"}, ids); diff != "" {
		o.t.Errorf("(-want +got)\n%s", diff)
	}
}

// entries reads all entries of a type.
func (o *operator) entries(list *gardenappliancev1alpha1.TimelineEntryList, entryType string) {
	o.t.Helper()
	err := o.Client.List(o.t.Context(), list, &client.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(gardenappliancev1alpha1.FieldType, entryType),
	})
	if err != nil {
		o.t.Fatal(err)
	}
}

// checkTimelineWatch goes on from a list, in pages, with what is added later.
func checkTimelineWatch(o *operator, mine *gardencorev1beta1.Shoot) {
	options := ofSubject("Shoot", "garden-meadow", "mine")
	whole, page := &gardenappliancev1alpha1.TimelineEntryList{}, &gardenappliancev1alpha1.TimelineEntryList{}
	if err := o.Client.List(o.t.Context(), whole, options); err != nil {
		o.t.Fatal(err)
	}
	var paged []gardenappliancev1alpha1.TimelineEntry
	options.Limit = 3
	for {
		if err := o.Client.List(o.t.Context(), page, options); err != nil {
			o.t.Fatal(err)
		}
		paged = append(paged, page.Items...)
		if options.Continue = page.Continue; options.Continue == "" {
			break
		}
	}
	if diff := cmp.Diff(whole.Items, paged); diff != "" {
		o.t.Errorf("pages (-list +pages)\n%s", diff)
	}
	options = ofSubject("Shoot", "garden-meadow", "mine")
	options.Raw = &metav1.ListOptions{ResourceVersion: whole.ResourceVersion}
	events, err := o.acting(person("viewer")).Watch(o.t.Context(), &gardenappliancev1alpha1.TimelineEntryList{}, options)
	if err != nil {
		o.t.Fatal(err)
	}
	defer events.Stop()
	o.reconcileAs(o.acting(seedRole("one")), mine, "Processing", "Once more")
	event := <-events.ResultChan()
	entry, ok := event.Object.(*gardenappliancev1alpha1.TimelineEntry)
	if !ok || event.Type != watch.Added || query.Summary(entry) != "Reconcile Processing: Once more (requested by member)" {
		o.t.Errorf("the watch says %s %+v", event.Type, event.Object)
	}
}

func checkTimelineSelectors(o *operator) {
	for selector, words := range map[string]string{
		"subject.kind=Project":                 "BackupEntry, ManagedSeed, Seed, Shoot",
		"subject.name=mine":                    "requires subject.kind",
		"subject.kind!=Shoot":                  "support only =",
		"since=yesterday":                      "since=yesterday",
		"colour=green":                         "colour",
		"subject.kind=Shoot,until=2026-13-01T": "until",
	} {
		parsed, err := fields.ParseSelector(selector)
		if err != nil {
			o.t.Fatal(err)
		}
		err = o.Client.List(o.t.Context(), &gardenappliancev1alpha1.TimelineEntryList{}, &client.ListOptions{FieldSelector: parsed})
		if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), words) {
			o.t.Errorf("%s: %v, want a bad request that says %q", selector, err, words)
		}
	}
	for selector, want := range map[string]bool{
		fmt.Sprintf("since=%s", time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)): true,
		fmt.Sprintf("until=%s", time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)): false,
		"subject.kind=Seed,subject.name=one":                                           true,
	} {
		list := &gardenappliancev1alpha1.TimelineEntryList{}
		err := o.Client.List(o.t.Context(), list, &client.ListOptions{FieldSelector: fields.ParseSelectorOrDie(selector)})
		if err != nil || (len(list.Items) > 0) != want {
			o.t.Errorf("%s: %d entries, %v", selector, len(list.Items), err)
		}
	}
	list := &gardenappliancev1alpha1.TimelineEntryList{}
	if err := o.Client.List(o.t.Context(), list, client.MatchingLabels{"a": "b"}); err != nil || len(list.Items) != 0 {
		o.t.Errorf("entries have no labels: %d are selected by one, %v", len(list.Items), err)
	}
}
