// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission"
)

func checkAdmission(c *gardenconfigv1alpha1.AdmissionConfiguration, check func(flag, path string, err error)) {
	known := admission.Names()
	for i, name := range c.Enable {
		check("", fmt.Sprintf("admission.enable[%d]", i), oneOf(name, known))
	}
	for i, name := range c.Disable {
		check("", fmt.Sprintf("admission.disable[%d]", i), oneOf(name, known))
	}
	if c.ResourceSize != nil {
		checkResourceSize(c.ResourceSize, check)
	}
	if t := c.ShootTolerationRestriction; t != nil {
		checkTolerations("admission.shootTolerationRestriction.defaults", t.Defaults, check)
		checkTolerations("admission.shootTolerationRestriction.whitelist", t.Whitelist, check)
	}
	if r := c.ShootDNSRewriting; r != nil {
		for i, suffix := range r.CommonSuffixes {
			path := fmt.Sprintf("admission.shootDNSRewriting.commonSuffixes[%d]", i)
			check("", path, validateSuffix(suffix))
		}
	}
	if r := c.ShootResourceReservation; r != nil && r.Selector != nil {
		_, err := metav1.LabelSelectorAsSelector(r.Selector)
		check("", "admission.shootResourceReservation.selector", err)
	}
}

// checkResourceSize checks that each limit matches some resource and limits it, and that each subject is complete (GAC-SIZE-8,
// GAC-SIZE-9).
func checkResourceSize(c *gardenconfigv1alpha1.ResourceSizeConfiguration, check func(flag, path string, err error)) {
	const root = "admission.resourceSize."
	check("", root+"operationMode", oneOf(c.OperationMode, []gardenconfigv1alpha1.ResourceSizeMode{
		gardenconfigv1alpha1.ResourceSizeModeBlock, gardenconfigv1alpha1.ResourceSizeModeLog,
	}))
	for i := range c.Limits {
		limit, path := &c.Limits[i], fmt.Sprintf("%slimits[%d].", root, i)
		check("", path+"apiGroups", some(limit.APIGroups))
		check("", path+"apiVersions", some(limit.APIVersions))
		check("", path+"resources", some(limit.Resources))
		check("", path+"size", validateSize(limit))
		check("", path+"totalSize", validateTotalSize(limit))
		if limit.Count != nil && *limit.Count < 0 {
			check("", path+"count", fmt.Errorf("%d is less than 0", *limit.Count))
		}
	}
	for i, subject := range c.UnrestrictedSubjects {
		check("", fmt.Sprintf("%sunrestrictedSubjects[%d]", root, i), validateSubject(subject))
	}
}

func some(names []string) error {
	if len(names) == 0 {
		return errors.New("at least one is required; * matches all")
	}
	return nil
}

func validateSize(limit *gardenconfigv1alpha1.ResourceLimit) error {
	switch {
	case limit.Size == nil && limit.Count == nil && limit.TotalSize == nil:
		return errors.New("a limit requires a size, a count or a total size")
	case limit.Size != nil && limit.Size.Sign() <= 0:
		return fmt.Errorf("%s is not greater than 0", limit.Size)
	default:
		return nil
	}
}

func validateTotalSize(limit *gardenconfigv1alpha1.ResourceLimit) error {
	switch {
	case limit.TotalSize == nil:
		return nil
	case limit.TotalSize.Sign() <= 0:
		return fmt.Errorf("%s is not greater than 0", limit.TotalSize)
	case !slices.Equal(limit.Resources, []string{"secrets"}):
		return errors.New("is possible for the resource secrets only")
	default:
		return nil
	}
}

func validateSubject(s rbacv1.Subject) error {
	wantedGroup := rbacv1.GroupName
	switch s.Kind {
	case rbacv1.UserKind, rbacv1.GroupKind:
	case rbacv1.ServiceAccountKind:
		wantedGroup = ""
		if s.Namespace == "" {
			return errors.New("namespace: required for a service account")
		}
	default:
		return fmt.Errorf("kind: %w", oneOf(s.Kind, []string{rbacv1.UserKind, rbacv1.GroupKind, rbacv1.ServiceAccountKind}))
	}
	switch {
	case s.APIGroup != wantedGroup:
		return fmt.Errorf("apiGroup: %q is not %q", s.APIGroup, wantedGroup)
	case s.Name == "":
		return errors.New("name: required; * matches all")
	case s.Kind != rbacv1.ServiceAccountKind && s.Namespace != "":
		return fmt.Errorf("namespace: must be empty for a %s", s.Kind)
	default:
		return nil
	}
}

func checkTolerations(path string, all []gardencorev1beta1.Toleration, check func(flag, path string, err error)) {
	for i, t := range all {
		if t.Key == "" {
			check("", fmt.Sprintf("%s[%d].key", path, i), errors.New("required"))
		}
		if slices.ContainsFunc(all[:i], func(o gardencorev1beta1.Toleration) bool { return same(o, t) }) {
			check("", fmt.Sprintf("%s[%d]", path, i), fmt.Errorf("%q is a duplicate", t.Key))
		}
	}
}

func same(a, b gardencorev1beta1.Toleration) bool {
	return a.Key == b.Key && (a.Value == nil) == (b.Value == nil) && (a.Value == nil || *a.Value == *b.Value)
}

func validateSuffix(suffix string) error {
	if wrong := validation.IsDNS1123Subdomain(suffix); len(wrong) > 0 {
		return fmt.Errorf("%q is not a valid domain", suffix)
	}
	return nil
}
