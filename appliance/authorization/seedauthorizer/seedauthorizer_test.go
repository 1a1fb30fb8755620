// SPDX-License-Identifier: Apache-2.0

package seedauthorizer_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/utils/clock"

	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/references"
	"github.com/terrarium-garden/terrarium/appliance/authorization/seedauthorizer"
)

const (
	core       = "core.gardener.cloud"
	operations = "operations.gardener.cloud"
	security   = "security.gardener.cloud"
	management = "seedmanagement.gardener.cloud"
	rbac       = "rbac.authorization.k8s.io"
	leases     = "coordination.k8s.io"
	requests   = "certificates.k8s.io"
)

func gardenlet(seed string) user.Info {
	return &user.DefaultInfo{Name: "gardener.cloud:system:seed:" + seed, Groups: []string{"gardener.cloud:system:seeds", "system:authenticated"}}
}

func extension() user.Info {
	return &user.DefaultInfo{
		Name:   "system:serviceaccount:seed-north:extension-local",
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:seed-north", "system:authenticated"},
	}
}

func v(kind graph.Kind, namespace, name string) graph.Vertex {
	return graph.Vertex{Kind: kind, Namespace: namespace, Name: name}
}

// meadow is a garden in which everything called mine belongs to the seed north, and everything called other to south.
func meadow() *graph.Graph {
	g := graph.New()
	for name, seed := range map[string]string{"mine": "north", "other": "south"} {
		var edges []graph.Edge
		for _, kind := range graph.Kinds() {
			if kind != graph.Seed {
				edges = append(edges,
					graph.Edge{From: v(kind, "garden-meadow", name), To: v(graph.Seed, "", seed)},
					graph.Edge{From: v(kind, "", name), To: v(graph.Seed, "", seed)},
					graph.Edge{From: v(kind, "garden", name), To: v(graph.Seed, "", seed)})
			}
		}
		// The token with which a managed seed joins.
		edges = append(edges, graph.Edge{From: v(graph.Secret, "kube-system", "bootstrap-token-for"+name), To: v(graph.Seed, "", seed)})
		g.Set(v(graph.Project, "", name), edges)
	}

	return g
}

func newAuthorizer(g *graph.Graph) *seedauthorizer.Authorizer {
	return seedauthorizer.New(seedauthorizer.Config{
		Graph: g, Clock: clock.RealClock{}, Searched: func(graph.Kind, time.Duration) {},
	})
}

// ask is "verb group/resource[/part] [namespace/]name", with selectors after a question mark.
func attributes(t *testing.T, who user.Info, ask string) authorizer.Attributes {
	t.Helper()
	ask, selectors, _ := strings.Cut(ask, "?")
	words := strings.Split(ask+"  ", " ")
	resource := strings.Split(words[1]+"/", "/")
	a := authorizer.AttributesRecord{User: who, Verb: words[0], APIGroup: resource[0], Resource: resource[1], Subresource: resource[2], ResourceRequest: true}
	a.Name = words[2]
	if namespace, name, ok := strings.Cut(words[2], "/"); ok {
		a.Namespace, a.Name = namespace, name
	}
	var err error
	if label, ok := strings.CutPrefix(selectors, "label:"); ok {
		a.LabelSelectorRequirements, err = labels.ParseToRequirements(label)
	} else if selectors != "" {
		var selector fields.Selector
		if selector, err = fields.ParseSelector(selectors); err == nil {
			a.FieldSelectorRequirements = selector.Requirements()
		}
	}
	if err != nil {
		t.Fatal(err)
	}

	return a
}

// asker is somebody who asks an authorizer.
type asker struct {
	authorizer *seedauthorizer.Authorizer
	who        user.Info
}

