// SPDX-License-Identifier: Apache-2.0

package machines

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// UserDataKey is the key of the user data in the Secret of a MachineClass.
	UserDataKey = "userData"

	tokenIDLength     = 6
	tokenSecretLength = 16
	// tokenReserve is how much longer a token lives than a machine may take to join.
	tokenReserve = 10 * time.Minute
)

// token is the bootstrap token with which one machine requests its client certificate.
type token struct {
	id, secret string
}

func (t token) String() string { return t.id + "." + t.secret }

// object is the token as a Secret of the shoot. The controllers of the shoot delete it when it has expired.
func (t token) object(machineName string, expires time.Time) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "bootstrap-token-" + t.id},
		Type:       corev1.SecretTypeBootstrapToken,
		Data: map[string][]byte{
			"description":                    []byte("A bootstrap token for machine " + machineName),
			"token-id":                       []byte(t.id),
			"token-secret":                   []byte(t.secret),
			"expiration":                     []byte(expires.UTC().Format(time.RFC3339)),
			"usage-bootstrap-authentication": []byte("true"),
			"usage-bootstrap-signing":        []byte("true"),
		},
	}
}
