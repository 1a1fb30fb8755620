// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/terrarium-garden/terrarium/appliance/auditlog"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

const (
	// auditPath is the path at which a server searches its audit log.
	auditPath = "/appliance/audit"
	// auditPause is the time between two questions while following.
	auditPause = time.Second
	// auditOverlap is how much of the past is asked for again: an event is written a moment after its time.
	auditOverlap = 2 * time.Second
	maxAudit     = 5000
)

type auditOptions struct {
	env        Environment
	connection options.Connection
	output     outputFlag

	user, verb, resource, namespace, name string
	since                                 time.Duration
	from, until                           string
	limit                                 int
	follow                                bool
}

func newAuditCommand(env Environment) *cobra.Command {
	o := &auditOptions{env: env}
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Search the audit log: who did what",
		Long: `Searches the audit log of the server: who changed what, and who read credentials. Shows the newest events that match, the oldest
of them first. The log has no bodies of objects; where and how long it is kept is in the section audit of the configuration.`,
		Example: `  # What a user did in the last day
  terrarium audit --user alice --since 24h

  # Who read or changed a Secret
  terrarium audit --resource secrets -n garden-meadow --name cloud

  # Go on as things happen, as one JSON object a line
  terrarium audit --verb delete --follow -o json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := usage(cmd, o.validate()...); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	o.connection.AddFlags(cmd.Flags())
	o.output.addTo(cmd.Flags(), formatTable, formatJSON)
	fs := cmd.Flags()
	fs.StringVar(&o.user, "user", "", "name of the user, also of one who was impersonated")
	fs.StringVar(&o.verb, "verb", "", "verb, such as create, update, patch, delete, get, list")
	fs.StringVar(&o.resource, "resource", "", "resource, such as shoots or serviceaccounts/token")
	fs.StringVarP(&o.namespace, "namespace", "n", "", "namespace of the object")
	fs.StringVar(&o.name, "name", "", "name of the object")
	fs.DurationVar(&o.since, "since", 0, "leave out what is older, such as 2h")
	fs.StringVar(&o.from, "from", "", "leave out what is before this time (RFC 3339)")
	fs.StringVar(&o.until, "until", "", "leave out what is after this time (RFC 3339)")
	fs.IntVar(&o.limit, "limit", 200, "number of events, at most 5000")
	fs.BoolVarP(&o.follow, "follow", "f", false, "go on with new events until interrupted")
	return cmd
}

func (o *auditOptions) validate() []error {
	errs := []error{o.output.validate()}
	for flag, text := range map[string]string{"from": o.from, "until": o.until} {
		if _, err := time.Parse(time.RFC3339, text); text != "" && err != nil {
			errs = append(errs, fmt.Errorf("--%s: %q is not a time such as 2030-01-02T15:04:05Z", flag, text))
		}
	}
	if o.limit < 1 || o.limit > maxAudit {
		errs = append(errs, fmt.Errorf("--limit: %d is not between 1 and %d", o.limit, maxAudit))
	}
	if o.since < 0 || o.since > 0 && o.from != "" {
		errs = append(errs, errors.New("--since: must be positive, and is not possible together with --from"))
	}
	if o.follow && o.until != "" {
		errs = append(errs, errors.New("--follow: not possible together with --until"))
	}
	return errs
}

func (o *auditOptions) run(ctx context.Context) error {
	g, err := connect(o.connection, o.env.Getenv)
	if err != nil {
		return err
	}
	// Events have times of the server, so what is asked for has them, too.
	var now time.Time
	if o.since > 0 || o.follow {
		now = g.now(ctx, o.env.Clock)
	}
	since := o.from
	if o.since > 0 {
		since = now.Add(-o.since).UTC().Format(time.RFC3339Nano)
	}
	found, err := o.search(ctx, g, since, o.limit)
	switch {
	case err != nil:
		return err
	case found.Disabled && o.follow:
		return errAuditOff
	case !o.follow:
		return o.show(found)
	}
	if err := o.write(found.Items, true); err != nil {
		return err
	}
	return o.watch(ctx, g, found.Items, now)
}

// errAuditOff says that a server records nothing.
var errAuditOff = errors.New("the audit log is turned off in the configuration of the server")

// show prints what was found. That nothing was found means nothing if nothing is recorded.
func (o *auditOptions) show(found *auditAnswer) error {
	if found.Disabled && len(found.Items) > 0 {
		o.env.tell("Warning: %v; these events were recorded before.\n", errAuditOff)
	}
	switch {
	case o.output.format == formatJSON:
		if err := o.output.write(o.env.Out, found, nil); err != nil {
			return err
		}
	case len(found.Items) > 0:
		return o.write(found.Items, true)
	case !found.Disabled:
		o.env.tell("No events found.\n")
	}
	if found.Disabled && len(found.Items) == 0 {
		return errAuditOff
	}
	return nil
}

// watch asks again and again for what is new since a time of the server.
func (o *auditOptions) watch(ctx context.Context, g *garden, found []auditlog.Event, last time.Time) error {
	seen := map[string]time.Time{}
	note := func(e *auditlog.Event) {
		seen[e.AuditID+e.Stage] = e.Time
		if e.Time.After(last) {
			last = e.Time
		}
	}
	for i := range found {
		note(&found[i])
	}
	for {
		timer := o.env.Clock.NewTimer(auditPause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C():
		}
		since := last.Add(-auditOverlap)
		more, err := o.search(ctx, g, since.UTC().Format(time.RFC3339Nano), maxAudit)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // The user has ended it.
		case err != nil:
			return err
		case more.Disabled:
			return errAuditOff
		}
		var fresh []auditlog.Event
		for i := range more.Items {
			e := &more.Items[i]
			if _, known := seen[e.AuditID+e.Stage]; !known {
				fresh = append(fresh, *e)
				note(e)
			}
		}
		for id, at := range seen {
			if at.Before(since) {
				delete(seen, id)
			}
		}
		if err := o.write(fresh, false); err != nil {
			return err
		}
	}
}

// auditAnswer is what a server answers.
type auditAnswer struct {
	Items    []auditlog.Event `json:"items"`
	Disabled bool             `json:"disabled,omitempty"`
}

func (o *auditOptions) search(ctx context.Context, g *garden, since string, limit int) (*auditAnswer, error) {
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	for name, value := range map[string]string{
		"user": o.user, "verb": o.verb, "resource": o.resource, "namespace": o.namespace, "name": o.name, "since": since, "until": o.until,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	data, err := raw(ctx, g.client.Discovery().RESTClient().Get().RequestURI(auditPath+"?"+q.Encode()))
	if err != nil {
		return nil, fmt.Errorf("search audit log: %w", err)
	}
	answer := &auditAnswer{}
	if err := json.Unmarshal(data, answer); err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	return answer, nil
}

// write writes events, one a line.
func (o *auditOptions) write(events []auditlog.Event, heading bool) error {
	if o.output.format == formatJSON {
		encoder := json.NewEncoder(o.env.Out)
		for i := range events {
			if err := encoder.Encode(events[i]); err != nil {
				return err
			}
		}
		return nil
	}
	line := func(w io.Writer, time, user, verb, object, code string) error {
		_, err := fmt.Fprintf(w, "%-24s  %-4s  %-8s  %-40s  %s\n", time, code, verb, plain(user), plain(object))
		return err
	}
	if heading {
		if err := line(o.env.Out, "TIME", "USER", "VERB", "OBJECT", "CODE"); err != nil {
			return err
		}
	}
	for i := range events {
		e := &events[i]
		code := "-"
		if e.Status != nil {
			code = strconv.Itoa(int(e.Status.Code))
		}
		if err := line(o.env.Out, e.Time.UTC().Format("2006-01-02T15:04:05.000Z"), actor(e), e.Verb, target(e), code); err != nil {
			return err
		}
	}
	return nil
}

// actor is who did it.
func actor(e *auditlog.Event) string {
	name := orNone(e.User.Username)
	if e.Impersonated != nil {
		name += " as " + e.Impersonated.Username
	}
	return name
}

// target is what it was done to.
func target(e *auditlog.Event) string {
	if e.Object == nil {
		return e.RequestURI
	}
	text := e.Object.Resource
	if e.Object.Subresource != "" {
		text += "/" + e.Object.Subresource
	}
	if e.Object.Namespace != "" {
		text += " " + e.Object.Namespace + "/" + e.Object.Name
	} else {
		text += " " + e.Object.Name
	}
	return text
}
