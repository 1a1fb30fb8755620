// SPDX-License-Identifier: Apache-2.0

package kubeconfigsecret_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/kubeconfigsecret"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
)

func holding(key, value string) *corev1.Secret {
	return admissiontest.Secret("access", func(s *corev1.Secret) { s.Data = map[string][]byte{key: []byte(value)} })
}

// user makes a kubeconfig with one user.
func user(fields string) *corev1.Secret {
	return holding("kubeconfig", fmt.Sprintf("apiVersion: v1\nkind: Config\nusers: [{name: bob, user: {%s}}]\n", fields))
}

func TestValidate(t *testing.T) {
	t.Parallel()
	garden := []kind.Object{admissiontest.ProjectNamespace()}
	kept := []kind.Object{admissiontest.ProjectNamespace(func(n *corev1.Namespace) { n.Labels["app"] = "gardener" })}
	cases := map[string]admissiontest.Case{
		"GAC-KCFG-1 no kubeconfig": {Reason: "other keys are not looked at", Request: admissiontest.Request{Object: holding("config", "{")}},
		"GAC-KCFG-2 garbage":       {Reason: "what is no kubeconfig cannot be checked", Request: admissiontest.Request{Object: holding("kubeconfig", "{")}, As: metav1.StatusReasonBadRequest, Refused: []string{"is not a kubeconfig"}},
		"GAC-KCFG-3 inline":        {Reason: "credentials in the kubeconfig itself are fine", Request: admissiontest.Request{Object: user("client-certificate-data: eA==, client-key-data: eA==, token: t, username: u, password: p")}},
		"GAC-KCFG-3 update":        {Reason: "an update is a request as well", Request: admissiontest.Request{Object: user("tokenFile: /etc/shadow"), Old: user("token: t")}, As: metav1.StatusReasonInvalid, Refused: []string{"users[bob].tokenFile"}},
		"GAC-KCFG-3 kept":          {Reason: "one that was there before does not keep others from changing the rest", Request: admissiontest.Request{Object: user("tokenFile: /a"), Old: user("tokenFile: /a")}},
		"GAC-KCFG-2 kept":          {Reason: "whatever it is", Request: admissiontest.Request{Object: holding("kubeconfig", "{"), Old: holding("kubeconfig", "{")}},
		"GAC-KCFG-2 empty":         {Reason: "one that is empty was not there before", Request: admissiontest.Request{Object: user("tokenFile: /a"), Old: holding("other", "")}, As: metav1.StatusReasonInvalid, Refused: []string{"users[bob].tokenFile"}},
		"GAC-KCFG-3 all":           {Reason: "everything that is wrong is told", Request: admissiontest.Request{Object: user("tokenFile: /a, client-key: /b")}, As: metav1.StatusReasonInvalid, Refused: []string{"tokenFile", "client-key", "client-certificate-data, client-key-data, token, username and password"}},
		"GAC-REG-1 config":         {Reason: "other kinds have no kubeconfigs", Request: admissiontest.Request{Object: admissiontest.ConfigMap("access", "kubeconfig", "{")}},
		"GAC-REG-1 part":           {Reason: "only secrets as a whole are looked at", Request: admissiontest.Request{Object: holding("kubeconfig", "{"), Subresource: "part"}},
		"GAC-KCFG-4 delete":        {Reason: "a deletion harms nobody", Request: admissiontest.Request{Old: user("tokenFile: /a")}},
		"GAC-REG-1 elsewhere":      {Reason: "operators may do in other namespaces what they like", Objects: []kind.Object{}, Request: admissiontest.Request{Object: user("tokenFile: /a")}},
		"GAC-REG-1 garden":         {Reason: "and in the one of the garden", Objects: kept, Request: admissiontest.Request{Object: user("tokenFile: /a")}},
	}
	for name, fields := range map[string]string{
		"client-certificate": "client-certificate: /a", "client-key": "client-key: /a", "tokenFile": "tokenFile: /a",
		"act-as": "as: root", "act-as-groups": "as-groups: [system:masters]", "auth-provider": "auth-provider: {name: gcp, config: {cmd-path: /bin/sh}}",
		"exec": "exec: {command: /bin/sh, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}",
	} {
		cases["GAC-KCFG-3 "+name] = admissiontest.Case{
			Reason: "that is no credential", Request: admissiontest.Request{Object: user(fields)},
			As: metav1.StatusReasonInvalid, Refused: []string{"data[kubeconfig].users[bob]." + name},
		}
	}
	for name, tc := range cases {
		if tc.Objects == nil {
			tc.Objects = garden
		}
		cases[name] = tc
	}
	admissiontest.Run(t, kubeconfigsecret.New, cases)
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil)
	g.Break(errors.New("boom"))
	err := g.Ask(kubeconfigsecret.New(g.World), admissiontest.Request{Object: user("token: t")})
	if diff := cmp.Diff(metav1.StatusReasonInternalError, apierrors.ReasonForError(err)); diff != "" {
		t.Errorf("GAC-SRV-4: what cannot be looked up is denied as an error of the server: %v\nreason (-want +got):\n%s", err, diff)
	}
}

// FuzzKubeconfigs lets a project hand in texts as kubeconfigs. Whatever the text, it is taken or refused, and never an
// error of the server.
func FuzzKubeconfigs(f *testing.F) {
	for _, text := range []string{
		"", "{", "[]", "null", "apiVersion: v1\nkind: Config\nusers: [{name: bob, user: {token: t}}]\n", "users: [{}, {user: null}]\n",
		"a: &a [*a]\n", "apiVersion: v1\nkind: Config\nusers: [{name: bob, user: {exec: {command: sh}, client-key-data: \"%\"}}]\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g := admissiontest.New(t, nil, admissiontest.ProjectNamespace())
		err := g.Ask(kubeconfigsecret.New(g.World), admissiontest.Request{Object: holding("kubeconfig", text)})
		if err != nil && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
			t.Error(err)
		}
	})
}