// check asks for each of some verbs.
func (a asker) check(t *testing.T, verbs, what string, want bool) {
	t.Helper()
	for verb := range strings.FieldsSeq(verbs) {
		decision, reason, err := a.authorizer.Authorize(t.Context(), attributes(t, a.who, verb+" "+what))
		if err != nil || (decision == authorizer.DecisionAllow) != want || decision == authorizer.DecisionDeny {
			t.Errorf("%s %s by %s: got decision %v (%q), %v; want allowed %t", verb, what, a.who.GetName(), decision, reason, err, want)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	const every = "get list watch create update patch delete deletecollection"
	// Verbs that are always allowed, and those for what belongs to the seed. What is in neither is never allowed.
	cases := map[string]struct {
		resource, namespace string
		always, path        string
		parts               string
		// selector restricts a list to the seed.
		selector string
	}{
		"GAC-SAR-1 BackupBucket":             {resource: core + "/backupbuckets", always: "create list watch", path: "get update patch delete", parts: "status finalizers"},
		"GAC-SAR-2 BackupEntry":              {resource: core + "/backupentries", namespace: "garden-meadow", always: "create list watch", path: "get update patch delete", parts: "status"},
		"GAC-SAR-3 Bastion":                  {resource: operations + "/bastions", namespace: "garden-meadow", always: "create", path: "get update patch", parts: "status", selector: "spec.seedName=north"},
		"GAC-SAR-4 request":                  {resource: requests + "/certificatesigningrequests", always: "create", path: "get", parts: "seedclient"},
		"GAC-SAR-5 CloudProfile":             {resource: core + "/cloudprofiles", path: "get"},
		"GAC-SAR-5 NamespacedCloudProfile":   {resource: core + "/namespacedcloudprofiles", namespace: "garden-meadow", path: "get"},
		"GAC-SAR-5 ControllerDeployment":     {resource: core + "/controllerdeployments", path: "get"},
		"GAC-SAR-5 ExposureClass":            {resource: core + "/exposureclasses", path: "get"},
		"GAC-SAR-5 Namespace":                {resource: "/namespaces", path: "get"},
		"GAC-SAR-5 Project":                  {resource: core + "/projects", path: "get"},
		"GAC-SAR-5 SecretBinding":            {resource: core + "/secretbindings", namespace: "garden-meadow", path: "get"},
		"GAC-SAR-5 CredentialsBinding":       {resource: security + "/credentialsbindings", namespace: "garden-meadow", path: "get"},
		"GAC-SAR-6 ClusterRoleBinding":       {resource: rbac + "/clusterrolebindings", always: "create", path: "get update patch"},
		"GAC-SAR-7 ConfigMap":                {resource: "/configmaps", namespace: "garden-meadow", always: "create", path: "get"},
		"GAC-SAR-8 ControllerInstallation":   {resource: core + "/controllerinstallations", path: "get update patch", parts: "status", selector: "spec.seedRef.name=north"},
		"GAC-SAR-8 ControllerRegistration":   {resource: core + "/controllerregistrations", always: "get list watch"},
		"GAC-SAR-9 Event":                    {resource: "/events", namespace: "garden-meadow", always: "create patch"},
		"GAC-SAR-9 new Event":                {resource: "events.k8s.io/events", namespace: "garden-meadow", always: "create patch"},
		"GAC-SAR-10 Lease":                   {resource: leases + "/leases", namespace: "garden-meadow", always: "create", path: "get update patch"},
		"GAC-SAR-11 ManagedSeed":             {resource: management + "/managedseeds", namespace: "garden", path: "get update patch", parts: "status", selector: "label:name.seed.gardener.cloud/north=true"},
		"GAC-SAR-11 Gardenlet":               {resource: management + "/gardenlets", namespace: "garden", always: "create", path: "get update patch", parts: "status"},
		"GAC-SAR-12 Secret":                  {resource: "/secrets", namespace: "garden-meadow", always: "create", path: "get update patch delete"},
		"GAC-SAR-14 ServiceAccount":          {resource: "/serviceaccounts", namespace: "garden-meadow", always: "create", path: "get update patch"},
		"GAC-SAR-15 Shoot":                   {resource: core + "/shoots", namespace: "garden-meadow", path: "get update patch", parts: "status finalizers", selector: "label:name.seed.gardener.cloud/north=true"},
		"GAC-SAR-16 ShootState":              {resource: core + "/shootstates", namespace: "garden-meadow", always: "create", path: "get update patch delete"},
		"GAC-SAR-17 InternalSecret":          {resource: core + "/internalsecrets", namespace: "garden-meadow", always: "create", path: "get"},
		"GAC-SAR-17 WorkloadIdentity":        {resource: security + "/workloadidentities", namespace: "garden-meadow", path: "get patch"},
		"GAC-SAR-19 Role":                    {resource: rbac + "/clusterroles"},
		"GAC-SAR-19 Quota":                   {resource: core + "/quotas", namespace: "garden-meadow"},
		"GAC-SAR-19 ManagedSeedSet":          {resource: management + "/managedseedsets", namespace: "garden"},
		"GAC-SAR-19 same resource elsewhere": {resource: "example.com/shoots", namespace: "garden-meadow"},
	}
	z := newAuthorizer(meadow())
	north := gardenlet("north")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := func(object string) string {
				if tc.namespace != "" {
					return tc.resource + " " + tc.namespace + "/" + object
				}

				return tc.resource + " " + object
			}
			for verb := range strings.FieldsSeq(every) {
				always, path := strings.Contains(tc.always, verb), strings.Contains(tc.path, verb)
				asker{z, north}.check(t, verb, at("other"), always)
				if verb != "list" && verb != "watch" {
					asker{z, north}.check(t, verb, at("mine"), always || path)
				}
			}
			asker{z, north}.check(t, "list watch", at(""), strings.Contains(tc.always, "list"))
			for part := range strings.FieldsSeq("status finalizers scale token binding approval adminkubeconfig seedclient") {
				resource := strings.Replace(at("mine"), tc.resource, tc.resource+"/"+part, 1)
				known := strings.Contains(tc.parts, part)
				asker{z, north}.check(t, "update", resource, known && strings.Contains(tc.path, "update"))
			}
			if tc.selector != "" {
				asker{z, north}.check(t, "list watch", at("")+"?"+tc.selector, true)
				asker{z, north}.check(t, "list watch", at("")+"?"+strings.Replace(tc.selector, "north", "south", 1), false)
				asker{z, gardenlet("south")}.check(t, "list watch", at("")+"?"+tc.selector, false)
				asker{z, north}.check(t, "list watch", at("")+"?"+strings.Replace(tc.selector, "=", "!=", 1), false)
			}
		})
	}
}

