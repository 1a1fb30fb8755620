// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	endPrefix = "end-"
	endPlane  = "shoot--meadow--" + endPrefix
	endHold   = "e2e-holds"
	endHeld   = "e2e.terrarium.garden/held"
	// endPatience is longer than the time that a store has to come back.
	endPatience = 8 * time.Minute
)

// endManifest is a shoot whose deletion is confirmed in advance. Most need no machines to be interrupted.
const endManifest = `---
apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata:
  name: ` + endPrefix + `%s
  namespace: ` + namespace + `
  annotations: {confirmation.gardener.cloud/deletion: "true"}
spec:
  cloudProfile: {kind: CloudProfile, name: local}
  region: local
  %s
`

const (
	endWorkerless = `kubernetes: {version: "1.36.3"}
  provider: {type: local}`
	endNowhere = `kubernetes: {version: "1.36.3"}
  seedSelector: {matchLabels: {climate: polar}}
  provider: {type: local}`
	endMachines = `kubernetes: {version: "1.36.3", verticalPodAutoscaler: {enabled: false}}
  credentialsBindingName: local
  networking: {type: local, pods: 10.100.0.0/16, services: 10.101.0.0/16}
  provider:
    type: local
    workers: [{name: worker, machine: {type: local, image: {name: local, version: "1.36.3"}}, minimum: 1, maximum: 1}]`
	endAsleep = `hibernation: {enabled: true}
  ` + endMachines
)

// interruptions interrupts the lives of shoots in different states and deletes them. What keeps a shoot in its state stays as it is while it
// is deleted, unless the deletion needs it. Nothing is left of any of them, nor of the one that lost its store: every object of every
// kind on seed and garden is compared with what was there before, and none may mention one of these shoots. The cloud of the machines is the seed.
func interruptions(t *testing.T, w *world) {
	t.Helper()
	began := time.Now()
	e := &ends{world: w}
	words := e.words(t)
	before := map[string]inventory{"seed": w.inventory(t, w.seed), "garden": w.inventory(t, w.garden)}
	t.Cleanup(func() { e.wake(t) })
	e.giveUp(t)
	e.interrupt(t)
	words = append(words, e.words(t)...)
	t.Logf("the shoots were in their states after %s", time.Since(began).Round(time.Second))
	e.end(t)
	e.must(t, e.seed("delete", "validatingadmissionpolicy,validatingadmissionpolicybinding", endHold)...)
	t.Logf("the shoots were gone after %s", time.Since(began).Round(time.Second))
	w.stillThere(t, time.Minute, before, words)
	t.Logf("nothing was left after %s", time.Since(began).Round(time.Second))
}

// ends are shoots that end before their time.
type ends struct {
	*world

	// silent is the process of provider-local while it is stopped.
	silent int
}

// interrupt brings each shoot into its state.
func (e *ends) interrupt(t *testing.T) {
	t.Helper()
	e.hold(t, append(brokenHeld(), "etcd etcd-statefulset", "server kubernetes", "falling machine")...)
	e.order(t, map[string]string{
		"unbound": endNowhere, "etcd": endWorkerless, "server": endWorkerless, "asleep": endAsleep, "falling": endMachines,
		"turning": endWorkerless, "twice": endWorkerless,
	})
	e.await(t, map[string]string{
		"unbound": "Create Pending", "etcd": "Create Processing: *Waiting for the etcd for main", "server": "Create Processing: *Waiting for the API server",
		"falling": "Create *the pod is held", "asleep": "Create Succeeded: *", "turning": "Create Succeeded: *", "twice": "Create Succeeded: *",
	})
	e.order(t, map[string]string{"machine": endMachines})
	// The API server of the one that falls asleep does not stop: one of its pods never ends, because it never began.
	e.mustWith(t, fmt.Sprintf(endStopper, endHeld), e.seed("-n", endPlane+"falling", "create", "-f", "-")...)
	e.must(t, e.garden("-n", namespace, "patch", "shoot", endPrefix+"falling", "--type=merge", "-p", `{"spec":{"hibernation":{"enabled":true}}}`)...)
	// The deletion of another one stops at two tasks.
	e.pin(t, "twice", "deployment/kube-apiserver")
	e.pin(t, "twice", "statefulset/etcd-main")
	e.delete(t, "twice")
	e.await(t, map[string]string{
		"machine": "Create Processing: *Waiting for the workers", "falling": "Create Processing: *Waiting until the API server is stopped",
		"twice": "Delete Processing: *Deleting the API server",
	})

	// From now on the extension is silent. What it has to do stays as it is.
	e.silent = e.pid(t, "provider-local run")
	signal(t, e.silent, syscall.SIGSTOP)
	e.order(t, map[string]string{"silent": endMachines})
	e.must(t, e.garden("-n", namespace, "annotate", "shoot", endPrefix+"turning", "gardener.cloud/operation=rotate-credentials-start")...)
	e.await(t, map[string]string{"silent": "Create Processing: *Waiting for the infrastructure", "turning": "Reconcile Processing: *"})
	phase := e.must(t, e.garden("-n", namespace, "get", "shoot", endPrefix+"turning", "-o", "jsonpath={.status.credentials.rotation.certificateAuthorities.phase}")...)
	if phase != "Preparing" {
		t.Errorf("the rotation is in phase %q, want it to be interrupted in Preparing", phase)
	}
}

