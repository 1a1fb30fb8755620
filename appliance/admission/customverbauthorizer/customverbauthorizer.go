// SPDX-License-Identifier: Apache-2.0

// Package customverbauthorizer requires further permissions to change certain parts of objects: the members of a Project and
// the tolerations of its shoots, the offer of a project's own profile, and which Shoots are self-hosted (API-CVA-1 to 3).
package customverbauthorizer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/core/query"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/world"
	"github.com/terrarium-garden/terrarium/appliance/authorization/revoked"
)

type rule struct {
	*admission.Handler

	world *world.World
	// quotaLabels are the keys of the labels by which the quota of a project is chosen.
	quotaLabels []string
}

// New returns a function that makes the plugin for a garden with these quotas of projects.
func New(quotas []gardenconfigv1alpha1.QuotaConfiguration) func(w *world.World) admission.Interface {
	return func(w *world.World) admission.Interface {
		return &rule{Handler: admission.NewHandler(admission.Create, admission.Update), world: w, quotaLabels: quotaLabels(quotas)}
	}
}

var _ admission.ValidationInterface = &rule{}

// Validate rejects changes that require a permission which the user does not have.
func (r *rule) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if err := r.escapes(ctx, a); err != nil {
		return world.Answer(a, err)
	}
	if a.GetSubresource() != "" {
		return nil
	}
	if err := founds(a); err != nil {
		return world.Answer(a, err)
	}
	raised, err := r.limitNeeds(ctx, a)
	if err != nil {
		return world.Answer(a, err)
	}
	for _, need := range slices.Concat(needed(a), r.quotaNeeds(a), raised) {
		if err := r.ask(ctx, a, need); err != nil {
			return world.Answer(a, err)
		}
	}
	return nil
}

// founds rejects projects created by gardenlets, extensions and other service accounts of seeds, and holders of join tokens, which are
// authenticated users, but must not create projects: what they leave there would outlast a revocation of the seed.
func founds(a admission.Attributes) error {
	if _, ok := a.GetObject().(*gardencorev1beta1.Project); !ok || a.GetOperation() != admission.Create {
		return nil
	}
	who := a.GetUserInfo()
	if _, ok := revoked.SeedOf(who); ok || slices.Contains(who.GetGroups(), gardencorev1beta1.GroupBootstrappers) {
		return fmt.Errorf("%q is a client of a seed or holds a join token, and cannot create projects", who.GetName())
	}
	return nil
}

// escapes rejects a change of a shoot's labels after which its deletion no longer requires two users, unless the user may
// change that rule itself.
func (r *rule) escapes(ctx context.Context, a admission.Attributes) error {
	shoot, ok := a.GetObject().(*gardencorev1beta1.Shoot)
	old := before[gardencorev1beta1.Shoot](a)
	if !ok || old == nil || maps.Equal(shoot.Labels, old.Labels) {
		return nil
	}
	project, err := r.world.Cached().ProjectOf(ctx, shoot.Namespace)
	if err != nil {
		return fmt.Errorf("find project of namespace %q: %w", shoot.Namespace, err)
	}
	if project == nil {
		return nil
	}
	was, err := query.NeedsTwo(project, old.Labels, false)
	if err != nil || !was || owns(a.GetUserInfo(), project) {
		return err
	}
	still, err := query.NeedsTwo(project, shoot.Labels, false)
	if err != nil || still {
		return err
	}
	allowed, err := r.world.May(ctx, a.GetUserInfo(), gardencorev1beta1.VerbManageMembers, world.Target{
		Group: gardencorev1beta1.GroupName, Resource: "projects", Name: project.Name,
	})
	if err != nil || allowed {
		return err
	}
	return fmt.Errorf("metadata.labels: project %q requires two users to delete this shoot because of its labels; "+
		"changing them requires the permission %q on the project", project.Name, gardencorev1beta1.VerbManageMembers)
}

// need is a required permission, and the change that requires it.
type need struct{ verb, what string }

// needed returns the permissions that the change of an object requires.
func needed(a admission.Attributes) []need {
	switch o := a.GetObject().(type) {
	case *gardencorev1beta1.Project:
		return ofProject(o, before[gardencorev1beta1.Project](a), a.GetUserInfo())
	case *gardencorev1beta1.NamespacedCloudProfile:
		return ofProfile(o, before[gardencorev1beta1.NamespacedCloudProfile](a))
	case *gardencorev1beta1.Shoot:
		old := before[gardencorev1beta1.Shoot](a)
		if query.SelfHosted(&o.Spec) && (old == nil || !query.SelfHosted(&old.Spec)) {
			return []need{{gardencorev1beta1.VerbMarkSelfHosted, "spec.provider.workers[].controlPlane"}}
		}
	}
	return nil
}

