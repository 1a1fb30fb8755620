// SPDX-License-Identifier: Apache-2.0

package kubeconfigsecret_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/kubeconfigsecret"
)

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
