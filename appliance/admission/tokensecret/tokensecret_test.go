// SPDX-License-Identifier: Apache-2.0

package tokensecret_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
	"github.com/terrarium-garden/terrarium/appliance/admission/tokensecret"
)

func secret(kind corev1.SecretType, account string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "garden-meadow", Name: "token", Annotations: map[string]string{"kubernetes.io/service-account.name": account},
	}, Type: kind}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	const token = corev1.SecretTypeServiceAccountToken
	may := []string{"rose create serviceaccounts/token garden-meadow/robot"}
	admissiontest.Run(t, tokensecret.New, map[string]admissiontest.Case{
		"refused": {
			Reason: "a Secret is no way to a token that one may not request", Request: admissiontest.Request{Object: secret(token, "robot")},
			Refused: []string{"serviceaccounts/token", `"robot"`, `"rose" may not`},
		},
		"allowed": {Reason: "who may request it may have it in a Secret", Rights: may, Request: admissiontest.Request{Object: secret(token, "robot")}},
		"other account": {
			Reason: "the right is for one account", Rights: may, Request: admissiontest.Request{Object: secret(token, "boss")}, Refused: []string{`"boss"`},
		},
		"turned": {
			Reason: "a Secret is not turned to another account", Rights: may,
			Request: admissiontest.Request{Object: secret(token, "boss"), Old: secret(token, "robot")}, Refused: []string{`"boss"`},
		},
		"other change": {Reason: "other changes are free", Request: admissiontest.Request{Object: secret(token, "robot"), Old: secret(token, "robot")}},
		"other type":   {Reason: "other Secrets are none of this rule", Request: admissiontest.Request{Object: secret(corev1.SecretTypeOpaque, "robot")}},
	})
}

// TestMessage shows what the user reads who may not request the token in full.
func TestMessage(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil)
	err := g.Ask(tokensecret.New(g.World), admissiontest.Request{Object: secret(corev1.SecretTypeServiceAccountToken, "robot")})
	want := `secrets "token" is forbidden: a Secret of type kubernetes.io/service-account-token gives the token of service account "robot"; only who may create serviceaccounts/token of it may make one, and "rose" may not`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}
