// SPDX-License-Identifier: Apache-2.0

package shootauthorizer_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/utils/clock"

	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/authorization/graph"
	"github.com/terrarium-garden/terrarium/appliance/authorization/rules"
	"github.com/terrarium-garden/terrarium/appliance/authorization/selfhosted"
	"github.com/terrarium-garden/terrarium/appliance/authorization/shootauthorizer"
	"github.com/terrarium-garden/terrarium/appliance/authorization/shootclient"
)

const (
	core     = "core.gardener.cloud"
	security = "security.gardener.cloud"
	every    = "get list watch create update patch delete deletecollection"
)

var created = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func gardenlet(shoot string) user.Info {
	return &user.DefaultInfo{Name: "gardener.cloud:system:shoot:" + shoot, Groups: []string{"gardener.cloud:system:shoots", "system:authenticated"}}
}

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(created)}
}

func secretIn(namespace, name string) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: name}
}

// shoot is one that refers to everything that a shoot can refer to.
func shoot(namespace, name string, hosted bool) *gardencorev1beta1.Shoot {
	s := &gardencorev1beta1.Shoot{ObjectMeta: named(namespace, name)}
	s.Spec.CloudProfile = &gardencorev1beta1.CloudProfileReference{Kind: "CloudProfile", Name: "cloud"}
	s.Spec.CredentialsBindingName, s.Spec.SecretBindingName = new("binding"), new("former")
	s.Spec.ExposureClassName = new("inner")
	s.Spec.DNS = &gardencorev1beta1.DNS{Providers: []gardencorev1beta1.DNSProvider{{SecretName: new("dns")}}}
	for kind, name := range map[string]string{"Secret": "resource", "ConfigMap": "resource", "InternalSecret": "inner", "WorkloadIdentity": "identity"} {
		r := gardencorev1beta1.NamedResourceReference{Name: name}
		r.ResourceRef.APIVersion, r.ResourceRef.Kind, r.ResourceRef.Name = "v1", kind, name
		s.Spec.Resources = append(s.Spec.Resources, r)
	}
	for _, name := range []string{"neighbour.ssh-keypair", "generated-bucket-b"} {
		r := gardencorev1beta1.NamedResourceReference{Name: name}
		r.ResourceRef.APIVersion, r.ResourceRef.Kind, r.ResourceRef.Name = "v1", "Secret", name
		s.Spec.Resources = append(s.Spec.Resources, r)
	}
	s.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "one"}}
	if !hosted {
		s.Spec.Provider.Workers[0].ControlPlane = &gardencorev1beta1.WorkerControlPlane{}
	}
	// The documents of its issuer are in a namespace of the garden.
	s.Annotations = map[string]string{"authentication.gardener.cloud/issuer": "managed"}
	s.Status.TechnicalID = "shoot--wood--" + name

	return s
}

