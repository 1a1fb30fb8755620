// SPDX-License-Identifier: Apache-2.0

package layers_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/terrarium-garden/terrarium"

// rule forbids the packages under From to import, directly, anything under one of Never, unless the importer is
// under one of Except.
type rule struct {
	reason string
	from   []string
	never  []string
	except []string
	// deep rules look at everything an importer reaches, not only at what it names.
	deep bool
}

func rules() []rule {
	return []rule{
		{
			reason: "apis is the lowest room: types are free of servers, stores and controllers",
			from:   []string{module + "/apis"},
			never: []string{
				module + "/storage", module + "/controllers", module + "/appliance", module + "/webui",
				"k8s.io/apiserver", "k8s.io/kubernetes", "sigs.k8s.io/controller-runtime",
			},
			deep: true,
		},
		{
			reason: "storage never reaches controllers or the appliance",
			from:   []string{module + "/storage"},
			never:  []string{module + "/controllers", module + "/appliance", module + "/webui"},
			deep:   true,
		},
		{
			reason: "controllers see the world through the API only",
			from:   []string{module + "/controllers"},
			never:  []string{module + "/storage", module + "/appliance", module + "/webui", "k8s.io/kubernetes", "k8s.io/apiserver"},
		},
		{
			reason: "controllers reach no room above or beside them, not even through another",
			from:   []string{module + "/controllers"},
			never:  []string{module + "/storage", module + "/appliance", module + "/webui", "k8s.io/kubernetes"},
			deep:   true,
		},
		{
			reason: "the task graph knows no Kubernetes",
			from:   []string{module + "/controllers/flow"},
			never:  []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/client-go", "sigs.k8s.io/controller-runtime"},
			deep:   true,
		},
		{
			reason: "the web UI stands alone",
			from:   []string{module + "/webui"},
			never:  []string{module + "/apis", module + "/storage", module + "/controllers", module + "/appliance"},
		},
		{
			reason: "only three rooms import k8s.io/kubernetes",
			from:   []string{module},
			never:  []string{"k8s.io/kubernetes"},
			except: []string{
				module + "/appliance/apiserver", module + "/appliance/kubecontrollers", module + "/appliance/seedling",
			},
		},
		{
			reason: "server machinery stays in the rooms that serve",
			from:   []string{module},
			never:  []string{"k8s.io/apiserver"},
			except: []string{
				module + "/appliance/apiserver", module + "/appliance/kubecontrollers", module + "/appliance/seedling",
				module + "/appliance/admission", module + "/appliance/authorization", module + "/storage/registry",
			},
		},
		{
			// The way to a node is made of typed objects of the garden and of the shoot, which are read and written one by one.
			reason: "controller-runtime is for controllers and for those who start them",
			from:   []string{module},
			never:  []string{"sigs.k8s.io/controller-runtime"},
			except: []string{
				module + "/controllers", module + "/appliance/server", module + "/appliance/gardenlet", module + "/appliance/sshaccess", module + "/tests",
			},
		},
		{
			reason: "the core knows no provider, not even that of this project [EXT-GEN-1]",
			from:   []string{module + "/apis", module + "/storage", module + "/controllers", module + "/appliance"},
			never:  []string{module + "/controllers/provider"},
			except: []string{module + "/controllers/provider", module + "/appliance/cli", module + "/appliance/seedling"},
		},
		{
			reason: "the seedling is a throw-away seed; the product does not know it",
			from:   []string{module + "/apis", module + "/storage", module + "/controllers", module + "/appliance"},
			never:  []string{module + "/appliance/seedling"},
			except: []string{module + "/appliance/seedling"},
		},
		{
			reason: "the seedling contains nothing of a garden, not even through another",
			from:   []string{module + "/appliance/seedling"},
			never: []string{
				module + "/storage", module + "/appliance/options", module + "/appliance/server", module + "/appliance/admission",
				module + "/appliance/identity", "github.com/k3s-io/kine",
			},
			deep: true,
		},
	}
}

func TestImportsPointDown(t *testing.T) {
	t.Parallel()
	direct := list(t, `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`)
	reached := list(t, `{{.ImportPath}}{{range .Deps}} {{.}}{{end}}`)
	for _, r := range rules() {
		t.Run(r.reason, func(t *testing.T) {
			t.Parallel()
			world := direct
			if r.deep {
				world = reached
			}
			for _, broken := range r.violations(world) {
				t.Errorf("%s: %s", r.reason, broken)
			}
		})
	}
}

// TestRulesCanFail keeps the proof honest: a rule that finds nothing in a world made to break it would prove nothing.
func TestRulesCanFail(t *testing.T) {
	t.Parallel()
	r := rule{from: []string{module + "/apis"}, never: []string{"k8s.io/apiserver"}, except: []string{module + "/apis/x"}}
	world := map[string][]string{
		module + "/apis/core": {"k8s.io/apiserver/pkg/server"},
		module + "/apis/x":    {"k8s.io/apiserver/pkg/server"},
		module + "/apisother": {"k8s.io/apiserver"},
	}
	got := r.violations(world)
	if diff := cmp.Diff(1, len(got)); diff != "" {
		t.Errorf("violations() = %q, want exactly the one of %s/apis/core; their number (-want +got):\n%s", got, module, diff)
	}
}

func (r rule) violations(world map[string][]string) []string {
	var found []string
	for importer, imports := range world {
		if !under(importer, r.from) || under(importer, r.except) {
			continue
		}
		for _, imported := range imports {
			if under(imported, r.never) {
				found = append(found, importer+" imports "+imported)
			}
		}
	}
	slices.Sort(found)
	return found
}

func under(path string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return path == root || strings.HasPrefix(path, root+"/")
	})
}

// list asks the go command about every package of the module.
func list(t *testing.T, format string) map[string][]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", format, module+"/...").Output()
	if err != nil {
		t.Fatalf("list packages: %v", err)
	}
	world := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) > 0 {
			world[fields[0]] = fields[1:]
		}
	}
	return world
}
