// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	gardencorev1 "github.com/terrarium-garden/terrarium/apis/core/v1"
	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	gardensecurityv1alpha1 "github.com/terrarium-garden/terrarium/apis/security/v1alpha1"
	gardenseedmanagementv1alpha1 "github.com/terrarium-garden/terrarium/apis/seedmanagement/v1alpha1"
	gardensettingsv1alpha1 "github.com/terrarium-garden/terrarium/apis/settings/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

const (
	namespace = admissiontest.Namespace
	masters   = "system:masters"
)

// garden is one with limits and with the project meadow.
type garden struct {
	*harness.Garden

	t *testing.T
}

func start(t *testing.T) garden {
	t.Helper()
	limit := func(group, version, resources string, size string, count *int64) gardenconfigv1alpha1.ResourceLimit {
		l := gardenconfigv1alpha1.ResourceLimit{APIGroups: []string{group}, APIVersions: []string{version}, Resources: []string{resources}, Count: count}
		if size != "" {
			l.Size = new(resource.MustParse(size))
		}
		return l
	}
	g := garden{t: t, Garden: harness.Start(t, harness.WithConfig(func(c *gardenconfigv1alpha1.ServerConfiguration) {
		c.Admission.ResourceSize = &gardenconfigv1alpha1.ResourceSizeConfiguration{
			Limits: []gardenconfigv1alpha1.ResourceLimit{
				limit("", "v1", "configmaps", "2Ki", nil), limit("core.gardener.cloud", "v1beta1", "shoots", "8Ki", nil),
				limit("core.gardener.cloud", "v1beta1", "controllerdeployments", "1Ki", nil),
				limit("core.gardener.cloud", "*", "exposureclasses", "", new(int64(1))), limit("play.example.org", "*", "*", "1Ki", nil),
				limit("authorization.k8s.io", "*", "*", "", new(int64(1))),
			},
			UnrestrictedSubjects: []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: "gardener.cloud:system:seeds"}},
			OperationMode:        gardenconfigv1alpha1.ResourceSizeModeBlock,
		}
	}))}
	project := admissiontest.Project()
	g.create(project)
	harness.Await(t, g.Client, project, "the project is ready", func(p *gardencorev1beta1.Project) error {
		if p.Status.Phase != gardencorev1beta1.ProjectPhaseReady {
			return fmt.Errorf("phase %q", p.Status.Phase)
		}
		return nil
	})
	return g
}

func (g garden) in(t *testing.T) garden {
	t.Helper()
	return garden{Garden: g.Garden, t: t}
}

func (g garden) create(objects ...client.Object) {
	g.t.Helper()
	for _, o := range objects {
		if err := g.Client.Create(g.t.Context(), o); err != nil {
			g.t.Fatalf("create %T %q: %v", o, o.GetName(), err)
		}
	}
}

// refused tries to create an object.
func (g garden) refused(why string, o client.Object, is func(error) bool, says ...string) {
	g.t.Helper()
	g.isRefused(why, g.Client.Create(g.t.Context(), o), is, says...)
}

func (g garden) isRefused(why string, err error, is func(error) bool, says ...string) {
	g.t.Helper()
	if err == nil || !is(err) {
		g.t.Errorf("%s: got %v", why, err)
		return
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			g.t.Errorf("%s: the message lacks %q: %v", why, s, err)
		}
	}
}

func TestAdmission(t *testing.T) {
	t.Parallel()
	g := start(t)
	for name, try := range map[string]func(g garden){
		"GAC-KCFG":  kubeconfigSecrets,
		"GAC-NS":    namespaceDeletion,
		"GAC-SIZE":  sizes,
		"GAC-UPD":   restrictedUpdates,
		"GAC-IDOM":  internalDomains,
		"GAC-PSL":   providerLabels,
		"API-RRM":   providerChecks,
		"API-OIDC":  presetsAndPolicies,
		"API-RQ":    quotas,
		"API-QUOTA": shootQuotas,
		"API-MS":    seedsOfShoots,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			try(g.in(t))
		})
	}
}