// wood is a garden with self-hosted shoots tree in garden-wood and lone in garden, and with the shoot bush that is on a seed.
func wood() *selfhosted.Shoots {
	shoots := selfhosted.New()
	set := func(kind graph.Kind, o metav1.Object) {
		shoots.Set(graph.Vertex{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()}, o)
	}
	bucket := func(name, shoot string, secret *corev1.ObjectReference) *gardencorev1beta1.BackupBucket {
		b := &gardencorev1beta1.BackupBucket{ObjectMeta: named("", name)}
		b.Spec.ShootRef = secretIn("garden-wood", shoot)
		b.Spec.CredentialsRef = secret
		b.Status.GeneratedSecretRef = &corev1.SecretReference{Namespace: "garden", Name: "generated-bucket-" + name}

		return b
	}
	lone := bucket("lone", "lone", secretIn("garden", "backup"))
	lone.Spec.ShootRef.Namespace = "garden"
	set(graph.BackupBucket, lone)
	set(graph.BackupBucket, bucket("tree", "tree", secretIn("garden-wood", "backup")))
	set(graph.BackupBucket, bucket("afar", "tree", secretIn("garden", "backup")))
	set(graph.BackupBucket, bucket("bush", "bush", secretIn("garden-wood", "bush-backup")))
	for namespace, names := range map[string][]string{"garden-wood": {"tree"}, "garden": {"lone"}} {
		for _, name := range names {
			set(graph.Shoot, shoot(namespace, name, false))
		}
		b := &gardensecurityv1alpha1.CredentialsBinding{ObjectMeta: named(namespace, "binding"), CredentialsRef: *secretIn(namespace, "cloud")}
		set(graph.CredentialsBinding, b)
		// A binding to credentials of an operator, which members may use and not read.
		former := &gardencorev1beta1.SecretBinding{ObjectMeta: named(namespace, "former"), SecretRef: corev1.SecretReference{Namespace: "operators", Name: "shared"}}
		set(graph.SecretBinding, former)
		project := &gardencorev1beta1.Project{ObjectMeta: named("", strings.TrimPrefix(namespace, "garden-"))}
		project.Spec.Namespace = &namespace
		set(graph.Project, project)
		entry := &gardencorev1beta1.BackupEntry{ObjectMeta: named("garden-meadow", names[0])}
		entry.Spec.ShootRef, entry.Spec.BucketName = secretIn(namespace, names[0]), "seed"
		set(graph.BackupEntry, entry)
	}
	entry := &gardencorev1beta1.BackupEntry{ObjectMeta: named("garden-wood", "tree")}
	entry.Spec.ShootRef, entry.Spec.BucketName = secretIn("garden-wood", "tree"), "seed"
	set(graph.BackupEntry, entry)
	set(graph.Shoot, shoot("garden-wood", "bush", true))
	set(graph.Bastion, &gardenoperationsv1alpha1.Bastion{ObjectMeta: named("garden-wood", "tree"), Spec: gardenoperationsv1alpha1.BastionSpec{ShootRef: corev1.LocalObjectReference{Name: "tree"}}})
	for installation, shoot := range map[string][2]string{"tree": {"garden-wood", "tree"}, "lone": {"garden", "lone"}} {
		i := &gardencorev1beta1.ControllerInstallation{ObjectMeta: named("", installation)}
		i.Spec.ShootRef = secretIn(shoot[0], shoot[1])
		i.Spec.RegistrationRef.Name, i.Spec.DeploymentRef = "extension", &corev1.ObjectReference{Name: "extension"}
		set(graph.ControllerInstallation, i)
	}
	deployment := &gardencorev1.ControllerDeployment{ObjectMeta: named("", "extension")}
	deployment.Helm = &gardencorev1.HelmControllerDeployment{OCIRepository: &gardencorev1.OCIRepository{PullSecretRef: &corev1.LocalObjectReference{Name: "pull"}}}
	set(graph.ControllerDeployment, deployment)
	// The shoot lone is a seed at the same time, and a Seed has the name of a shoot.
	managed := &gardenseedmanagementv1alpha1.ManagedSeed{ObjectMeta: named("garden", "lone")}
	managed.Spec.Shoot = &gardenseedmanagementv1alpha1.Shoot{Name: "lone"}
	set(graph.ManagedSeed, managed)
	for _, name := range []string{"lone", "tree"} {
		seed := &gardencorev1beta1.Seed{ObjectMeta: named("", name)}
		seed.Spec.DNS.Defaults = []gardencorev1beta1.SeedDNSProviderConfig{{Domain: "example.org", CredentialsRef: *secretIn("garden", "default-domain")}}
		set(graph.Seed, seed)
	}

	return shoots
}

func newAuthorizer(shoots *selfhosted.Shoots) *shootauthorizer.Authorizer {
	return shootauthorizer.New(shoots, rules.Config{Clock: clock.RealClock{}, Searched: func(graph.Kind, time.Duration) {}})
}

// attributes reads "group/resource[/part] [namespace/]name?fields".
func attributes(t *testing.T, who user.Info, verb, ask string) authorizer.Attributes {
	t.Helper()
	ask, selector, _ := strings.Cut(ask, "?")
	words := strings.Split(ask+" ", " ")
	resource := strings.Split(words[0]+"/", "/")
	a := authorizer.AttributesRecord{User: who, Verb: verb, APIGroup: resource[0], Resource: resource[1], Subresource: resource[2], ResourceRequest: true}
	a.Name = words[1]
	if namespace, name, ok := strings.Cut(words[1], "/"); ok {
		a.Namespace, a.Name = namespace, name
	}
	if selector != "" {
		parsed, err := fields.ParseSelector(selector)
		if err != nil {
			t.Fatal(err)
		}
		a.FieldSelectorRequirements = parsed.Requirements()
	}

	return a
}