func TestSpecial(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		who    user.Info
		verbs  string
		what   string
		want   bool
	}{
		"GAC-SA-4 by name":                  {"a list of one object is a look at it", gardenlet("north"), "list watch", core + "/cloudprofiles mine", true},
		"GAC-SA-4 other name":               {"also of another's", gardenlet("north"), "list watch", core + "/cloudprofiles other", false},
		"GAC-SA-3 wide":                     {"a wider selector is not enough", gardenlet("north"), "list", core + "/shoots ?label:name.seed.gardener.cloud/north", false},
		"GAC-SA-3 one of two":               {"nor is one of two values", gardenlet("north"), "list", core + "/shoots ?label:name.seed.gardener.cloud/north in (true,false)", false},
		"GAC-SA-3 in":                       {"one of one is", gardenlet("north"), "list", core + "/shoots ?label:name.seed.gardener.cloud/north in (true)", true},
		"GAC-SA-3 shoots by field":          {"the label tells of shoots that leave as well, the field does not", gardenlet("north"), "list watch", core + "/shoots ?spec.seedName=north", false},
		"GAC-SAR-12 given":                  {"what operators keep for a seed is read, and marked as in use", gardenlet("north"), "get update patch", "/secrets garden/mine", true},
		"GAC-SAR-12 given, not to delete":   {"but stays", gardenlet("north"), "list watch delete", "/secrets garden/mine", false},
		"GAC-SAR-12 extension, given":       {"also for extensions", extension(), "delete", "/secrets garden/mine", false},
		"GAC-SAR-12 not given":              {"what is for others is not even read", gardenlet("north"), "get list watch update patch delete", "/secrets garden/other", false},
		"GAC-SAR-12 generated":              {"credentials of the bucket of the seed are its own, by their name", gardenlet("north"), "get update patch delete", "/secrets garden/generated-bucket-mine", true},
		"GAC-SAR-12 generated for another":  {"those of other buckets are not", gardenlet("north"), "get update patch delete", "/secrets garden/generated-bucket-other", false},
		"GAC-SAR-12 managed seed":           {"keys of a shoot in the garden are those of a project", gardenlet("north"), "get update patch delete", "/secrets garden/mine.ssh-keypair", true},
		"GAC-SAR-17 client CA":              {"the client CA of a shoot of the seed is its own", gardenlet("north"), "get list watch update patch delete", core + "/internalsecrets garden-meadow/mine.ca-client", true},
		"GAC-SAR-17 other client CA":        {"those of others are not", gardenlet("north"), "get list watch update patch delete", core + "/internalsecrets garden/other.ca-client", false},
		"GAC-SA-1 no name":                  {"an object has a name", gardenlet("north"), "get update", core + "/cloudprofiles ", false},
		"GAC-SAR-4 seedclient":              {"a gardenlet renews its certificate", gardenlet("north"), "create", requests + "/certificatesigningrequests/seedclient", true},
		"GAC-SAR-4 approval":                {"but does not approve it", gardenlet("north"), "update", requests + "/certificatesigningrequests/approval mine", false},
		"GAC-SAR-4 approve":                 {"in no way", gardenlet("north"), "approve", requests + "/signers kubernetes.io/kube-apiserver-client", false},
		"GAC-SAR-5 own namespace":           {"a Namespace is asked for as if it were in itself", gardenlet("north"), "get list watch", "/namespaces mine/mine", true},
		"GAC-SAR-5 other namespace":         {"also that of another", gardenlet("north"), "get list watch", "/namespaces other/other", false},
		"GAC-SAR-5 seed namespace":          {"a seed has a namespace", gardenlet("north"), "get", "/namespaces seed-north/seed-north", true},
		"GAC-SAR-6 own binding":             {"the binding of its own service account is done with", gardenlet("north"), "delete", rbac + "/clusterrolebindings gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-north", true},
		"GAC-SAR-6 own binding, short name": {"also when it is named after the seed", gardenlet("north"), "delete", rbac + "/clusterrolebindings gardener.cloud:system:seed-bootstrapper:garden:north", true},
		"GAC-SAR-6 other binding":           {"those of others are not", gardenlet("north"), "delete", rbac + "/clusterrolebindings gardener.cloud:system:seed-bootstrapper:garden:south", false},
		"GAC-SAR-7 info":                    {"everybody reads about the garden", gardenlet("north"), "get", "/configmaps gardener-system-public/gardener-info", true},
		"GAC-SAR-7 info stays":              {"and changes nothing", gardenlet("north"), "update patch delete", "/configmaps gardener-system-public/gardener-info", false},
		"GAC-SAR-7 project config map":      {"what a gardenlet writes for a shoot it may change", gardenlet("north"), "get update patch delete", "/configmaps garden-meadow/mine.ca-cluster", true},
		"GAC-SAR-7 other project's":         {"but not for a shoot of another", gardenlet("north"), "get update patch delete", "/configmaps garden-meadow/other.ca-cluster", false},
		"GAC-SAR-11 own ManagedSeed":        {"a seed looks whether it is a shoot", gardenlet("north"), "get", management + "/managedseeds garden/north", true},
		"GAC-SAR-11 own ManagedSeed stays":  {"and does nothing else with it", gardenlet("north"), "list watch update patch delete", management + "/managedseeds garden/north", false},
		"GAC-SAR-11 ManagedSeed elsewhere":  {"it is in the garden", gardenlet("north"), "get", management + "/managedseeds garden-meadow/north", false},
		"GAC-SAR-11 namespace":              {"Gardenlets live in the garden", gardenlet("north"), "create get update", management + "/gardenlets garden-meadow/mine", false},
		"GAC-SAR-11 own Gardenlet":          {"a seed has the name of its Gardenlet", gardenlet("north"), "get list update", management + "/gardenlets garden/north", true},
		"GAC-SAR-12 own namespace":          {"secrets of a seed's namespace are its own", gardenlet("north"), "get list watch", "/secrets seed-north/any", true},
		"GAC-SAR-12 list own namespace":     {"all of them", gardenlet("north"), "list watch", "/secrets seed-north/", true},
		"GAC-SAR-12 write own namespace":    {"but to be read", gardenlet("north"), "update patch delete", "/secrets seed-north/any", false},
		"GAC-SAR-12 other namespace":        {"those of others are not", gardenlet("north"), "get list watch", "/secrets seed-south/any", false},
		"GAC-SAR-12 own token":              {"the token of its own name", gardenlet("north"), "delete", "/secrets kube-system/" + references.BootstrapTokenSecret("garden", "north"), true},
		"GAC-SAR-12 other token":            {"that of another", gardenlet("north"), "delete", "/secrets kube-system/" + references.BootstrapTokenSecret("garden", "south"), false},
		"GAC-SAR-12 used token":             {"the token with which it has joined", gardenlet("north"), "delete", "/secrets kube-system/bootstrap-token-mine", true},
		"GAC-SAR-12 used by another":        {"one with which another has joined", gardenlet("north"), "delete", "/secrets kube-system/bootstrap-token-other", false},
		"GAC-SAR-12 keep token":             {"a token is thrown away and nothing else", gardenlet("north"), "get list watch update patch", "/secrets kube-system/bootstrap-token-mine", false},
		"GAC-SAR-13 own Seed":               {"a seed is its own, also before it exists", gardenlet("west"), "get list watch update patch delete", core + "/seeds west", true},
		"GAC-SAR-13 other Seed":             {"others are not", gardenlet("north"), "update patch delete", core + "/seeds south", false},
		"GAC-SAR-14 own namespace":          {"accounts in the seed's namespace are the gardenlet's", gardenlet("north"), "get list watch create update patch delete", "/serviceaccounts seed-north/extension-x", true},
		"GAC-SAR-14 token":                  {"with their tokens", gardenlet("north"), "create", "/serviceaccounts/token seed-north/extension-x", true},
		"GAC-SAR-14 other names":            {"others than those of extensions are not", gardenlet("north"), "get update patch delete", "/serviceaccounts seed-north/robot", false},
		"GAC-SAR-14 token of another name":  {"and have no tokens for it", gardenlet("north"), "create", "/serviceaccounts/token seed-north/robot", false},
		"GAC-SAR-14 list":                   {"it may list them", gardenlet("north"), "list watch create", "/serviceaccounts seed-north/", true},
		"GAC-SAR-14 other token":            {"those of others are not", gardenlet("north"), "create", "/serviceaccounts/token seed-south/extension-x", false},
		"GAC-SAR-14 bootstrap account":      {"its own first account is done with", gardenlet("north"), "delete", "/serviceaccounts garden/gardenlet-bootstrap-north", true},
		"GAC-SAR-14 other account":          {"that of another is not", gardenlet("north"), "delete", "/serviceaccounts garden/gardenlet-bootstrap-south", false},
		"GAC-SAR-15 own shoot":              {"a managed seed looks at the shoot that it is", gardenlet("nursery"), "get", core + "/shoots garden/nursery", true},
		"GAC-SAR-15 own shoot stays":        {"and changes nothing", gardenlet("nursery"), "update patch", core + "/shoots garden/nursery", false},
		"GAC-SAR-17 token":                  {"tokens of an identity that its shoots use", gardenlet("north"), "create", security + "/workloadidentities/token garden-meadow/mine", true},
		"GAC-SAR-17 other token":            {"of others", gardenlet("north"), "create", security + "/workloadidentities/token garden-meadow/other", false},
		"GAC-SAR-18 shoots":                 {"extensions work on shoots like gardenlets", extension(), "get update patch", core + "/shoots garden-meadow/mine", true},
		"GAC-SAR-18 other shoots":           {"of their own seed", extension(), "get update patch", core + "/shoots garden-meadow/other", false},
		"GAC-SAR-18 requests":               {"but make no requests for certificates", extension(), "create", requests + "/certificatesigningrequests", false},
		"GAC-SAR-18 read requests":          {"though they may look", extension(), "get", requests + "/certificatesigningrequests mine", true},
		"GAC-SAR-18 bindings":               {"and bind no roles", extension(), "create update patch delete", rbac + "/clusterrolebindings mine", false},
		"GAC-SAR-18 accounts":               {"and make no accounts", extension(), "create update patch delete", "/serviceaccounts seed-north/extension-x", false},
		"GAC-SAR-18 account tokens":         {"nor tokens", extension(), "create", "/serviceaccounts/token seed-north/extension-x", false},
		"GAC-SAR-18 tokens":                 {"nor do they throw away tokens", extension(), "delete", "/secrets kube-system/bootstrap-token-mine", false},
		"GAC-SAR-18 states":                 {"and have no business with all keys of a shoot", extension(), "get list watch create update patch delete", core + "/shootstates garden-meadow/mine", false},
		"GAC-SAR-18 Gardenlet":              {"nor do they say which gardenlet runs", extension(), "create update patch", management + "/gardenlets garden/north", false},
		"GAC-SAR-18 Gardenlet read":         {"though they may look", extension(), "get list watch", management + "/gardenlets garden/north", true},
		"GAC-SAR-18 Gardenlet status":       {"nor how it is", extension(), "update patch", management + "/gardenlets/status garden/north", false},
		"GAC-SAR-18 managed seeds":          {"nor which one runs in a managed seed", extension(), "update patch", management + "/managedseeds garden/mine", false},
		"GAC-SAR-18 managed seeds read":     {"though they may look there too", extension(), "get", management + "/managedseeds garden/mine", true},
		"GAC-SAR-18 managed seeds status":   {"nor how it is there", extension(), "update patch", management + "/managedseeds/status garden/mine", false},
		"GAC-SAR-18 join tokens":            {"nor do they see a token of a managed seed, with which they would join in its place", extension(), "get update patch delete", "/secrets kube-system/bootstrap-token-formine", false},
		"GAC-SAR-18 join tokens, gardenlet": {"which the gardenlet makes for it", gardenlet("north"), "get update patch delete", "/secrets kube-system/bootstrap-token-formine", true},
		"GAC-SAR-18 its managed seed":       {"nor with what their seed is", extension(), "get", management + "/managedseeds garden/north", false},
		"GAC-SAR-10 extension":              {"extensions elect in their seed's namespace", extension(), "get list watch create update patch delete", leases + "/leases seed-north/leader", true},
		"GAC-SAR-10 extension elsewhere":    {"and nowhere else", extension(), "get create update patch", leases + "/leases gardener-system-seed-lease/north", false},
		"GAC-SAR-10 own lease":              {"a gardenlet renews its lease", gardenlet("north"), "get update patch", leases + "/leases gardener-system-seed-lease/north", true},
		"GAC-SAR-10 other lease":            {"and no other", gardenlet("north"), "get update patch", leases + "/leases gardener-system-seed-lease/south", false},
		"GAC-ID-4 person":                   {"people are judged by others", &user.DefaultInfo{Name: "rose"}, "get list create", core + "/shoots garden-meadow/mine", false},
		"GAC-SAR-19 impersonation":          {"nobody is impersonated", gardenlet("north"), "impersonate", "/users rose", false},
	}
	z := newAuthorizer(meadow())
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asker{z, tc.who}.check(t, tc.verbs, tc.what, tc.want)
			if t.Failed() {
				t.Log(tc.reason)
			}
		})
	}
	for _, path := range []string{"/metrics", "/debug/pprof"} {
		a := authorizer.AttributesRecord{User: gardenlet("north"), Verb: "get", Path: path}
		decision, _, err := z.Authorize(t.Context(), a)
		if diff := cmp.Diff(authorizer.DecisionNoOpinion, decision); diff != "" || err != nil {
			t.Errorf("GAC-SAR-19: the authorizer has no opinion on path %s: %v; decision (-want +got):\n%s", path, err, diff)
		}
	}
}