func kubeconfigSecrets(g garden) {
	evil := func(namespace string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "evil-"}, StringData: map[string]string{
			"kubeconfig": "apiVersion: v1\nkind: Config\nusers: [{name: bob, user: {tokenFile: /etc/shadow}}]\n",
		}}
	}
	g.refused("GAC-KCFG-3: nobody reads files of the garden", evil(namespace), apierrors.IsInvalid, "data[kubeconfig].users[bob].tokenFile")
	g.create(evil("default"))
	fine := evil(namespace)
	fine.StringData["kubeconfig"] = "apiVersion: v1\nkind: Config\nusers: [{name: bob, user: {token: t}}]\n"
	g.create(fine)
	metrics := g.read("/metrics")
	for line := range strings.Lines(metrics) {
		if strings.HasPrefix(line, "gardener_admission_controller_rejected_resources_total{") && strings.Contains(line, `reason="RejectedKubeconfig"`) {
			return
		}
	}
	g.t.Error("GAC-SRV-5: a refusal is counted")
}

func (g garden) read(path string) string {
	g.t.Helper()
	c, err := rest.HTTPClientFor(g.Config)
	if err != nil {
		g.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(g.t.Context(), http.MethodGet, g.Config.Host+path, http.NoBody)
	if err != nil {
		g.t.Fatal(err)
	}
	response, err := c.Do(request)
	if err != nil {
		g.t.Fatal(err)
	}
	var body bytes.Buffer
	_, err = io.Copy(&body, response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		g.t.Fatal(err)
	}
	return body.String()
}

func namespaceDeletion(g garden) {
	g.isRefused("GAC-NS-2: the project is to be deleted", g.Client.Delete(g.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}),
		apierrors.IsForbidden, `project "meadow"`)
	other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
	g.create(other)
	if err := g.Client.Delete(g.t.Context(), other); err != nil {
		g.t.Errorf("GAC-NS-1: a namespace without a project goes: %v", err)
	}
}

func sizes(g garden) {
	big := func(namespace string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "big"}, Data: map[string]string{"a": strings.Repeat("x", 3000)}}
	}
	g.refused("GAC-SIZE-4: it is too large", big(namespace), apierrors.IsForbidden, "at most 2048")
	g.create(big("default"))
	err := g.As(g.t, "system:serviceaccount:ci:robot", masters).Create(g.t.Context(), big(namespace))
	g.isRefused("GAC-SIZE-5: a service account is no group", err, apierrors.IsForbidden, "at most 2048")
	if err := g.As(g.t, "gardenlet", masters, "gardener.cloud:system:seeds").Create(g.t.Context(), big(namespace)); err != nil {
		g.t.Errorf("GAC-SIZE-6: gardenlets are not bounded: %v", err)
	}
	shoot := shootIn(g.grow("sized"), "big", func(s *gardencorev1beta1.Shoot) { s.Annotations = map[string]string{"a": strings.Repeat("x", 9000)} })
	g.refused("GAC-SIZE-4: garden kinds likewise", shoot, apierrors.IsForbidden, "at most 8192")
	g.manyClasses(apierrors.IsForbidden)
	for range 2 {
		review := &authorizationv1.SelfSubjectAccessReview{}
		review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{Verb: "get", Resource: "secrets"}
		if err := g.Client.Create(g.t.Context(), review); err != nil {
			g.t.Errorf("GAC-SIZE-8: what nobody keeps cannot be too much: %v", err)
		}
	}
	class := func(name string) *gardencorev1beta1.ExposureClass {
		return &gardencorev1beta1.ExposureClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Handler: "h"}
	}
	g.create(class("one"))
	g.refused("GAC-SIZE-8: there are enough", class("two"), apierrors.IsForbidden, "already 1 exposureclasses")
	older := &gardencorev1beta1.ControllerDeployment{ObjectMeta: metav1.ObjectMeta{Name: "older"}, Type: "helm"}
	older.ProviderConfig.Raw = []byte(`{"chart":"` + strings.Repeat("eHh4", 400) + `"}`)
	g.refused("GAC-SIZE-2: the version that was asked for is bounded", older, apierrors.IsForbidden, "at most 1024")
	// It is stored, and answered by the same code, in the version of the other one.
	g.create(&gardencorev1.ControllerDeployment{
		ObjectMeta: metav1.ObjectMeta{Name: "newer"}, Helm: &gardencorev1.HelmControllerDeployment{RawChart: bytes.Repeat([]byte("x"), 1200)},
	})
	toys(g)
}

