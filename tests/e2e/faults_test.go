// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// refused runs a command that must fail and must say why in the given words.
func (w *world) refused(t *testing.T, reason, input string, want []string, command ...string) {
	t.Helper()
	r := w.try(t, input, command...)
	if r.code == 0 {
		t.Errorf("%s: %q succeeded\n%s", reason, command, r.all())
		return
	}
	for _, words := range want {
		if !strings.Contains(r.all(), words) {
			t.Errorf("%s: the error lacks %q:\n%s", reason, words, r.all())
		}
	}
}

// shootManifest is a shoot like the example's, with some lines replaced.
func (w *world) shootManifest(t *testing.T, replace ...string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.root, "packaging/examples/shoot.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	manifest := string(raw)
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(manifest, replace[i]) {
			t.Fatalf("the example has no %q to replace:\n%s", replace[i], manifest)
		}
		manifest = strings.ReplaceAll(manifest, replace[i], replace[i+1])
	}
	return manifest
}

func wrongManifests(t *testing.T, w *world) {
	t.Helper()
	shoots := w.garden("-n", namespace, "get", "shoots", "-o", "name")
	before := w.must(t, shoots...)
	named := []string{"name: " + shootName, "name: wrong"}
	for reason, tc := range map[string]struct{ replace, want []string }{
		"missing CloudProfile":        {[]string{"    name: local # of the cloud profile", "    name: nowhere"}, []string{"CloudProfile", "nowhere"}},
		"unknown region":              {[]string{"region: local", "region: moon"}, []string{"spec.region", "moon", "local"}},
		"unknown machine type":        {[]string{"type: local # of the machine", "type: giant"}, []string{"machine.type", "giant", "local"}},
		"unknown Kubernetes version":  {[]string{`version: "1.36.3" # of Kubernetes`, `version: "1.99.0"`}, []string{"spec.kubernetes.version", "1.99.0", "1.36.3"}},
		"missing binding":             {[]string{"credentialsBindingName: local", "credentialsBindingName: none"}, []string{"CredentialsBinding", "none"}},
		"field of the wrong type":     {[]string{"maximum: 1", "maximum: many"}, []string{"maximum"}},
		"networks that overlap":       {[]string{"services: 10.101.0.0/16", "services: 10.100.1.0/24"}, []string{"spec.networking.services", "overlap"}},
		"field that does not exist":   {[]string{"maximum: 1", "maximum: 1\n        colour: green"}, []string{"colour"}},
		"name too long for a project": {[]string{"name: wrong", "name: much-too-long-a-name-for-this"}, []string{"too long"}},
	} {
		manifest := w.shootManifest(t, append(named, tc.replace...)...)
		w.refused(t, reason, manifest, tc.want, w.garden("create", "--validate=strict", "-f", "-")...)
	}
	if diff := cmp.Diff(before, w.must(t, shoots...)); diff != "" {
		t.Errorf("a refused shoot was half made: shoots (-want +got):\n%s", diff)
	}
}

