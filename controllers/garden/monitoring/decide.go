// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/bcrypt"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	"github.com/terrarium-garden/terrarium/controllers/kit"
)

const (
	// Name is the name of the credentials that a garden creates itself.
	Name = "observability-ingress"
	// Owner is the label value that marks them as managed by the garden.
	Owner = "terrarium"

	user           = "admin"
	passwordLength = 32

	// The keys of the credentials. The last one holds a line of a password file for web servers.
	keyUser, keyPassword, keyAuth = "username", "password", "auth"
)

// Plan is what has to be done about the credentials.
type Plan struct {
	// Create is set if there are none.
	Create bool
	// Delete are the garden's own credentials if an operator has created others.
	Delete *corev1.Secret
	// Rotate are the credentials that get a new password.
	Rotate *corev1.Secret
	// Announce are the credentials with a new password. The seeds are reconciled once they have it.
	Announce *corev1.Secret
}

// Decide makes a plan from all secrets with the role. Those with a purpose are for something else (OPER-FLOW-19).
func Decide(secrets []corev1.Secret) (Plan, error) {
	var own *corev1.Secret
	var others []*corev1.Secret
	for i := range secrets {
		secret := &secrets[i]
		_, special := secret.Labels[gardencorev1beta1.LabelPurpose]
		switch {
		case special || secret.DeletionTimestamp != nil:
		case secret.Name == Name && secret.Labels[gardencorev1beta1.LabelSecretManagedBy] == Owner:
			own = secret
		default:
			others = append(others, secret)
		}
	}
	if len(others) > 1 {
		names := make([]string, 0, len(others))
		for _, secret := range others {
			names = append(names, secret.Name)
		}
		slices.Sort(names)
		return Plan{}, kit.UserMustFix("TooManyCredentials", fmt.Errorf("secrets %s in namespace %q have the label %s=%s, but only one may have it: delete the others",
			strings.Join(names, ", "), gardencorev1beta1.NamespaceGarden, gardencorev1beta1.LabelRole, gardencorev1beta1.RoleGlobalMonitoring))
	}
	var plan Plan
	used := own
	if len(others) == 1 {
		used, plan.Delete = others[0], own
	}
	if used == nil {
		return Plan{Create: true}, nil
	}
	switch used.Annotations[gardencorev1beta1.AnnotationOperation] {
	case gardencorev1beta1.OperationRotateObservabilityCredentials:
		plan.Rotate = used
	case gardencorev1beta1.OperationReconcile:
		plan.Announce = used
	}
	return plan, nil
}

// fresh returns credentials without content.
func fresh() *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: gardencorev1beta1.NamespaceGarden, Name: Name,
			Labels: map[string]string{
				gardencorev1beta1.LabelRole:            gardencorev1beta1.RoleGlobalMonitoring,
				gardencorev1beta1.LabelSecretName:      Name,
				gardencorev1beta1.LabelSecretManagedBy: Owner,
			},
		},
		Type: corev1.SecretTypeOpaque,
	}
}

// fill writes a new password into credentials. Other content stays.
func fill(secret *corev1.Secret, now time.Time) error {
	name := string(secret.Data[keyUser])
	if name == "" {
		name = user
	}
	password := (rand.Text() + rand.Text())[:passwordLength]
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
	if err != nil {
		return fmt.Errorf("generate password of secret %q: %w", secret.Name, err)
	}
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	secret.Data[keyUser], secret.Data[keyPassword] = []byte(name), []byte(password)
	secret.Data[keyAuth] = fmt.Appendf(nil, "%s:%s", name, hash)
	metav1.SetMetaDataLabel(&secret.ObjectMeta, gardencorev1beta1.LabelSecretLastRotationInitiationTime, strconv.FormatInt(now.Unix(), 10))
	return nil
}
