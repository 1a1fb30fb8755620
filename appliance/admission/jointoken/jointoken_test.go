// SPDX-License-Identifier: Apache-2.0

package jointoken_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tokens "github.com/terrarium-garden/terrarium/apis/jointoken"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/jointoken"
	"github.com/terrarium-garden/terrarium/storage/registry/kind"
	"github.com/terrarium-garden/terrarium/storage/registry/kind/kindtest"
)

// token is a join token that is valid for a time.
func token(lifetime time.Duration, change ...func(*corev1.Secret)) *corev1.Secret {
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-abcdef"}, Type: "bootstrap.kubernetes.io/token",
		Data: map[string][]byte{
			"token-id": []byte("abcdef"), "token-secret": []byte("0123456789abcdef"),
			"expiration": []byte(kindtest.Now().Add(lifetime).Format(time.RFC3339)),
		},
	}
	for _, c := range change {
		c(s)
	}
	return s
}

func with(key, value string) func(*corev1.Secret) {
	return func(s *corev1.Secret) { s.Data[key] = []byte(value) }
}

func used(o metav1.Object) {
	tokens.Mark(o, &tokens.Use{Seed: "eu-1", At: kindtest.Now(), Request: "seed-csr-1", UID: "1", Key: "2"})
}

func TestValidate(t *testing.T) {
	t.Parallel()
	admissiontest.Run(t, jointoken.New, map[string]admissiontest.Case{
		"day":       {Reason: "a token is valid for a day at most", Request: admissiontest.Request{Object: token(24 * time.Hour)}},
		"longer":    {Reason: "and not for longer", Request: admissiontest.Request{Object: token(25 * time.Hour)}, Refused: []string{"data[expiration]", "24h"}},
		"endless":   {Reason: "let alone for ever", Request: admissiontest.Request{Object: token(0, func(s *corev1.Secret) { delete(s.Data, "expiration") })}, Refused: []string{"data[expiration]: required"}},
		"seed":      {Reason: "it may be for a seed", Request: admissiontest.Request{Object: token(time.Hour, with("seed", "eu-1"))}},
		"two seeds": {Reason: "and for one only", Request: admissiontest.Request{Object: token(time.Hour, with("seed", "eu-1"), with("description", "for the Gardenlet resource garden/eu-2"))}, Refused: []string{"two different seeds"}},
		"text":      {Reason: "data may come as text", Request: admissiontest.Request{Object: token(time.Hour, func(s *corev1.Secret) { s.StringData = map[string]string{"expiration": "never"} })}, Refused: []string{"data[expiration]"}},
		"prolonged": {Reason: "it is not made longer later", Request: admissiontest.Request{Object: token(48 * time.Hour), Old: token(time.Hour)}, Refused: []string{"data[expiration]"}},
		"old":       {Reason: "one from before this rule can be labelled, or marked", Request: admissiontest.Request{Object: token(48*time.Hour, func(s *corev1.Secret) { s.Labels = map[string]string{"a": "b"} }), Old: token(48 * time.Hour)}},
		"part":      {Reason: "only tokens as a whole are looked at", Request: admissiontest.Request{Object: token(48 * time.Hour), Subresource: "part"}},
		"config":    {Reason: "other kinds are no tokens", Request: admissiontest.Request{Object: &corev1.ConfigMap{ObjectMeta: token(0).ObjectMeta}}},
		"elsewhere": {Reason: "the garden knows tokens in one namespace", Request: admissiontest.Request{Object: token(48*time.Hour, func(s *corev1.Secret) { s.Namespace = "garden-meadow" })}},
		"opaque":    {Reason: "and of one type", Request: admissiontest.Request{Object: token(48*time.Hour, func(s *corev1.Secret) { s.Type = corev1.SecretTypeOpaque })}},
	})
}

// TestMark tries who writes the mark of a token that has been used.
func TestMark(t *testing.T) {
	t.Parallel()
	marked := func(s *corev1.Secret) { used(s) }
	half := func(s *corev1.Secret) {
		s.Annotations = map[string]string{"token.terrarium.garden/used-by-seed": "eu-1"}
	}
	nameless := func(s *corev1.Secret) { s.GenerateName, s.Name = tokens.SecretPrefix+"a", "" }
	account := func(change ...func(metav1.Object)) *corev1.ServiceAccount {
		a := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "garden", Name: "gardenlet-bootstrap-eu-1"}}
		for _, c := range change {
			c(a)
		}
		return a
	}
	cases := map[string]struct {
		reason      string
		object, old kind.Object
		user        string
		want        bool
	}{
		"server":        {reason: "the server marks", object: token(time.Hour, marked), old: token(time.Hour), user: "system:apiserver", want: true},
		"forged":        {reason: "nobody else does", object: token(time.Hour, marked), old: token(time.Hour)},
		"born":          {reason: "a new token has not been used", object: token(time.Hour, marked)},
		"half forged":   {reason: "nor a part of the mark", object: token(time.Hour, half), old: token(time.Hour)},
		"half born":     {reason: "not on a new token either", object: token(time.Hour, half)},
		"nameless":      {reason: "nor on one whose name the server completes", object: token(time.Hour, half, nameless)},
		"kept":          {reason: "the mark stays", object: token(time.Hour), old: token(time.Hour, marked), want: true},
		"other token":   {reason: "with another secret half it is another token", object: token(time.Hour, marked, with("token-secret", "x")), old: token(time.Hour, marked)},
		"elsewhere":     {reason: "a secret of another namespace is no token", object: token(time.Hour, marked, func(s *corev1.Secret) { s.Namespace = "garden" }), want: true},
		"other name":    {reason: "nor is one of another name", object: token(time.Hour, marked, func(s *corev1.Secret) { s.Name = "abcdef" }), want: true},
		"account":       {reason: "accounts by which seeds join are marked likewise", object: account(), old: account(used), want: true},
		"account born":  {reason: "and are new when they are made", object: account(used)},
		"other account": {reason: "others are left alone", object: func() kind.Object { a := account(used); a.Name = "robot"; return a }(), want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := admissiontest.New(t, nil)
			r := admissiontest.Request{Object: tc.object, User: tc.user}
			if tc.old != nil {
				r.Old = tc.old
			}
			if err := g.Ask(jointoken.New(g.World), r); err != nil {
				t.Fatal(err)
			}
			_, named := tc.object.GetAnnotations()["token.terrarium.garden/used-by-seed"]
			if diff := cmp.Diff([]bool{tc.want, tc.want}, []bool{tokens.UseOf(tc.object) != nil, named}); diff != "" {
				t.Errorf("%s: marked (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