// toys are custom resources, which have no Go type.
func toys(g garden) {
	g.create(&apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "toys.play.example.org"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "play.example.org", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "toys", Singular: "toy", Kind: "Toy", ListKind: "ToyList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v3", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{
				OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)},
			}}},
		},
	})
	toy := func(name string, size int) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "play.example.org/v3", "kind": "Toy", "spec": strings.Repeat("x", size),
			"metadata": map[string]any{"namespace": namespace, "name": name},
		}}
	}
	harness.Eventually(g.t, "toys are served", func(ctx context.Context) error { return g.Client.Create(ctx, toy("small", 10)) })
	g.refused("GAC-SIZE-3: custom resources likewise", toy("big", 2000), apierrors.IsForbidden, "at most 1024")
}

func restrictedUpdates(g garden) {
	labelled := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "sprout.ca-cluster", Labels: map[string]string{"gardener.cloud/update-restriction": "true"},
	}}
	g.refused("GAC-UPD-1: that is for gardenlets", labelled.DeepCopy(), apierrors.IsForbidden, "update-restriction")
	if err := g.As(g.t, "gardenlet", masters, "gardener.cloud:system:seeds").Create(g.t.Context(), labelled); err != nil {
		g.t.Fatalf("GAC-UPD-1: gardenlets write it: %v", err)
	}
	g.isRefused("GAC-UPD-1: nobody else deletes it", g.Client.Delete(g.t.Context(), labelled), apierrors.IsForbidden, "update-restriction")
}

func internalDomains(g garden) {
	secret := func(name, domain string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Namespace: "garden", Name: name, Labels: map[string]string{"gardener.cloud/role": "internal-domain"},
			Annotations: map[string]string{"dns.gardener.cloud/provider": "local", "dns.gardener.cloud/domain": domain},
		}}
	}
	plain := secret("plain", "x.y")
	plain.Labels = nil
	g.create(plain)
	g.refused("GAC-IDOM-1: the name is taken", secret("plain", "x.y"), apierrors.IsAlreadyExists) // And leaves room for the next one.
	g.refused("GAC-IDOM-1: a domain has a name", secret("none", ""), apierrors.IsInvalid, "dns.gardener.cloud/domain")
	g.create(secret("one", "x.y"))
	g.refused("GAC-IDOM-1: one is enough", secret("two", "x.z"), apierrors.IsConflict, `"one"`)
	g.manyDomains("seed-crowd", apierrors.IsConflict)
}

