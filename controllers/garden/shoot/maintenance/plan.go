// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"fmt"
	"strings"
	"time"

	"github.com/terrarium-garden/terrarium/apis/core/offer"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/apis/core/validation"
)

// Settings are what a plan depends on beside the shoot and its profile.
type Settings struct {
	// RestartControlPlane and RestartCoreAddons restart parts of the cluster in every maintenance.
	RestartControlPlane, RestartCoreAddons bool
	// Served reports whether an operation is carried out by anybody.
	Served func(operation string) bool
}

// Step is one change of a maintenance.
type Step struct {
	// Event is the reason of the event about it; empty if there is none.
	Event string
	// Text says what is changed and why.
	Text string
	// Failure is the reason why it cannot be changed although it has to; empty if it can.
	Failure string
}

// Plan is what a maintenance does.
type Plan struct {
	// Spec and Annotations are those that the shoot is to have.
	Spec        *gardencorev1beta1.ShootSpec
	Annotations map[string]string
	// Steps are the changes to which the status is to be written.
	Steps []Step
	// Binding is the name of the SecretBinding for which a CredentialsBinding of the same name has to exist; empty if none has to.
	Binding string
}

// Make plans the maintenance of a shoot. It changes neither the shoot nor the profile.
func Make(shoot *gardencorev1beta1.Shoot, profile *gardencorev1beta1.CloudProfileSpec, s Settings, now time.Time) Plan {
	p := planner{spec: shoot.Spec.DeepCopy(), offer: offer.Offer{Profile: profile, Now: now}}
	p.kubernetes()
	for i := range p.spec.Provider.Workers {
		p.poolKubernetes(&p.spec.Provider.Workers[i])
	}
	for i := range p.spec.Provider.Workers {
		p.image(&p.spec.Provider.Workers[i])
	}
	plan := Plan{Spec: p.spec, Binding: p.reset(&shoot.Spec)}
	rotations := Rotations(shoot, s.Served, now)
	for _, r := range rotations {
		p.steps = append(p.steps, Step{Text: "Rotation of the " + r.what + " is started, because it is older than " + r.period.String()})
	}
	plan.Annotations = annotate(shoot, rotations, s)
	plan.Steps = p.steps
	return plan
}

// Done and Failed return the steps that can be made, and those that cannot.
func (p Plan) Done() []Step { return p.filter(false) }

// Failed returns the steps that cannot be made.
func (p Plan) Failed() []Step { return p.filter(true) }

func (p Plan) filter(failed bool) []Step {
	var some []Step
	for _, step := range p.Steps {
		if (step.Failure != "") == failed {
			some = append(some, step)
		}
	}
	return some
}

// planner collects the steps of a plan while it changes the spec.
type planner struct {
	spec  *gardencorev1beta1.ShootSpec
	offer offer.Offer
	steps []Step
}

// updates reports whether versions of Kubernetes are raised without need.
func (p *planner) updatesKubernetes() bool {
	m := p.spec.Maintenance
	return m != nil && m.AutoUpdate != nil && m.AutoUpdate.KubernetesVersion
}

func (p *planner) updatesImages() bool {
	m := p.spec.Maintenance
	return m != nil && m.AutoUpdate != nil && m.AutoUpdate.MachineImageVersion != nil && *m.AutoUpdate.MachineImageVersion
}

// kubernetes raises the version of the control plane (GCM-MAINT-4).
func (p *planner) kubernetes() {
	to := p.version("the control plane", p.spec.Kubernetes.Version, "")
	if to != "" {
		p.spec.Kubernetes.Version = to
	}
}

// poolKubernetes raises the version of a pool that has its own, up to that of the control plane (GCM-MAINT-5).
func (p *planner) poolKubernetes(pool *gardencorev1beta1.Worker) {
	if pool.Kubernetes == nil || pool.Kubernetes.Version == nil {
		return
	}
	if to := p.version(fmt.Sprintf("pool %q", pool.Name), *pool.Kubernetes.Version, p.spec.Kubernetes.Version); to != "" {
		pool.Kubernetes.Version = &to
	}
}

// version returns the version to which Kubernetes is raised, and adds the step for it.
func (p *planner) version(of, from, limit string) string {
	why := p.need(from, p.offer.Profile.Kubernetes.Versions)
	if why == "" && !p.updatesKubernetes() {
		return ""
	}
	to, failure := NextKubernetes(p.offer.Profile.Kubernetes.Versions, from, limit, why != "", p.offer.Now)
	p.step(gardencorev1beta1.EventKubernetesVersionMaintenance, change{what: "Kubernetes of " + of, from: from, to: to, why: why, failure: failure})
	return to
}

