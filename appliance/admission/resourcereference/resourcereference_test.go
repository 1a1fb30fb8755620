// SPDX-License-Identifier: Apache-2.0

package resourcereference_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/resourcereference"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

type (
	shoot        = gardencorev1beta1.Shoot
	seed         = gardencorev1beta1.Seed
	binding      = gardencorev1beta1.SecretBinding
	profile      = gardencorev1beta1.CloudProfile
	registration = gardencorev1beta1.ControllerRegistration
)

const (
	secret  = "v1 secrets garden-meadow/local"
	mayRead = "rose get secrets garden-meadow/local"
)

func TestSecretBinding(t *testing.T) {
	t.Parallel()
	limited := func(b *binding) { b.Quotas = []corev1.ObjectReference{{Namespace: "garden", Name: "q"}} }
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"API-RRM-1":            {Reason: "who may read a secret may bind it", Rights: []string{mayRead}, Foreign: []string{secret}, Request: admissiontest.Request{Object: admissiontest.Binding()}},
		"API-RRM-1 unreadable": {Reason: "who may not read it does not learn whether it exists", Foreign: []string{secret}, Request: admissiontest.Request{Object: admissiontest.Binding()}, Refused: []string{"secretRef: you may not read Secret \"garden-meadow/local\""}},
		"API-RRM-1 missing":    {Reason: "it must exist", Rights: []string{mayRead}, Request: admissiontest.Request{Object: admissiontest.Binding()}, Refused: []string{`secretRef: Secret "garden-meadow/local" does not exist`}},
		"API-RRM-1 update":     {Reason: "what stays is not looked at", Request: admissiontest.Request{Object: admissiontest.Binding(), Old: admissiontest.Binding()}},
		"API-RRM-1 quota": {
			Reason: "quotas must exist", Rights: []string{mayRead, "rose get quotas garden/q"}, Foreign: []string{secret},
			Request: admissiontest.Request{Object: admissiontest.Binding(limited)}, Refused: []string{`quotas[0]: Quota "garden/q" does not exist`},
		},
	})
}

