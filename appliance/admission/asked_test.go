// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
)

type configuration = gardenconfigv1alpha1.AdmissionConfiguration

func TestKubeRules(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil)
	for _, rule := range admission.KubeRules(&configuration{}) {
		if rule.New(g.World) == nil {
			t.Errorf("rule %q is nothing", rule.Name)
		}
	}
}

func TestAsked(t *testing.T) {
	t.Parallel()
	rules := []admission.Rule{{Name: "a"}, {Name: "b"}, {Name: "off", Off: true}}
	for name, tc := range map[string]struct {
		reason string
		config configuration
		want   []string
	}{
		"API-ADM-2 default": {"rules are on unless they are off by default", configuration{}, []string{"a", "b"}},
		"API-ADM-2 enable":  {"those are turned on", configuration{Enable: []string{"off"}}, []string{"a", "b", "off"}},
		"API-ADM-2 disable": {"others are turned off", configuration{Disable: []string{"a"}}, []string{"b"}},
		"API-ADM-2 both":    {"on wins", configuration{Enable: []string{"a"}, Disable: []string{"a"}}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, r := range admission.Asked(rules, &tc.config) {
				got = append(got, r.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOffByDefault(t *testing.T) {
	t.Parallel()
	var off []string
	for _, r := range slices.Concat(admission.GardenRules(&configuration{}, admission.Projects{}), admission.KubeRules(&configuration{})) {
		if r.Off {
			off = append(off, r.Name)
		}
	}
	slices.Sort(off)
	for _, name := range []string{"ShootDNSRewriting", "ShootNodeLocalDNSEnabledByDefault"} {
		if !slices.Contains(off, name) {
			t.Errorf("API-ADM-2: %q is off by default, got %q", name, off)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	names := admission.Names()
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("names are sorted and unique: %q", names)
	}
	for _, name := range []string{"ShootValidator", "ResourceSizeValidator", "ResourceQuota", "MutatingAdmissionWebhook"} {
		if !slices.Contains(names, name) {
			t.Errorf("%q is a name that a configuration can have", name)
		}
	}
	if slices.Contains(names, "NamespaceLifecycle") {
		t.Error("objects in namespaces that are going would never go: that rule stays")
	}
}
