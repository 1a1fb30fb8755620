// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"github.com/terrarium-garden/terrarium/apis/appliance/query"
	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/extensions/kind"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

const (
	// timelinePage is the number of entries that are asked for at a time.
	timelinePage = 500
	// brokenOff is what the client says of a watch whose connection was lost.
	brokenOff metav1.CauseType = "ClientWatchDecoding"
)

type timelineOptions struct {
	env        Environment
	connection options.Connection
	output     outputFlag
	namespace  string
	since      time.Duration
	entryType  string
	follow     bool

	kind, name string
}

func newTimelineCommand(env Environment) *cobra.Command {
	o := &timelineOptions{env: env}
	cmd := &cobra.Command{
		Use:   "timeline KIND NAME",
		Short: "Show what happened to a shoot, a seed, a backup entry or a managed seed",
		Long: `Show what happened to an object: who asked for what, each operation with its tasks, errors, and changes of conditions, the
oldest first. Everyone who can read the object can read its timeline.`,
		Example: `  # What happened to a shoot in the last two hours
  terrarium timeline shoot sprout -n garden-meadow --since 2h

  # Errors only, as JSON
  terrarium timeline shoot sprout -n garden-meadow --type Errors -o json

  # Go on as things happen
  terrarium timeline seed local --follow`,
		Args:              timelineArgs,
		ValidArgsFunction: o.complete,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.kind, o.name = timelineKinds()[strings.ToLower(args[0])], args[1]
			if err := usage(cmd, o.validate()...); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.connection.AddFlags(cmd.Flags())
	o.output.addTo(cmd.Flags(), formatTable, formatJSON, formatYAML)
	fs := cmd.Flags()
	fs.StringVarP(&o.namespace, "namespace", "n", "", "namespace of the object; not needed for a seed")
	fs.DurationVar(&o.since, "since", 0, "leave out what happened longer ago, such as 2h (default: everything that is kept)")
	fs.StringVar(&o.entryType, "type", "", "only entries of one type: "+strings.Join(timelineTypes(), ", "))
	fs.BoolVarP(&o.follow, "follow", "f", false, "go on with new entries until interrupted")
	return cmd
}

// timelineKinds are the kinds by the words for them.
func timelineKinds() map[string]string {
	kinds := map[string]string{}
	for name, words := range map[string][]string{
		"Shoot":          {"shoot", "shoots"},
		"Seed":           {"seed", "seeds"},
		kind.BackupEntry: {"backupentry", "backupentries", "bec"},
		"ManagedSeed":    {"managedseed", "managedseeds", "ms"},
	} {
		for _, word := range words {
			kinds[word] = name
		}
	}
	return kinds
}

func timelineTypes() []string {
	return []string{
		string(gardenappliancev1alpha1.TimelineEntryRequest), string(gardenappliancev1alpha1.TimelineEntryOperation),
		string(gardenappliancev1alpha1.TimelineEntryTask), string(gardenappliancev1alpha1.TimelineEntryErrors),
		string(gardenappliancev1alpha1.TimelineEntryCondition), string(gardenappliancev1alpha1.TimelineEntryRemoved),
	}
}

func timelineArgs(cmd *cobra.Command, args []string) error {
	if len(args) != 2 {
		return usage(cmd, errors.New("a kind and a name are needed, such as: shoot sprout"))
	}
	if _, known := timelineKinds()[strings.ToLower(args[0])]; !known {
		return usage(cmd, fmt.Errorf("%q has no timeline; use shoot, seed, backupentry or managedseed", args[0]))
	}
	return nil
}

// complete returns the kinds that have a timeline, and the names of the objects of one of them.
func (o *timelineOptions) complete(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var found []string
	switch len(args) {
	case 0:
		found = []string{"shoot", "seed", "backupentry", "managedseed"}
	case 1:
		resource, known := timelineResources()[timelineKinds()[strings.ToLower(args[0])]]
		if known {
			found = namesOf(cmd.Context(), o.connection, o.env, resource, o.namespace)
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// timelineResources are the resources of the kinds that have a timeline.
func timelineResources() map[string]schema.GroupVersionResource {
	return map[string]schema.GroupVersionResource{
		"Shoot":          gardencorev1beta1.GroupVersion.WithResource("shoots"),
		"Seed":           gardencorev1beta1.GroupVersion.WithResource("seeds"),
		kind.BackupEntry: gardencorev1beta1.GroupVersion.WithResource("backupentries"),
		"ManagedSeed":    gardenseedmanagementv1alpha1.GroupVersion.WithResource("managedseeds"),
	}
}

func (o *timelineOptions) validate() []error {
	errs := []error{o.output.validate()}
	if o.namespace == "" && o.kind != "Seed" {
		errs = append(errs, fmt.Errorf("--namespace: needed for a %s", o.kind))
	}
	if o.entryType != "" && !slices.Contains(timelineTypes(), o.entryType) {
		errs = append(errs, fmt.Errorf("--type: %q is not one of %s", o.entryType, strings.Join(timelineTypes(), ", ")))
	}
	if o.since < 0 {
		errs = append(errs, errors.New("--since: must not be negative"))
	}
	if o.follow && o.output.format == formatYAML {
		errs = append(errs, errors.New("--follow: entries are printed one by one as a table or as JSON"))
	}
	return errs
}

func (o *timelineOptions) run(ctx context.Context) error {
	g, err := connect(o.connection, o.env.Getenv)
	if err != nil {
		return err
	}
	timelines, err := newApplianceClient(g.config)
	if err != nil {
		return err
	}
	reader := &timelineReader{client: timelines, namespace: o.namespace, selector: o.selector(), pause: time.Second}
	if o.kind == "Seed" {
		reader.namespace = gardencorev1beta1.NamespaceGarden
	}
	list, err := reader.list(ctx)
	if err != nil {
		return err
	}
	if o.follow {
		return o.runFollow(ctx, reader, list)
	}
	return o.output.write(o.env.Out, list, func(w io.Writer) error {
		if len(list.Items) == 0 {
			o.env.tell("Nothing is known about %s %q. Timelines begin when an object is created or changed.\n", o.kind, o.name)
			return nil
		}
		rows := [][]string{{"TIME", "TYPE", "BY", "WHAT"}}
		for i := range list.Items {
			rows = append(rows, timelineRow(&list.Items[i]))
		}
		return writeTable(w, rows)
	})
}

func (o *timelineOptions) selector() string {
	set := fields.Set{gardenappliancev1alpha1.FieldSubjectKind: o.kind, gardenappliancev1alpha1.FieldSubjectName: o.name}
	if o.entryType != "" {
		set[gardenappliancev1alpha1.FieldType] = o.entryType
	}
	if o.since > 0 {
		set[gardenappliancev1alpha1.FieldSince] = o.env.Clock.Now().Add(-o.since).UTC().Format(time.RFC3339)
	}
	return set.AsSelector().String()
}

func timelineRow(e *gardenappliancev1alpha1.TimelineEntry) []string {
	return []string{e.Time.Local().Format(time.DateTime), string(e.Type), query.Who(e.User), query.Summary(e)}
}

// runFollow prints what is there and then what is added.
func (o *timelineOptions) runFollow(
	ctx context.Context, reader *timelineReader, list *gardenappliancev1alpha1.TimelineEntryList,
) error {
	for i := range list.Items {
		if err := o.printOne(&list.Items[i]); err != nil {
			return err
		}
	}
	return reader.follow(ctx, list.ResourceVersion, o.printOne)
}

func (o *timelineOptions) printOne(e *gardenappliancev1alpha1.TimelineEntry) error {
	if o.output.format == formatJSON {
		encoder := json.NewEncoder(o.env.Out)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(e)
	}
	row := timelineRow(e)
	_, err := fmt.Fprintf(o.env.Out, "%-19s   %-9s   %-20s   %s\n", row[0], row[1], plain(row[2]), plain(row[3]))
	return err
}

// timelineReader reads one timeline.
type timelineReader struct {
	client              rest.Interface
	namespace, selector string
	// pause is the time between two watches.
	pause time.Duration
}

func (r *timelineReader) request(o metav1.ListOptions) *rest.Request {
	o.FieldSelector = r.selector
	return r.client.Get().Namespace(r.namespace).Resource("timelines").VersionedParams(&o, metav1.ParameterCodec)
}

// list reads all entries, page by page.
func (r *timelineReader) list(ctx context.Context) (*gardenappliancev1alpha1.TimelineEntryList, error) {
	all := &gardenappliancev1alpha1.TimelineEntryList{}
	all.SetGroupVersionKind(gardenappliancev1alpha1.GroupVersion.WithKind("TimelineEntryList"))
	o := metav1.ListOptions{Limit: timelinePage}
	for {
		page := &gardenappliancev1alpha1.TimelineEntryList{}
		if err := r.request(o).Do(ctx).Into(page); err != nil {
			return nil, fmt.Errorf("read timeline: %w", err)
		}
		all.Items = append(all.Items, page.Items...)
		all.ResourceVersion = page.ResourceVersion
		if o.Continue = page.Continue; o.Continue == "" {
			return all, nil
		}
	}
}

// follow hands on new entries until ctx ends. The server ends a watch now and then, and when it is restarted it is away for a while: the next
// watch goes on where the last one was.
func (r *timelineReader) follow(
	ctx context.Context, version string, each func(*gardenappliancev1alpha1.TimelineEntry) error,
) error {
	for began := false; !interrupted(ctx); r.wait(ctx) {
		events, err := r.request(metav1.ListOptions{Watch: true, ResourceVersion: version, AllowWatchBookmarks: true}).Watch(ctx)
		if err == nil {
			began = true
			version, err = handOn(events, version, each)
		} else if began && passing(err) {
			continue
		}
		if interrupted(ctx) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("follow timeline: %w", err)
		}
	}
	return nil
}

// handOn hands on the entries of one watch, and returns the version from which the next one goes on.
func handOn(events watch.Interface, version string, each func(*gardenappliancev1alpha1.TimelineEntry) error) (string, error) {
	defer events.Stop()
	for event := range events.ResultChan() {
		entry, ok := event.Object.(*gardenappliancev1alpha1.TimelineEntry)
		if !ok {
			err := apierrors.FromObject(event.Object)
			if apierrors.HasStatusCause(err, brokenOff) {
				return version, nil
			}
			return version, err
		}
		version = entry.ResourceVersion
		if event.Type != watch.Added {
			continue
		}
		if err := each(entry); err != nil {
			return version, err
		}
	}
	return version, nil
}

// wait waits before the next watch, so that a server that ends each of them at once is left in peace.
func (r *timelineReader) wait(ctx context.Context) {
	timer := time.NewTimer(r.pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// passing reports whether an error is one of a server that is being restarted.
func passing(err error) bool {
	return utilnet.IsConnectionRefused(err) || utilnet.IsConnectionReset(err) || utilnet.IsProbableEOF(err) || utilnet.IsTimeout(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err)
}

// interrupted reports whether the user has ended the command, which is the way to end it and no error.
func interrupted(ctx context.Context) bool { return ctx.Err() != nil }