// allowed returns which of all verbs a client may use. Verbs of lists are given to what has no name, or selects by it.
func allowed(t *testing.T, z authorizer.Authorizer, who user.Info, ask string) string {
	t.Helper()
	var verbs []string
	for verb := range strings.FieldsSeq(every) {
		decision, _, err := z.Authorize(t.Context(), attributes(t, who, verb, ask))
		if err != nil || decision == authorizer.DecisionDeny {
			t.Errorf("%s %s: decision %v, %v", verb, ask, decision, err)
		}
		if decision == authorizer.DecisionAllow {
			verbs = append(verbs, verb)
		}
	}

	return strings.Join(verbs, " ")
}

// TestRules_GAC_SHOOTR_1 is all that the gardenlet of shoot tree in garden-wood may do, object by object.
func TestRules_GAC_SHOOTR_1(t *testing.T) {
	t.Parallel()
	const (
		read   = "get list watch"
		change = "update patch"
	)
	for ask, want := range map[string]string{
		core + "/shoots garden-wood/tree":                                                                read + " " + change,
		core + "/shoots/status garden-wood/tree":                                                         read + " " + change,
		core + "/shootstates garden-wood/tree":                                                           "get create " + change,
		core + "/backupbuckets tree":                                                                     read + " " + change,
		core + "/backupbuckets/status tree":                                                              read + " " + change,
		core + "/backupentries garden-wood/tree":                                                         read + " " + change,
		core + "/controllerinstallations tree":                                                           read + " " + change,
		core + "/controllerinstallations/status tree":                                                    read + " " + change,
		"operations.gardener.cloud/bastions garden-wood/tree":                                            read + " " + change,
		"coordination.k8s.io/leases garden-wood/self-hosted-shoot-tree":                                  read + " create " + change,
		"/secrets garden-wood/tree.ssh-keypair":                                                          "get create " + change + " delete",
		"/secrets garden-wood/tree.monitoring":                                                           "get create " + change + " delete",
		"/configmaps garden-wood/tree.ca-cluster":                                                        "get create " + change + " delete",
		core + "/internalsecrets garden-wood/tree.ca-client":                                             "get create " + change + " delete",
		"certificates.k8s.io/certificatesigningrequests own":                                             read + " create",
		"certificates.k8s.io/certificatesigningrequests/shootclient":                                     "create",
		"/events garden-wood/":                                                                           "create patch",
		"events.k8s.io/events garden-wood/":                                                              "create patch",
		core + "/cloudprofiles cloud":                                                                    read,
		core + "/exposureclasses inner":                                                                  read,
		core + "/projects wood":                                                                          read,
		"/namespaces garden-wood/garden-wood":                                                            read,
		core + "/controllerregistrations extension":                                                      read,
		core + "/controllerdeployments extension":                                                        "get",
		core + "/secretbindings garden-wood/former":                                                      read,
		security + "/credentialsbindings garden-wood/binding":                                            read,
		security + "/workloadidentities garden-wood/identity":                                            "get",
		"/secrets garden-wood/cloud":                                                                     "get",
		"/secrets garden-wood/dns":                                                                       "get",
		"/secrets garden-wood/resource":                                                                  "get",
		"/secrets garden-wood/backup":                                                                    "get",
		"/configmaps garden-wood/resource":                                                               "get",
		core + "/controllerinstallations ?spec.shootRef.namespace=garden-wood,spec.shootRef.name=tree":   "list watch",
		core + "/backupbuckets ?spec.shootRef.namespace=garden-wood,spec.shootRef.name=tree":             "list watch",
		core + "/backupentries garden-wood/?spec.shootRef.namespace=garden-wood,spec.shootRef.name=tree": "list watch",
		"operations.gardener.cloud/bastions garden-wood/?spec.shootRef.name=tree":                        "list watch",
		"/secrets garden-wood/":                                                                          "create",
		"/configmaps garden-wood/":                                                                       "create",
		core + "/internalsecrets garden-wood/":                                                           "create",
		core + "/shootstates garden-wood/":                                                               "create",
		"coordination.k8s.io/leases garden-wood/":                                                        "create",
		"certificates.k8s.io/certificatesigningrequests other":                                           "create",
	} {
		t.Run(ask, func(t *testing.T) {
			t.Parallel()
			z := newAuthorizer(withRequest(t, wood()))
			if diff := cmp.Diff(want, allowed(t, z, gardenlet("garden-wood:tree"), ask)); diff != "" {
				t.Errorf("verbs (-want +got):\n%s", diff)
			}
		})
	}
}

