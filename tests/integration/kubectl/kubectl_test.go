// SPDX-License-Identifier: Apache-2.0

package kubectl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gardenoperatorv1alpha1 "github.com/terrarium-garden/terrarium/apis/operator/v1alpha1"
	"github.com/terrarium-garden/terrarium/tests/harness"
)

// registration makes the provider of the example manifests known.
const registration = `
apiVersion: core.gardener.cloud/v1beta1
kind: ControllerRegistration
metadata: {name: provider-local}
spec:
  resources:
  - {kind: Infrastructure, type: local}
  - {kind: ControlPlane, type: local}
  - {kind: Network, type: local}
  - {kind: OperatingSystemConfig, type: local}
  - {kind: Worker, type: local}
  - {kind: DNSRecord, type: local}`

// TestKubectl tries everything that does not need a garden of its own on one.
func TestKubectl(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	for _, manifest := range []string{registration, example(t, "cloudprofile.yaml"), example(t, "project.yaml")} {
		u.run(t, manifest, "apply", "-f", "-")
	}
	u.run(t, "", "wait", "--for=jsonpath={.status.phase}=Ready", "--timeout=60s", "project/meadow")
	u.run(t, example(t, "secret.yaml"), "apply", "-f", "-")
	u.run(t, example(t, "credentialsbinding.yaml"), "apply", "-f", "-")
	u.run(t, example(t, "shoot.yaml"), "apply", "-f", "-")

	t.Run("Get", get(u))
	t.Run("Explain", explain(u))
	t.Run("ApplyClientSide", applyClientSide(u))
	t.Run("ApplyServerSide", applyServerSide(u))
	t.Run("Diff", diff(u))
	t.Run("Edit", edit(u))
	t.Run("Patch", patch(u))
	t.Run("Wait", wait(u))
	t.Run("DryRun", dryRun(u))
	t.Run("Select", selects(u))
	t.Run("Delete", deletes(u))
	t.Run("Wrong", wrong(u))
	t.Run("Garden", garden(u))
	t.Run("Large", large(u))
}

// columns are the heads of a table that kubectl printed.
func columns(text string) []string {
	first, _, _ := strings.Cut(text, "\n")
	var heads []string
	for head := range strings.SplitSeq(first, "   ") {
		if head = strings.TrimSpace(head); head != "" {
			heads = append(heads, head)
		}
	}
	return heads
}

func get(u *user) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		for name, tc := range map[string]struct {
			reason string
			args   []string
			want   []string
		}{
			"API-RES-11 shoots": {"a shoot at a glance", []string{"get", "shoots", "-n", "garden-meadow"}, []string{
				"NAME", "CLOUDPROFILE", "PROVIDER", "REGION", "K8S VERSION", "HIBERNATION", "LAST OPERATION", "STATUS", "AGE",
			}},
			"API-RES-11 wide": {"a shoot in full", []string{"get", "shoot", "sprout", "-o", "wide", "-n", "garden-meadow"}, []string{
				"NAME", "CLOUDPROFILE", "PROVIDER", "REGION", "SEED", "K8S VERSION", "HIBERNATION", "LAST OPERATION", "STATUS", "PURPOSE",
				"GARDENER VERSION", "APISERVER", "CONTROL", "OBSERVABILITY", "NODES", "SYSTEM", "AGE",
			}},
			"short names": {"few letters are enough", []string{"get", "cpfl"}, []string{"NAME", "PROVIDER", "AGE"}},
			"all namespaces": {"across projects", []string{"get", "cb", "-A"}, []string{
				"NAMESPACE", "NAME", "PROVIDER", "APIVERSION", "KIND", "NAME", "AGE",
			}},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if diff := cmp.Diff(tc.want, columns(u.run(t, "", tc.args...))); diff != "" {
					t.Errorf("%s\nkubectl %s (-want +got):\n%s", tc.reason, strings.Join(tc.args, " "), diff)
				}
			})
		}
		all := u.run(t, "", "get", "all", "-n", "garden-meadow", "-o", "name")
		says(t, "API-RES-10: shoots belong to the category all", all, "shoot.core.gardener.cloud/sprout")
		says(t, "a list is printed as YAML", u.run(t, "", "get", "shoots,credentialsbindings", "-n", "garden-meadow", "-o", "yaml"), "kind: Shoot", "kind: CredentialsBinding")
		says(t, "a description shows the events, too", u.run(t, "", "describe", "shoot", "sprout", "-n", "garden-meadow"), "Name:", "Events:", "Cloud Profile:")
	}
}