func providerLabels(g garden) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cloud", Labels: map[string]string{"provider.shoot.gardener.cloud/old": "true"}}}
	g.create(secret)
	if diff := cmp.Diff(map[string]string(nil), secret.Labels, cmpopts.EquateEmpty()); diff != "" {
		g.t.Errorf("GAC-PSL-1: a label without a binding goes; labels (-want +got):\n%s", diff)
	}
	g.create(admissiontest.Binding(func(b *gardencorev1beta1.SecretBinding) {
		b.Name, b.SecretRef.Name, b.Provider.Type = "cloud", "cloud", "cloud"
	}))
	harness.Eventually(g.t, "GAC-PSL-1: the label is that of the binding", func(ctx context.Context) error {
		fresh := &corev1.Secret{}
		if err := g.Client.Get(ctx, client.ObjectKeyFromObject(secret), fresh); err != nil {
			return err
		}
		fresh.Labels = map[string]string{"provider.shoot.gardener.cloud/old": "true"}
		if err := g.Client.Update(ctx, fresh); err != nil {
			return err
		}
		if fresh.Labels["provider.shoot.gardener.cloud/cloud"] != "true" || fresh.Labels["provider.shoot.gardener.cloud/old"] != "" {
			return fmt.Errorf("labels are %v", fresh.Labels)
		}
		return nil
	})
}

// grow makes a project of its own in which shoots can be created.
func (g garden) grow(name string) string {
	g.t.Helper()
	project := admissiontest.Project(func(p *gardencorev1beta1.Project) {
		p.Name, p.Spec.Namespace = name, new("garden-"+name)
	})
	g.create(project)
	harness.Await(g.t, g.Client, project, "the project is ready", func(p *gardencorev1beta1.Project) error {
		if p.Status.Phase != gardencorev1beta1.ProjectPhaseReady {
			return fmt.Errorf("phase %q", p.Status.Phase)
		}
		return nil
	})
	profile := admissiontest.Profile(func(p *gardencorev1beta1.CloudProfile) {
		p.Name = name
		p.Spec.MachineImages[0].UpdateStrategy = new(gardencorev1beta1.MachineImageUpdateStrategyMajor)
	})
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-" + name, Name: "local"}}
	g.create(profile, secret, admissiontest.Credentials(func(b *gardensecurityv1alpha1.CredentialsBinding) {
		b.Namespace, b.CredentialsRef.Namespace = "garden-"+name, "garden-"+name
	}))
	err := g.Client.Create(g.t.Context(), admissiontest.Registration("local", func(r *gardencorev1beta1.ControllerRegistration) {
		for i := range r.Spec.Resources {
			r.Spec.Resources[i].Primary = new(true)
		}
	}))
	if client.IgnoreAlreadyExists(err) != nil {
		g.t.Fatal(err)
	}
	return "garden-" + name
}

func shootIn(namespace, name string, change ...func(*gardencorev1beta1.Shoot)) *gardencorev1beta1.Shoot {
	return admissiontest.Shoot(append([]func(*gardencorev1beta1.Shoot){func(s *gardencorev1beta1.Shoot) {
		s.Namespace, s.Name = namespace, name
		s.Spec.CloudProfile.Name = strings.TrimPrefix(namespace, "garden-")
		s.Spec.Networking.Nodes = new("10.250.0.0/16")
	}}, change...)...)
}

func presetsAndPolicies(g garden) {
	in := g.grow("oidc")
	g.create(&gardensettingsv1alpha1.OpenIDConnectPreset{
		ObjectMeta: metav1.ObjectMeta{Namespace: in, Name: "people"},
		Spec: gardensettingsv1alpha1.OpenIDConnectPresetSpec{
			Server: gardensettingsv1alpha1.KubeAPIServerOpenIDConnect{ClientID: "kubectl", IssuerURL: "https://x.y"}, Weight: 1, ShootSelector: &metav1.LabelSelector{},
		},
	}, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: in, Name: "policy"}, Data: map[string]string{"policy": "x"}})
	audited := func(s *gardencorev1beta1.Shoot) {
		s.Spec.Kubernetes.KubeAPIServer = &gardencorev1beta1.KubeAPIServerConfig{AuditConfig: &gardencorev1beta1.AuditConfig{
			AuditPolicy: &gardencorev1beta1.AuditPolicy{ConfigMapRef: &corev1.ObjectReference{Name: "policy"}},
		}}
	}
	g.refused("GAC-AUDIT-1: that is no policy", shootIn(in, "sprout", audited), apierrors.IsInvalid, "configMapRef", "audit policy")
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: in, Name: "policy"}, Data: map[string]string{
		"policy": "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n",
	}}
	if err := g.Client.Update(g.t.Context(), config); err != nil {
		g.t.Fatalf("a ConfigMap that nobody uses may change: %v", err)
	}
	shoot := shootIn(in, "sprout", audited)
	g.create(shoot)
	if server := shoot.Spec.Kubernetes.KubeAPIServer; server.OIDCConfig == nil || *server.OIDCConfig.ClientID != "kubectl" {
		g.t.Errorf("API-OIDC-2: the preset is taken: %+v", server)
	}
	config.Data["policy"] = "x"
	g.isRefused("GAC-AUDIT-2: the shoot needs it", g.Client.Update(g.t.Context(), config), apierrors.IsInvalid, "data[policy]", `"sprout"`)
}

