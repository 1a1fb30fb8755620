// SPDX-License-Identifier: Apache-2.0

package internaldomainsecret_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/internaldomainsecret"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func secret(namespace, name, domain string, change ...func(*corev1.Secret)) *corev1.Secret {
	return admissiontest.Secret(name, append([]func(*corev1.Secret){func(s *corev1.Secret) {
		s.Namespace = namespace
		s.Labels = map[string]string{"gardener.cloud/role": "internal-domain"}
		s.Annotations = map[string]string{"dns.gardener.cloud/provider": "local", "dns.gardener.cloud/domain": domain}
	}}, change...)...)
}

func TestValidate(t *testing.T) {
	t.Parallel()
	shoot := []kind.Object{admissiontest.Shoot(func(s *gardencorev1beta1.Shoot) { s.Spec.SeedName = new("a") })}
	bare := func(s *corev1.Secret) { s.Annotations = nil }
	plain := func(s *corev1.Secret) { s.Labels = nil }
	config := admissiontest.ConfigMap("one", "a", "b")
	config.Namespace, config.Labels = "garden", map[string]string{"gardener.cloud/role": "internal-domain"}
	admissiontest.Run(t, internaldomainsecret.New, map[string]admissiontest.Case{
		"GAC-IDOM-1 create":       {Reason: "the first one is welcome", Objects: shoot, Request: admissiontest.Request{Object: secret("garden", "one", "x.y")}},
		"GAC-IDOM-1 second":       {Reason: "one is enough", Objects: []kind.Object{secret("garden", "one", "x.y")}, Request: admissiontest.Request{Object: secret("garden", "two", "x.z")}, As: metav1.StatusReasonConflict, Refused: []string{`secret "one"`}},
		"GAC-IDOM-1 other seed":   {Reason: "each namespace has its own", Objects: []kind.Object{secret("garden", "one", "x.y")}, Request: admissiontest.Request{Object: secret("seed-a", "two", "x.z")}},
		"GAC-IDOM-1 relabel":      {Reason: "a label makes a second one as well", Objects: []kind.Object{secret("garden", "one", "x.y")}, Request: admissiontest.Request{Object: secret("garden", "two", "x.z"), Old: secret("garden", "two", "x.z", plain)}, As: metav1.StatusReasonConflict, Refused: []string{`secret "one"`}},
		"GAC-IDOM-1 annotations":  {Reason: "both annotations are needed", Request: admissiontest.Request{Object: secret("garden", "one", "", bare)}, As: metav1.StatusReasonInvalid, Refused: []string{"dns.gardener.cloud/provider", "dns.gardener.cloud/domain"}},
		"GAC-IDOM-1 domain":       {Reason: "the domain stays while there are shoots", Objects: shoot, Request: admissiontest.Request{Object: secret("garden", "one", "x.z"), Old: secret("garden", "one", "x.y")}, Refused: []string{`"x.y"`, "garden-meadow/sprout"}},
		"GAC-IDOM-1 no shoots":    {Reason: "without shoots it may change", Request: admissiontest.Request{Object: secret("garden", "one", "x.z"), Old: secret("garden", "one", "x.y")}},
		"GAC-IDOM-1 rotation":     {Reason: "credentials may change", Objects: shoot, Request: admissiontest.Request{Object: secret("garden", "one", "x.y"), Old: secret("garden", "one", "x.y")}},
		"GAC-IDOM-1 delete":       {Reason: "the domain of shoots cannot go", Objects: shoot, Request: admissiontest.Request{Old: secret("garden", "one", "x.y")}, Refused: []string{"1 shoots"}},
		"GAC-IDOM-1 unlabel":      {Reason: "not even by its label", Objects: shoot, Request: admissiontest.Request{Object: secret("garden", "one", "x.y", plain), Old: secret("garden", "one", "x.y")}, Refused: []string{"1 shoots"}},
		"GAC-IDOM-1 seed":         {Reason: "that of a seed belongs to its shoots", Objects: shoot, Request: admissiontest.Request{Old: secret("seed-a", "one", "x.y")}, Refused: []string{"1 shoots"}},
		"GAC-IDOM-1 idle seed":    {Reason: "and to no others", Objects: shoot, Request: admissiontest.Request{Old: secret("seed-b", "one", "x.y")}},
		"GAC-IDOM-1 elsewhere":    {Reason: "other namespaces have no internal domain", Objects: shoot, Request: admissiontest.Request{Old: secret("default", "one", "x.y")}},
		"GAC-IDOM-1 part":         {Reason: "only secrets as a whole are asked about", Objects: shoot, Request: admissiontest.Request{Old: secret("garden", "one", "x.y"), Subresource: "part"}},
		"GAC-IDOM-1 config":       {Reason: "and nothing else", Objects: shoot, Request: admissiontest.Request{Old: config}},
		"GAC-IDOM-1 itself":       {Reason: "a secret is not in its own way", Objects: []kind.Object{secret("garden", "one", "x.y")}, Request: admissiontest.Request{Object: secret("garden", "one", "x.y"), Old: secret("garden", "one", "x.y", plain)}},
		"GAC-IDOM-1 beside":       {Reason: "one that has the role keeps it beside another", Objects: []kind.Object{secret("garden", "one", "x.y")}, Request: admissiontest.Request{Object: secret("garden", "two", "x.z"), Old: secret("garden", "two", "x.z")}},
		"GAC-IDOM-1 unknown":      {Reason: "there may be another one", Failing: "secrets", Request: admissiontest.Request{Object: secret("garden", "one", "x.y")}},
		"GAC-IDOM-1 unknown use":  {Reason: "and there may be shoots", Failing: "shoots", Request: admissiontest.Request{Old: secret("garden", "one", "x.y")}},
		"GAC-IDOM-1 other secret": {Reason: "other secrets may go", Objects: shoot, Request: admissiontest.Request{Old: secret("garden", "one", "x.y", plain)}},
	})
}

