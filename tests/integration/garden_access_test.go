// SPDX-License-Identifier: Apache-2.0

package integration_test

import (
	"bufio"
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// updateAccess writes the table anew. Who does so reads the difference before it is committed: that is the review of who
// may do what.
var updateAccess = flag.Bool("update-access", false, "write testdata/access.txt from what the garden answers")

const accessTable = "testdata/access.txt"

// role is somebody who asks.
type role struct {
	name, user string
	groups     []string
}

func seedRole(seed string) role {
	return role{"seed " + seed, "gardener.cloud:system:seed:" + seed, []string{"gardener.cloud:system:seeds", "system:authenticated"}}
}

func person(name string) role { return role{name, name, []string{"system:authenticated"}} }

func roles() []role {
	return []role{
		{"anonymous", "system:anonymous", []string{"system:unauthenticated"}},
		{"join token", "system:bootstrap:abcdef", []string{"system:bootstrappers", "system:authenticated"}},
		seedRole("one"), seedRole("two"),
		{
			"extension one", "system:serviceaccount:seed-one:extension-local",
			[]string{"system:serviceaccounts", "system:serviceaccounts:seed-one", "system:authenticated"},
		},
		person("stranger"), person("viewer"), person("member"),
		{"robot", "system:serviceaccount:garden-meadow:robot", []string{"system:serviceaccounts", "system:serviceaccounts:garden-meadow", "system:authenticated"}},
		person("uam"), person("accounts"), person("administrator"),
	}
}

// accessVerbs are the verbs that are asked about, by the letter in the table.
func accessVerbs() map[string]string {
	return map[string]string{
		"g": "get", "l": "list", "w": "watch", "c": "create", "u": "update", "p": "patch", "d": "delete", "D": "deletecollection",
		"m": gardencorev1beta1.VerbManageMembers, "t": gardencorev1beta1.VerbModifyTolerationsWhitelist,
	}
}

const accessLetters = "glwcupdDmt"

// place is what is asked about: objects that belong to the project meadow and the seed one, or to others.
type place struct{ namespace, name string }

// places returns an own and a foreign object of a resource. Most are named mine and other, in the namespaces of projects.
func places(group, resource string, namespaced bool) (own, foreign place) {
	own, foreign = place{"garden-meadow", "mine"}, place{"garden-wood", "other"}
	if !namespaced {
		own.namespace, foreign.namespace = "", ""
	}
	names := map[string][2]place{
		"/configmaps":                              {{"garden-meadow", "mine.ca-cluster"}, {"garden-wood", "other.ca-cluster"}},
		"/secrets":                                 {{"garden-meadow", "mine.ssh-keypair"}, {"garden-wood", "other.ssh-keypair"}},
		"/namespaces":                              {{"garden-meadow", "garden-meadow"}, {"garden-wood", "garden-wood"}},
		"/serviceaccounts":                         {{"garden-meadow", "mine"}, {"seed-two", "extension-local"}},
		"coordination.k8s.io/leases":               {{"gardener-system-seed-lease", "one"}, {"gardener-system-seed-lease", "two"}},
		"core.gardener.cloud/backupbuckets":        {{"", "one"}, {"", "two"}},
		"core.gardener.cloud/cloudprofiles":        {{"", "local"}, {"", "other"}},
		"core.gardener.cloud/internalsecrets":      {{"garden-meadow", "mine.ca-client"}, {"garden-wood", "other.ca-client"}},
		"core.gardener.cloud/projects":             {{"", "meadow"}, {"", "wood"}},
		"core.gardener.cloud/seeds":                {{"", "one"}, {"", "two"}},
		"core.gardener.cloud/secretbindings":       {{"garden-meadow", "mine"}, {"garden-wood", "other"}},
		"seedmanagement.gardener.cloud/gardenlets": {{"garden", "one"}, {"garden", "two"}},
	}
	name := group + "/" + strings.Split(resource, "/")[0]
	if special, ok := names[name]; ok {
		return special[0], special[1]
	}

	return own, foreign
}

// TestAccess compares who may do what with the table in testdata, for every resource that the garden serves (API-RES-12,
// GCM-PROJECT-7, GAC-SAR).
func TestAccess(t *testing.T) {
	t.Parallel()
	o := operate(t)
	growAccess(o)
	rows := accessRows(o)
	got := askAccess(o, rows)
	if *updateAccess {
		if err := os.MkdirAll(filepath.Dir(accessTable), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(accessTable, []byte(strings.Join(append(accessHead(), got...), "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := gocmp.Diff(readAccess(t), got); diff != "" {
		t.Errorf("who may do what (-want +got); if that is right, run the test with -update-access:\n%s", diff)
	}
	checkStrangers(o)
}

// growAccess makes two projects with a shoot each on a seed of its own, and waits until all roles are bound.
func growAccess(o *operator) {
	o.t.Helper()
	o.provider("local")
	one, two := o.seed("one", "local", "north", o.given("one")), o.seed("two", "local", "north", o.given("two"))
	o.create(raceBucket("one", "one", "garden", "given-one"), raceBucket("two", "two", "garden", "given-two"))
	for name, seed := range map[string]*gardencorev1beta1.Seed{"meadow": one, "wood": two} {
		var members []gardencorev1beta1.ProjectMember
		if name == "meadow" {
			robot := gardencorev1beta1.ProjectMember{Role: "admin"}
			robot.Kind, robot.Namespace, robot.Name = rbacv1.ServiceAccountKind, "garden-meadow", "robot"
			members = append(members, robot, member("viewer", "viewer"), member("member", "admin"), member("uam", "uam"), member("accounts", "serviceaccountmanager"))
		}
		namespace := "garden-" + name
		project := &gardencorev1beta1.Project{ObjectMeta: metav1.ObjectMeta{Name: name}}
		project.Spec.Namespace, project.Spec.Members = &namespace, members
		o.create(project)
		o.phase(project, gardencorev1beta1.ProjectPhaseReady)
		thing := map[string]string{"meadow": "mine", "wood": "other"}[name]
		o.create(
			&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: thing}},
			&gardencorev1beta1.SecretBinding{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: thing}, Provider: &gardencorev1beta1.SecretBindingProvider{Type: "local"},
				SecretRef: corev1.SecretReference{Namespace: namespace, Name: thing},
			})
		o.shoot(namespace, thing, "local", func(s *gardencorev1beta1.Shoot) {
			withWorker(thing)(s)
			formerly(thing)(s)
			s.Spec.SeedName = &seed.Name
		})
	}
	o.create(&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "administrator"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: gardencorev1beta1.ClusterRoleAdministrators},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "administrator"}},
	})
	for who, ask := range map[string]authorizationv1.ResourceAttributes{
		"viewer":        {Verb: "get", Group: "core.gardener.cloud", Resource: "shoots", Namespace: "garden-meadow", Name: "mine"},
		"member":        {Verb: "create", Resource: "secrets", Namespace: "garden-meadow"},
		"uam":           {Verb: "manage-members", Group: "core.gardener.cloud", Resource: "projects", Name: "meadow"},
		"accounts":      {Verb: "create", Resource: "serviceaccounts", Namespace: "garden-meadow"},
		"administrator": {Verb: "create", Resource: "serviceaccounts", Subresource: "token", Namespace: "garden"},
	} {
		harness.Eventually(o.t, who+" has its role", func(ctx context.Context) error {
			answer, err := o.may(ctx, person(who), ask)
			if err != nil {
				return err
			}
			return has(answer.Allowed, "may not %s %s: %+v", ask.Verb, ask.Resource, answer)
		})
	}
}

