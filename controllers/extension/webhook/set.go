// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// Kind says by which label of a namespace a webhook of the seed is restricted (EXT-WH-1).
type Kind string

const (
	// KindShoot is for shoots of a provider type.
	KindShoot Kind = "shoot"
	// KindSeed is for shoots on seeds of a provider type.
	KindSeed Kind = "seed"
	// KindBackup is for shoots whose backups are kept by a provider type.
	KindBackup Kind = "backup"
	// KindNetwork is for shoots of a provider type with a network plugin.
	KindNetwork Kind = "network"
)

// Mutate changes an object that is created or updated; before is nil for one that is created. An error refuses the request, and is shown
// to the user who sent it. It must not trust the object more than those who may write it.
type Mutate func(ctx context.Context, object, before client.Object) error

// Webhook is asked about some kinds of objects.
type Webhook struct {
	// Name of the webhook, which is also its path.
	Name string
	// Kind and Type restrict a webhook of the seed: Type is a provider type. Those of shoots have neither.
	Kind Kind
	Type string
	// Network is the type of the network plugin, for KindNetwork.
	Network string
	// Objects are empty objects of the kinds that it is asked about.
	Objects []client.Object
	// Selector selects among the objects. In the seed, unset stands for those marked as open to changes (EXT-WH-3), see also CloudProvider.
	// In a shoot, unset stands for all.
	Selector *metav1.LabelSelector
	// Mutate changes them.
	Mutate Mutate
}

// Set are the webhooks of an extension.
type Set struct {
	// Extension is its name, such as provider-local.
	Extension string
	// Seed are asked by the API server of the seed, Shoot by those of shoots.
	Seed, Shoot []Webhook
}

// CloudProvider selects the Secret with the credentials of the cloud.
func CloudProvider() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{gardencorev1beta1.LabelPurpose: gardencorev1beta1.SecretCloudProvider}}
}

// Validate says what is wrong with the set. A webhook of the seed without a restriction would be asked about the shoots of everybody.
func (s Set) Validate() error {
	var errs []error
	if reasons := validation.IsDNS1123Label(s.Extension); len(reasons) > 0 {
		errs = append(errs, fmt.Errorf("the name %q of the extension: %s", s.Extension, strings.Join(reasons, ", ")))
	}
	paths := map[string]bool{}
	for _, part := range []struct {
		of     string
		all    []Webhook
		inSeed bool
	}{{"seed", s.Seed, true}, {"shoot", s.Shoot, false}} {
		for _, w := range part.all {
			if err := w.validate(part.inSeed); err != nil {
				errs = append(errs, fmt.Errorf("webhook %q of the %s: %w", w.Name, part.of, err))
			}
			if paths[part.of+w.Name] {
				errs = append(errs, fmt.Errorf("webhook %q of the %s: there are two", w.Name, part.of))
			}
			paths[part.of+w.Name] = true
		}
	}
	return errors.Join(errs...)
}

func (w Webhook) validate(inSeed bool) error {
	reasons := validation.IsDNS1123Label(w.Name)
	switch {
	case len(reasons) > 0:
		return fmt.Errorf("the name: %s", strings.Join(reasons, ", "))
	case len(w.Objects) == 0 || w.Mutate == nil:
		return errors.New("it has no objects or no function")
	case !inSeed && (w.Kind != "" || w.Type != "" || w.Network != ""):
		return errors.New("a shoot has one provider: leave kind, type and network unset")
	case !inSeed:
		return nil
	case w.Type == "":
		return errors.New("it has no provider type, and would be asked about the shoots of all providers")
	case (w.Kind == KindNetwork) != (w.Network != ""):
		return errors.New("a network type belongs to the kind network, which needs one")
	case w.Kind != KindNetwork && namespaceLabel(w.Kind) == "":
		return fmt.Errorf("the kind %q: must be one of %s, %s, %s, %s", w.Kind, KindShoot, KindSeed, KindBackup, KindNetwork)
	}
	return nil
}

// namespaceLabel is the key of the label of a shoot's namespace that has the provider type.
func namespaceLabel(kind Kind) string {
	switch kind {
	case KindShoot, KindNetwork:
		return gardencorev1beta1.LabelShootProvider
	case KindSeed:
		return gardencorev1beta1.LabelSeedProvider
	case KindBackup:
		return gardencorev1beta1.LabelBackupProvider
	default:
		return ""
	}
}

// namespaces selects the namespaces that a webhook of the seed is asked about.
func (w Webhook) namespaces() *metav1.LabelSelector {
	labels := map[string]string{namespaceLabel(w.Kind): w.Type}
	if w.Network != "" {
		labels[gardencorev1beta1.LabelNetworkingProvider] = w.Network
	}
	return &metav1.LabelSelector{MatchLabels: labels}
}

// objects selects the objects that a webhook of the seed is asked about.
func (w Webhook) objects() *metav1.LabelSelector {
	if w.Selector != nil {
		return w.Selector
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{gardencorev1beta1.LabelMutatedByControlPlaneWebhook: "true"}}
}