func TestShoot(t *testing.T) {
	t.Parallel()
	have := []kind.Object{admissiontest.Credentials()}
	ask := func(change ...func(*shoot)) admissiontest.Request {
		return admissiontest.Request{Object: admissiontest.Shoot(change...)}
	}
	unbound := func(s *shoot) { s.Spec.CredentialsBindingName = nil }
	resource := func(apiVersion, kind, name string) func(*shoot) {
		return func(s *shoot) {
			s.Spec.Resources = append(s.Spec.Resources, gardencorev1beta1.NamedResourceReference{
				Name: name, ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: apiVersion, Kind: kind, Name: name},
			})
		}
	}
	two := admissiontest.Shoot(resource("v1", "Secret", "local"), resource("v1", "ConfigMap", "gone"))
	turned := admissiontest.Shoot(resource("v1", "ConfigMap", "gone"), resource("v1", "Secret", "local"))
	deleting := func(s *shoot) { s.DeletionTimestamp = new(metav1.Now()) }
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"API-RRM-3 binding":      {Reason: "credentials exist", Objects: have, Request: ask()},
		"API-RRM-3 no binding":   {Reason: "or not", Request: ask(admissiontest.Formerly), Refused: []string{`spec.secretBindingName: SecretBinding "garden-meadow/local" does not exist; create it first or name another`}},
		"API-SVAL-17":            {Reason: "credentials are for the provider", Objects: []kind.Object{admissiontest.Binding(func(b *binding) { b.Provider.Type = "one,two" })}, Request: ask(admissiontest.Formerly), Refused: []string{`is for provider "one,two", the shoot is for "local"`}},
		"API-SVAL-17 several":    {Reason: "or for several", Objects: []kind.Object{admissiontest.Binding(func(b *binding) { b.Provider.Type = "one,local" })}, Request: ask(admissiontest.Formerly)},
		"API-RRM-3 unchanged":    {Reason: "what stays is not looked at", Request: admissiontest.Request{Object: two, Old: turned}},
		"API-ADM-6 deleting":     {Reason: "what goes is not looked at", Request: ask(deleting)},
		"API-RRM-3 status":       {Reason: "reports are not looked at", Request: admissiontest.Request{Object: admissiontest.Shoot(), Old: admissiontest.Shoot(unbound), Subresource: "status"}},
		"API-RRM-3 credentials":  {Reason: "a kind that is not served is missing", Request: ask(unbound, func(s *shoot) { s.Spec.CredentialsBindingName = new("c") }), Refused: []string{`CredentialsBinding "garden-meadow/c" does not exist`}},
		"API-RRM-3 exposure":     {Reason: "so are exposure classes", Objects: have, Request: ask(func(s *shoot) { s.Spec.ExposureClassName = new("e") }), Refused: []string{`spec.exposureClassName: ExposureClass "e" does not exist`}},
		"API-RRM-3 resource":     {Reason: "what provider configs refer to exists", Objects: have, Rights: []string{mayRead}, Foreign: []string{secret}, Request: ask(resource("v1", "Secret", "local"))},
		"API-RRM-3 no resource":  {Reason: "or not", Objects: have, Rights: []string{"rose get configmaps garden-meadow/c"}, Request: ask(resource("v1", "ConfigMap", "c")), Refused: []string{`spec.resources[0]: ConfigMap "garden-meadow/c" does not exist`}},
		"API-RRM-3 not mine":     {Reason: "or is not the user's to read", Objects: have, Foreign: []string{secret}, Request: ask(resource("v1", "Secret", "local")), Refused: []string{"spec.resources[0]: you may not read Secret"}},
		"API-RRM-3 unknown kind": {Reason: "an unknown kind does not exist", Objects: have, Rights: []string{"rose get widgets garden-meadow/t"}, Request: ask(resource("play/v1", "Widget", "t")), Refused: []string{`Widget "garden-meadow/t" does not exist`}},
		"API-RRM-3 dns": {
			Reason: "credentials of DNS providers exist", Objects: have, Foreign: []string{secret},
			Request: ask(func(s *shoot) {
				s.Spec.DNS = &gardencorev1beta1.DNS{Providers: []gardencorev1beta1.DNSProvider{
					{SecretName: new("local")}, {}, {CredentialsRef: &autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "gone"}},
				}}
			}),
			Refused: []string{`is forbidden: spec.dns.providers[2]: Secret "garden-meadow/gone" does not exist`},
		},
	})
}

func TestCreator(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil, admissiontest.Credentials())
	s := admissiontest.Shoot(func(s *shoot) { s.Annotations = map[string]string{"gardener.cloud/created-by": "bob"} })
	if err := g.Ask(resourcereference.New(g.World), admissiontest.Request{Object: s}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"gardener.cloud/created-by": "rose"}, s.Annotations); diff != "" {
		t.Errorf("API-RRM-5: an annotation names the creator and cannot be forged (-want +got):\n%s", diff)
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, []string{mayRead})
	g.Break(errors.New("the disk is full"))
	err := g.Ask(resourcereference.New(g.World), admissiontest.Request{Object: admissiontest.Binding()})
	if !apierrors.IsInternalError(err) {
		t.Errorf("what cannot be read is no refusal, got %v", err)
	}
}

func TestSeed(t *testing.T) {
	t.Parallel()
	using := func(s *seed) {
		s.Spec.Resources = []gardencorev1beta1.NamedResourceReference{{Name: "x", ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "Secret", Name: "x"}}}
	}
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"API-RRM-6":         {Reason: "a seed uses what is in the namespace garden", Foreign: []string{"v1 secrets garden/x"}, Request: admissiontest.Request{Object: admissiontest.Seed("a", using)}},
		"API-RRM-6 missing": {Reason: "when it is there", Request: admissiontest.Request{Object: admissiontest.Seed("a", using)}, Refused: []string{`Secret "garden/x" does not exist`}},
	})
}