// given keeps a Secret and an identity for a seed in the namespace garden, and names them in the Seed, as operators do.
func (o *operator) given(seed string) func(*gardencorev1beta1.Seed) {
	o.t.Helper()
	meta := metav1.ObjectMeta{Namespace: "garden", Name: "given-" + seed}
	identity := &gardensecurityv1alpha1.WorkloadIdentity{ObjectMeta: meta}
	identity.Spec.Audiences, identity.Spec.TargetSystem.Type = []string{"sts"}, "local"
	o.create(&corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"key": []byte("of " + seed)}}, identity)

	return func(s *gardencorev1beta1.Seed) {
		for kind, version := range map[string]string{"Secret": "v1", "WorkloadIdentity": "security.gardener.cloud/v1alpha1"} {
			r := gardencorev1beta1.NamedResourceReference{Name: strings.ToLower(kind)}
			r.ResourceRef.APIVersion, r.ResourceRef.Kind, r.ResourceRef.Name = version, kind, meta.Name
			s.Spec.Resources = append(s.Spec.Resources, r)
		}
	}
}

// inGarden are objects of the namespace garden, by what they are to the seed one, and the holder of a join token's Secret.
func inGarden() map[string]map[string]place {
	seeds := map[string]place{"given to seed one": {"garden", "given-one"}, "given to seed two": {"garden", "given-two"}, "given to no seed": {"garden", "none"}}
	secrets := map[string]place{
		"generated for the bucket of seed one": {"garden", "generated-bucket-one"}, "generated for the bucket of seed two": {"garden", "generated-bucket-two"},
		"keys of a managed seed": {"garden", "nursery.ssh-keypair"}, "join token": {"kube-system", "bootstrap-token-abcdef"},
	}
	maps.Copy(secrets, seeds)

	return map[string]map[string]place{
		"/secrets": secrets, "/configmaps": {"in garden": {"garden", "none"}},
		"/serviceaccounts":                                 {"in garden": {"garden", "none"}, "in namespace of seed one": {"seed-one", "extension-local"}},
		"core.gardener.cloud/internalsecrets":              {"client CA of a managed seed": {"garden", "nursery.ca-client"}, "in garden": {"garden", "none"}},
		"security.gardener.cloud/workloadidentities":       seeds,
		"security.gardener.cloud/workloadidentities/token": seeds,
		"coordination.k8s.io/leases":                       {"in garden": {"garden", "gardenlet-leader-election"}},
	}
}