func quotas(g garden) {
	in := g.grow("counted")
	g.create(&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: in, Name: "few"}, Spec: corev1.ResourceQuotaSpec{
		Hard: corev1.ResourceList{"count/shoots.core.gardener.cloud": resource.MustParse("1")},
	}})
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: in, Name: "few"}}
	harness.Await(g.t, g.Client, quota, "API-RQ-1: the quota is taken up", func(q *corev1.ResourceQuota) error {
		if _, found := q.Status.Hard["count/shoots.core.gardener.cloud"]; !found {
			return errors.New("it is not yet")
		}
		return nil
	})
	g.create(shootIn(in, "first"))
	g.refused("API-RQ-1: one is enough", shootIn(in, "second"), apierrors.IsForbidden, "exceeded quota: few")
	harness.Await(g.t, g.Client, quota, "API-RQ-1: the quota shows what is used", func(q *corev1.ResourceQuota) error {
		if used := q.Status.Used["count/shoots.core.gardener.cloud"]; used.Value() != 1 {
			return fmt.Errorf("used %s", used.String())
		}
		return nil
	})
}

func shootQuotas(g garden) {
	in := g.grow("trial")
	g.create(&gardencorev1beta1.Quota{ObjectMeta: metav1.ObjectMeta{Namespace: in, Name: "trial"}, Spec: gardencorev1beta1.QuotaSpec{
		Scope:   corev1.ObjectReference{APIVersion: "core.gardener.cloud/v1beta1", Kind: "Project"},
		Metrics: corev1.ResourceList{"cpu": resource.MustParse("3")},
	}}, admissiontest.Credentials(func(b *gardensecurityv1alpha1.CredentialsBinding) {
		b.Namespace, b.Name, b.CredentialsRef.Namespace = in, "trial", in
		b.Quotas = []corev1.ObjectReference{{Namespace: in, Name: "trial"}}
	}))
	bound := func(s *gardencorev1beta1.Shoot) { s.Spec.CredentialsBindingName = new("trial") }
	g.create(shootIn(in, "first", bound))
	g.refused("API-QUOTA-4: two have four processors", shootIn(in, "second", bound), apierrors.IsForbidden, "cpu (2 here and 2 by other shoots, of 3)")
}

// known gives a seed the domains that every seed has.
func known(s *gardencorev1beta1.Seed) {
	ref := &corev1.ObjectReference{APIVersion: "v1", Kind: "Secret", Namespace: "garden", Name: "local"}
	s.Spec.DNS.Provider = &gardencorev1beta1.SeedDNSProvider{Type: "local", CredentialsRef: ref}
	s.Spec.DNS.Internal = &gardencorev1beta1.SeedDNSProviderConfig{Type: "local", Domain: "internal.x.y", CredentialsRef: *ref}
	s.Spec.Ingress = &gardencorev1beta1.Ingress{Domain: "ingress.north.x.y", Controller: gardencorev1beta1.IngressController{Kind: "nginx"}}
}