// withRequest adds certificate requests of shoot tree and of another.
func withRequest(t *testing.T, shoots *selfhosted.Shoots) *selfhosted.Shoots {
	t.Helper()
	for name, shoot := range map[string]string{"own": "garden-wood:tree", "other": "garden:lone"} {
		r := &certificatesv1.CertificateSigningRequest{ObjectMeta: named("", name)}
		r.Spec = certificatesv1.CertificateSigningRequestSpec{Request: requestFor(t, shoot), SignerName: "kubernetes.io/kube-apiserver-client", Usages: []certificatesv1.KeyUsage{"client auth", "digital signature", "key encipherment"}}
		shoots.Set(graph.Vertex{Kind: graph.CertificateSigningRequest, Name: name}, r)
	}

	return shoots
}

// TestOthers_GAC_SHOOTR_1 has the gardenlets of self-hosted shoots ask for what is not theirs.
func TestOthers_GAC_SHOOTR_1(t *testing.T) {
	t.Parallel()
	const tree, lone, bush = "garden-wood:tree", "garden:lone", "garden-wood:bush"
	for name, tc := range map[string]struct{ reason, who, ask string }{
		"other shoot":          {"another shoot of the project", tree, core + "/shoots garden-wood/bush"},
		"namesake":             {"a namesake in another project", tree, core + "/shoots garden-meadow/tree"},
		"all shoots":           {"all shoots at once", tree, core + "/shoots garden-wood/"},
		"shoots of a seed":     {"nor by the name of a seed", tree, core + "/shoots ?spec.seedName=tree"},
		"kubeconfig":           {"no kubeconfig of an administrator", tree, core + "/shoots/adminkubeconfig garden-wood/tree"},
		"viewer":               {"nor of a viewer", tree, core + "/shoots/viewerkubeconfig garden-wood/tree"},
		"binding":              {"it moves to no seed", tree, core + "/shoots/binding garden-wood/tree"},
		"finalizers":           {"nor holds what refers to it", tree, core + "/shoots/finalizers garden-wood/tree"},
		"other state":          {"all keys of another shoot", tree, core + "/shootstates garden-wood/bush"},
		"other keys":           {"the keys of another shoot", tree, "/secrets garden-wood/bush.ssh-keypair"},
		"neighbour's keys":     {"also if the shoot refers to them", tree, "/secrets garden-wood/neighbour.ssh-keypair"},
		"other CA":             {"the client CA of another shoot", tree, core + "/internalsecrets garden-wood/bush.ca-client"},
		"InternalSecret":       {"an InternalSecret that the shoot refers to", tree, core + "/internalsecrets garden-wood/inner"},
		"Secret":               {"a Secret of the project that the shoot does not name", tree, "/secrets garden-wood/theirs"},
		"Secret by wildcard":   {"a part of a Secret", tree, "/secrets/status garden-wood/tree.monitoring"},
		"Secrets":              {"all Secrets of the garden", tree, "/secrets garden/"},
		"shared credentials":   {"credentials of operators, which members may use and not read", tree, "/secrets operators/shared"},
		"bucket's credentials": {"credentials of a bucket that are elsewhere", tree, "/secrets garden/backup"},
		"generated":            {"generated credentials", tree, "/secrets garden/generated-bucket-tree"},
		"bush's bucket":        {"the bucket of a shoot on a seed", tree, core + "/backupbuckets bush"},
		"default domain":       {"the default domain", tree, "/secrets garden/default-domain"},
		"default domain, seed": {"also for a shoot that is a seed", lone, "/secrets garden/default-domain"},
		"pull secret":          {"what a ControllerDeployment refers to", lone, "/secrets garden/pull"},
		"own generated":        {"generated credentials in its own namespace", lone, "/secrets garden/generated-bucket-lone"},
		"named generated":      {"also if the shoot refers to them", lone, "/secrets garden/generated-bucket-b"},
		"issuer":               {"the documents of its issuer", tree, "/secrets gardener-system-shoot-issuer/wood--tree--"},
		"entry elsewhere":      {"a backup entry in another project that names the shoot", tree, core + "/backupentries garden-meadow/tree"},
		"bucket of an entry":   {"the bucket of a seed that its entry names", tree, core + "/backupbuckets seed"},
		"other installation":   {"an installation for another shoot", tree, core + "/controllerinstallations lone"},
		"installations":        {"a selector without the namespace", tree, core + "/controllerinstallations ?spec.shootRef.name=tree"},
		"installations, other": {"nor with another one", tree, core + "/controllerinstallations ?spec.shootRef.name=tree,spec.shootRef.namespace=garden"},
		"installations, not":   {"nor one for all others", tree, core + "/controllerinstallations ?spec.shootRef.name!=tree,spec.shootRef.namespace=garden-wood"},
		"bastions":             {"Bastions of all projects", tree, "operations.gardener.cloud/bastions ?spec.shootRef.name=tree"},
		"registrations":        {"all registrations", tree, core + "/controllerregistrations "},
		"other lease":          {"the lease of another shoot", tree, "coordination.k8s.io/leases garden-wood/self-hosted-shoot-bush"},
		"seed lease":           {"the lease of a seed of its name", tree, "coordination.k8s.io/leases gardener-system-seed-lease/tree"},
		"lease elsewhere":      {"its lease in another namespace", tree, "coordination.k8s.io/leases garden/self-hosted-shoot-tree"},
		"Seed":                 {"a Seed of its name", tree, core + "/seeds tree"},
		"managed seed":         {"the Seed that it is", lone, core + "/seeds lone"},
		"ManagedSeed":          {"nor its ManagedSeed", lone, "seedmanagement.gardener.cloud/managedseeds garden/lone"},
		"seed namespace":       {"the namespace of a seed of its name", tree, "/namespaces seed-tree/seed-tree"},
		"other namespace":      {"the namespace of another project", tree, "/namespaces garden/garden"},
		"other project":        {"nor the project", tree, core + "/projects garden"},
		"event elsewhere":      {"events in other namespaces", tree, "/events garden/"},
		"tokens":               {"tokens of an identity, to act for it", tree, security + "/workloadidentities/token garden-wood/identity"},
		"seedclient":           {"the certificate of a seed", tree, "certificates.k8s.io/certificatesigningrequests/seedclient"},
		"approval":             {"it approves nothing", tree, "certificates.k8s.io/certificatesigningrequests/approval own"},
		"join tokens":          {"tokens of others", tree, "/secrets kube-system/bootstrap-token-abcdef"},
		"accounts":             {"service accounts", tree, "/serviceaccounts garden-wood/robot"},
		"roles":                {"roles", tree, "rbac.authorization.k8s.io/rolebindings garden-wood/b"},
		"impersonation":        {"it is nobody else", tree, "/users rose"},
		"timeline":             {"it adds to no timelines", tree, "appliance.terrarium.garden/timelinereports "},
		"hosted":               {"a shoot on a seed has no gardenlet of its own", bush, core + "/shoots garden-wood/bush"},
		"hosted keys":          {"with no keys", bush, "/secrets garden-wood/bush.ssh-keypair"},
		"hosted renewal":       {"and no certificate", bush, "certificates.k8s.io/certificatesigningrequests/shootclient"},
		"nobody":               {"nor has a shoot that does not exist", "garden-wood:gone", core + "/shootstates garden-wood/gone"},
		"no shoot":             {"nor a member of the group with another name", "tree", core + "/shoots garden-wood/tree"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := allowed(t, newAuthorizer(wood()), gardenlet(tc.who), tc.ask); got != "" {
				t.Errorf("%s: %s may %s %s", tc.reason, tc.who, got, tc.ask)
			}
		})
	}
}