func explain(u *user) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		for name, tc := range map[string]struct {
			reason string
			args   []string
			words  []string
		}{
			"deep":      {"fields are explained at any depth", []string{"explain", "shoot.spec.provider.workers.machine.image"}, []string{"GROUP:      core.gardener.cloud", "KIND:       Shoot", "VERSION:    v1beta1", "version\t<string>", "-required-"}},
			"recursive": {"all at once", []string{"explain", "seed", "--recursive"}, []string{"spec\t<SeedSpec>", "loadBalancerServices", "zonalIngress"}},
			"by name":   {"by its short name", []string{"explain", "grdn.spec.virtualCluster"}, []string{"maintenance\t<Maintenance> -required-", "KIND:       Garden"}},
			"version":   {"in another version", []string{"explain", "controllerdeployments", "--api-version=core.gardener.cloud/v1"}, []string{"VERSION:    v1", "helm"}},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				says(t, tc.reason, u.run(t, "", tc.args...), tc.words...)
			})
		}
		u.refuses(t, "what is not there is not explained", "", []string{"explain", "shoot.spec.weather"}, `field "weather" does not exist`)
	}
}

func applyClientSide(u *user) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		says(t, "a new object is made", u.run(t, quota("client", 3), "apply", "-f", "-"), "quota.core.gardener.cloud/client created")
		says(t, "the same again is nothing", u.run(t, quota("client", 3), "apply", "-f", "-"), "unchanged")
		says(t, "another value is a change", u.run(t, quota("client", 5), "apply", "-f", "-"), "configured")
		without := strings.Replace(quota("client", 5), "clusterLifetimeDays: 5", "", 1)
		says(t, "a field that was applied and is left out goes", u.run(t, without, "apply", "-f", "-"), "configured")
		if got := u.run(t, "", "get", "quota", "client", "-o", "jsonpath={.spec.clusterLifetimeDays}"); got != "" {
			t.Errorf("the field is still there: %q", got)
		}
		if got := u.run(t, "", "get", "quota", "client", "-o", "jsonpath={.spec.metrics.cpu}"); got != "8" {
			t.Errorf("other fields stay: %q", got)
		}
	}
}

func applyServerSide(u *user) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		says(t, "a new object is made", u.run(t, quota("server", 3), "apply", "--server-side", "-f", "-"), "serverside-applied")
		u.refuses(t, "who sets what another set is told so", quota("server", 5), []string{"apply", "--server-side", "--field-manager=other", "-f", "-"},
			"conflict", ".spec.clusterLifetimeDays")
		u.run(t, quota("server", 5), "apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", "-")
		if got := u.run(t, "", "get", "quota", "server", "-o", "jsonpath={.spec.clusterLifetimeDays}"); got != "5" {
			t.Errorf("by force it is set: %q", got)
		}
		says(t, "the server knows who set what", u.run(t, "", "get", "quota", "server", "-o", "yaml", "--show-managed-fields"),
			"manager: other", "manager: kubectl", "f:clusterLifetimeDays")
	}
}

func diff(u *user) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		u.run(t, quota("differing", 3), "apply", "-f", "-")
		if a := u.try(t, quota("differing", 3), "diff", "-f", "-"); a.status != 0 || a.out != "" {
			t.Errorf("nothing differs: exit status %d\n%s%s", a.status, a.out, a.errs)
		}
		for _, mode := range []string{"--server-side=false", "--server-side"} {
			a := u.try(t, quota("differing", 7), "diff", "--force-conflicts="+map[bool]string{true: "true", false: "false"}[mode == "--server-side"], mode, "-f", "-")
			if a.status != 1 {
				t.Errorf("%s: what differs is told by status 1, got %d: %s", mode, a.status, a.errs)
			}
			says(t, mode+": and shown", a.out, "-  clusterLifetimeDays: 3", "+  clusterLifetimeDays: 7")
		}
	}
}

func edit(u *user) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		u.run(t, quota("edited", 3), "apply", "-f", "-")
		editor := u.with("KUBE_EDITOR=sed -i s/clusterLifetimeDays:.*/clusterLifetimeDays:\\ 9/")
		says(t, "what was edited is written", editor.run(t, "", "edit", "quota", "edited"), "edited")
		if got := u.run(t, "", "get", "quota", "edited", "-o", "jsonpath={.spec.clusterLifetimeDays}"); got != "9" {
			t.Errorf("as it was edited: %q", got)
		}
		says(t, "who changes nothing does nothing", u.with("KUBE_EDITOR=true").try(t, "", "edit", "quota", "edited").errs, "Edit cancelled, no changes made")
	}
}

