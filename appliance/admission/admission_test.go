// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/admission"
	"github.com/terrarium-garden/terrarium/appliance/admission/admissiontest"
)

func TestRules(t *testing.T) {
	t.Parallel()
	g := admissiontest.New(t, nil)
	var names []string
	for _, rule := range admission.GardenRules(&gardenconfigv1alpha1.AdmissionConfiguration{}, admission.Projects{}) {
		names = append(names, rule.Name)
		if rule.New(g.World) == nil {
			t.Errorf("rule %q is nothing", rule.Name)
		}
	}
	want := []string{
		"Unserved", "ResourceReferenceManager", "ExtensionValidator", "ExtensionLabels", "ShootTolerationRestriction", "ShootExposureClass",
		"ShootDNS", "ShootManagedSeed", "ShootNodeLocalDNSEnabledByDefault", "ShootDNSRewriting",
		"ShootMutator", "ShootValidator", "ShootQuotaValidator", "SeedValidator", "SeedMutator", "ControllerRegistrationResources",
		"NamespacedCloudProfileValidator", "Plant", "ProjectMutator", "DeletionConfirmation",
		"FinalizerRemoval", "OpenIDConnectPreset", "ClusterOpenIDConnectPreset", "CustomVerbAuthorizer",
		"ShootVPAEnabledByDefault", "ShootResourceReservation", "ManagedSeed", "ManagedSeedShoot", "Bastion",
		"BackupBucketValidator",
		"SeedRestriction", "ShootRestriction",
		"ProviderSecretLabels", "AuditPolicyValidator", "AuthenticationConfigurationValidator", "AuthorizationConfigurationValidator",
		"OwnerLimit", "ResourceSizeValidator", "SeedLimit", "ProjectLimit", "ProjectValidator",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("API-ADM-1: the order of the rules (-want +got):\n%s", diff)
	}
}
