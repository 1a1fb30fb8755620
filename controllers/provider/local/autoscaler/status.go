// SPDX-License-Identifier: Apache-2.0

package autoscaler

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const (
	// ConfigMapStatus in the namespace kube-system of a shoot says what its autoscaler sees and does.
	ConfigMapStatus = "cluster-autoscaler-status"
	// ConfigMapPriorities there says which groups the expander priority prefers.
	ConfigMapPriorities = "cluster-autoscaler-priority-expander"

	keyStatus = "status"
	// annotationUpdated is when the status was written.
	annotationUpdated = "cluster-autoscaler.kubernetes.io/last-updated"
	// statusPeriod is how often a status is written that has not changed.
	statusPeriod = time.Minute
)

// status is what was published last.
type status struct {
	text string
	at   time.Time
}

type report struct {
	Time   string        `json:"time,omitempty"`
	Status string        `json:"autoscalerStatus"`
	All    clusterReport `json:"clusterWide"`
	Groups []groupReport `json:"nodeGroups"`
}

type clusterReport struct {
	Health    healthReport    `json:"health"`
	ScaleUp   scaleUpReport   `json:"scaleUp"`
	ScaleDown scaleDownReport `json:"scaleDown"`
}

type groupReport struct {
	Name      string          `json:"name"`
	Health    healthReport    `json:"health"`
	ScaleUp   scaleUpReport   `json:"scaleUp"`
	ScaleDown scaleDownReport `json:"scaleDown"`
}

type healthReport struct {
	Status  string      `json:"status"`
	Counts  countReport `json:"nodeCounts"`
	Target  *int32      `json:"cloudProviderTarget,omitempty"`
	Minimum *int32      `json:"minSize,omitempty"`
	Maximum *int32      `json:"maxSize,omitempty"`
}

type countReport struct {
	Registered   registeredReport `json:"registered"`
	Unregistered int              `json:"unregistered"`
}

type registeredReport struct {
	Total      int `json:"total"`
	Ready      int `json:"ready"`
	NotStarted int `json:"notStarted"`
}

type scaleUpReport struct {
	Status  string `json:"status"`
	Backoff string `json:"backoffUntil,omitempty"`
}

type scaleDownReport struct {
	Status     string `json:"status"`
	Candidates int    `json:"candidates"`
}

// describe is the status of a group.
func (a *Autoscaler) describe(w *world, g *group, coming int, candidates []*candidate) groupReport {
	target := g.target()
	r := groupReport{Name: g.Name, Health: healthReport{Status: "Healthy", Target: &target, Minimum: &g.Minimum, Maximum: &g.Maximum}}
	for i := range g.machines {
		node := w.nodes[nodeOf(&g.machines[i])]
		counts := &r.Health.Counts
		switch {
		case node == nil:
			counts.Unregistered++
			continue
		case w.started(node):
			counts.Registered.Ready++
		default:
			counts.Registered.NotStarted++
		}
		counts.Registered.Total++
	}
	r.ScaleUp.Status, r.ScaleDown.Status = "NoActivity", "NoCandidates"
	if coming > 0 {
		r.ScaleUp.Status = "InProgress"
	}
	if b := a.memory.backoffs[g.Name]; w.now.Before(b.until) {
		r.ScaleUp = scaleUpReport{Status: "Backoff", Backoff: b.until.UTC().Format(time.RFC3339)}
		r.Health.Status = "Unhealthy"
	}
	for _, c := range candidates {
		if c.group == g {
			r.ScaleDown.Status = "CandidatesPresent"
			r.ScaleDown.Candidates++
		}
	}
	return r
}

// summarize is the status of all groups.
func (a *Autoscaler) summarize(w *world, coming map[string]int, candidates []*candidate) report {
	r := report{Status: "Running", All: clusterReport{
		Health: healthReport{Status: "Healthy"}, ScaleUp: scaleUpReport{Status: "NoActivity"}, ScaleDown: scaleDownReport{Status: "NoCandidates"},
	}}
	for _, g := range w.groups {
		one := a.describe(w, g, coming[g.Name], candidates)
		all, counts := &r.All.Health.Counts, one.Health.Counts
		all.Registered.Total += counts.Registered.Total
		all.Registered.Ready += counts.Registered.Ready
		all.Registered.NotStarted += counts.Registered.NotStarted
		all.Unregistered += counts.Unregistered
		if one.ScaleUp.Status == "InProgress" {
			r.All.ScaleUp.Status = one.ScaleUp.Status
		}
		if one.ScaleDown.Candidates > 0 {
			r.All.ScaleDown.Status = one.ScaleDown.Status
			r.All.ScaleDown.Candidates += one.ScaleDown.Candidates
		}
		r.Groups = append(r.Groups, one)
	}
	return r
}

// publish writes the status if it has changed, and otherwise from time to time, so that everybody sees that the autoscaler lives.
func (a *Autoscaler) publish(ctx context.Context, w *world, r *report) error {
	text, err := yaml.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	if string(text) == a.status.text && w.now.Sub(a.status.at) < statusPeriod {
		return nil
	}
	r.Time = w.now.UTC().Format(time.RFC3339)
	timed, err := yaml.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	config := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: ConfigMapStatus}
	err = a.Shoot.Get(ctx, key, config)
	missing := apierrors.IsNotFound(err)
	if err != nil && !missing {
		return fmt.Errorf("read config map %q: %w", key, err)
	}
	config.Namespace, config.Name = key.Namespace, key.Name
	metav1.SetMetaDataAnnotation(&config.ObjectMeta, annotationUpdated, r.Time)
	config.Data = map[string]string{keyStatus: string(timed)}
	write := a.Shoot.Update
	if missing {
		write = func(ctx context.Context, o client.Object, _ ...client.UpdateOption) error {
			return a.Shoot.Create(ctx, o)
		}
	}
	if err := write(ctx, config); err != nil {
		return fmt.Errorf("write config map %q: %w", key, err)
	}
	a.status = status{text: string(text), at: w.now}
	return nil
}
