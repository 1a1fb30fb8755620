// SPDX-License-Identifier: Apache-2.0

package project_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/garden/project"
)

func dev() *gardencorev1beta1.Project {
	return &gardencorev1beta1.Project{
		ObjectMeta: metav1.ObjectMeta{Name: "dev", UID: "f5b1b3a0-0000-4000-8000-000000000001", Labels: map[string]string{"tier": "gold"}},
		Spec:       gardencorev1beta1.ProjectSpec{Namespace: new("garden-dev")},
	}
}

func TestNamespaceName(t *testing.T) {
	t.Parallel()
	// sha256("f5b1b3a0-0000-4000-8000-000000000001") begins with 723cd.
	if got := project.NamespaceName(dev()); got != "garden-dev-723cd" {
		t.Errorf("API-NAME-8: NamespaceName = %q, want the prefix, the project and five digits of the hash of its UID", got)
	}
	other := dev()
	other.UID = "f5b1b3a0-0000-4000-8000-000000000002"
	if project.NamespaceName(other) == project.NamespaceName(dev()) {
		t.Error("API-NAME-8: a project made again under the same name must get another namespace")
	}
}

func TestNewNamespace(t *testing.T) {
	t.Parallel()
	want := metav1.ObjectMeta{
		Name:   "garden-dev",
		Labels: map[string]string{"gardener.cloud/role": "project", "project.gardener.cloud/name": "dev"},
		Annotations: map[string]string{
			"namespace.gardener.cloud/project":                       "f5b1b3a0-0000-4000-8000-000000000001",
			"namespace.gardener.cloud/created-by-project-controller": "true",
		},
	}
	if diff := cmp.Diff(want, project.NewNamespace(dev()).ObjectMeta); diff != "" {
		t.Errorf("GCM-PROJECT-2: NewNamespace (-want +got):\n%s", diff)
	}
}

func namespace(labels, annotations map[string]string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "garden-dev", Labels: labels, Annotations: annotations}}
}

func ours() map[string]string {
	return map[string]string{"gardener.cloud/role": "project", "project.gardener.cloud/name": "dev", "team": "a"}
}

