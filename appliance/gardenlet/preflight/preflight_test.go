// SPDX-License-Identifier: Apache-2.0

package preflight_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terrarium-garden/terrarium/appliance/gardenlet/preflight"
)

func TestCompareVersions(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason            string
		gardenlet, garden string
		want              string
	}{
		"Same":          {reason: "the same version fits", gardenlet: "v1.149.0", garden: "v1.149.0"},
		"TwoBehind":     {reason: "two minor versions behind is the limit", gardenlet: "v1.147.3", garden: "v1.149.0"},
		"PatchBehind":   {reason: "an older patch fits", gardenlet: "v1.149.0", garden: "v1.149.7"},
		"ThreeBehind":   {reason: "three minor versions behind is too old", gardenlet: "v1.146.9", garden: "v1.149.0", want: "version skew between gardenlet and garden is not supported: the gardenlet (v1.146.9) is more than 2 minor versions older than the garden (v1.149.0): upgrade the gardenlet"},
		"Newer":         {reason: "a newer gardenlet is refused", gardenlet: "v1.150.0", garden: "v1.149.0", want: "version skew between gardenlet and garden is not supported: the gardenlet (v1.150.0) is newer than the garden (v1.149.0): upgrade the garden first"},
		"NewerPatch":    {reason: "newer begins with the patch", gardenlet: "v1.149.1", garden: "v1.149.0", want: "version skew between gardenlet and garden is not supported: the gardenlet (v1.149.1) is newer than the garden (v1.149.0): upgrade the garden first"},
		"OtherMajor":    {reason: "another major version is too old whatever its minor is", gardenlet: "v1.149.0", garden: "v2.0.0", want: "version skew between gardenlet and garden is not supported: the gardenlet (v1.149.0) is more than 2 minor versions older than the garden (v2.0.0): upgrade the gardenlet"},
		"Unreadable":    {reason: "a garden that tells nonsense is refused", gardenlet: "v1.149.0", garden: "latest", want: `parse version "latest" of the garden: could not parse "latest" as version`},
		"UnreadableOwn": {reason: "so is a gardenlet without a version", gardenlet: "", garden: "v1.149.0", want: `parse version "" of the gardenlet: could not parse "" as version`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.reason, preflight.CompareVersions(tc.gardenlet, tc.garden), tc.want, nil)
		})
	}
}

func TestCompareShootInfo(t *testing.T) {
	t.Parallel()
	configured := preflight.Networks{Pods: "10.96.0.0/16", Services: "10.97.0.0/16", Nodes: "10.250.0.0/16"}
	cases := map[string]struct {
		reason string
		data   map[string]string
		want   string
	}{
		"Equal":     {reason: "equal networks fit", data: map[string]string{"podNetwork": "10.96.0.0/16", "serviceNetwork": "10.97.0.0/16", "nodeNetwork": "10.250.0.0/16"}},
		"NoNodes":   {reason: "a shoot need not tell its node network", data: map[string]string{"podNetwork": "10.96.0.0/16", "serviceNetwork": "10.97.0.0/16"}},
		"OtherPods": {reason: "both values are named", data: map[string]string{"podNetwork": "10.0.0.0/16", "serviceNetwork": "10.97.0.0/16"}, want: `configured networks of the seed differ from those of the cluster: spec.networks.pods is "10.96.0.0/16", but the cluster is a shoot with "10.0.0.0/16"`},
		"Missing":   {reason: "pods and services must be told", data: map[string]string{"podNetwork": "10.96.0.0/16"}, want: `configured networks of the seed differ from those of the cluster: spec.networks.services is "10.97.0.0/16", but the cluster is a shoot with ""`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.reason, preflight.CompareShootInfo(tc.data, configured), tc.want, preflight.ErrNetworks)
		})
	}
}

func TestCompareAddresses(t *testing.T) {
	t.Parallel()
	configured := preflight.Networks{Pods: "10.96.0.0/16", Services: "10.97.0.0/16", Nodes: "10.250.0.0/16"}
	cases := map[string]struct {
		reason     string
		found      preflight.Addresses
		configured preflight.Networks
		want       string
	}{
		"Inside": {
			reason:     "addresses inside of their ranges fit",
			found:      preflight.Addresses{Nodes: map[string]string{"10.250.1.1": "n"}, Pods: map[string]string{"10.96.4.5": "p"}, Services: map[string]string{"10.97.0.1": "s"}},
			configured: configured,
		},
		"NothingFound": {reason: "an empty cluster proves nothing", configured: configured},
		"Pod": {
			reason:     "a pod outside of the range is named with both values",
			found:      preflight.Addresses{Pods: map[string]string{"10.1.4.5": "pod kube-system/dns"}},
			configured: configured,
			want:       `configured networks of the seed differ from those of the cluster: spec.networks.pods is "10.96.0.0/16", but pod kube-system/dns has the address "10.1.4.5"`,
		},
		"Service": {
			reason:     "so is a service",
			found:      preflight.Addresses{Services: map[string]string{"10.1.0.1": "service default/kubernetes"}},
			configured: configured,
			want:       `configured networks of the seed differ from those of the cluster: spec.networks.services is "10.97.0.0/16", but service default/kubernetes has the address "10.1.0.1"`,
		},
		"NodesUnset": {
			reason:     "without a node network nodes may be anywhere",
			found:      preflight.Addresses{Nodes: map[string]string{"192.168.0.1": "n"}},
			configured: preflight.Networks{Pods: "10.96.0.0/16", Services: "10.97.0.0/16"},
		},
		"OtherFamily": {
			reason:     "addresses of the other family prove nothing",
			found:      preflight.Addresses{Pods: map[string]string{"fd00::1": "p"}},
			configured: configured,
		},
		"NoRange": {
			reason:     "a range that is none is named",
			configured: preflight.Networks{Pods: "10.96.0.0", Services: "10.97.0.0/16"},
			want:       `spec.networks.pods: netip.ParsePrefix("10.96.0.0"): no '/'`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.reason, preflight.CompareAddresses(tc.found, tc.configured), tc.want, nil)
		})
	}
}

func check(t *testing.T, reason string, got error, want string, kind error) {
	t.Helper()
	text := ""
	if got != nil {
		text = got.Error()
	}
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("%s\nerror (-want +got):\n%s", reason, diff)
	}
	if want != "" && kind != nil && !errors.Is(got, kind) {
		t.Errorf("%s\ngot error %v, want %v", reason, got, kind)
	}
}