func patch(u *user) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		const shoot = `
apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata: {name: patched, namespace: garden-meadow}
spec:
  cloudProfile: {kind: CloudProfile, name: local}
  credentialsBindingName: local
  region: local
  schedulerName: nobody
  kubernetes: {version: 1.36.3}
  networking: {type: local, pods: 10.100.0.0/16, services: 10.101.0.0/16}
  provider:
    type: local
    workers:
    - {name: one, minimum: 1, maximum: 1, machine: {type: local, image: {name: local, version: 1.36.3}}}
    - {name: two, minimum: 1, maximum: 1, machine: {type: local, image: {name: local, version: 1.36.3}}}`
		u.run(t, shoot, "apply", "-f", "-")
		for _, tc := range []struct{ reason, kind, patch, path, want string }{
			{"a pool is found by its name, the other one stays", "strategic", `{"spec":{"provider":{"workers":[{"name":"two","maximum":3}]}}}`, "{.spec.provider.workers[*].maximum}", "1 3"},
			{"a pool can be taken away by its name", "strategic", `{"spec":{"provider":{"workers":[{"$patch":"delete","name":"one"}]}}}`, "{.spec.provider.workers[*].name}", "two"},
			{"a merge sets one field", "merge", `{"spec":{"purpose":"testing"}}`, "{.spec.purpose}", "testing"},
			{"a JSON patch knows places", "json", `[{"op":"replace","path":"/spec/provider/workers/0/maximum","value":4}]`, "{.spec.provider.workers[*].maximum}", "4"},
		} {
			u.run(t, "", "patch", "shoot", "patched", "-n", "garden-meadow", "--type="+tc.kind, "-p", tc.patch)
			if got := u.run(t, "", "get", "shoot", "patched", "-n", "garden-meadow", "-o", "jsonpath="+tc.path); got != tc.want {
				t.Errorf("%s\npatch of type %s: %s is %q, want %q", tc.reason, tc.kind, tc.path, got, tc.want)
			}
		}
		u.run(t, "", "patch", "shoot", "patched", "-n", "garden-meadow", "--subresource=status", "--type=merge", "-p", `{"status":{"technicalID":"shoot--meadow--patched"}}`)
		if got := u.run(t, "", "get", "shoot", "patched", "-n", "garden-meadow", "--subresource=status", "-o", "jsonpath={.status.technicalID}"); got != "shoot--meadow--patched" {
			t.Errorf("the status is written by its own way: %q", got)
		}
		u.run(t, "", "label", "shoot", "patched", "-n", "garden-meadow", "colour=green")
		u.run(t, "", "annotate", "shoot", "patched", "-n", "garden-meadow", "confirmation.gardener.cloud/deletion=true")
		says(t, "labels are shown", u.run(t, "", "get", "shoot", "patched", "-n", "garden-meadow", "-L", "colour"), "COLOUR", "green")
	}
}

func wait(u *user) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		u.run(t, project("waited", "for"), "create", "-f", "-")
		says(t, "a field is waited for", u.run(t, "", "wait", "--for=jsonpath={.status.phase}=Ready", "--timeout=60s", "project/waited"), "condition met")
		u.refuses(t, "what does not come is told", "", []string{"wait", "--for=condition=Sunny", "--timeout=1s", "project/waited"}, "timed out waiting for the condition")
		u.run(t, quota("waited", 3), "create", "-f", "-")
		u.run(t, "", "delete", "quota", "waited", "--wait=false")
		says(t, "an end is waited for", u.run(t, "", "wait", "--for=delete", "--timeout=60s", "quota/waited"), "")
	}
}

