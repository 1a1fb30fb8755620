// SPDX-License-Identifier: Apache-2.0

package bastion

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
	"k8s.io/apimachinery/pkg/runtime"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
	"github.com/terrarium-garden/terrarium/controllers/component/sshuser"
	"github.com/terrarium-garden/terrarium/controllers/kit"
	"github.com/terrarium-garden/terrarium/controllers/operation"
)

// Spec is what an extension is asked for (GLET-BASTION-1, GLET-BASTION-3).
func Spec(b *gardenoperationsv1alpha1.Bastion) (gardenextensionsv1alpha1.BastionSpec, error) {
	script, err := sshuser.Script([]byte(b.Spec.SSHPublicKey))
	if err != nil {
		return gardenextensionsv1alpha1.BastionSpec{}, fmt.Errorf("spec.sshPublicKey: %w", err)
	}
	spec := gardenextensionsv1alpha1.BastionSpec{UserData: []byte(script + sshuser.Start)}
	if b.Spec.ProviderType != nil {
		spec.Type = *b.Spec.ProviderType
	}
	for _, policy := range b.Spec.Ingress {
		spec.Ingress = append(spec.Ingress, gardenextensionsv1alpha1.BastionIngressPolicy{IPBlock: *policy.IPBlock.DeepCopy()})
	}
	return spec, nil
}

func (r *Reconciler) ready(b *gardenoperationsv1alpha1.Bastion, host *gardenextensionsv1alpha1.Bastion) {
	message := "The bastion has been reconciled"
	if keys := HostKeys(host.Status.ProviderStatus); len(keys) > 0 {
		message += "; its host keys are " + strings.Join(keys, ", ")
	}
	r.set(b, gardencorev1beta1.ConditionTrue, gardenoperationsv1alpha1.ReasonBastionSuccessfullyReconciled, message)
	b.Status.Ingress = host.Status.Ingress.DeepCopy()
	b.Status.ObservedGeneration = new(b.Generation)
}

// unready shows why a host cannot be used.
func (r *Reconciler) unready(b *gardenoperationsv1alpha1.Bastion, reason, message string) {
	r.set(b, gardencorev1beta1.ConditionFalse, reason, message)
}

func (r *Reconciler) set(b *gardenoperationsv1alpha1.Bastion, status gardencorev1beta1.ConditionStatus, reason, message string) {
	b.Status.Conditions = kit.SetCondition(b.Status.Conditions, gardencorev1beta1.Condition{
		Type: gardenoperationsv1alpha1.ConditionTypeBastionReady, Status: status, Reason: reason, Message: operation.Cut(message),
	}, r.Clock.Now())
}

// maxHostKeys bounds what is taken over from an extension.
const maxHostKeys = 4

// HostKeys returns the public keys of a host that its extension has published in the provider status, in the field hostKeys. They are
// what clients compare the host with. What is not a public key is left out.
func HostKeys(status *runtime.RawExtension) []string {
	if status == nil {
		return nil
	}
	var published struct {
		HostKeys []string `json:"hostKeys"`
	}
	if json.Unmarshal(status.Raw, &published) != nil {
		return nil
	}
	var keys []string
	for _, line := range published.HostKeys[:min(len(published.HostKeys), maxHostKeys)] {
		if key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line)); err == nil {
			keys = append(keys, string(bytes.TrimSpace(ssh.MarshalAuthorizedKey(key))))
		}
	}
	return keys
}