// seedsOfShoots makes a shoot a seed and a way to its machines.
func seedsOfShoots(g garden) {
	in := g.grow("parent")
	project := admissiontest.Project(func(p *gardencorev1beta1.Project) { p.Name, p.Spec.Namespace = "garden", new("garden") })
	g.create(project, admissiontest.Seed("north", known), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "local"}},
		admissiontest.Credentials(func(b *gardensecurityv1alpha1.CredentialsBinding) {
			b.Namespace, b.CredentialsRef.Namespace = "garden", "garden"
		}))
	shoot := shootIn("garden", "nursery", func(s *gardencorev1beta1.Shoot) {
		s.Spec.CloudProfile.Name, s.Spec.SeedName = strings.TrimPrefix(in, "garden-"), new("north")
		s.Spec.Kubernetes.VerticalPodAutoscaler = &gardencorev1beta1.VerticalPodAutoscaler{Enabled: true}
		s.Spec.DNS = &gardencorev1beta1.DNS{
			Domain: new("nursery.x.y"), Providers: []gardencorev1beta1.DNSProvider{{Type: new("unmanaged")}},
		}
	})
	managed := &gardenseedmanagementv1alpha1.ManagedSeed{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "child"},
		Spec: gardenseedmanagementv1alpha1.ManagedSeedSpec{
			Shoot: &gardenseedmanagementv1alpha1.Shoot{Name: "nursery"}, Gardenlet: &gardenseedmanagementv1alpha1.GardenletConfig{
				Config: runtime.RawExtension{Raw: []byte(`{"apiVersion":"gardenlet.config.gardener.cloud/v1alpha1","kind":"GardenletConfiguration",` +
					`"seedConfig":{"spec":{"dns":{"provider":{"type":"local",` +
					`"credentialsRef":{"apiVersion":"v1","kind":"Secret","namespace":"garden","name":"local"}},` +
					`"internal":{"type":"local","domain":"internal.x.y",` +
					`"credentialsRef":{"apiVersion":"v1","kind":"Secret","namespace":"garden","name":"local"}}}}}}`)},
			},
		},
	}
	g.refused("API-MS-1: a seed is a shoot", managed.DeepCopy(), apierrors.IsInvalid, `no shoot "nursery"`)
	harness.Eventually(g.t, "the project of the garden takes shoots", func(ctx context.Context) error { return g.Client.Create(ctx, shoot) })
	g.create(managed)
	if config := string(managed.Spec.Gardenlet.Config.Raw); !strings.Contains(config, `"domain":"ingress.nursery.x.y"`) {
		g.t.Errorf("API-MS-2: the seed has the domain of the shoot: %s", config)
	}
	bastion := &gardenoperationsv1alpha1.Bastion{
		ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "gate"},
		Spec: gardenoperationsv1alpha1.BastionSpec{
			ShootRef:     corev1.LocalObjectReference{Name: "nursery"},
			SSHPublicKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIJ2vJBXMmMK6L0EV3uQh6dZl6rX8J5RrA0Z9QF0iXBx a@b",
			Ingress:      []gardenoperationsv1alpha1.BastionIngressPolicy{{IPBlock: networkingv1.IPBlock{CIDR: "192.0.2.0/24"}}},
		},
	}
	g.create(bastion)
	if bastion.Spec.SeedName == nil || *bastion.Spec.SeedName != "north" || len(bastion.OwnerReferences) != 1 {
		g.t.Errorf("API-BAST-1: what follows from the shoot is filled in: %+v", bastion.Spec)
	}
	shoot.Annotations = map[string]string{"confirmation.gardener.cloud/deletion": "true"}
	if err := g.Client.Update(g.t.Context(), shoot); err != nil {
		g.t.Fatal(err)
	}
	g.isRefused("API-SMS-1: it is a seed", g.Client.Delete(g.t.Context(), shoot), apierrors.IsForbidden, `ManagedSeed "child"`)
}