func wrongJoins(t *testing.T, w *world) {
	t.Helper()
	garden := filepath.Join(w.state, "garden.kubeconfig")
	token := strings.TrimSpace(w.must(t, w.terrarium("token", "create", "--kubeconfig", garden, "--print", "token")...))
	hash, secret, found := strings.Cut(token, "::")
	if !found || !strings.HasPrefix(hash, "T10") {
		t.Fatalf("the token has not the form T10<hash>::<id>.<secret>: %.8s…", token)
	}
	before := w.must(t, w.seed("get", "namespaces,secrets,configmaps,deployments", "-n", "garden", "-o", "name")...)
	join := func(token, url string) []string {
		file := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
		return w.terrarium("gardenlet", "join", url, "--token-file", file, "--name", "other", "--provider", "local",
			"--region", "local", "--seed-kubeconfig", filepath.Join(w.state, "seed.kubeconfig"), "--timeout", "20s")
	}
	unknown := "abcdef.0123456789abcdef"
	other := "T10" + strings.Repeat("0", 64)
	for reason, tc := range map[string]struct {
		token, url string
		want       []string
	}{
		"malformed token":         {"rubbish", gardenURL, []string{"T10"}},
		"unknown token":           {hash + "::" + unknown, gardenURL, []string{"token"}},
		"wrong CA hash":           {other + "::" + secret, gardenURL, []string{"hash"}},
		"token without a hash":    {secret, gardenURL, []string{"T10<sha256"}},
		"nobody listens":          {token, "https://127.0.0.1:1", []string{"127.0.0.1:1"}},
		"another kind of server":  {token, "https://10.99.0.1:7443", []string{"hash"}},
		"expired (deleted) token": {hash + "::" + w.deletedToken(t), gardenURL, []string{"token"}},
	} {
		w.refused(t, reason, "", tc.want, join(tc.token, tc.url)...)
		if r := w.try(t, "", join(tc.token, tc.url)...); strings.Contains(r.all(), strings.TrimPrefix(secret, strings.Split(secret, ".")[0]+".")) {
			t.Errorf("%s: the error shows the secret of the token", reason)
		}
	}
	after := w.must(t, w.seed("get", "namespaces,secrets,configmaps,deployments", "-n", "garden", "-o", "name")...)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("a refused join left something on the seed (-want +got):\n%s", diff)
	}
	w.must(t, w.terrarium("token", "delete", "--kubeconfig", garden, strings.Split(secret, ".")[0])...)
	w.refused(t, "lifetime out of bounds", "", []string{"10m", "24h"}, w.terrarium("token", "create", "--kubeconfig", garden, "--ttl", "5m")...)
}

// deletedToken makes a token and takes it back: to the server it is the same as one that expired and was cleaned.
func (w *world) deletedToken(t *testing.T) string {
	t.Helper()
	garden := filepath.Join(w.state, "garden.kubeconfig")
	token := strings.TrimSpace(w.must(t, w.terrarium("token", "create", "--kubeconfig", garden, "--print", "token")...))
	_, secret, _ := strings.Cut(token, "::")
	w.must(t, w.terrarium("token", "delete", "--kubeconfig", garden, strings.Split(secret, ".")[0])...)
	return secret
}

func secondServer(t *testing.T, w *world) {
	t.Helper()
	w.refused(t, "port taken", "", []string{"16443", "--listen"},
		w.terrarium("server", "--data-dir", filepath.Join(t.TempDir(), "data"), "--listen", "0.0.0.0:16443")...)
	w.refused(t, "data directory in use", "", []string{filepath.Join(w.state, "garden"), "in use"},
		w.terrarium("server", "--data-dir", filepath.Join(w.state, "garden"), "--listen", "127.0.0.1:0")...)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.refused(t, "data directory is a file", "", []string{file}, w.terrarium("server", "--data-dir", file, "--listen", "127.0.0.1:0")...)
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := "apiVersion: server.config.terrarium.garden/v1alpha1\nkind: ServerConfiguration\nscheduler:\n  colour: green\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.refused(t, "unknown field in the configuration", "", []string{"scheduler.colour"}, w.terrarium("server", "--config", config)...)
	w.refused(t, "the same, asked before", "", []string{"scheduler.colour"}, w.terrarium("config", "validate", config)...)
}