// end deletes the shoots, of which a gardenlet sees nothing until it is killed, and another one everything at once.
func (e *ends) end(t *testing.T) {
	t.Helper()
	gardenlet := e.gardenletPID(t)
	signal(t, gardenlet, syscall.SIGSTOP)
	e.order(t, map[string]string{"waiting": endWorkerless})
	e.says(t, 30*time.Second, "local", e.garden("-n", namespace, "get", "shoot", endPrefix+"waiting", "-o", "jsonpath={.spec.seedName}")...)
	e.delete(t, "unbound", "waiting", "silent", "etcd", "server", "machine", "asleep", "falling", "turning")
	e.kill(t, gardenlet)
	e.await(t, map[string]string{
		"machine": "Delete Processing: *Waiting for the control plane of the cloud provider|Waiting until the workers is gone",
		"falling": "Delete Processing: *Waiting for the control plane of the cloud provider|Waiting until the workers is gone",
		"twice":   "Delete Processing: *Deleting the API server",
	})
	e.finish(t)
}

// finish lets go what was held, but for the stores and servers that never come back.
func (e *ends) finish(t *testing.T) {
	t.Helper()
	e.release(t, "falling", "pod/stopper")
	e.must(t, e.seed("-n", endPlane+"falling", "delete", "pod", "stopper", "--ignore-not-found", "--wait=false")...)
	e.release(t, "twice", "deployment/kube-apiserver")
	e.await(t, map[string]string{"twice": "Delete Processing: *Deleting the etcd for main"})
	e.kill(t, e.gardenletPID(t))
	e.release(t, "twice", "statefulset/etcd-main")
	e.wake(t)
	e.eventually(t, endPatience, "all of them are gone", func() (bool, string) {
		left := e.states(t)
		return len(left) == 0, fmt.Sprint(left)
	})
}

// hold makes the seed refuse some pods of these shoots: those with this value of the label app. It waits until that is so.
func (e *ends) hold(t *testing.T, shootAndApp ...string) {
	t.Helper()
	held := []string{fmt.Sprintf("'default canary%d'", len(shootAndApp))}
	for _, pair := range shootAndApp {
		held = append(held, fmt.Sprintf("'%s%s'", endPlane, pair))
	}
	e.mustWith(t, fmt.Sprintf(endPolicy, strings.Join(held, ", ")), e.seed("apply", "-f", "-")...)
	canary := e.seed("-n", "default", "run", "canary", "--image=none", "--dry-run=server", fmt.Sprintf("--labels=app=canary%d", len(shootAndApp)))
	e.eventually(t, 20*time.Second, "the seed refuses pods", func() (bool, string) {
		r := e.try(t, "", canary...)
		return r.code != 0 && strings.Contains(r.stderr, "is held"), r.all()
	})
}

// endStopper is a pod that belongs to an API server by its labels, and that nobody starts.
const endStopper = `
apiVersion: v1
kind: Pod
metadata:
  name: stopper
  labels: {app: kubernetes, gardener.cloud/role: controlplane, role: apiserver}
  finalizers: [%s]
spec:
  schedulerName: nobody
  containers: [{name: none, image: none}]
`

