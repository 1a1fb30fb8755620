// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// refusedWith fails the test unless err is a refusal with some words in it.
func refusedWith(t *testing.T, err error, words, reason string) {
	t.Helper()
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: got %v, want a refusal with %q", reason, err, words)
	}
}

// allowed waits until somebody has a right.
func (o *operator) allowed(who role, what authorizationv1.ResourceAttributes) {
	o.t.Helper()
	harness.Eventually(o.t, who.name+" has its role", func(ctx context.Context) error {
		answer, err := o.may(ctx, who, what)
		if err != nil {
			return err
		}
		return has(answer.Allowed, "may not %s %s: %+v", what.Verb, what.Resource, answer)
	})
}

// TestNobodyClimbs tries, as an admin of a project, the ways to the rights of those who manage its members.
func TestNobodyClimbs(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	project := o.project("climb", member("mallory", "admin"), member("accounts", "serviceaccountmanager"))
	namespace := *project.Spec.Namespace
	o.change(project, func() {
		project.Spec.DualApprovalForDeletion = []gardencorev1beta1.DualApprovalForDeletion{
			{Resource: "shoots", Selector: metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}},
		}
	})
	o.allowed(person("mallory"), authorizationv1.ResourceAttributes{Verb: "create", Resource: "secrets", Namespace: namespace})
	o.allowed(person("mallory"), authorizationv1.ResourceAttributes{Verb: "patch", Group: "core.gardener.cloud", Resource: "projects", Name: "climb"})
	o.allowed(person("accounts"), authorizationv1.ResourceAttributes{Verb: "create", Resource: "serviceaccounts", Subresource: "token", Namespace: namespace})
	mallory, accounts := o.as("mallory"), o.as("accounts")
	o.create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "robot"}})

	t.Run("token Secret", func(t *testing.T) {
		t.Parallel()
		secret := func(name string) *corev1.Secret {
			return &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: map[string]string{"kubernetes.io/service-account.name": "robot"}},
				Type:       corev1.SecretTypeServiceAccountToken,
			}
		}
		refusedWith(t, mallory.Create(t.Context(), secret("mine")), "serviceaccounts/token", "a Secret is no way to a token that one may not request")
		if err := accounts.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "other"}}); err != nil {
			t.Errorf("who manages service accounts makes them: %v", err)
		}
		if err := o.Client.Create(t.Context(), secret("theirs")); err != nil {
			t.Fatalf("who may request the token may have a Secret for it: %v", err)
		}
		turn := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"kubernetes.io/service-account.name":"other"}}}`))
		refusedWith(t, mallory.Patch(t.Context(), secret("theirs"), turn), "serviceaccounts/token", "nor is one that is there already")
	})

	t.Run("members", func(t *testing.T) {
		t.Parallel()
		for _, role := range []string{"uam", "serviceaccountmanager"} {
			refusedWith(t, o.patchAs(mallory, "climb", func(p *gardencorev1beta1.Project) {
				robot := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "robot"}
				p.Spec.Members = append(p.Spec.Members, gardencorev1beta1.ProjectMember{Subject: robot, Role: role})
			}), "manage-members", "a robot with role "+role+" is a way to it for all who use the robot")
		}
		refusedWith(t, o.patchAs(mallory, "climb", func(p *gardencorev1beta1.Project) { p.Spec.DualApprovalForDeletion = nil }),
			"spec.dualApprovalForDeletion", "one person does not undo the rule of two")
	})

	t.Run("second person", func(t *testing.T) {
		t.Parallel()
		o := o.in(t)
		o.create(&corev1.Secret{ObjectMeta: named(namespace, "creds")}, boundTo(namespace, "creds", "local"))
		shoot := o.shoot(namespace, "gold", "local", func(s *gardencorev1beta1.Shoot) {
			withWorker("creds")(s)
			s.Labels = map[string]string{"tier": "gold"}
		})
		robot := o.as("system:serviceaccount:"+namespace+":robot", "system:serviceaccounts", "system:masters")
		confirm := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"confirmation.gardener.cloud/deletion":"true"}}}`))
		if err := mallory.Patch(t.Context(), shoot, confirm); err != nil {
			t.Fatal(err)
		}
		refusedWith(t, mallory.Delete(t.Context(), shoot.DeepCopy()), "has confirmed it", "one person is not two")
		refusedWith(t, robot.Delete(t.Context(), shoot.DeepCopy()), "is a service account", "nor is a person and a robot of the project")
		unlabel := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"tier":null}}}`))
		refusedWith(t, mallory.Patch(t.Context(), shoot.DeepCopy(), unlabel), "metadata.labels", "a label is no way around the rule")
		orphan := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		refusedWith(t, mallory.Patch(t.Context(), project.DeepCopy(), orphan), "while it has shoots", "a project does not go before its shoots")
		if err := o.as("bob", "system:masters").Delete(t.Context(), shoot.DeepCopy()); err != nil {
			t.Errorf("two people may: %v", err)
		}
	})

	t.Run("token for ever", func(t *testing.T) {
		t.Parallel()
		request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(100 * 365 * 24 * 3600))}}
		robot := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "robot"}}
		if err := accounts.SubResource("token").Create(t.Context(), robot, request); err != nil {
			t.Fatal(err)
		}
		if left := time.Until(request.Status.ExpirationTimestamp.Time); left > 90*24*time.Hour || left < 89*24*time.Hour {
			t.Errorf("a token lives for 90 days at most: got %s", left)
		}
	})
}

// patchAs changes a project as somebody.
func (o *operator) patchAs(who client.Client, name string, change func(*gardencorev1beta1.Project)) error {
	project := &gardencorev1beta1.Project{}
	if err := o.Client.Get(o.t.Context(), client.ObjectKey{Name: name}, project); err != nil {
		return err
	}
	before := project.DeepCopy()
	change(project)
	return who.Patch(o.t.Context(), project, client.MergeFrom(before))
}

// TestExtensionRolesAreForSeeds tries to get the role of an extension as a project's manager of service accounts.
func TestExtensionRolesAreForSeeds(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	o.seed("one", "local", "north")
	project := o.project("ext", member("accounts", "serviceaccountmanager"))
	namespace := *project.Spec.Namespace
	o.allowed(person("accounts"), authorizationv1.ResourceAttributes{Verb: "create", Resource: "serviceaccounts", Namespace: namespace})
	labels := map[string]string{"app": "dns"}
	thief := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "extension-shoot--x--dns", Labels: labels}}
	if err := o.as("accounts").Create(t.Context(), thief); err != nil {
		t.Fatal(err)
	}
	home := "extension-" + o.installation("one", "provider-local", "the provider is installed on the seed").Name
	o.create(
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "extension-shoot--y--dns", Labels: labels}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "seed-one", Name: "extension-dns", Labels: labels}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "seed-one", Name: home, Labels: labels}},
		extensionRole("extension-dns-garden", `{"matchLabels":{"app":"dns"}}`))
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "extension-dns-garden"}}
	binding = harness.Await(t, o.Client, binding, "GCM-CREXT-2: the account of the seed has the role", func(b *rbacv1.ClusterRoleBinding) error {
		return has(len(b.Subjects) > 0, "subjects %v", b.Subjects)
	})
	want := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "seed-one", Name: home}}
	if diff := cmp.Diff(want, binding.Subjects); diff != "" {
		t.Errorf("a label and a name in a project give nothing, nor do they for what is not installed (-want +got):\n%s", diff)
	}
}

// extensionRole is a role that an extension brings for the garden, to list all Secrets.
func extensionRole(name, selector string) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{"authorization.gardener.cloud/custom-extensions-permissions": "true"},
			Annotations: map[string]string{"authorization.gardener.cloud/extensions-serviceaccount-selector": selector},
		},
		Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list"}}},
	}
}

// TestGardenletsMakeNoUsers tries, as a gardenlet, to get the role of an extension that its seed does not have, and a user who founds
// projects, which a revocation of the seed would leave.
func TestGardenletsMakeNoUsers(t *testing.T) {
	t.Parallel()
	o := operate(t)
	o.provider("local")
	o.seed("one", "local", "north")
	home := "extension-" + o.installation("one", "provider-local", "the provider is installed on the seed").Name
	const registration = "controllerregistration.core.gardener.cloud/name"
	o.create(extensionRole("extension-dns-garden", `{"matchLabels":{"`+registration+`":"dns"}}`), extensionRole("extension-app-garden", `{"matchLabels":{"app":"dns"}}`))
	gardenlet := o.as("gardener.cloud:system:seed:one", "gardener.cloud:system:seeds")
	for name, labels := range map[string]map[string]string{
		"robot": nil, "extension-dns": {registration: "dns"}, home: {registration: "dns"},
	} {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "seed-one", Name: name, Labels: labels}}
		if err := gardenlet.Create(t.Context(), account); !apierrors.IsForbidden(err) {
			t.Errorf("account %q with labels %v: got %v, want that it is forbidden", name, labels, err)
		}
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "seed-one", Name: home, Labels: map[string]string{registration: "provider-local"}}}
	if err := gardenlet.Create(t.Context(), account); err != nil {
		t.Fatalf("the account of an extension that is installed: %v", err)
	}
	err := gardenlet.Patch(t.Context(), account.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"app":"dns"}}}`)))
	refusedWith(t, err, "metadata.labels[app]", "labels are judged later, too")
	refusedWith(t, gardenlet.Get(t.Context(), client.ObjectKey{Namespace: "seed-one", Name: "default"}, account.DeepCopy()), "", "other accounts are not its own")
	request := &authenticationv1.TokenRequest{}
	if err := gardenlet.SubResource("token").Create(t.Context(), account, request); err != nil {
		t.Fatal(err)
	}
	extension := o.WithToken(t, request.Status.Token)
	refusedWith(t, extension.Create(t.Context(), &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: "evil"}}), "cannot create projects", "API-RES-12")
	refusedWith(t, extension.List(t.Context(), &corev1.SecretList{}), "", "it has no role of another extension")
}