func noUsableSeed(t *testing.T, w *world) {
	t.Helper()
	manifest := w.shootManifest(t, "name: "+shootName, "name: lonely", "spec:\n", "spec:\n  seedSelector:\n    matchLabels: {climate: polar}\n")
	w.mustWith(t, manifest, w.garden("create", "-f", "-")...)
	w.says(t, time.Minute, "Pending", w.garden("-n", namespace, "get", "shoot", "lonely", "-o", "jsonpath={.status.lastOperation.state}")...)
	why := w.must(t, w.garden("-n", namespace, "get", "shoot", "lonely", "-o", "jsonpath={.status.lastOperation.description}")...)
	if !strings.Contains(why, "selector") {
		t.Errorf("the last operation does not explain why no seed fits: %q", why)
	}
	w.says(t, time.Minute, "SchedulingFailed", w.garden("-n", namespace, "get", "events", "--field-selector", "involvedObject.name=lonely", "-o", "jsonpath={.items[*].reason}")...)
	w.deleteShoot(t, "lonely")
}

// beginDeletion asks for the deletion of a shoot; gone waits for it.
func (w *world) beginDeletion(t *testing.T, name string) {
	t.Helper()
	w.must(t, w.garden("-n", namespace, "annotate", "shoot", name, "confirmation.gardener.cloud/deletion=true", "--overwrite")...)
	w.must(t, w.garden("-n", namespace, "delete", "shoot", name, "--wait=false")...)
}

func (w *world) deleteShoot(t *testing.T, name string) {
	t.Helper()
	w.beginDeletion(t, name)
	w.gone(t, 5*time.Minute, w.garden("-n", namespace, "get", "shoot", name)...)
}

// orderBare orders a shoot whose machines have an image that does not exist; a later chapter sees what becomes of it.
func orderBare(t *testing.T, w *world) {
	t.Helper()
	patch := `[{"op":"add","path":"/spec/machineImages/0/versions/-","value":{"version":"0.0.1"}},
		{"op":"add","path":"/spec/providerConfig/machineImages/0/versions/-","value":{"version":"0.0.1","image":"terrarium.garden/machine:v0.0.1"}}]`
	w.must(t, w.garden("patch", "cloudprofile", "local", "--type=json", "-p", patch)...)
	manifest := w.shootManifest(t, "name: "+shootName, "name: bare", `version: "1.36.3" # of the image`, `version: "0.0.1"`)
	w.mustWith(t, manifest, w.garden("create", "-f", "-")...)
}

func missingImage(t *testing.T, w *world) {
	t.Helper()
	w.eventually(t, 5*time.Minute, "the missing image is named", func() (bool, string) {
		errs := w.must(t, w.garden("-n", namespace, "get", "shoot", "bare", "-o", "jsonpath={.status.lastErrors} {.status.lastOperation}")...)
		return strings.Contains(errs, "terrarium.garden/machine:v0.0.1"), errs
	})
	w.beginDeletion(t, "bare")
}

// killed orders a shoot and kills the server in the middle of its creation, then another one and kills the gardenlet, then a
// third one and kills both. The shoots before are not waited for, so that they are interrupted again wherever they are; and so
// is the deletion of the shoot without an image.
func killed(t *testing.T, w *world) {
	t.Helper()
	var phoenixes []string
	for i, kill := range []struct {
		name string
		who  func() []int
	}{
		{"the server", func() []int { return []int{w.gardenPID(t)} }},
		{"the gardenlet", func() []int { return []int{w.gardenletPID(t)} }},
		{"both", func() []int { return []int{w.gardenPID(t), w.gardenletPID(t)} }},
	} {
		name := fmt.Sprintf("phoenix%d", i)
		w.mustWith(t, w.shootManifest(t, "name: "+shootName, "name: "+name), w.garden("create", "-f", "-")...)
		at := 20 + 25*i
		w.eventually(t, 3*time.Minute, fmt.Sprintf("%s is at %d %%", name, at), func() (bool, string) {
			progress := w.must(t, w.garden("-n", namespace, "get", "shoot", name, "-o", "jsonpath={.status.lastOperation.progress}")...)
			return progress != "" && number(t, progress) >= at, progress
		})
		pids := kill.who()
		for _, pid := range pids {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatalf("kill %s: %v", kill.name, err)
			}
		}
		w.ended(t, pids)
		w.must(t, "scripts/playground", "garden")
		w.must(t, w.garden("-n", namespace, "get", "shoot", shootName)...)
		phoenixes = append(phoenixes, name)
	}
	for _, name := range phoenixes {
		w.healthy(t, 5*time.Minute, name)
		w.once(t, name)
		w.beginDeletion(t, name)
	}
	for _, name := range append(phoenixes, "bare") {
		w.gone(t, 5*time.Minute, w.garden("-n", namespace, "get", "shoot", name)...)
	}
}