// quotaNeeds returns the permission that is required to set or change a label of a project by which its quota is chosen: members of a
// project, and everybody who creates one, would choose their own quota otherwise (GCM-PROJECT-6).
func (r *rule) quotaNeeds(a admission.Attributes) []need {
	p, ok := a.GetObject().(*gardencorev1beta1.Project)
	if !ok {
		return nil
	}
	var was map[string]string
	if old := before[gardencorev1beta1.Project](a); old != nil {
		was = old.Labels
	}
	for _, key := range r.quotaLabels {
		value, set := p.Labels[key]
		if before, had := was[key]; set != had || value != before {
			return []need{{gardencorev1beta1.VerbModifyQuotaLabels, "metadata.labels[" + key + "], by which the quota is chosen,"}}
		}
	}
	return nil
}

// quotaLabels are the keys in the selectors of quotas.
func quotaLabels(quotas []gardenconfigv1alpha1.QuotaConfiguration) []string {
	var keys []string
	for _, q := range quotas {
		if q.ProjectSelector == nil {
			continue
		}
		keys = slices.AppendSeq(keys, maps.Keys(q.ProjectSelector.MatchLabels))
		for _, e := range q.ProjectSelector.MatchExpressions {
			keys = append(keys, e.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// before returns the old object, nil on create.
func before[T any](a admission.Attributes) *T {
	old, ok := any(a.GetOldObject()).(*T)
	if !ok {
		return nil
	}
	return old
}

func ofProject(p, old *gardencorev1beta1.Project, who user.Info) []need {
	var all []need
	if whitelistChanges(p, old) {
		all = append(all, need{gardencorev1beta1.VerbModifyTolerationsWhitelist, "spec.tolerations.whitelist"})
	}
	if membersChange(p, old, who) {
		all = append(all, need{
			gardencorev1beta1.VerbManageMembers, "the human members, the owner, or service accounts that manage members or service accounts",
		})
	}
	if approvalChanges(p, old, who) {
		all = append(all, need{gardencorev1beta1.VerbManageMembers, "spec.dualApprovalForDeletion"})
	}
	return all
}

// Verbs for parts of the profiles of projects.
const (
	verbModifyKubernetes     = "modify-spec-kubernetes"
	verbModifyMachineImages  = "modify-spec-machineimages"
	verbModifyProviderConfig = "modify-spec-providerconfig"
)

// ofProfile returns the permissions for the changed parts of a project's profile that members may not change by default.
func ofProfile(p, old *gardencorev1beta1.NamespacedCloudProfile) []need {
	if old == nil {
		old = &gardencorev1beta1.NamespacedCloudProfile{}
	}
	var all []need
	if !equality.Semantic.DeepEqual(p.Spec.Kubernetes, old.Spec.Kubernetes) {
		all = append(all, need{verbModifyKubernetes, "spec.kubernetes"})
	}
	if !equality.Semantic.DeepEqual(p.Spec.MachineImages, old.Spec.MachineImages) {
		all = append(all, need{verbModifyMachineImages, "spec.machineImages"})
	}
	if !equality.Semantic.DeepEqual(p.Spec.ProviderConfig, old.Spec.ProviderConfig) {
		all = append(all, need{verbModifyProviderConfig, "spec.providerConfig"})
	}
	return all
}

func (r *rule) ask(ctx context.Context, a admission.Attributes, n need) error {
	target := world.Target{
		Group: gardencorev1beta1.GroupName, Resource: a.GetResource().Resource, Namespace: a.GetNamespace(), Name: a.GetName(),
	}
	allowed, err := r.world.May(ctx, a.GetUserInfo(), n.verb, target)
	if err != nil {
		return err
	}
	if !allowed {
		return fmt.Errorf("%s of a %s can be changed only with the permission %q on it, which %q does not have",
			n.what, strings.ToLower(a.GetKind().Kind), n.verb, a.GetUserInfo().GetName())
	}
	return nil
}

func whitelistChanges(p, old *gardencorev1beta1.Project) bool {
	return !equality.Semantic.DeepEqual(whitelist(p), whitelist(old))
}

func whitelist(p *gardencorev1beta1.Project) []gardencorev1beta1.Toleration {
	if p == nil || p.Spec.Tolerations == nil {
		return nil
	}
	return p.Spec.Tolerations.Whitelist
}