func dryRun(u *user) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		says(t, "the server tells what it would store, with its defaults", u.run(t, strings.Replace(example(t, "shoot.yaml"), "sprout", "dry", 1),
			"create", "--dry-run=server", "-o", "yaml", "-f", "-"), "uid:", "purpose: evaluation", "timeWindow:")
		u.refuses(t, "and stores nothing", "", []string{"get", "shoot", "dry", "-n", "garden-meadow"}, "not found")
		u.refuses(t, "it judges as it would", strings.NewReplacer("sprout", "dry", "region: local", "region: moon").Replace(example(t, "shoot.yaml")),
			[]string{"create", "--dry-run=server", "-f", "-"}, "spec.region")
		u.run(t, quota("dry", 3), "apply", "-f", "-")
		u.run(t, quota("dry", 5), "apply", "--dry-run=server", "-f", "-")
		u.run(t, "", "delete", "quota", "dry", "--dry-run=server")
		if got := u.run(t, "", "get", "quota", "dry", "-o", "jsonpath={.spec.clusterLifetimeDays}"); got != "3" {
			t.Errorf("neither changes nor deletes anything: %q", got)
		}
		says(t, "the client can do without a server", u.run(t, quota("drier", 3), "create", "--dry-run=client", "-o", "name", "-f", "-"), "quota.core.gardener.cloud/drier")
	}
}

func selects(u *user) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		u.run(t, project("chosen", "by label"), "create", "-f", "-")
		for name, tc := range map[string]struct {
			reason string
			args   []string
			want   string
		}{
			"name":      {"by name", []string{"get", "projects", "--field-selector", "metadata.name=meadow"}, "project.core.gardener.cloud/meadow\n"},
			"namespace": {"by what it owns", []string{"get", "projects", "--field-selector", "spec.namespace=garden-meadow"}, "project.core.gardener.cloud/meadow\n"},
			"profile":   {"by what it is made from", []string{"get", "shoots", "-A", "--field-selector", "spec.cloudProfile.Name=local,metadata.name=sprout"}, "shoot.core.gardener.cloud/sprout\n"},
			"nothing":   {"by what nobody has", []string{"get", "shoots", "-A", "--field-selector", "spec.seedName=nowhere"}, ""},
			"unset":     {"by what is not there", []string{"get", "shoots", "-A", "--field-selector", "spec.seedName=,metadata.name=sprout"}, "shoot.core.gardener.cloud/sprout\n"},
			"label":     {"by label", []string{"get", "projects", "-l", "kind=chosen"}, "project.core.gardener.cloud/chosen\n"},
			"labels":    {"by several labels", []string{"get", "projects", "-l", "kind in (chosen,other),!colour"}, "project.core.gardener.cloud/chosen\n"},
		} {
			t.Run("API-RES-9 "+name, func(t *testing.T) {
				t.Parallel()
				if got := u.run(t, "", append(tc.args, "-o", "name")...); got != tc.want {
					t.Errorf("%s\nkubectl %s: got %q, want %q", tc.reason, strings.Join(tc.args, " "), got, tc.want)
				}
			})
		}
		u.refuses(t, "API-RES-9: a field that nobody can select by is an error", "", []string{"get", "shoots", "-A", "--field-selector", "spec.weather=fine"}, `spec.weather`)
	}
}

func deletes(u *user) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		for _, policy := range []string{"background", "foreground", "orphan"} {
			owner, owned := "owner-"+policy, "owned-"+policy
			u.run(t, quota(owner, 3), "create", "-f", "-")
			uid := u.run(t, "", "get", "quota", owner, "-o", "jsonpath={.metadata.uid}")
			u.run(t, strings.Replace(quota(owned, 3), "namespace: default", `namespace: default, ownerReferences: [{apiVersion: core.gardener.cloud/v1beta1, kind: Quota, name: `+
				owner+`, uid: `+uid+`, blockOwnerDeletion: true}]`, 1), "create", "-f", "-")
			u.run(t, "", "delete", "quota", owner, "--cascade="+policy, "--timeout=60s")
			if policy == "orphan" {
				if got := u.run(t, "", "get", "quota", owned, "-o", "jsonpath={.metadata.ownerReferences}"); got != "" {
					t.Errorf("an orphan has no owner: %q", got)
				}
				continue
			}
			u.run(t, "", "wait", "--for=delete", "--timeout=60s", "quota/"+owned)
		}
		u.run(t, strings.Replace(quota("held", 3), "namespace: default", "namespace: default, finalizers: [mine.example.com/hold]", 1), "create", "-f", "-")
		u.run(t, "", "delete", "quota", "held", "--wait=false")
		if got := u.run(t, "", "get", "quota", "held", "-o", "jsonpath={.metadata.deletionTimestamp}"); got == "" {
			t.Error("what somebody holds is still there, and on its way out")
		}
		u.run(t, "", "patch", "quota", "held", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		u.run(t, "", "wait", "--for=delete", "--timeout=60s", "quota/held")
		u.refuses(t, "API-DELCONF-1: a shoot is deleted with a confirmation only", "", []string{"delete", "shoot", "sprout", "-n", "garden-meadow"},
			"confirmation.gardener.cloud/deletion=true")
	}
}