// TestProjectCreation is API-RES-12: everybody makes projects, unless the operator decides otherwise.
func TestProjectCreation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	found := func(o *operator, name string, who client.Client) error {
		return who.Create(o.t.Context(), &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	open := operate(t, harness.WithDataDir(dir))
	if err := found(open, "mine", open.as("stranger")); err != nil {
		t.Errorf("API-RES-12: any user may create Projects: %v", err)
	}
	refusedWith(t, found(open, "theirs", open.as("gardener.cloud:system:seed:a", "gardener.cloud:system:seeds")), "cannot create projects", "a gardenlet is no user of projects")
	refusedWith(t, found(open, "nobodys", open.as("system:bootstrap:abcdef", "system:bootstrappers")), "cannot create projects", "nor is who holds a join token")
	open.Stop(t)

	closed := operate(t, harness.WithDataDir(dir), harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) { c.Projects.RestrictCreation = true }))
	harness.Eventually(t, "the right is taken back", func(ctx context.Context) error {
		answer, err := closed.may(ctx, person("stranger"), authorizationv1.ResourceAttributes{Verb: "create", Group: "core.gardener.cloud", Resource: "projects"})
		if err != nil {
			return err
		}
		return has(!answer.Allowed, "still allowed: %+v", answer)
	})
	refusedWith(t, found(closed, "late", closed.as("stranger")), "cannot create resource", "the setting takes the right away again")
	closed.create(&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "gardener.cloud:system:project-creation"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "gardener.cloud:system:project-creation"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "ann"}},
	})
	closed.allowed(person("ann"), authorizationv1.ResourceAttributes{Verb: "create", Group: "core.gardener.cloud", Resource: "projects"})
}
