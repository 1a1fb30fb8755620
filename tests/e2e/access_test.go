// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/tests/certificates"
)

// noAdministrators reads every certificate in the Secrets of the control plane: none is of an administrator, and every client of the shoot
// has a token of a service account with the rights that it needs.
func noAdministrators(t *testing.T, w *world) {
	t.Helper()
	plane := "shoot--meadow--" + shootName
	var secrets struct {
		Items []struct {
			Metadata struct{ Name string }
			Data     map[string][]byte
		}
	}
	if err := json.Unmarshal([]byte(w.must(t, w.seed("-n", plane, "get", "secrets", "-o", "json")...)), &secrets); err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, secret := range secrets.Items {
		for key, data := range secret.Data {
			for _, certificate := range certificates.In(data) {
				looked++
				if slices.Contains(certificate.Subject.Organization, "system:masters") {
					t.Errorf("key %s of Secret %q holds the certificate of an administrator", key, secret.Metadata.Name)
				}
			}
		}
	}
	if looked < 10 {
		t.Errorf("only %d certificates were found in %d Secrets: the test does not see them", looked, len(secrets.Items))
	}
	for _, name := range []string{
		"gardener", "gardener-internal", "shoot-access-gardener-resource-manager", "shoot-access-provider-local", "shoot-access-cloud-controller-manager",
	} {
		w.says(t, time.Minute, "T", w.seed("-n", plane, "get", "secret", name, "-o",
			`jsonpath={.metadata.annotations.serviceaccount\.resources\.gardener\.cloud/token-renew-timestamp}`)...)
	}
	const secretsOfSystem = " get secrets -n kube-system"
	want := map[string]bool{
		"provider-local create secrets -n kube-system": true, "provider-local" + secretsOfSystem: false,
		"cloud-controller-manager patch nodes": true, "cloud-controller-manager" + secretsOfSystem: false,
	}
	got := map[string]bool{}
	for what := range want {
		account, may, _ := strings.Cut(what, " ")
		as := "--as=system:serviceaccount:kube-system:" + account
		got[what] = w.try(t, "", w.shoot(append([]string{"auth", "can-i", as}, strings.Fields(may)...)...)...).code == 0
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what the programs may (-want +got):\n%s", diff)
	}
}