// ended waits until killed processes are gone or wait for their parent only. The first thread of one may wait already while
// others still hold the port.
func (w *world) ended(t *testing.T, pids []int) {
	t.Helper()
	w.eventually(t, 10*time.Second, fmt.Sprintf("processes %v have ended", pids), func() (bool, string) {
		for _, pid := range pids {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err != nil {
				continue
			}
			threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
			if !strings.Contains(string(stat), ") Z ") || err == nil && len(threads) > 1 {
				return false, fmt.Sprintf("%d threads, %s", len(threads), stat)
			}
		}
		return true, ""
	})
}

// once checks that nothing of a shoot was made twice.
func (w *world) once(t *testing.T, name string) {
	t.Helper()
	ns := "shoot--meadow--" + name
	for kind, want := range map[string]int{
		"statefulsets": 2, "infrastructures": 1, "workers": 1, "controlplanes": 1, "networks": 1,
		"pods -l app=machine": 1, "pods -l app=kubernetes,role=apiserver": 1,
	} {
		args := append([]string{"-n", ns, "get", "-o", "name"}, strings.Fields(kind)...)
		got := strings.Fields(w.must(t, w.seed(args...)...))
		if len(got) != want {
			t.Errorf("%s of %s: want %d, got %q", kind, ns, want, got)
		}
	}
}

// plainProcess stops the gardenlet of the seed and runs the same role as a process of this machine.
func plainProcess(t *testing.T, w *world) {
	t.Helper()
	w.must(t, w.seed("-n", "garden", "scale", "deployment", "gardenlet", "--replicas=0")...)
	w.eventually(t, time.Minute, "the gardenlet of the seed has stopped", func() (bool, string) {
		left := w.must(t, w.seed("-n", "garden", "get", "pods", "-l", "app=gardener,role=gardenlet", "-o", "name")...)
		return strings.TrimSpace(left) == "", left
	})
	config := filepath.Join(t.TempDir(), "gardenlet.yaml")
	text := w.must(t, w.seed("-n", "garden", "get", "configmap", "gardenlet-configmap", "-o", `jsonpath={.data.config\.yaml}`)...)
	text += fmt.Sprintf("seedClientConnection:\n  kubeconfig: %s\n", filepath.Join(w.state, "seed.kubeconfig"))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("IMAGEVECTOR_OVERWRITE", filepath.Join(w.root, "packaging/imagevector-seedling.yaml"))
	stop := w.background(t, w.terrarium("gardenlet", "--config", config)...)
	before := w.must(t, w.garden("-n", namespace, "get", "shoot", shootName, "-o", "jsonpath={.status.gardener.id}")...)
	w.must(t, w.garden("-n", namespace, "annotate", "shoot", shootName, "gardener.cloud/operation=reconcile")...)
	w.eventually(t, 3*time.Minute, "the process takes the shoot over", func() (bool, string) {
		now := w.must(t, w.garden("-n", namespace, "get", "shoot", shootName, "-o", "jsonpath={.status.gardener.id}")...)
		return now != before, now
	})
	w.healthy(t, 3*time.Minute, shootName)
	stop()
	w.must(t, w.seed("-n", "garden", "scale", "deployment", "gardenlet", "--replicas=1")...)
	w.must(t, w.seed("-n", "garden", "rollout", "status", "deployment/gardenlet", "--timeout=90s")...)
}