// TestWaitsForNews asks for an object that the graph learns of a moment later.
func TestWaitsForNews(t *testing.T) {
	t.Parallel()
	g := graph.New()
	z := newAuthorizer(g)
	answer := make(chan authorizer.Decision)
	go func() {
		decision, _, _ := z.Authorize(context.WithoutCancel(t.Context()), attributes(t, gardenlet("north"), "get /secrets garden-meadow/new"))
		answer <- decision
	}()
	binding := v(graph.SecretBinding, "garden-meadow", "new")
	g.Set(binding, []graph.Edge{{From: v(graph.Secret, "garden-meadow", "new"), To: binding}, {From: binding, To: v(graph.Seed, "", "north")}})
	if diff := cmp.Diff(authorizer.DecisionAllow, <-answer); diff != "" {
		t.Errorf("what was written a moment ago is found a moment later; decision (-want +got):\n%s", diff)
	}
}

// TestNoOpinionIsLogged_GAC_SAR_19: what no rule is about is logged at a high verbosity, and only for clients of seeds.
func TestNoOpinionIsLogged_GAC_SAR_19(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		who  user.Info
		ask  authorizer.AttributesRecord
		want []string
	}{
		"another resource": {
			gardenlet("north"),
			authorizer.AttributesRecord{Verb: "get", APIGroup: "apps", Resource: "deployments", Namespace: "garden", Name: "a", ResourceRequest: true},
			[]string{`"level"=1 "msg"="No opinion on a resource" "client"="seed \"north\"" "user"="gardener.cloud:system:seed:north" "verb"="get" "group"="apps" "resource"="deployments" "namespace"="garden" "name"="a"`},
		},
		"a path": {
			gardenlet("north"),
			authorizer.AttributesRecord{Verb: "get", Path: "/debug/pprof"},
			[]string{`"level"=1 "msg"="No opinion on a path" "client"="seed \"north\"" "user"="gardener.cloud:system:seed:north" "verb"="get" "path"="/debug/pprof"`},
		},
		"a resource of a rule": {gardenlet("north"), authorizer.AttributesRecord{Verb: "get", APIGroup: "core.gardener.cloud", Resource: "seeds", Name: "south", ResourceRequest: true}, nil},
		"somebody else":        {&user.DefaultInfo{Name: "rose"}, authorizer.AttributesRecord{Verb: "get", Path: "/debug/pprof"}, nil},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			var lines []string
			a := seedauthorizer.New(seedauthorizer.Config{
				Graph: graph.New(), Clock: clock.RealClock{}, Searched: func(graph.Kind, time.Duration) {},
				Log: funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{Verbosity: 1}),
			})
			tc.ask.User = tc.who
			if decision, _, err := a.Authorize(t.Context(), tc.ask); decision != authorizer.DecisionNoOpinion || err != nil {
				t.Errorf("decision %v, error %v", decision, err)
			}
			if diff := cmp.Diff(tc.want, lines); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		})
	}
}