// may asks the garden what somebody may do.
func (o *operator) may(
	ctx context.Context, who role, what authorizationv1.ResourceAttributes,
) (authorizationv1.SubjectAccessReviewStatus, error) {
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: who.user, Groups: who.groups, ResourceAttributes: &what}}
	err := o.Client.Create(ctx, review)

	return review.Status, err
}

// accessRow is a line of the table.
type accessRow struct {
	title string
	what  authorizationv1.ResourceAttributes
	verbs string
}

// accessRows lists every resource that is served, twice: an object of the own project and seed, and a foreign one. What can
// be selected by seed is listed once more.
func accessRows(o *operator) []accessRow {
	o.t.Helper()
	served, err := discovery.NewDiscoveryClientForConfig(o.Config)
	if err != nil {
		o.t.Fatal(err)
	}
	lists, err := served.ServerPreferredResources()
	if err != nil {
		o.t.Fatal(err)
	}
	_, all, err := served.ServerGroupsAndResources()
	if err != nil {
		o.t.Fatal(err)
	}
	preferred := map[string]bool{}
	for _, list := range lists {
		preferred[list.GroupVersion] = true
	}
	var rows []accessRow
	for _, list := range all {
		group, version, ok := strings.Cut(list.GroupVersion, "/")
		if !ok {
			group, version = "", group
		}
		for _, r := range list.APIResources {
			if !preferred[list.GroupVersion] || version == "v1" && group == "core.gardener.cloud" {
				continue
			}
			rows = append(rows, rowsOf(group, r)...)
		}
	}
	slices.SortFunc(rows, func(a, b accessRow) int { return cmp.Compare(a.title, b.title) })

	return rows
}