func wrong(u *user) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		shoot := strings.Replace(example(t, "shoot.yaml"), "sprout", "wrong", 1)
		unknown := strings.Replace(shoot, "maximum: 1", "maximum: 1\n        colour: green", 1)
		u.refuses(t, "an unknown field is named by its path", unknown, []string{"create", "-f", "-"}, `unknown field "spec.provider.workers[0].colour"`)
		a := u.try(t, unknown, "create", "--validate=warn", "-f", "-", "--dry-run=server")
		if a.status != 0 {
			t.Errorf("who wants to be warned is: %s", a.errs)
		}
		says(t, "an unknown field is a warning", a.errs, `Warning: unknown field "spec.provider.workers[0].colour"`)
		for name, tc := range map[string]struct{ reason, from, to, want string }{
			"type":    {"a value of a wrong type is named by its path", "minimum: 1", `minimum: "one"`, "spec.provider.workers.minimum"},
			"value":   {"a wrong value too", "minimum: 1", "minimum: -1", "spec.provider.workers[0].minimum"},
			"missing": {"and what is missing", "region: local", "purpose: testing", "spec.region"},
			"network": {"and what is no network", "pods: 10.100.0.0/16", "pods: here", "spec.networking.pods"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				u.refuses(t, tc.reason, strings.Replace(shoot, tc.from, tc.to, 1), []string{"create", "-f", "-"}, tc.want)
			})
		}
	}
}

// garden is the one object about the garden itself.
func garden(u *user) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		const other = `
apiVersion: operator.gardener.cloud/v1alpha1
kind: Garden
metadata: {name: other}
spec:
  runtimeCluster:
    provider: {zones: [a]}
    settings: {verticalPodAutoscaler: {enabled: true}}
  virtualCluster:
    controlPlane: {highAvailability: {}}
    maintenance: {timeWindow: {begin: 220000+0100, end: 230000+0100}}`
		own := &gardenoperatorv1alpha1.Garden{ObjectMeta: metav1.ObjectMeta{Name: "garden"}}
		harness.Await(t, u.Client, own, "the server describes itself", func(*gardenoperatorv1alpha1.Garden) error { return nil })
		if got := u.run(t, "", "get", "grdn", "garden", "-o", "jsonpath={.spec.runtimeCluster.networking}"); got != `{"ipFamilies":["IPv4"]}` {
			t.Errorf("OPER-API-9: no more is said of a section than is known of it: got %s", got)
		}
		u.refuses(t, "OPER-WH-2: there is one", other, []string{"create", "-f", "-"}, "there can be only one")
		says(t, "OPER-CFG-2: it has a short name", u.run(t, "", "get", "grdn"), "K8S VERSION", "GARDENER VERSION", "LAST OPERATION", "API SERVER", "garden")
		u.refuses(t, "OPER-WH-5: operations are known", "", []string{"annotate", "grdn", "garden", "gardener.cloud/operation=dance"}, "rotate-credentials-start")
		u.refuses(t, "OPER-DEL-5: it is not deleted", "", []string{"delete", "grdn", "garden"}, "describes this server")
	}
}

// large takes an object of the largest size that a cluster keeps through its life.
func large(u *user) func(t *testing.T) {
	return func(t *testing.T) {
		t.Parallel()

		const size = 1_500_000
		manifest := func(letter string) string {
			path := filepath.Join(t.TempDir(), "large-"+letter+".yaml")
			text := `{"apiVersion":"core.gardener.cloud/v1beta1","kind":"ControllerDeployment","metadata":{"name":"large"},"type":"helm","providerConfig":{"chart":"` +
				strings.Repeat(letter, size) + `"}}`
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		u.run(t, "", "create", "-f", manifest("a"))
		u.run(t, "", "apply", "--server-side", "--force-conflicts", "-f", manifest("b"))
		u.run(t, "", "patch", "controllerdeployment", "large", "--type=merge", "-p", `{"metadata":{"labels":{"size":"large"}}}`)
		u.run(t, "", "replace", "-f", manifest("c"))
		got := u.run(t, "", "get", "controllerdeployment", "large", "-o", "jsonpath={.providerConfig.chart}")
		if len(got) != size || strings.Trim(got, "c") != "" {
			t.Errorf("what was written is read: got %d bytes, want %d", len(got), size)
		}
		u.run(t, "", "delete", "controllerdeployment", "large")
	}
}