const endPolicy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: ` + endHold + `}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}
  validations:
  - message: the pod is held
    expression: "!(has(object.metadata.labels) && 'app' in object.metadata.labels && (request.namespace + ' ' + object.metadata.labels['app']) in [%s])"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: ` + endHold + `}
spec: {policyName: ` + endHold + `, validationActions: [Deny]}
`

func (e *ends) order(t *testing.T, specs map[string]string) {
	t.Helper()
	var manifest strings.Builder
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		fmt.Fprintf(&manifest, endManifest, name, specs[name])
	}
	e.mustWith(t, manifest.String(), e.garden("create", "-f", "-")...)
}

func (e *ends) delete(t *testing.T, names ...string) {
	t.Helper()
	command := e.garden("-n", namespace, "delete", "--wait=false", "shoot")
	for _, name := range names {
		command = append(command, endPrefix+name)
	}
	e.must(t, command...)
}

// states are the last operations of the shoots.
func (e *ends) states(t *testing.T) map[string]string {
	t.Helper()
	told := e.must(t, e.garden("-n", namespace, "get", "shoots", "-o", "jsonpath={range .items[*]}{.metadata.name}"+
		"\t{.status.lastOperation.type} {.status.lastOperation.state}: {.status.lastOperation.description} {.status.lastErrors}\n{end}")...)
	states := map[string]string{}
	for line := range strings.Lines(told) {
		name, state, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if short, mine := strings.CutPrefix(name, endPrefix); mine {
			states[short] = state
		}
	}
	return states
}

// await waits until each shoot is in its state: how the text of its last operation begins, a star, and what is somewhere in it, with a bar between
// alternatives.
func (e *ends) await(t *testing.T, want map[string]string) {
	t.Helper()
	e.eventually(t, endPatience, "the shoots are in their states", func() (bool, string) {
		states := e.states(t)
		var missing strings.Builder
		for name, state := range want {
			begin, part, _ := strings.Cut(state, "*")
			in := func(one string) bool { return strings.Contains(states[name], one) }
			if !strings.HasPrefix(states[name], begin) || !slices.ContainsFunc(strings.Split(part, "|"), in) {
				fmt.Fprintf(&missing, "%s is %q, want %q\n", name, states[name], state)
			}
		}
		return missing.Len() == 0, missing.String()
	})
}

// words are what nothing may mention when the shoots are gone.
func (e *ends) words(t *testing.T) []string {
	t.Helper()
	var list struct {
		Items []struct {
			Metadata struct{ Name, UID string }
		}
	}
	if err := json.Unmarshal([]byte(e.must(t, e.garden("-n", namespace, "get", "shoots", "-o", "json")...)), &list); err != nil {
		t.Fatal(err)
	}
	words := []string{endPlane, endPrefix + "waiting", endHold}
	for _, item := range list.Items {
		if strings.HasPrefix(item.Metadata.Name, endPrefix) {
			words = append(words, item.Metadata.Name, item.Metadata.UID)
		}
	}
	return words
}

// pin keeps an object of a control plane from going, until it is released.
func (e *ends) pin(t *testing.T, name, object string) {
	t.Helper()
	e.must(t, e.seed("-n", endPlane+name, "patch", object, "--type=merge", "-p", `{"metadata":{"finalizers":["`+endHeld+`"]}}`)...)
}

func (e *ends) release(t *testing.T, name, object string) {
	t.Helper()
	e.must(t, e.seed("-n", endPlane+name, "patch", object, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)...)
}

// pid is the process of a program in the seed, seen from the host.
func (e *ends) pid(t *testing.T, command string) int {
	t.Helper()
	return number(t, strings.Fields(e.must(t, "pgrep", "-f", "^/usr/local/bin/terrarium "+command))[0])
}

func (e *ends) kill(t *testing.T, pid int) {
	t.Helper()
	signal(t, pid, syscall.SIGKILL)
	e.ended(t, []int{pid})
}

// wake lets the extension speak again, unless its node has replaced it meanwhile, because its probe was not answered.
func (e *ends) wake(t *testing.T) {
	t.Helper()
	if e.silent == 0 {
		return
	}
	if err := syscall.Kill(e.silent, syscall.SIGCONT); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Errorf("resume the extension: %v", err)
	}
	e.silent = 0
}

func signal(t *testing.T, pid int, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, signal); err != nil {
		t.Fatalf("send %s to process %d: %v", signal, pid, err)
	}
}
