// SPDX-License-Identifier: Apache-2.0

package sshaccess

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"
	corev1 "k8s.io/api/core/v1"

	gardencorev1beta1 "github.com/terrarium-garden/terrarium/apis/core/v1beta1"
	gardenoperationsv1alpha1 "github.com/terrarium-garden/terrarium/apis/operations/v1alpha1"
)

// reported is a Bastion as others report it.
func reported(ingress corev1.LoadBalancerIngress, message string) *gardenoperationsv1alpha1.Bastion {
	b := &gardenoperationsv1alpha1.Bastion{}
	b.Status.Ingress = &ingress
	b.Status.Conditions = []gardencorev1beta1.Condition{{Type: "BastionReady", Status: "True", Message: message}}
	return b
}

// TestWrite has the SSH client of the system, if there is one, read what is written for it.
func TestWrite(t *testing.T) {
	t.Parallel()
	own, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ssh.ParsePrivateKey(own.private); err != nil {
		t.Fatalf("the key is not readable: %v", err)
	}
	for name, tc := range map[string]struct {
		reason  string
		ingress corev1.LoadBalancerIngress
		message string
		host    string
		strict  string
	}{
		"Address":  {"it is compared with the keys that are reported", corev1.LoadBalancerIngress{IP: "203.0.113.9"}, "its host keys are " + own.public, "203.0.113.9", "yes"},
		"Hostname": {"a host name is an address", corev1.LoadBalancerIngress{Hostname: "b.example.org"}, "its host keys are " + own.public, "b.example.org", "yes"},
		"NoKeys":   {"without keys the first one is taken", corev1.LoadBalancerIngress{IP: "2001:db8::1"}, "The bastion has been reconciled", "2001:db8::1", "accept-new"},
		"NoKey":    {"what looks like a key and is none is left out", corev1.LoadBalancerIngress{IP: "203.0.113.9"}, "ssh-rsa AAAA", "203.0.113.9", "accept-new"},
		"Command":  {"an extension runs no program here", corev1.LoadBalancerIngress{Hostname: "a\n  ProxyCommand touch x"}, "", "", ""},
		"Zone":     {"nor with a zone", corev1.LoadBalancerIngress{IP: "fe80::1%x\n  ProxyCommand touch x"}, "", "", ""},
		"Flag":     {"an option is no address", corev1.LoadBalancerIngress{IP: "-oProxyCommand=x"}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &Way{dir: t.TempDir(), bastion: reported(tc.ingress, tc.message)}
			err := w.write(own.private, []byte("node"), "10.0.0.5")
			if tc.host == "" {
				if err == nil || w.Config != "" {
					t.Errorf("%s\nwrite() = %v, want an error", tc.reason, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkModes(t, w.dir)
			program, err := exec.LookPath("ssh")
			if err != nil {
				t.Skip("this machine has no SSH client")
			}
			for host, want := range map[string]map[string]string{
				"bastion": {"hostname": tc.host, "user": "gardener", "stricthostkeychecking": tc.strict, "identityfile": filepath.Join(w.dir, "bastion.key")},
				Target:    {"hostname": "10.0.0.5", "user": "gardener", "proxyjump": "bastion", "identityfile": filepath.Join(w.dir, "node.key"), "identitiesonly": "yes"},
			} {
				out, err := exec.CommandContext(t.Context(), program, "-G", "-F", w.Config, host).Output()
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, settings(string(out), want)); diff != "" {
					t.Errorf("%s\nsettings of host %q (-want +got):\n%s", tc.reason, host, diff)
				}
			}
		})
	}
}

// TestInternalAddress has nodes report addresses that are more than that. The owner of a shoot decides what its nodes report.
func TestInternalAddress(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason    string
		addresses []corev1.NodeAddress
		want      string
	}{
		"Address": {"the first internal one is taken", []corev1.NodeAddress{{Type: "ExternalIP", Address: "203.0.113.1"}, {Type: "InternalIP", Address: "10.0.0.5"}}, "10.0.0.5"},
		"Command": {"a node runs no program here", []corev1.NodeAddress{{Type: "InternalIP", Address: "fe80::1%x\n  ProxyCommand touch x"}}, ""},
		"Zone":    {"an interface is of this machine", []corev1.NodeAddress{{Type: "InternalIP", Address: "fe80::1%eth0"}, {Type: "InternalIP", Address: "2001:db8::5"}}, "2001:db8::5"},
		"Name":    {"a name is no address", []corev1.NodeAddress{{Type: "InternalIP", Address: "node.example.org"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := &corev1.Node{}
			node.Status.Addresses = tc.addresses
			got, err := internalAddress(node)
			if got != tc.want || (err == nil) != (tc.want != "") {
				t.Errorf("%s\ninternalAddress(...) = %q, %v, want %q", tc.reason, got, err, tc.want)
			}
		})
	}
}

// TestRender: those who give values have checked them, and one that was forgotten does not get into the file either.
func TestRender(t *testing.T) {
	t.Parallel()
	fine := []any{"203.0.113.9", "gardener", "/tmp/x y", "yes", Target, "10.0.0.5"}
	if _, err := render(fine...); err != nil {
		t.Errorf("render(%q) = %v", fine, err)
	}
	for i := range fine {
		for _, bad := range []string{"\n  ProxyCommand x", "\r", "\x00", "\u0085", `"`} {
			values := slices.Clone(fine)
			values[i] = fmt.Sprint(values[i], bad)
			if got, err := render(values...); err == nil {
				t.Errorf("render(%q) = %s, want an error", values, got)
			}
		}
	}
}

// settings are those of the client that are wanted.
func settings(text string, wanted map[string]string) map[string]string {
	got := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, asked := wanted[name]; asked {
			if value == "true" {
				value = "yes"
			}
			got[name] = value
		}
	}
	return got
}

func checkModes(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 4 {
		t.Fatalf("files: %v, %v", entries, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("file %s has mode %v, others could read it: %v", e.Name(), info.Mode(), err)
		}
	}
}

func TestOwnNetworks(t *testing.T) {
	t.Parallel()
	local, err := OwnNetworks(t.Context(), "https://127.0.0.1:6443")
	if err != nil && !errors.Is(err, ErrUnknownNetwork) {
		t.Errorf("OwnNetworks(...) of a garden on this machine = %v", err)
	}
	for _, network := range local {
		if strings.HasPrefix(network, "127.") || !strings.Contains(network, "/") {
			t.Errorf("OwnNetworks(...) has %q, from where nobody reaches a bastion", network)
		}
	}
	if _, err := OwnNetworks(t.Context(), "https://garden .example:1"); err == nil {
		t.Error("OwnNetworks(...) of no address succeeds")
	}
}
