// SPDX-License-Identifier: Apache-2.0

package seedrestriction

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
)

// extensionAccount rejects service accounts in the namespace of a seed that are not those of extensions which are installed on it. Roles
// of extensions select accounts by their labels (GCM-CREXT-2), so a label other than the one that names the extension, or with another
// value, is rejected too: it could give the seed what is meant for extensions that it does not have. An account with another name would
// be a user who is no client of the seed for other rules. Of a change, only new labels are judged.
func (r *request) extensionAccount(ctx context.Context, account, old *corev1.ServiceAccount) error {
	if old != nil && maps.Equal(account.Labels, old.Labels) {
		return nil
	}
	name, ok := strings.CutPrefix(r.GetName(), gardencorev1beta1.NamespacePrefixExtension)
	if !ok {
		return fmt.Errorf("metadata.name: must be %q with the name of a ControllerInstallation after it: %w", gardencorev1beta1.NamespacePrefixExtension, errForeign)
	}
	installation, err := r.ControllerInstallation(ctx, name)
	if err != nil || installation.Spec.SeedRef == nil || installation.Spec.SeedRef.Name != r.client.Seed {
		return r.elsewhere(err, "metadata.name", "controller installation", name)
	}
	var before map[string]string
	if old != nil {
		before = old.Labels
	}
	for _, key := range slices.Sorted(maps.Keys(account.Labels)) {
		value := account.Labels[key]
		if was, had := before[key]; had && was == value {
			continue
		}
		if key != gardencorev1beta1.LabelControllerRegistrationName || value != installation.Spec.RegistrationRef.Name {
			return fmt.Errorf("metadata.labels[%s]: the account of an extension can only have the label %q, with the value %q",
				key, gardencorev1beta1.LabelControllerRegistrationName, installation.Spec.RegistrationRef.Name)
		}
	}

	return nil
}