func TestAdopt(t *testing.T) {
	t.Parallel()
	const uid = "f5b1b3a0-0000-4000-8000-000000000001"
	cases := map[string]struct {
		reason      string
		labels      map[string]string
		annotations map[string]string
		want        map[string]string
		fails       bool
	}{
		"GCM-PROJECT-3 no labels":   {reason: "a namespace that is not meant for a project is left alone", fails: true},
		"GCM-PROJECT-3 other label": {reason: "nor is one meant for another project", labels: map[string]string{"gardener.cloud/role": "project", "project.gardener.cloud/name": "prod"}, fails: true},
		"GCM-PROJECT-3 in use": {
			reason: "a namespace with the UID of another project is in use", labels: ours(),
			annotations: map[string]string{"namespace.gardener.cloud/project": "other"}, fails: true,
			want: map[string]string{"namespace.gardener.cloud/project": "other"},
		},
		"GCM-PROJECT-4 was there before": {
			reason: "a namespace that was there before the project stays after it", labels: ours(),
			want: map[string]string{"namespace.gardener.cloud/project": uid, "namespace.gardener.cloud/keep-after-project-deletion": "true"},
		},
		"GCM-PROJECT-4 operator decided": {
			reason: "what an operator said about keeping it stays", labels: ours(),
			annotations: map[string]string{"namespace.gardener.cloud/keep-after-project-deletion": "false"},
			want:        map[string]string{"namespace.gardener.cloud/project": uid, "namespace.gardener.cloud/keep-after-project-deletion": "false"},
		},
		"GCM-PROJECT-4 made by us": {
			reason: "a namespace that the controller made goes with the project", labels: ours(),
			annotations: map[string]string{"namespace.gardener.cloud/created-by-project-controller": "true"},
			want:        map[string]string{"namespace.gardener.cloud/project": uid, "namespace.gardener.cloud/created-by-project-controller": "true"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := namespace(tc.labels, tc.annotations)
			if err := project.Adopt(got, dev()); (err != nil) != tc.fails {
				t.Errorf("%s\nAdopt(...) = %v, want failure %t", tc.reason, err, tc.fails)
			}
			if diff := cmp.Diff(tc.want, got.Annotations); diff != "" {
				t.Errorf("%s\nannotations (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFateOf(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason      string
		labels      map[string]string
		annotations map[string]string
		want        project.Fate
	}{
		"GCM-PROJECT-11 foreign":     {reason: "without the labels it is not ours", labels: map[string]string{"gardener.cloud/role": "seed"}, want: project.Foreign},
		"GCM-PROJECT-11 of another":  {reason: "with the UID of another project it is not ours", labels: ours(), annotations: map[string]string{"namespace.gardener.cloud/project": "other"}, want: project.Foreign},
		"GCM-PROJECT-11 kept":        {reason: "the annotation keeps it", labels: ours(), annotations: map[string]string{"namespace.gardener.cloud/keep-after-project-deletion": "true"}, want: project.Kept},
		"GCM-PROJECT-11 not adopted": {reason: "what was there before the project, which has not taken it over yet, is not its own", labels: ours(), want: project.Kept},
		"GCM-PROJECT-11 adopted":     {reason: "what it has taken over and nobody wants to keep goes", labels: ours(), annotations: map[string]string{"namespace.gardener.cloud/project": string(dev().UID)}, want: project.Doomed},
		"GCM-PROJECT-11 made by us":  {reason: "what was made for it goes", labels: ours(), annotations: map[string]string{"namespace.gardener.cloud/created-by-project-controller": "true"}, want: project.Doomed},
		"GCM-PROJECT-11 doomed":      {reason: "everything else goes", labels: ours(), annotations: map[string]string{"namespace.gardener.cloud/keep-after-project-deletion": "false"}, want: project.Doomed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := project.FateOf(namespace(tc.labels, tc.annotations), dev()); got != tc.want {
				t.Errorf("%s\nFateOf(...) = %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

func TestDisown(t *testing.T) {
	t.Parallel()
	other := metav1.OwnerReference{Kind: "Team", Name: "a", UID: "other"}
	for name, owners := range map[string][]metav1.OwnerReference{
		"GCM-PROJECT-11 adopted":     {other, {Kind: "Project", Name: "dev", UID: dev().UID}},
		"GCM-PROJECT-11 not adopted": {other},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := namespace(ours(), map[string]string{"note": "b", "namespace.gardener.cloud/project": "x", "namespace.gardener.cloud/keep-after-project-deletion": "true"})
			got.OwnerReferences = owners
			project.Disown(got, dev())
			want := namespace(map[string]string{"team": "a"}, map[string]string{"note": "b"})
			want.OwnerReferences = []metav1.OwnerReference{other}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("only what ties it to the project goes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMatchQuota(t *testing.T) {
	t.Parallel()
	config := func(name string) corev1.ResourceQuota {
		return corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	silver := gardenconfigv1alpha1.QuotaConfiguration{ProjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "silver"}}, Config: config("silver")}
	gold := gardenconfigv1alpha1.QuotaConfiguration{ProjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}, Config: config("gold")}
	all := gardenconfigv1alpha1.QuotaConfiguration{Config: config("all")}
	bad := gardenconfigv1alpha1.QuotaConfiguration{ProjectSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Nope"}}}}
	cases := map[string]struct {
		reason string
		quotas []gardenconfigv1alpha1.QuotaConfiguration
		want   string
		fails  bool
	}{
		"GCM-PROJECT-6 none":     {reason: "nothing configured"},
		"GCM-PROJECT-6 no match": {reason: "no selector matches", quotas: []gardenconfigv1alpha1.QuotaConfiguration{silver}},
		"GCM-PROJECT-6 first":    {reason: "the first that matches wins", quotas: []gardenconfigv1alpha1.QuotaConfiguration{silver, gold, all}, want: "gold"},
		"GCM-PROJECT-6 all":      {reason: "no selector matches every project", quotas: []gardenconfigv1alpha1.QuotaConfiguration{all, gold}, want: "all"},
		"GCM-PROJECT-6 invalid":  {reason: "a selector that cannot be read is an error", quotas: []gardenconfigv1alpha1.QuotaConfiguration{bad}, fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := project.MatchQuota(tc.quotas, dev())
			found := ""
			if got != nil {
				found = got.Name
			}
			if found != tc.want || (err != nil) != tc.fails {
				t.Errorf("%s\nMatchQuota(...) = %q, %v; want %q, failure %t", tc.reason, found, err, tc.want, tc.fails)
			}
		})
	}
}

// TestMergeQuotaKeepsNumbers sees that a quota that was raised for more objects per shoot is not made for less again.
func TestMergeQuotaKeepsNumbers(t *testing.T) {
	t.Parallel()
	const number, other = "quota.gardener.cloud/secrets-per-shoot", "example.com/owner"
	config := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{number: "2", other: "ops"}}}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{number: "4", other: "me", "mine": "too"}}}
	project.MergeQuota(quota, config)
	if diff := cmp.Diff(map[string]string{number: "4", other: "ops", "mine": "too"}, quota.Annotations); diff != "" {
		t.Errorf("GCM-PROJECT-6, GCM-RQ-1: annotations are merged over existing ones, but numbers stay (-want +got):\n%s", diff)
	}
	fresh := &corev1.ResourceQuota{}
	project.MergeQuota(fresh, config)
	if diff := cmp.Diff(config.Annotations, fresh.Annotations); diff != "" {
		t.Errorf("GCM-RQ-1: a new quota begins with the configured numbers (-want +got):\n%s", diff)
	}
}

func TestMergeQuota(t *testing.T) {
	t.Parallel()
	list := func(shoots, secrets string) corev1.ResourceList {
		result := corev1.ResourceList{}
		for name, value := range map[corev1.ResourceName]string{"count/shoots.core.gardener.cloud": shoots, "count/secrets": secrets} {
			if value != "" {
				result[name] = resource.MustParse(value)
			}
		}
		return result
	}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "old", "b": "mine"}}, Spec: corev1.ResourceQuotaSpec{Hard: list("99", "")}}
	quota.Spec.Hard["pods"] = resource.MustParse("1")
	config := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "new"}}, Spec: corev1.ResourceQuotaSpec{Hard: list("10", "20")}}
	project.MergeQuota(quota, config)
	want := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "new", "b": "mine"}}, Spec: corev1.ResourceQuotaSpec{Hard: list("99", "20")}}
	if diff := cmp.Diff(want, quota); diff != "" {
		t.Errorf("GCM-PROJECT-6: a raised value stays, a missing one comes, one that is not configured goes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(list("10", "20"), config.Spec.Hard); diff != "" {
		t.Errorf("GCM-PROJECT-6: the configuration itself must not change (-want +got):\n%s", diff)
	}
}