func rowsOf(group string, r metav1.APIResource) []accessRow {
	resource, part, _ := strings.Cut(r.Name, "/")
	own, foreign := places(group, r.Name, r.Namespaced)
	var rows []accessRow
	for title, at := range map[string]place{"own": own, "foreign": foreign} {
		verbs := accessLetters
		if resource != "projects" || part != "" {
			verbs = strings.TrimRight(verbs, "mt")
		}
		rows = append(rows, accessRow{
			title: group + "/" + r.Name + " " + title, verbs: verbs,
			what: authorizationv1.ResourceAttributes{Group: group, Resource: resource, Subresource: part, Namespace: at.namespace, Name: at.name},
		})
	}
	for title, at := range inGarden()[group+"/"+r.Name] {
		rows = append(rows, accessRow{
			title: group + "/" + r.Name + " " + title, verbs: strings.TrimRight(accessLetters, "mt"),
			what: authorizationv1.ResourceAttributes{Group: group, Resource: resource, Subresource: part, Namespace: at.namespace, Name: at.name},
		})
	}
	field := map[string]string{"backupbuckets": "spec.seedName", "backupentries": "spec.seedName", "bastions": "spec.seedName", "controllerinstallations": "spec.seedRef.name"}
	label := map[string]bool{"shoots": true, "seeds": true, "managedseeds": true}
	if part != "" || field[resource] == "" && !label[resource] {
		return rows
	}
	selected := accessRow{
		title: group + "/" + r.Name + " of seed one", verbs: "lw",
		what: authorizationv1.ResourceAttributes{Group: group, Resource: resource},
	}
	if path := field[resource]; path != "" {
		selected.what.FieldSelector = &authorizationv1.FieldSelectorAttributes{Requirements: []metav1.FieldSelectorRequirement{
			{Key: path, Operator: metav1.FieldSelectorOpIn, Values: []string{"one"}},
		}}
	} else {
		selected.what.LabelSelector = &authorizationv1.LabelSelectorAttributes{Requirements: []metav1.LabelSelectorRequirement{
			{Key: "name.seed.gardener.cloud/one", Operator: metav1.LabelSelectorOpIn, Values: []string{"true"}},
		}}
	}

	return append(rows, selected)
}

func askAccess(o *operator, rows []accessRow) []string {
	o.t.Helper()
	const width = 11
	lines := make([]string, len(rows))
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(o.t.Context())
	group.SetLimit(64)
	answers := map[string]map[string]bool{}
	for _, row := range rows {
		for _, who := range roles() {
			for _, letter := range row.verbs {
				group.Go(func() error {
					what := row.what
					what.Verb = accessVerbs()[string(letter)]
					if strings.ContainsRune("lwcD", letter) && what.Subresource == "" {
						what.Name = ""
					}
					answer, err := o.may(ctx, who, what)
					mu.Lock()
					defer mu.Unlock()
					key := row.title + "|" + who.name
					if answers[key] == nil {
						answers[key] = map[string]bool{}
					}
					answers[key][string(letter)] = answer.Allowed

					return err
				})
			}
		}
	}
	if err := group.Wait(); err != nil {
		o.t.Fatalf("ask who may do what: %v", err)
	}
	for i, row := range rows {
		line := &strings.Builder{}
		fmt.Fprintf(line, "%-66s", row.title)
		for _, who := range roles() {
			text := ""
			for _, letter := range row.verbs {
				if answers[row.title+"|"+who.name][string(letter)] {
					text += string(letter)
				}
			}
			fmt.Fprintf(line, " %-*s", width, cmp.Or(text, "-"))
		}
		lines[i] = strings.TrimRight(line.String(), " ")
	}

	return lines
}

func accessHead() []string {
	head := fmt.Sprintf("# %-64s", "resource, and whose object")
	for _, who := range roles() {
		head += fmt.Sprintf(" %-11s", strings.ReplaceAll(who.name, " ", "-"))
	}

	return []string{
		"# Who may do what. Own objects are those of the project meadow and the seed one, foreign ones those of the project wood and the",
		"# seed two. The people are members of meadow, each with one role; accounts manages service accounts, stranger has no role.",
		"# g get, l list, w watch, c create, u update, p patch, d delete, D deletecollection, m manage-members,",
		"# t modify-spec-tolerations-whitelist. The robot is a service account of meadow, and a member with the role admin. What a seed",
		"# creates, changes and deletes is restricted further, by GAC-SR: of what it was given it changes the finalizers only. Lists of",
		"# BackupBuckets and BackupEntries hold what belongs to the seed that asks.",
		strings.TrimRight(head, " "),
	}
}

