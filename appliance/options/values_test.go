// SPDX-License-Identifier: Apache-2.0

package options_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	gardenconfigv1alpha1 "github.com/terrarium-garden/terrarium/apis/config/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/options"
)

func TestWithoutSecrets(t *testing.T) {
	t.Parallel()
	for endpoint, want := range map[string]string{
		"": "",
		"postgres://garden:geheim@db.example.org:5432/garden?password=geheim":   "postgres://[redacted]",
		"mysql://garden:geheim@tcp(db.example.org:3306)/garden?tls=skip-verify": "mysql://[redacted]",
	} {
		config := &gardenconfigv1alpha1.ServerConfiguration{Datastore: gardenconfigv1alpha1.DatastoreConfiguration{Endpoint: endpoint}}
		shown := options.WithoutSecrets(config)
		if diff := cmp.Diff(want, shown.Datastore.Endpoint); diff != "" {
			t.Errorf("only the kind of a datastore is shown (-want +got):\n%s", diff)
		}
		if config.Datastore.Endpoint != endpoint {
			t.Error("the server keeps its configuration")
		}
		if text, err := json.Marshal(shown); err != nil || strings.Contains(string(text), "geheim") {
			t.Errorf("the password is shown: %s, %v", text, err)
		}
	}
}
