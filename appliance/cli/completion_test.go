// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardenappliancev1alpha1 "github.com/terrarium-garden/terrarium/apis/appliance/v1alpha1"
	"github.com/terrarium-garden/terrarium/appliance/cli"
)

// named is a server with one object of each resource, which is called after the path of its list.
type named struct{}

func (named) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case secretsPath:
		token := corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "bootstrap-token-abcdef"}, Data: map[string][]byte{
			"seed": []byte("eu-1"), "description": []byte("in the\x1b basement"),
		}}
		reply(w, http.StatusOK, corev1.SecretList{Items: []corev1.Secret{token}})
	case "/appliance/revocations":
		reply(w, http.StatusOK, map[string]any{"items": []map[string]string{{"seed": "stolen"}}})
	case "/apis/appliance.gardener.cloud/v1alpha1/snapshots":
		list := gardenappliancev1alpha1.SnapshotList{Items: make([]gardenappliancev1alpha1.Snapshot, 1)}
		list.Items[0].Name = "snapshot-1"
		reply(w, http.StatusOK, list)
	default:
		list := metav1.PartialObjectMetadataList{Items: []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Name: r.URL.Path}}}}
		list.APIVersion, list.Kind = "meta.k8s.io/v1", "PartialObjectMetadataList"
		reply(w, http.StatusOK, list)
	}
}

func TestCompletions(t *testing.T) {
	t.Parallel()
	core, kubeconfig := "/apis/core.gardener.cloud/v1beta1", kubeconfigFor(t, named{})
	cases := map[string]struct {
		// args are those before the one to complete, which is empty.
		args string
		want []string
	}{
		"Kind":           {"timeline GARDEN", []string{"shoot", "seed", "backupentry", "managedseed"}},
		"Shoot":          {"timeline GARDEN -n garden-meadow shoots", []string{core + "/namespaces/garden-meadow/shoots"}},
		"Seed":           {"timeline GARDEN seed", []string{core + "/seeds"}},
		"BackupEntry":    {"timeline GARDEN -n garden-meadow bec", []string{core + "/namespaces/garden-meadow/backupentries"}},
		"ManagedSeed":    {"timeline GARDEN -n garden ms", []string{"/apis/seedmanagement.gardener.cloud/v1alpha1/namespaces/garden/managedseeds"}},
		"NoMore":         {"timeline GARDEN seed local", nil},
		"NoKind":         {"timeline GARDEN node", nil},
		"SSH":            {"ssh GARDEN -n garden-meadow", []string{core + "/namespaces/garden-meadow/shoots"}},
		"Token":          {"token delete GARDEN", []string{"abcdef\teu-1 in the  basement"}},
		"Snapshot":       {"snapshot delete GARDEN", []string{"snapshot-1"}},
		"Revoke":         {"seed revoke GARDEN", []string{core + "/seeds"}},
		"Forgive":        {"seed forgive GARDEN", []string{"stolen"}},
		"Namespace":      {"audit GARDEN -n", []string{"/api/v1/namespaces"}},
		"SSHNamespace":   {"ssh GARDEN --namespace", []string{"/api/v1/namespaces"}},
		"SeedOfToken":    {"token create GARDEN --seed", []string{core + "/seeds"}},
		"Print":          {"token create --print", []string{"command", "token"}},
		"Mode":           {"gardenlet join --mode", []string{"deployment", "process"}},
		"Type":           {"timeline --type", []string{"Request", "Operation", "Task", "Errors", "Condition", "Removed"}},
		"Level":          {"server --log-level", []string{"debug", "info", "error"}},
		"Table":          {"audit -o", []string{"table", "json"}},
		"OnlyNamedForms": {"doctor --output", []string{"json", "yaml"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"__complete"}, strings.Fields(strings.ReplaceAll(tc.args, "GARDEN", "--kubeconfig "+kubeconfig))...)
			r := newWorld().run(t, append(args, "")...)
			lines := strings.Split(strings.TrimSpace(r.out), "\n")
			var want []string
			want = append(append(want, tc.want...), ":4") // No files.
			if diff := cmp.Diff(want, lines); diff != "" {
				t.Errorf("terrarium %s <TAB> (-want +got):\n%s%s", tc.args, diff, r.errors)
			}
		})
	}
}

// TestCompletionOfSlowGarden asks gardens that never answer.
func TestCompletionOfSlowGarden(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	ended := make(chan struct{})
	kubeconfig := kubeconfigFor(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-ended }))
	t.Cleanup(func() { close(ended) })
	for _, command := range []string{"seed revoke", "seed forgive", "snapshot delete", "token delete", "timeline seed", "ssh sprout -n garden-meadow", "audit -n"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			args := append([]string{"__complete"}, strings.Fields(command)...)
			at := len(args)
			if strings.HasPrefix(args[at-1], "-") {
				at-- // The last one is the flag to complete.
			}
			args = append(args[:at:at], append([]string{"--kubeconfig", kubeconfig}, append(args[at:], "")...)...)
			cli.Main(ctx, cli.Environment{Out: &out, Err: &out, Getenv: func(string) string { return "" }}, args)
			if ctx.Err() != nil || !strings.HasPrefix(out.String(), ":4\n") {
				t.Errorf("terrarium %s <TAB> waits for long, or completes something: %s", command, out.String())
			}
		})
	}
}