// TestFormer_GAC_SHOOTR_1 has a shoot deleted, and created again by somebody else.
func TestFormer_GAC_SHOOTR_1(t *testing.T) {
	t.Parallel()
	shoots := wood()
	z := newAuthorizer(shoots)
	tree := graph.Vertex{Kind: graph.Shoot, Namespace: "garden-wood", Name: "tree"}
	asks := func(reason string, issued time.Time, want bool) {
		t.Helper()
		who := shootclient.Issued(gardenlet("garden-wood:tree"), issued)
		for _, ask := range []string{core + "/shoots garden-wood/tree", "certificates.k8s.io/certificatesigningrequests/shootclient"} {
			if got := allowed(t, z, who, ask); (got != "") != want {
				t.Errorf("%s: may %q with %s, want any: %t", reason, got, ask, want)
			}
		}
	}
	asks("a certificate of this shoot", created, true)
	asks("a certificate from before the shoot", created.Add(-time.Second), false)
	shoots.Set(tree, nil)
	asks("a shoot that is gone has no gardenlet", created, false)
	again := shoot("garden-wood", "tree", false)
	again.CreationTimestamp = metav1.NewTime(created.Add(time.Hour))
	shoots.Set(tree, again)
	asks("the certificate is one of the former shoot", created, false)
	asks("the gardenlet of the new one", created.Add(time.Hour), true)
	shoots.Retain(graph.Shoot, nil)
	asks("a list tells that it is gone", created.Add(time.Hour), false)
	shoots.Set(tree, shoot("garden-wood", "tree", true))
	asks("its namesake is on a seed", created.Add(time.Hour), false)
}