// TestAtOnce asks for several internal domains before one of them is written, as requests do that come at once.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil)
	rule := internaldomainsecret.New(g.World)
	plain := func(s *corev1.Secret) { s.Labels = nil }
	one, two, three := secret("garden", "one", "x.y"), secret("garden", "two", "x.z"), secret("garden", "three", "x.w")
	for _, step := range []struct {
		reason  string
		request admissiontest.Request
		refused string
	}{
		{reason: "a dry run claims nothing", request: admissiontest.Request{Object: three, DryRun: true}},
		{reason: "the first one is welcome", request: admissiontest.Request{Object: one}},
		{reason: "and may be judged twice", request: admissiontest.Request{Object: one}},
		{reason: "a second one is not", request: admissiontest.Request{Object: two}, refused: "just requested"},
		{reason: "nor by a label", request: admissiontest.Request{Object: two, Old: secret("garden", "two", "x.z", plain)}, refused: "just requested"},
		{reason: "another namespace has its own", request: admissiontest.Request{Object: secret("seed-a", "two", "x.z")}},
		{reason: "the first one may go", request: admissiontest.Request{Old: one, Many: true}},
		{reason: "and make room", request: admissiontest.Request{Object: two}},
		{reason: "also by its label", request: admissiontest.Request{Object: secret("garden", "two", "x.z", plain), Old: two}},
		{reason: "and so on", request: admissiontest.Request{Object: three}},
	} {
		err := g.Ask(rule, step.request)
		if step.refused == "" && err != nil || step.refused != "" && (!apierrors.IsConflict(err) || !strings.Contains(err.Error(), step.refused)) {
			t.Errorf("GAC-IDOM-1: %s: the answer is %v, want a conflict with %q in it", step.reason, err, step.refused)
		}
	}
}