func readAccess(t *testing.T) []string {
	t.Helper()
	file, err := os.Open(accessTable)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // It was only read.
	var lines []string
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		if line := scanner.Text(); !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}

	return lines
}

// checkStrangers makes real requests: a seed reads and changes what is its own, and nothing that belongs to another.
func checkStrangers(o *operator) {
	o.t.Helper()
	ctx := o.t.Context()
	one := seedRole("one")
	gardenlet := o.As(o.t, one.user, one.groups...)
	shoot := func(namespace, name string) *gardencorev1beta1.Shoot {
		return &gardencorev1beta1.Shoot{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"a":"b"}}}`))
	own := client.MatchingLabels{"name.seed.gardener.cloud/one": "true"}
	shoots := &gardencorev1beta1.ShootList{}
	for what, err := range map[string]error{
		"read its shoot":        gardenlet.Get(ctx, client.ObjectKey{Namespace: "garden-meadow", Name: "mine"}, shoot("", "")),
		"change its shoot":      gardenlet.Patch(ctx, shoot("garden-meadow", "mine"), patch),
		"list its shoots":       gardenlet.List(ctx, shoots, own),
		"read its credentials":  gardenlet.Get(ctx, client.ObjectKey{Namespace: "garden-meadow", Name: "mine"}, &corev1.Secret{}),
		"publish an authority":  gardenlet.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "mine.ca-cluster"}}),
		"keep a key in project": gardenlet.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "mine.ssh-keypair"}}),
	} {
		if err != nil {
			o.t.Errorf("GAC-SAR: a seed could not %s: %v", what, err)
		}
	}
	if len(shoots.Items) != 1 {
		o.t.Errorf("GAC-SA-3: a seed lists its shoots and no others, got %d", len(shoots.Items))
	}
	reach := shoot("garden-meadow", "mine")
	template, third := &gardencorev1beta1.Seed{}, &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "three"}}
	if err := o.Client.Get(ctx, client.ObjectKey{Name: "one"}, template); err != nil {
		o.t.Fatal(err)
	}
	third.Spec = template.Spec
	for what, err := range map[string]error{
		"read another shoot":            gardenlet.Get(ctx, client.ObjectKey{Namespace: "garden-wood", Name: "other"}, shoot("", "")),
		"change another shoot":          gardenlet.Patch(ctx, shoot("garden-wood", "other"), patch),
		"list all shoots":               gardenlet.List(ctx, &gardencorev1beta1.ShootList{}),
		"list shoots of a project":      gardenlet.List(ctx, &gardencorev1beta1.ShootList{}, client.InNamespace("garden-meadow")),
		"read other credentials":        gardenlet.Get(ctx, client.ObjectKey{Namespace: "garden-wood", Name: "other"}, &corev1.Secret{}),
		"list secrets":                  gardenlet.List(ctx, &corev1.SecretList{}, client.InNamespace("garden-meadow")),
		"write a secret of another":     gardenlet.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-wood", Name: "other.ssh-keypair"}}),
		"write any secret":              gardenlet.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-meadow", Name: "any"}}),
		"change another seed":           gardenlet.Patch(ctx, &gardencorev1beta1.Seed{ObjectMeta: metav1.ObjectMeta{Name: "two"}}, patch),
		"make a seed":                   gardenlet.Create(ctx, third),
		"make itself an administrator":  gardenlet.Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "x"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"}}),
		"reach for a secret by a shoot": gardenlet.Patch(ctx, reach, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"resources":[{"name":"x","resourceRef":{"apiVersion":"v1","kind":"Secret","name":"other-secret"}}]}}`))),
	} {
		if !apierrors.IsForbidden(err) {
			o.t.Errorf("GAC-SAR, GAC-SR: a seed could %s, got %v, want Forbidden", what, err)
		}
	}
}
