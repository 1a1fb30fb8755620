// SPDX-License-Identifier: Apache-2.0

package operatingsystemconfig_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenextensionsv1alpha1 "github.com/terrarium-garden/terrarium/apis/extensions/v1alpha1"
	"github.com/terrarium-garden/terrarium/apis/scheme"
	"github.com/terrarium-garden/terrarium/controllers/deploy"
	"github.com/terrarium-garden/terrarium/controllers/nodeagent"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/engine"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/machineunits"
	"github.com/terrarium-garden/terrarium/controllers/provider/local/operatingsystemconfig"
)

// userData are those of a machine with an SSH server, and with the given files and units.
func userData(t *testing.T, s spec) string {
	t.Helper()
	types, err := scheme.New()
	if err != nil {
		t.Fatal(err)
	}
	seed := fake.NewClientBuilder().WithScheme(types).Build()
	actor := &operatingsystemconfig.Actor{Access: engine.Access{Reader: seed, Seed: deploy.Engine{Client: seed, Owner: "test"}}}
	o := &gardenextensionsv1alpha1.OperatingSystemConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot--dev--a", Name: "a-init"}, Spec: s}
	o.Spec.Purpose = gardenextensionsv1alpha1.OperatingSystemConfigPurposeProvision
	shoot := &gardencorev1beta1.Shoot{}
	shoot.Spec.Provider.Workers = []gardencorev1beta1.Worker{{Name: "small"}}
	if err := actor.Reconcile(t.Context(), o, &engine.Cluster{Shoot: shoot}); err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{}
	if err := seed.Get(t.Context(), client.ObjectKey{Namespace: "shoot--dev--a", Name: "osc-result-a-init"}, secret); err != nil {
		t.Fatal(err)
	}
	return string(secret.Data["cloud_config"])
}

// start runs user data as a machine does at its start, with a folder in the place of its root.
func start(t *testing.T, script string) string {
	t.Helper()
	root := t.TempDir()
	command := exec.CommandContext(t.Context(), "sh", "-s")
	command.Stdin = strings.NewReader(strings.Replace(script, "write() {\n", "write() {\n  set -- \""+root+"$1\" \"$2\"\n", 1))
	command.Env = append(os.Environ(), "MACHINE_NAME=me")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("run user data: %v\n%s\n%s", err, output, script)
	}
	return root
}

// TestWhatIsWithdrawnGoesAtEachStart starts a machine twice with the user data of its creation, the second time with nothing of the first. What
// is withdrawn since then goes with the first pass of its agent. The token stays: no agent keeps it, and a kubelet needs it.
func TestWhatIsWithdrawnGoesAtEachStart(t *testing.T) {
	t.Parallel()
	service := new("[Service]\nExecStart=/bin/a\n")
	s := spec{
		Files: []file{
			{Path: "/etc/motd", Content: inline("hello")},
			{Path: "/var/lib/ca-certificates-local/withdrawn.crt", Content: inline("x")},
			{Path: "/var/lib/kubelet/kubeconfig-bootstrap", Content: plain("token: <<BOOTSTRAP_TOKEN>>\n")},
			{Path: "/etc/of-another", HostName: new("another"), Content: inline("x")},
		},
		Units: []unit{{Name: "kept.service", Content: service}, {Name: "withdrawn.service", Content: service}},
	}
	script := userData(t, s)
	wanted := nodeagent.Configuration{Files: s.Files[:1], Units: s.Units[:1]}
	for range 2 {
		root := start(t, script)
		if err := os.WriteFile(filepath.Join(root, "etc/of-another"), []byte("of the image"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := files(t, root); !slices.Contains(got, "etc/machine/units/machine-sshd.service.sh") || len(got) < 11 {
			t.Fatalf("a machine starts with %q, want an SSH server and all the rest", got)
		}
		m := &nodeagent.Machine{Root: root, HostName: "me", StateDir: "/var/lib/gardener-node-agent", Units: machineunits.Init{Root: root}}
		if err := m.Apply(t.Context(), wanted); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"etc/machine/units/kept.service.sh", "etc/motd", "etc/of-another", "etc/systemd/system/kept.service",
			"var/lib/gardener-node-agent/state.json", "var/lib/kubelet/kubeconfig-bootstrap",
		}
		if diff := cmp.Diff(want, files(t, root)); diff != "" {
			t.Errorf("what is left of it (-want +got):\n%s", diff)
		}
	}
}

// TestWhatIsTurnedOffRestsAfterEachStart starts a machine with the user data of its creation, which run a unit that is turned off since then. Nothing
// but the first pass of its agent ends it. A unit that is to run is left alone.
func TestWhatIsTurnedOffRestsAfterEachStart(t *testing.T) {
	t.Parallel()
	service := new("[Service]\nExecStart=/bin/a\n")
	s := spec{Units: []unit{{Name: "kept.service", Enable: new(true), Content: service}, {Name: "off.service", Enable: new(true), Content: service}}}
	root := start(t, userData(t, s))
	kept, off := runs(t, root, "kept.service"), runs(t, root, "off.service")
	wanted := nodeagent.Configuration{Units: []unit{s.Units[0], {Name: "off.service", Enable: new(false), Content: service}}}
	m := &nodeagent.Machine{Root: root, HostName: "me", StateDir: "/var/lib/gardener-node-agent", Units: machineunits.Init{Root: root}}
	if err := m.Apply(t.Context(), wanted); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(root, "run/machine/off.service.pid")); !os.IsNotExist(err) {
		t.Errorf("the process of the unit that is turned off: %v, want that it has ended and is forgotten", err)
	} else if err := <-off; err == nil {
		t.Error("the unit ended by itself")
	}
	select {
	case err := <-kept:
		t.Errorf("the unit that is to run ended: %v", err)
	default:
	}
}

// runs starts a process in the place of a unit, and tells when it has ended.
func runs(t *testing.T, root, name string) <-chan error {
	t.Helper()
	process := exec.CommandContext(t.Context(), "sleep", "600")
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	number := filepath.Join(root, "run/machine", name+".pid")
	if err := os.MkdirAll(filepath.Dir(number), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(number, []byte(strconv.Itoa(process.Process.Pid)), 0o644); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- process.Wait() }()
	return ended
}

// files are the paths of all files in a folder.
func files(t *testing.T, root string) []string {
	t.Helper()
	var all []string
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