// image raises the version of the image of a pool. One that does not fit the pool is as good as not offered, above all one that
// does not work with the kubelets of the version of Kubernetes that the pool gets (GCM-MAINT-6, 7).
func (p *planner) image(pool *gardencorev1beta1.Worker) {
	image := pool.Machine.Image
	if image == nil || image.Version == nil {
		return
	}
	c := change{what: fmt.Sprintf("Image %q of pool %q", image.Name, pool.Name), from: *image.Version}
	offered := p.offer.Image(image.Name)
	if offered == nil {
		c.why, c.failure = "the image is not offered any more", "another image has to be chosen"
		p.step(gardencorev1beta1.EventMachineImageVersionMaintenance, c)
		return
	}
	kubelet, unfit := query.PoolVersion(p.spec, pool), false
	var all, fitting []gardencorev1beta1.ExpirableVersion
	for _, v := range offered.Versions {
		all = append(all, v.ExpirableVersion)
		unfit = unfit || v.Version == c.from && !p.offer.Fits(v, pool, kubelet)
		if p.offer.Serves(v, pool, kubelet) {
			fitting = append(fitting, v.ExpirableVersion)
		}
	}
	c.why = p.need(c.from, all)
	if c.why == "" && unfit {
		c.why = "the version does not fit the pool"
	}
	if c.why == "" && !p.updatesImages() {
		return
	}
	c.to, c.failure = NextImage(fitting, c.from, offered.UpdateStrategy, c.why != "", p.offer.Now)
	p.step(gardencorev1beta1.EventMachineImageVersionMaintenance, c)
	if c.to != "" {
		image.Version = &c.to
	}
}

// need returns the reason why a version has to be replaced even if its owner does not want updates, or an empty string.
func (p *planner) need(version string, offered []gardencorev1beta1.ExpirableVersion) string {
	for _, v := range offered {
		if v.Version != version {
			continue
		}
		if query.Expired(v, p.offer.Now) {
			return "the version has expired"
		}
		return ""
	}
	return "the version is not offered any more"
}

// change is a version that is raised, or has to be and cannot.
type change struct {
	what, from, to string
	// why is the reason why it has to be raised; empty if it is only wanted.
	why, failure string
}

func (p *planner) step(event string, c change) {
	switch {
	case c.failure != "":
		text := fmt.Sprintf("%s: %s cannot be updated although %s", c.what, c.from, c.why)
		p.steps = append(p.steps, Step{Event: event, Text: text, Failure: c.what + ": " + c.failure})
	case c.to != "":
		why := c.why
		if why == "" {
			why = "a newer one is offered and updates are automatic"
		}
		p.steps = append(p.steps, Step{Event: event, Text: fmt.Sprintf("%s: updated from %s to %s, because %s", c.what, c.from, c.to, why)})
	}
}

// reset removes what the new versions do not have, and returns the binding that has to be replaced (GCM-MAINT-13). A shoot
// whose versions remain is left as it is.
func (p *planner) reset(old *gardencorev1beta1.ShootSpec) string {
	if !risen(old, p.spec) {
		return ""
	}
	if removed := validation.ResetUnsupported(p.spec); len(removed) > 0 {
		p.steps = append(p.steps, Step{Text: "Removed what the new version of Kubernetes does not have: " + strings.Join(removed, ", ")})
	}
	if !validation.ReplacesBinding(p.spec) {
		return ""
	}
	name := *p.spec.SecretBindingName
	p.spec.CredentialsBindingName, p.spec.SecretBindingName = &name, nil
	p.steps = append(p.steps, Step{Text: fmt.Sprintf("SecretBinding %q is replaced by the CredentialsBinding of that name", name)})
	return name
}

// risen reports whether the control plane or a pool gets another minor version.
func risen(old, now *gardencorev1beta1.ShootSpec) bool {
	if minorOf(old.Kubernetes.Version) != minorOf(now.Kubernetes.Version) {
		return true
	}
	for i := range now.Provider.Workers {
		if minorOf(query.PoolVersion(old, &old.Provider.Workers[i])) != minorOf(query.PoolVersion(now, &now.Provider.Workers[i])) {
			return true
		}
	}
	return false
}

func minorOf(version string) uint64 {
	v, ok := query.Version(version)
	if !ok {
		return 0
	}
	return v.Minor()
}