func TestControllerRegistration(t *testing.T) {
	t.Parallel()
	deployed := admissiontest.Registration("local", func(r *registration) {
		r.Spec.Deployment = &gardencorev1beta1.ControllerRegistrationDeployment{DeploymentRefs: []gardencorev1beta1.DeploymentRef{{Name: "local"}}}
	})
	deployment := &gardencorev1beta1.ControllerDeployment{ObjectMeta: metav1.ObjectMeta{Name: "local"}, Type: "custom"}
	deployment.ProviderConfig.Raw = []byte("{}")
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"API-RRM-12":           {Reason: "the deployment exists", Objects: []kind.Object{deployment}, Request: admissiontest.Request{Object: deployed}},
		"API-RRM-12 missing":   {Reason: "or not", Request: admissiontest.Request{Object: deployed}, Refused: []string{`spec.deployment.deploymentRefs[0]: ControllerDeployment "local" does not exist`}},
		"API-RRM-12 unchanged": {Reason: "what stays is not looked at", Request: admissiontest.Request{Object: deployed, Old: deployed.DeepCopy()}},
	})
}

func TestCloudProfile(t *testing.T) {
	t.Parallel()
	old := admissiontest.Profile(func(p *profile) {
		p.Spec.Kubernetes.Versions = append(p.Spec.Kubernetes.Versions, gardencorev1beta1.ExpirableVersion{Version: "1.35.0"}, gardencorev1beta1.ExpirableVersion{Version: "1.34.0"})
	})
	poorer := admissiontest.Profile(func(p *profile) {
		p.Spec.Kubernetes.Versions[0].Version, p.Spec.MachineImages[0].Versions[0].Version = "1.37.0", "2.0.0"
	})
	pooled := admissiontest.Shoot(func(s *shoot) {
		s.Spec.Provider.Workers[0].Kubernetes = &gardencorev1beta1.WorkerKubernetes{Version: new("1.35.0")}
	})
	elsewhere := admissiontest.Shoot(func(s *shoot) { s.Spec.CloudProfile.Name = "other" })
	ask := admissiontest.Request{Object: poorer, Old: old}
	admissiontest.Run(t, resourcereference.New, map[string]admissiontest.Case{
		"API-RRM-10 used": {
			Reason: "what shoots use stays, and all is told at once", Objects: []kind.Object{pooled}, Request: ask,
			Refused: []string{
				`Kubernetes version 1.36.3 cannot be removed from CloudProfile "local": shoot garden-meadow/sprout uses it`,
				`Kubernetes version 1.35.0 cannot be removed from CloudProfile "local": shoot garden-meadow/sprout (worker pool "one") uses it`,
				`machine image local 1.0.0 cannot be removed from CloudProfile "local": shoot garden-meadow/sprout (worker pool "one") uses it`,
			},
		},
		"API-RRM-10 unused":    {Reason: "what nobody uses may go", Request: ask},
		"API-RRM-10 elsewhere": {Reason: "shoots of other profiles do not count", Objects: []kind.Object{elsewhere}, Request: ask},
		"API-RRM-10 more":      {Reason: "more is welcome", Objects: []kind.Object{pooled}, Request: admissiontest.Request{Object: old, Old: admissiontest.Profile()}},
		"API-RRM-10 new":       {Reason: "a new profile takes nothing away", Request: admissiontest.Request{Object: poorer}},
	})
}

func TestOnce(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, []string{"rose get configmaps garden-meadow/c"}, admissiontest.Credentials())
	asked := admissiontest.Shoot(func(s *shoot) {
		for i := range 10 {
			s.Spec.Resources = append(s.Spec.Resources, gardencorev1beta1.NamedResourceReference{
				Name:        fmt.Sprintf("r%d", i),
				ResourceRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "v1", Kind: "ConfigMap", Name: "c"},
			})
		}
	})
	err := g.Ask(resourcereference.New(g.World), admissiontest.Request{Object: asked})
	if err == nil || strings.Count(err.Error(), "does not exist") != 1 {
		t.Errorf("API-RRM-3: an object is looked up, and missed, once, however often it is referred to: %v", err)
	}
}