// TestNotForOthers_GAC_SHOOTR_1: everybody else is authorized by others, and the group alone gives nothing.
func TestNotForOthers_GAC_SHOOTR_1(t *testing.T) {
	t.Parallel()
	for name, who := range map[string]user.Info{
		"person":    &user.DefaultInfo{Name: "rose", Groups: []string{"system:authenticated"}},
		"no group":  &user.DefaultInfo{Name: "gardener.cloud:system:shoot:garden-wood:tree"},
		"seed":      &user.DefaultInfo{Name: "gardener.cloud:system:seed:tree", Groups: []string{"gardener.cloud:system:seeds"}},
		"gardenadm": &user.DefaultInfo{Name: "gardener.cloud:gardenadm:shoot:garden-wood:tree", Groups: []string{"gardener.cloud:system:shoots"}},
		"nobody":    nil,
	} {
		if got := allowed(t, newAuthorizer(wood()), who, core+"/shoots garden-wood/tree"); got != "" {
			t.Errorf("%s may %s", name, got)
		}
	}
}

// TestWithIssued_GAC_SHOOTR_1: the server notes when the certificate of a gardenlet of a shoot was issued, and of nobody else.
func TestWithIssued_GAC_SHOOTR_1(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		who  user.Info
		tls  bool
		want map[string][]string
	}{
		"gardenlet":      {gardenlet("garden-wood:tree"), true, map[string][]string{"certificate.terrarium.garden/issued": {"1893553445"}}},
		"no certificate": {gardenlet("garden-wood:tree"), false, nil},
		"person":         {&user.DefaultInfo{Name: "rose"}, true, nil},
	} {
		next := authenticator.RequestFunc(func(*http.Request) (*authenticator.Response, bool, error) {
			return &authenticator.Response{User: tc.who}, true, nil
		})
		r := &http.Request{}
		if tc.tls {
			r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{NotBefore: created.Add(-5 * time.Minute)}}}
		}
		got, ok, err := shootauthorizer.WithIssued(next).AuthenticateRequest(r)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if diff := cmp.Diff(tc.want, got.User.GetExtra()); diff != "" {
			t.Errorf("%s: extra (-want +got):\n%s", name, diff)
		}
	}
}
