// SPDX-License-Identifier: Apache-2.0

package verticalpodautoscaler

import (
	"embed"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/component"
	"github.com/terrarium-garden/terrarium/controllers/component/facts"
	"github.com/terrarium-garden/terrarium/controllers/component/shootsystem"
)

const (
	// Inside is the component with the kinds and the rights. The programs come after it.
	Inside component.Name = "vpa"

	// rolePrefix is what the names of the rights in the shoot begin with.
	rolePrefix = "gardener.cloud:target:"
	// lease is how the admission controller tells the updater that it is there: without it, evicted pods would come back in their old size.
	lease = "vpa-admission-controller"

	clusterRole = "ClusterRole"
)

// definitions are generated from the types of the programs' own module, see scripts/gen.
//
//go:embed crds/*.yaml
var definitions embed.FS

// InsideComponent is what the programs need inside of the shoot: the kinds that they act on, and their rights. When the shoot does not ask
// for them any more, the kinds go too, and with them all objects of them.
func InsideComponent() component.Component[facts.Shoot] {
	return component.Component[facts.Shoot]{
		Name: Inside, Title: "the kinds and rights of the autoscaler of pods", After: []component.Name{shootsystem.Name}, Wanted: wanted,
		Render: func(facts.Shoot, *component.Inputs) ([]client.Object, error) {
			objs, err := kinds()
			return append(objs, rights()...), err
		},
	}
}

func labels() map[string]string {
	return map[string]string{gardencorev1beta1.LabelRole: gardencorev1beta1.RoleSystemComponent, gardencorev1beta1.LabelShootNoCleanup: "true"}
}

// kinds are the custom resource definitions.
func kinds() ([]client.Object, error) {
	const folder = "crds"
	entries, err := definitions.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read embedded definitions: %w", err)
	}
	objs := make([]client.Object, 0, len(entries))
	for _, entry := range entries {
		data, err := definitions.ReadFile(folder + "/" + entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read embedded definition %q: %w", entry.Name(), err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(data, crd); err != nil {
			return nil, fmt.Errorf("decode embedded definition %q: %w", entry.Name(), err)
		}
		crd.Labels = labels()
		objs = append(objs, crd)
	}
	return objs, nil
}

// rights are those of the three programs: all of them look at workloads and at what is to be sized; only the recommender writes
// recommendations, and only the updater touches pods.
func rights() []client.Object {
	const group, sizes, histories = "autoscaling.k8s.io", "verticalpodautoscalers", "verticalpodautoscalercheckpoints"
	read, see := []string{"get", "list", "watch"}, []string{"list", "watch"}
	rule := func(group string, verbs []string, resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
	}
	shared := []rbacv1.PolicyRule{
		rule("", read, "replicationcontrollers", "limitranges"),
		rule("apps", read, "daemonsets", "deployments", "replicasets", "statefulsets"),
		rule("batch", read, "cronjobs", "jobs"),
		rule(group, read, sizes),
		// What has pods may be of any kind; its scale says which pods.
		rule("*", []string{"get"}, "*/scale"),
	}
	named := func(verbs ...string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{lease}, Verbs: verbs}}
	}
	objs := everywhere(
		Recommender,
		append([]rbacv1.PolicyRule{
			rule("", read, "pods"), rule("", see, "events"), rule("", []string{"list"}, "namespaces"),
			rule("metrics.k8s.io", []string{"list"}, "pods"),
			rule(group, []string{"patch"}, sizes+"/status"),
			rule(group, append([]string{"create", "patch", "delete"}, read...), histories),
		}, shared...),
	)
	objs = append(objs, everywhere(
		Updater,
		append([]rbacv1.PolicyRule{
			rule("", append([]string{"patch"}, read...), "pods"),
			rule("", []string{"patch"}, "pods/resize"), rule("", []string{"create"}, "pods/eviction"),
			rule("", []string{"create", "patch", "update"}, "events"),
		}, shared...),
	)...)
	objs = append(objs, everywhere(AdmissionController, shared)...)
	objs = append(objs, inSystem(Updater, named("get"))...)
	return append(objs, inSystem(AdmissionController, append(named("get", "update"), rule("coordination.k8s.io", []string{"create"}, "leases")))...)
}

// subjects are the service account that a program has a token of.
func subjects(of component.Name) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceSystem, Name: string(of)}}
}

// everywhere are the rights of a program in all namespaces.
func everywhere(of component.Name, rules []rbacv1.PolicyRule) []client.Object {
	meta := metav1.ObjectMeta{Name: rolePrefix + string(of), Labels: labels()}
	return []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: clusterRole, Name: meta.Name}, Subjects: subjects(of),
		},
	}
}

// inSystem are the rights of a program in the namespace kube-system.
func inSystem(of component.Name, rules []rbacv1.PolicyRule) []client.Object {
	meta := metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: rolePrefix + string(of), Labels: labels()}
	return []client.Object{
		&rbacv1.Role{ObjectMeta: meta, Rules: rules},
		&rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name}, Subjects: subjects(of)},
	}
}
